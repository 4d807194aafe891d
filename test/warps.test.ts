/**
 * The code of exchanges on the CPU device: in registers where warps are vectors, and without what nobody asks for.
 */
import { beforeAll, expect, it } from 'vitest';
import { cuda, type In, type i32, type Vec } from '../src/index.ts';

const ALL = 0xffffffff;

beforeAll(() => void cuda.selectDevice('cpu'));

/** How often each instruction stands in the code for a block. */
function codeFor(kernel: (out: Vec<i32>, x: In<Vec<i32>>) => void, block: number | [number, number]) {
  const compiled = cuda.jit(kernel, { boundsCheck: false });
  const x = Int32Array.from({ length: 64 }, (_, i) => i * i);
  const out = cuda.toDevice(new Int32Array(64));
  compiled.launch({ grid: 1, block }, out, cuda.toDevice(x));
  const code = new Map<string, number>();
  for (const [name] of compiled.inspect({ target: 'wasm' }).matchAll(/\b[a-z]\d+(?:x\d+)?\.\w+/g))
    code.set(name, (code.get(name) ?? 0) + 1);
  return { of: (name: string): number => code.get(name) ?? 0, out: [...out.copyToHost()], x: [...x] };
}

const sums = (out: Vec<i32>, x: In<Vec<i32>>): void => {
  const t = cuda.threadIdx.y * cuda.blockDim.x + cuda.threadIdx.x;
  let sum = x[t];
  for (let step = 16; step > 0; step >>= 1) sum += cuda.shflXorSync(ALL, sum, step);
  out[t] = sum;
};

const sumsOf = (x: readonly number[]): number[] =>
  x.map((_, t) => x.slice(t & ~31, (t | 31) + 1).reduce((a, b) => a + b));

it('a reduction is shuffles of parts, with nothing in memory', () => {
  const { of, out, x } = codeFor(sums, 64);
  expect(out).toEqual(sumsOf(x));
  // Steps of 2 and 1 are within a part, those above from part to part.
  expect(of('i8x16.shuffle')).toBe(16);
  expect([of('v128.load'), of('v128.store'), of('v128.store32_lane')]).toEqual([8, 8, 0]);
});

it('of warps that lie across rows it goes through memory', () => {
  const { of, out, x } = codeFor(sums, [16, 4]);
  expect(out).toEqual(sumsOf(x));
  // Bytes that say who takes part.
  expect(of('v128.store32_lane')).toBeGreaterThan(0);
});

it('a prefix sum adds to the lanes that are known to be behind', () => {
  const scan = (out: Vec<i32>, x: In<Vec<i32>>): void => {
    const t = cuda.threadIdx.x;
    let sum = x[t];
    for (let step = 1; step < 32; step <<= 1) {
      const other = cuda.shflUpSync(ALL, sum, step);
      if ((t & 31) >= step) sum += other;
    }
    out[t] = sum;
  };
  const { of, out, x } = codeFor(scan, 64);
  expect(out).toEqual(x.map((_, t) => x.slice(t & ~31, t + 1).reduce((a, b) => a + b)));
  // 8 parts each of steps of 1 and 2, 7 of 4, 6 of 8, 4 of 16; only in the first part not all lanes.
  expect(of('i32x4.add')).toBe(33);
  expect(of('v128.bitselect')).toBe(2);
});

it('what one lane does is scalar code, and votes are bits', () => {
  const first = (out: Vec<i32>, x: In<Vec<i32>>): void => {
    const t = cuda.threadIdx.x;
    const mask = cuda.ballotSync(ALL, (x[t] & 1) === 1);
    if (cuda.laneId === 3) out[t] = cuda.popc(mask) * 100 + t;
  };
  const { of, out } = codeFor(first, 64);
  expect(out).toEqual(out.map((_, t) => (t % 32 === 3 ? 1600 + t : 0)));
  expect([of('v128.store'), of('v128.store32_lane'), of('i32.popcnt')]).toEqual([0, 0, 1]);
  expect(of('i8x16.bitmask')).toBe(2);
});
