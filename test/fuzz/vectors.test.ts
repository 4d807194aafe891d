/**
 * Random programs over vectors, against what their generator says that they mean. FUZZ_VECTORS=1000 and FUZZ_FROM=1 say which.
 */
import { afterAll, expect, it } from 'vitest';
import * as library from '../../src/index.ts';
import { Random } from './random.ts';
import { generateVectors, type Lane, type Lanes, VECTOR_TYPES } from './vector-programs.ts';

const { cuda, ndarray } = library;
const TOKENS = library as unknown as Readonly<Record<string, typeof library.f32x4>>;
const PROGRAMS = Number(process.env['FUZZ_VECTORS'] ?? 19);
const FIRST = Number(process.env['FUZZ_FROM'] ?? 1);
const THREADS = 6;
const NAMES = ['x', 'y', 'z', 'w'] as const;

afterAll(() => cuda.selectDevice('cpu'));

it.each(['cpu', 'simulator'] as const)('mean the same on the device %s', { timeout: 1_200_000 }, (device) => {
  cuda.selectDevice(device);
  for (let seed = FIRST; seed < FIRST + PROGRAMS; seed++) {
    const type = VECTOR_TYPES[seed % VECTOR_TYPES.length];
    if (type === undefined) throw new Error('no type');
    const { lanes, name } = type;
    const r = new Random(seed);
    const number = (r: Random): number | bigint =>
      type.wide ? BigInt(r.below(41) - 20) << BigInt(r.pick([0, 0, 30, 58])) : r.below(41) - 20;
    const vectors = (): Lanes[] =>
      Array.from({ length: 2 * THREADS }, () => Array.from({ length: lanes }, () => type.round(number(r) as never)));
    const [p, q] = [vectors(), vectors()];
    const program = generateVectors(seed, type);
    const body = `(p, q) => {\nconst i = cuda.grid(1);\nif (i >= ${THREADS}) return;\n${program.text}\n}`;
    const token = TOKENS[name];
    if (token === undefined) throw new Error(`no type ${name}`);
    const kernel = cuda.jit(new Function('cuda', name, `return ${body}`)(cuda, token) as (...a: unknown[]) => void);
    const elements = p.map((v) => Object.fromEntries(v.map((x, k) => [NAMES[k], x]))) as never[];
    const own = cuda.toDevice(ndarray(elements, { dtype: token }));
    const plain = cuda.toDevice(ndarray(q.flat(), { dtype: token.lane as typeof library.f32 }));
    try {
      kernel.launch({ grid: 1, block: 8 }, own, plain);
    } catch (error) {
      throw new Error(`seed ${seed}, ${name}:\n${body}`, { cause: error });
    }
    for (let i = 0; i < THREADS; i++) {
      const [a, b] = [p.slice(2 * i, 2 * i + 2), q.slice(2 * i, 2 * i + 2)];
      program.run(a, b, i);
      p.splice(2 * i, 2, ...a);
      q.splice(2 * i, 2, ...b);
    }
    const found = (own.copyToHost() as unknown as { toArray(): Record<string, Lane>[] }).toArray();
    const what = `seed ${seed}, ${name}:\n${body}`;
    const signless = (list: Lanes[]): Lane[] => list.flat().map((x) => (typeof x === 'bigint' ? x : x + 0));
    expect(signless(found.map((v) => NAMES.slice(0, lanes).map((k) => v[k] ?? 0))), what).toEqual(signless(p));
    const stored = plain.copyToHost() as unknown as { toArray?(): Lane[] };
    const numbers = stored.toArray?.() ?? Array.from(stored as unknown as Float32Array);
    expect(signless([numbers]), what).toEqual(signless(q));
  }
});
