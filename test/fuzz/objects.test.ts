/**
 * Random programs over objects and arrays of the kernel, against what the same text gives when JavaScript runs it. A program may be refused, where
 * a copy would be needed that JavaScript has not (K240, K245) or identity is not known (K221); it never means something else.
 */
import { afterAll, expect, it } from 'vitest';
import { cuda } from '../../src/index.ts';
import { generateObjects } from './object-programs.ts';

const PROGRAMS = Number(process.env['FUZZ_OBJECTS'] ?? 24);
const FIRST = Number(process.env['FUZZ_FROM'] ?? 1);
const THREADS = 5;
const REFUSALS = /^(?:K221|K240|K245)$/;

afterAll(() => cuda.selectDevice('cpu'));

type Run = (i: number, v: number) => number;

it.each(['cpu', 'simulator'] as const)('mean the same on the device %s', { timeout: 300_000 }, (device) => {
  cuda.selectDevice(device);
  let ran = 0;
  for (let seed = FIRST; seed < FIRST + PROGRAMS; seed++) {
    const { helper, body } = generateObjects(seed);
    const host = new Function(`${helper}\nreturn (i, v) => {\n${body}\nreturn s;\n}`)() as Run;
    const text = `(o, x) => {\nconst i = cuda.grid(1);\nif (i >= ${THREADS}) return;\nconst v = x[i];\n${helper}\n${body}\no[i] = s;\n}`;
    const kernel = cuda.jit(new Function('cuda', `return ${text}`)(cuda) as (...a: unknown[]) => void, {
      maxRecursion: 5,
    });
    const x = Int32Array.from({ length: THREADS }, (_, k) => (k * 37 + seed) % 64);
    const o = cuda.deviceArray(THREADS, 'int32');
    try {
      kernel.launch({ grid: 1, block: 8 }, o, cuda.toDevice(x));
    } catch (error) {
      if (REFUSALS.test((error as { code?: string }).code ?? '')) continue;
      throw new Error(`seed ${seed}:\n${text}`, { cause: error });
    }
    ran++;
    const expected = Int32Array.from(x, (v, i) => host(i, v));
    expect(Array.from(o.copyToHost()), `seed ${seed}:\n${text}`).toEqual(Array.from(expected));
  }
  expect(ran, 'programs that ran').toBeGreaterThan(PROGRAMS / 2);
});
