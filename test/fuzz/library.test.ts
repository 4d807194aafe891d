/**
 * Random programs over reductions, strings, dates, ordered atomics and special functions, against what the same text gives when JavaScript runs it.
 * FUZZ_LIBRARY=1000 and FUZZ_FROM=1 say which.
 */
import { afterAll, expect, it } from 'vitest';
import { cuda, datetime64, f32, f64, i8, i16, i32, i64, ndarray, timedelta64, u8, u16, u32 } from '../../src/index.ts';
import { generateLibrary, type LibraryProgram, RESULTS, THREADS } from './library-programs.ts';
import { countsOf, inKernel, matrix, REFERENCE, standIns, withDurations } from './library-reference.ts';
import { Random } from './random.ts';

const PROGRAMS = Number(process.env['FUZZ_LIBRARY'] ?? 24);
const FIRST = Number(process.env['FUZZ_FROM'] ?? 1);
const DAY = 86_400_000n;
const WORDS = ['', 'a', 'ab', 'abc', 'b', 'bab', 'c\u00e9', 'aab'];
/** Longer than the elements of `w`, which are stored over them. */
const LONG = ['abcdef', 'bcabc'];

afterAll(() => cuda.selectDevice('cpu'));

/** The arrays of a program, with what they hold at first. Those of dates are in milliseconds. */
function state(seed: number) {
  const r = new Random(seed);
  const two = <T>(make: () => T): T[] => Array.from({ length: 2 * THREADS }, make);
  const rows = (make: () => number): number[][] => [0, 1, 2].map(() => [0, 1, 2, 3].map(make));
  const quarter = (): number => (r.below(9) - 4) / 4;
  return {
    x: Int32Array.from({ length: THREADS }, () => r.below(64)),
    a: rows(quarter),
    n: rows(() => (r.chance(0.2) ? Number.NaN : quarter())),
    p: two(() => r.pick([...WORDS, ...LONG])),
    q: two(() => r.pick([...WORDS, ...LONG, '日', '😀b'])),
    w: [0, 1, 2, 3].map(() => r.pick(WORDS)),
    d: two(() => BigInt(r.below(40_000) - 9000) * DAY),
    e: two(() => BigInt(r.bits() - 2 ** 30) * 1000n),
    t: two(() => BigInt(r.below(4000) - 2000) * 60_000n),
    ci: Int32Array.from(two(() => r.below(99) - 20)),
    cu: Uint32Array.from(two(() => r.below(99))),
    cf: Float32Array.from(two(() => r.below(99) - 20)),
    ch: Int16Array.from(two(() => r.below(99) - 20)),
    cb: Uint8Array.from(two(() => r.below(99))),
    total: new Int32Array(2),
    z: new Float64Array(RESULTS * THREADS),
    o: new Int32Array(THREADS),
  };
}

type State = ReturnType<typeof state>;
const NAMES = Object.keys(state(0)) as (keyof State)[];

function onHost(seed: number, { text, calls }: LibraryProgram): State {
  const s = state(seed);
  for (const cells of [s.ci, s.cu, s.ch, s.cb]) inKernel<typeof s.ci | typeof s.cu | typeof s.ch | typeof s.cb>(cells);
  const values = { ...s, a: matrix(s.a), n: matrix(s.n), ...standIns };
  const names = [...Object.keys(values), 'i', 'v'];
  const run = new Function(...names, withDurations(text)) as (...of: unknown[]) => void;
  for (let i = 0; i < THREADS; i++) run(...Object.values(values), i, s.x[i]);
  if (calls.length > RESULTS) throw new Error('too many calls');
  return s;
}

function onDevice(seed: number, text: string): State {
  const s = state(seed);
  const captured = { cuda, datetime64, timedelta64, f32, f64, i8, u8, i16, u16, i32, u32 };
  const body = `(${NAMES.join(', ')}) => {\nconst i = cuda.grid(1);\nif (i >= ${THREADS}) return;\nconst v = x[i];\n${text}\n}`;
  const make = new Function(...Object.keys(captured), `return ${body}`);
  const kernel = cuda.jit(make(...Object.values(captured)) as (...of: unknown[]) => void);
  const strings = { p: 'S6', q: 'U8', w: 'S4' } as const;
  const times = { d: datetime64('D'), e: datetime64('s'), t: timedelta64('m') } as const;
  const units = { d: 'D', e: 's', t: 'm' } as const;
  const arrays = Object.fromEntries(
    NAMES.map((name) => {
      const value = s[name];
      if (name in strings) return [name, ndarray(value as string[], { dtype: strings[name as 'p'] })];
      if (name in times) {
        const counts = BigInt64Array.from(countsOf(value as bigint[], units[name as 'd']));
        return [name, ndarray(counts).view(times[name as 'd'])];
      }
      return [name, Array.isArray(value) ? ndarray(value as number[][], { dtype: f64 }) : value];
    }),
  );
  const uploaded = NAMES.map((name) => cuda.toDevice(arrays[name] as Int32Array));
  kernel.launch({ grid: 1, block: 8 }, ...uploaded);
  const read = (name: keyof State): unknown => {
    const array = uploaded[NAMES.indexOf(name)];
    if (array === undefined) throw new Error(`no array ${name}`);
    if (name in times)
      return Array.from((array as unknown as { view(t: unknown): typeof array }).view(i64).copyToHost());
    const host: unknown = array.copyToHost();
    return name in strings ? (host as { toArray(): unknown }).toArray() : host;
  };
  return Object.fromEntries(NAMES.map((name) => [name, read(name)])) as unknown as State;
}

/** Whether a result is within some ulps; Bessel functions are of the size of their waves. */
function isClose(found: number, expected: number, name: string, single: boolean): boolean {
  const size = Math.abs(expected) + (/^[jy]/.test(name) ? 1 : 1e-3);
  return Object.is(found, expected) || Math.abs(found - expected) <= size * (single ? 1e-6 : 1e-12);
}

it('has stand-ins that know well-known values', () => {
  const known: readonly (readonly [string, number, number])[] = [
    ['j0', 1, 0.7651976865579666],
    ['j1', 5.3125, -0.3460662223777438],
    ['y0', 3.125, 0.3342911880758159],
    ['y1', 1.75, -0.2539729859462457],
    ['erf', 0.5, 0.5204998778130465],
    ['erfc', 2, 0.004677734981047266],
    ['normcdfinv', 0.975, 1.959963984540054],
    ['tgamma', 6, 120],
  ];
  for (const [name, x, y] of known) {
    expect(isClose(REFERENCE[name]?.(x) ?? Number.NaN, y, name, false), `${name}(${x})`).toBe(true);
  }
});

it.each(['cpu', 'simulator'] as const)('mean the same on the device %s', { timeout: 300_000 }, (device) => {
  cuda.selectDevice(device);
  for (let seed = FIRST; seed < FIRST + PROGRAMS; seed++) {
    const p = generateLibrary(seed);
    const what = `seed ${seed}, ${p.theme}:\n${p.text}`;
    let found: State;
    try {
      found = onDevice(seed, p.text);
    } catch (error) {
      throw new Error(what, { cause: error });
    }
    const expected = onHost(seed, p);
    for (const name of ['o', 'ci', 'cu', 'cf', 'ch', 'cb', 'total', 'p', 'q'] as const) {
      expect(found[name], `${name} of ${what}`).toEqual(expected[name]);
    }
    for (const [name, unit] of [
      ['d', 'D'],
      ['e', 's'],
      ['t', 'm'],
    ] as const) {
      expect(found[name], `${name} of ${what}`).toEqual(countsOf(expected[name], unit));
    }
    expected.z.forEach((value, k) => {
      const { name, single } = p.calls[k % RESULTS] ?? { name: 'none', single: false };
      const result = found.z[k] ?? Number.NaN;
      expect(isClose(result, value, name, single), `${name}, ${result} for ${value}, of ${what}`).toBe(true);
    });
  }
});
