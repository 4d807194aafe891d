import { describe, expect, it } from 'vitest';
import { outcome, randomSample } from '../../compiler/ir/testing.ts';
import { verify } from '../../compiler/ir/verify.ts';
import { INPUT, ROW, randomKernel } from '../../compiler/render/wasm/programs.testing.ts';
import { prepare } from './compile.ts';

describe('the passes before PTX', () => {
  it('change nothing that a kernel does', () => {
    for (let seed = 200; seed < 225; seed++) {
      const sample = randomSample(seed);
      const kernel = prepare(sample.kernel, { capability: 90, isa: [8, 0] });
      verify(kernel);
      expect(outcome(sample, kernel), sample.name).toBe(outcome(sample));
    }
  });

  it('nor unchecked programs with loops, jumps and barriers', () => {
    const threads = 16;
    for (let seed = 0; seed < 30; seed++) {
      const source = { ...randomKernel(seed, { barriers: seed % 2 === 0, wide: true, threads }), checked: false };
      const words = threads * ROW;
      const memory = new Uint8Array(4 * (words + INPUT));
      new Int32Array(memory.buffer).set(
        Array.from({ length: INPUT }, (_, i) => ((i * 7919) % 100) - 30),
        words,
      );
      const launch = { grid: [1, 1, 1], block: [threads, 1, 1] } as const;
      const sample = {
        name: `program ${seed}`,
        kernel: source,
        launch,
        args: [0, words * 4, seed % 9, INPUT, words],
        memory,
      };
      const kernel = prepare(source, { capability: 90, isa: [8, 0] });
      verify(kernel);
      expect(outcome(sample, kernel), sample.name).toBe(outcome(sample));
    }
  });
});
