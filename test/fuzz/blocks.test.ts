/**
 * Random programs of blocks, against threads that run one after another on the host. What is accepted must keep all threads together, in whatever order
 * they run. FUZZ_BLOCKS=1000 and FUZZ_FROM=1 say which.
 */
import { afterAll, expect, it } from 'vitest';
import { c64, cuda, f64x2, i32, i32x2 } from '../../src/index.ts';
import { type BlockProgram, generateBlocks, SHARED } from './block-programs.ts';
import { cudaOfBlocks, Diverged, forDevice, forHost, runBlock } from './block-reference.ts';

const PROGRAMS = Number(process.env['FUZZ_BLOCKS'] ?? 18);
const FIRST = Number(process.env['FUZZ_FROM'] ?? 1);

/** A barrier that only some threads reach; on the CPU device, an exchange in a loop that threads leave at different times. */
const REFUSALS = /^(?:K401|E_WARP)$/;

afterAll(() => cuda.selectDevice('cpu'));

const pair = (x: number, y: number) => ({ x, y });
const standIns = {
  cuda: cudaOfBlocks,
  whole: Math.trunc,
  i32x2: pair,
  f64x2: pair,
  c64: (re: number, im: number) => ({ re, im }),
};

function inputs(seed: number, p: BlockProgram): Int32Array {
  const threads = p.grid * p.block[0] * p.block[1];
  return Int32Array.from({ length: threads }, (_, k) => (k * 37 + seed * 11) & 63);
}

/** What threads leave; undefined where that depends on their order. */
function onHost(seed: number, p: BlockProgram): Int32Array | undefined {
  const count = p.block[0] * p.block[1];
  const names = [...Object.keys(standIns), 'm0', 'm1', 't', 'count', 'v', 'n', 'x'];
  const body = `return function* () {\nif (t >= ${p.limit}) return -1;\n${forHost(p.text)}\nreturn s;\n}`;
  const make = new Function(...names, body) as (...of: unknown[]) => () => Generator<never, number, unknown>;
  const x = inputs(seed, p);
  const [one, other] = [false, true].map((backwards) =>
    Array.from({ length: p.grid }, (_, b) => {
      const memory = [new Int32Array(SHARED), new Int32Array(SHARED)];
      const threads = Array.from({ length: count }, (_, t) =>
        make(...Object.values(standIns), ...memory, t, count, x[b * count + t], seed % 16, x)(),
      );
      return runBlock(threads, backwards);
    }).flat(),
  );
  return String(one) === String(other) ? Int32Array.from(one ?? []) : undefined;
}

function onDevice(seed: number, p: BlockProgram): Int32Array {
  const captured = { cuda, i32, i32x2, f64x2, c64, whole: i32 };
  const [width, height] = p.block;
  const arrays = `const m0 = cuda.shared.array(${SHARED}, i32);\nconst m1 = cuda.shared.array(${SHARED}, i32);`;
  const t = `const t = cuda.threadIdx.x + ${width} * cuda.threadIdx.y;\nconst count = ${width * height};`;
  const where = `const at = cuda.blockIdx.x * count + t;\nif (t >= ${p.limit}) {\no[at] = -1;\nreturn;\n}`;
  const returns = p.limit < width * height ? where : 'const at = cuda.blockIdx.x * count + t;';
  const body = `(x, n, o) => {\n${arrays}\n${t}\n${returns}\nconst v = x[at];\n${forDevice(p.text)}\no[at] = s;\n}`;
  const make = new Function(...Object.keys(captured), `return ${body}`);
  const kernel = cuda.jit(make(...Object.values(captured)) as (...of: unknown[]) => void);
  const x = inputs(seed, p);
  const o = cuda.deviceArray(x.length, 'int32');
  kernel.launch({ grid: p.grid, block: [width, height] }, cuda.toDevice(x), seed % 16, o);
  return o.copyToHost() as Int32Array;
}

it.each(['cpu', 'simulator'] as const)('mean the same on the device %s', { timeout: 1_200_000 }, (device) => {
  cuda.selectDevice(device);
  let [ran, refused] = [0, 0];
  // Thread by thread, the simulator takes its time.
  const step = device === 'simulator' ? 3 : 1;
  for (let seed = FIRST; seed < FIRST + PROGRAMS; seed += step) {
    const p = generateBlocks(seed);
    const what = `seed ${seed}, block ${p.block}, grid ${p.grid}, limit ${p.limit}:\n${p.text}`;
    let found: Int32Array;
    try {
      found = onDevice(seed, p);
    } catch (error) {
      if (!REFUSALS.test((error as { code?: string }).code ?? '')) throw new Error(what, { cause: error });
      refused++;
      continue;
    }
    ran++;
    let expected: Int32Array | undefined;
    try {
      expected = onHost(seed, p);
    } catch (error) {
      if (!(error instanceof Diverged)) throw error;
      throw new Error(`accepted, though ${error.message}: ${what}`);
    }
    if (expected !== undefined) expect(Array.from(found), what).toEqual(Array.from(expected));
  }
  if (process.env['FUZZ_BLOCKS']) console.log(`${device}: ${ran} ran, ${refused} refused`);
  expect(ran, 'programs that ran').toBeGreaterThan(PROGRAMS / step / 3);
});
