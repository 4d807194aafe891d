/**
 * Random calls of functions of integers, of parts and bits of floats, and of floats of 16 bits, against their definitions. FUZZ_CALLS=1000 and FUZZ_FROM=1
 * say which.
 */
import { afterAll, expect, it } from 'vitest';
import { bf16, cuda, f16, f32, f64, i32, i64, ndarray, u32, u64 } from '../../src/index.ts';
import { CALL_TYPES, type CallType, generateCalls, OWN } from './call-programs.ts';
import { ROWS, Unspecified } from './call-reference.ts';
import type { Val } from './program.ts';
import { Random, randomValue } from './random.ts';

const PROGRAMS = Number(process.env['FUZZ_CALLS'] ?? 12);
const FIRST = Number(process.env['FUZZ_FROM'] ?? 1);
const THREADS = 5;
const TOKENS = { i32, u32, i64, u64, f32, f64, f16, bf16 } as const;

afterAll(() => cuda.selectDevice('cpu'));

/** Random values of a type, and zeros for results. */
function upload(t: CallType, values: readonly Val[]) {
  return cuda.toDevice(ndarray(values as number[], { dtype: TOKENS[t] as typeof f32 }));
}

function show(v: Val | undefined): string {
  return Object.is(v, -0) ? '-0' : String(v);
}

it.each(['cpu', 'simulator'] as const)('mean the same on the device %s', { timeout: 1_200_000 }, (device) => {
  cuda.selectDevice(device);
  const called = new Set<unknown>();
  for (let seed = FIRST; seed < FIRST + PROGRAMS; seed++) {
    const program = generateCalls(seed);
    for (const row of program.rows) called.add(row);
    const r = new Random(seed);
    const inputs = CALL_TYPES.map((t) => Array.from({ length: OWN * THREADS }, () => randomValue(r, t)));
    const names = [...CALL_TYPES.map((t) => `${t}s`), ...CALL_TYPES.map((t) => `${t}o`)];
    const body = `(${names.join(', ')}) => {\nconst i = cuda.grid(1);\nif (i >= ${THREADS}) return;\n${program.text}\n}`;
    const make = new Function('cuda', ...CALL_TYPES, `return ${body}`);
    const kernel = cuda.jit(make(cuda, ...CALL_TYPES.map((t) => TOKENS[t])) as (...a: unknown[]) => void);
    const outputs = CALL_TYPES.map((t) => cuda.deviceArray(OWN * THREADS, TOKENS[t] as typeof f32));
    const what = `seed ${seed}:\n${body}`;
    try {
      kernel.launch({ grid: 1, block: 8 }, ...CALL_TYPES.map((t, k) => upload(t, inputs[k] ?? [])), ...outputs);
    } catch (error) {
      throw new Error(what, { cause: error });
    }
    const found = outputs.map((o) => o.copyToHost() as unknown as { toArray?(): Val[] });
    for (const { t, at, value } of program.results) {
      const list = found[CALL_TYPES.indexOf(t)];
      const own = list?.toArray?.() ?? Array.from(list as unknown as ArrayLike<Val>);
      for (let i = 0; i < THREADS; i++) {
        const arrays = Object.fromEntries(
          CALL_TYPES.map((of, k) => [of, inputs[k]?.slice(OWN * i, OWN * i + OWN) ?? []]),
        );
        let expected: Val;
        try {
          expected = value(program.begin(arrays));
        } catch (error) {
          if (error instanceof Unspecified) continue;
          throw error;
        }
        if (!Object.is(own[OWN * i + at], expected))
          expect(show(own[OWN * i + at]), `${t}o[${OWN * i + at}] of ${what}`).toBe(show(expected));
      }
    }
  }
  if (PROGRAMS >= 20) expect(called.size).toBeGreaterThan(ROWS.length / 2);
});
