/**
 * Control flow: random programs whose threads part in every way, on block shapes that fit vectors and that do not.
 */
import { describe, it } from 'vitest';
import { check } from './launch.testing.ts';
import { INPUT, ROW, randomKernel } from './programs.testing.ts';

const BLOCKS = [
  [8, 1, 1],
  [16, 2, 1],
  [10, 1, 1],
  [5, 3, 1],
  [3, 4, 1],
  [20, 1, 1],
  [4, 2, 2],
  [67, 1, 1],
  [1, 8, 1],
] as const;

const FIRST = Number(process.env.WASM_SEED ?? 1);
const COUNT = Number(process.env.WASM_PROGRAMS ?? 60);

function runProgram(seed: number, barriers: boolean, wide: boolean): void {
  const block = BLOCKS[seed % BLOCKS.length] ?? [8, 1, 1];
  const threads = block[0] * block[1] * block[2];
  const kernel = randomKernel(seed, { barriers, wide, threads });
  const words = 2 * threads * ROW;
  const image = new Uint8Array(4 * (words + INPUT));
  const view = new Int32Array(image.buffer);
  for (let i = 0; i < INPUT; i++) view[words + i] = Math.imul(i + seed, 2654435761) >> (i % 29);
  check(kernel, { grid: [2, 1, 1], block }, [0, 4 * words, 7, INPUT, words], image, [
    { at: 0, elem: 'i32', length: words },
  ]);
}

describe.each([
  ['without barriers', false, false],
  ['without barriers, 64-bit values', false, true],
  ['with barriers', true, false],
  ['with barriers, 64-bit values', true, true],
] as const)('random programs %s', (_, barriers, wide) => {
  for (let chunk = 0; chunk < COUNT; chunk += 30) {
    it(`${FIRST + chunk} and on`, () => {
      for (let seed = FIRST + chunk; seed < FIRST + Math.min(chunk + 30, COUNT); seed++)
        runProgram(seed, barriers, wide);
    });
  }
});
