/**
 * Random programs in all forms of TypeScript, against what the same text gives when JavaScript runs it. A program may be refused where a copy would be needed
 * that JavaScript has not (K240, K245), of what is a tuple on some paths only (K222) or may be missing (K319); it never means something else. FUZZ_SYNTAX=1000 and FUZZ_FROM=1 say which.
 */
import { afterAll, expect, it } from 'vitest';
import { cuda } from '../../src/index.ts';
import { generateSyntax } from './syntax-programs.ts';

const PROGRAMS = Number(process.env['FUZZ_SYNTAX'] ?? 8);
const FIRST = Number(process.env['FUZZ_FROM'] ?? 1);
const THREADS = 5;
const REFUSALS = /^(?:K221|K222|K240|K245|K319)$/;

afterAll(() => cuda.selectDevice('cpu'));

type Run = (i: number, v: number, options: unknown, mode: string) => number;

it.each(['cpu', 'simulator'] as const)('mean the same on the device %s', { timeout: 1_200_000 }, (device) => {
  cuda.selectDevice(device);
  const refused = new Map<string, number[]>();
  let ran = 0;
  for (let seed = FIRST; seed < FIRST + PROGRAMS; seed++) {
    const { text, options, mode } = generateSyntax(seed);
    const host = new Function(`return (i, v, options, mode) => {\n${text}\nreturn s;\n}`)() as Run;
    const body = `(o_, x_, options, mode) => {\nconst i = cuda.grid(1);\nif (i >= ${THREADS}) return;\nconst v = x_[i];\n${text}\no_[i] = s;\n}`;
    const kernel = cuda.jit(new Function('cuda', `return ${body}`)(cuda) as (...a: unknown[]) => void);
    const x = Int32Array.from({ length: THREADS }, (_, k) => (k * 37 + seed) % 64);
    const o = cuda.deviceArray(THREADS, 'int32');
    const what = `seed ${seed}, ${JSON.stringify(options)}, ${mode}:\n${body}`;
    try {
      kernel.launch({ grid: 1, block: 8 }, o, cuda.toDevice(x), options, mode);
    } catch (error) {
      const code = (error as { code?: string }).code ?? '';
      if (!REFUSALS.test(code) && process.env['FUZZ_ALL'] === undefined) throw new Error(what, { cause: error });
      refused.set(String(error), [...(refused.get(String(error)) ?? []), seed]);
      continue;
    }
    ran++;
    const expected = Array.from(x, (v, i) => host(i, v, options, mode));
    expect(Array.from(o.copyToHost()), what).toEqual(expected);
  }
  if (process.env['FUZZ_ALL'] !== undefined) console.log(ran, refused);
  expect(ran, 'programs that ran').toBeGreaterThan(PROGRAMS / 2);
});
