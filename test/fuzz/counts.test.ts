/**
 * Random counters in global memory on two threads, and that most of them are changed in copies.
 */
import { expect, it } from 'vitest';
import type { Kernel } from '../../src/compiler/ir/ops.ts';
import { ownCopiesOf } from '../../src/compiler/render/wasm/own-copies.ts';
import { wasmPipeline } from '../../src/driver/cpu/compile.ts';
import { openCpu } from '../../src/driver/cpu/index.ts';
import { generateCounts } from './count-programs.ts';
import { check } from './devices.ts';
import { printProgram } from './print.ts';

const PROGRAMS = Number(process.env['FUZZ_COUNTS'] ?? 120);

it('do the same as in the evaluator, in copies', { timeout: 300_000 }, () => {
  let [copied, compiled] = [0, 0];
  const pipeline = {
    prepare: wasmPipeline.prepare,
    compile: (kernel: Kernel, variant: Parameters<typeof wasmPipeline.compile>[1]) => {
      if (variant.concurrent) {
        compiled++;
        if (ownCopiesOf(kernel, variant) !== undefined) copied++;
      }
      return wasmPipeline.compile(kernel, variant);
    },
  };
  const open = (lanes: 1 | 4): ReturnType<typeof openCpu> =>
    openCpu({ lanes, threads: 2, alwaysParallel: true, quick: false, scalarFirst: false, pipeline });
  const devices = new Map([
    ['vectors', open(4)],
    ['scalar', open(1)],
  ]);
  for (let seed = 1; seed <= PROGRAMS; seed++) {
    const p = generateCounts(seed);
    const failure = check(p, devices);
    const what = `seed ${seed}, ${failure?.device}, block ${p.block}:\n${printProgram(p)}\n${failure?.what}`;
    expect(failure, what).toBeUndefined();
  }
  for (const device of devices.values()) device.close();
  if (process.env['FUZZ_COUNTS'] !== undefined) console.log({ PROGRAMS, compiled, copied });
  expect(compiled).toBeGreaterThan(PROGRAMS);
  expect(copied).toBeGreaterThan(compiled / 2);
});
