/**
 * Random kernels of several shared arrays that are stored and read together, or nearly so, on WebGPU, where such arrays become one of vectors, against the CPU device.
 * Skipped where there is no adapter, unless TSAMBA_TEST_REQUIRE names `webgpu`. FUZZ_TOGETHER=300 says how many.
 */
import { afterAll, describe, expect, it } from 'vitest';
import { whyNoGpu } from '../../src/driver/webgpu/door.ts';
import { cuda, f32, i32, u32 } from '../../src/index.ts';
import { isRequired } from '../../src/required.testing.ts';
import { preferSwiftShader } from '../support/webgpu.ts';
import { Random } from './random.ts';

const PROGRAMS = Number(process.env['FUZZ_TOGETHER'] ?? 24);
const BLOCK = 32;
const TYPES = { f32, i32, u32 };

preferSwiftShader();
afterAll(() => cuda.selectDevice('cpu'));

/** The body of a kernel of `x` and `out`; all numbers stay whole and small. */
function program(seed: number): string {
  const r = new Random(seed);
  // Half of the programs access all arrays alike, whatever else they do.
  const alike = r.chance(0.5);
  const arrays = Array.from({ length: 2 + r.below(4) }, (_, k) => `s${k}`);
  const other = !alike && r.chance(0.3) ? 2 * BLOCK : BLOCK;
  const declared = arrays.map((name, k) => {
    const count = k === 1 ? other : BLOCK;
    return `const ${name} = cuda.shared.array(${count}, ${r.pick(['f32', 'f32', 'i32', 'u32'])});`;
  });
  const value = (): string => r.pick(['x[t]', 'x[t + 32]', `(x[t] + ${r.below(9)})`, 't', String(r.below(9))]);
  const shuffled = (): string[] => [...arrays].sort(() => r.below(3) - 1);
  const stores = (): string => {
    const at = r.pick(['t', 't', `${BLOCK - 1} - t`, 't ^ 5']);
    const lines = shuffled().map((name) => `${name}[${at}] = ${value()};`);
    if (!alike && r.chance(0.2)) lines.splice(r.below(lines.length), 1);
    // A second round that reads what is stored meanwhile, each thread its own.
    if (r.chance(0.3))
      lines.push(...arrays.map((name) => `${name}[${at}] = (i32(${r.pick(arrays)}[${at}]) + ${value()}) % 64;`));
    return lines.join('\n');
  };
  const reads = (): string => {
    const names = !alike && r.chance(0.3) ? arrays.slice(1) : shuffled();
    const sum = (at: string): string => names.map((name) => `i32(${name}[${at}]) * ${1 + r.below(4)}`).join(' + ');
    if (r.chance(0.5)) return `for (let k = 0; k < ${BLOCK}; k++) sum = (sum + ${sum('k')}) % 4096;`;
    return `sum = (sum + ${sum(r.pick(['t', `(t + ${r.below(31)}) % ${BLOCK}`]))}) % 4096;`;
  };
  const zeros = arrays.map((name) => `${name}[t] = 0;`).join('\n');
  const rounds = Array.from(
    { length: 1 + r.below(3) },
    () => `${stores()}\ncuda.syncThreads();\n${reads()}\ncuda.syncThreads();`,
  );
  return `const t = cuda.threadIdx.x;\n${declared.join('\n')}\n${zeros}\ncuda.syncThreads();\nlet sum = i32(0);\n${rounds.join('\n')}\nout[t] = sum;`;
}

function run(text: string): { readonly out: number[]; readonly wgsl: string } {
  const make = new Function('cuda', ...Object.keys(TYPES), `return (x, out) => {\n${text}\n}`);
  const kernel = cuda.jit(make(cuda, ...Object.values(TYPES)) as (...of: unknown[]) => void);
  const x = cuda.toDevice(Int32Array.from({ length: 2 * BLOCK }, (_, k) => (k * 29) & 31));
  const out = cuda.deviceArray(BLOCK, i32);
  kernel.launch({ grid: 1, block: BLOCK }, x, out);
  const wgsl = cuda.currentDevice().kind === 'webgpu' ? String(kernel.inspect({ target: 'wgsl' })) : '';
  return { out: [...(out.copyToHost() as Int32Array)], wgsl };
}

const possible = whyNoGpu() === undefined || isRequired('webgpu');

describe.skipIf(!possible)('shared arrays that may lie together', () => {
  it('hold on WebGPU what they hold elsewhere', { timeout: 400_000 }, () => {
    let together = 0;
    for (let seed = 1; seed <= PROGRAMS; seed++) {
      const text = program(seed);
      cuda.selectDevice('cpu');
      const expected = run(text).out;
      cuda.selectDevice('webgpu');
      const { out, wgsl } = run(text);
      expect(out, `seed ${seed}:\n${text}`).toEqual(expected);
      if (wgsl.includes('together')) together++;
    }
    expect(together, 'programs whose arrays lay together').toBeGreaterThan(PROGRAMS / 6);
  });
});
