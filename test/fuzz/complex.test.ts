/**
 * Random programs over complex numbers, against what their generator says that they mean: the same numbers, but for the signs of zeros. Results of
 * functions are close to those of their definitions. FUZZ_COMPLEX=1000 and FUZZ_FROM=1 say which.
 */
import { afterAll, expect, it } from 'vitest';
import { type Complex, c64, c128, cuda, ndarray } from '../../src/index.ts';
import { generateComplex } from './complex-programs.ts';
import { Random } from './random.ts';

const PROGRAMS = Number(process.env['FUZZ_COMPLEX'] ?? 10);
const FIRST = Number(process.env['FUZZ_FROM'] ?? 1);
const THREADS = 6;

afterAll(() => cuda.selectDevice('cpu'));

function exactly(list: readonly Complex[]): string {
  return list.map(({ re, im }) => `${re + 0} ${im + 0}`).join('\n');
}

function show(z: Complex | undefined): string {
  return `${z?.re} ${z?.im}`;
}

/** By the distance in the plane. */
function isClose(found: Complex, expected: Complex, single: boolean): boolean {
  const size = Math.hypot(expected.re, expected.im);
  return Math.hypot(found.re - expected.re, found.im - expected.im) <= size * (single ? 1e-4 : 1e-9);
}

it.each(['cpu', 'simulator'] as const)('mean the same on the device %s', { timeout: 1_200_000 }, (device) => {
  cuda.selectDevice(device);
  for (let seed = FIRST; seed < FIRST + PROGRAMS; seed++) {
    const dtype = seed % 2 === 0 ? c64 : c128;
    const name = seed % 2 === 0 ? 'c64' : 'c128';
    const random = new Random(seed);
    const number = (): number => (random.below(129) - 64) / 16;
    const z = Array.from({ length: 4 * THREADS }, () => ({ re: number(), im: number() + 1 / 64 }));
    const r = Array.from({ length: 4 * THREADS }, () => number() + 1 / 128);
    const program = generateComplex(seed, name);
    const body = `(z, r, o, f) => {\nconst i = cuda.grid(1);\nif (i >= ${THREADS}) return;\n${program.text}\n}`;
    const kernel = cuda.jit(new Function('cuda', name, `return ${body}`)(cuda, dtype) as (...a: unknown[]) => void);
    const [o, f] = [0, 1].map(() => cuda.deviceArray(4 * THREADS, dtype as typeof c64));
    if (o === undefined || f === undefined) throw new Error('no arrays');
    const real = name === 'c64' ? Float32Array.from(r) : Float64Array.from(r);
    kernel.launch(
      { grid: 1, block: 8 },
      cuda.toDevice(ndarray(z, { dtype: dtype as typeof c64 })),
      cuda.toDevice(real),
      o,
      f,
    );
    const called = (f.copyToHost() as { toArray(): unknown }).toArray() as Complex[];
    const found = (o.copyToHost() as { toArray(): unknown }).toArray() as Complex[];
    for (let i = 0; i < THREADS; i++) {
      const own = <T>(list: readonly T[]): readonly T[] => list.slice(4 * i, 4 * i + 4);
      const { o: expected, calls } = program.run(own(z), own(r), i);
      for (const [place, { name: fn, expected: value }] of calls) {
        const result = own(called)[place];
        const close = value === undefined || result === undefined || isClose(result, value, name === 'c64');
        expect(close, `${fn} is ${show(result)} for ${show(value)}, seed ${seed}, thread ${i}:\n${body}`).toBe(true);
      }
      // Quotients by 0 are infinite where the evaluator's formula knows no number.
      if (!expected.every(({ re, im }) => Math.hypot(re, im) < 1e9)) continue;
      expect(exactly(own(found)), `seed ${seed}, thread ${i}, ${name}:\n${body}`).toBe(exactly(expected));
    }
  }
});
