/**
 * Random prefix sums and counters of blocks, and that most of them are one pass, or in registers.
 */
import { expect, it } from 'vitest';
import { observingPasses } from '../../src/compiler/ir/passes/pipeline.ts';
import { wasmPipeline } from '../../src/driver/cpu/compile.ts';
import { check, type DeviceName, openDevice } from './devices.ts';
import { generateLadders } from './ladder-programs.ts';
import { printProgram } from './print.ts';

const PROGRAMS = Number(process.env['FUZZ_LADDERS'] ?? 60);
const DEVICES: readonly DeviceName[] = ['cpu', 'threads', 'scalar', 'simulator'];
/** i32x4.neg: what is -1 in lanes that count. Nothing else in these programs is negated. */
const COUNT = [0xfd, 0xa1, 0x01];

it('do the same as in the evaluator, in one pass and in registers', { timeout: 300_000 }, () => {
  let [whole, ofTrees, byFours, counted] = [0, 0, 0, 0];
  const devices = new Map(
    DEVICES.map((name) => [
      name as string,
      openDevice(name, (_, kernel, block, lanes) => {
        if (name !== 'cpu' || lanes === 1) return;
        const variant = { block, lanes: 4, concurrent: false, memory64: false } as const;
        const { bytes } = wasmPipeline.compile(kernel, variant);
        if (bytes.some((_, k) => COUNT.every((b, j) => bytes[k + j] === b))) counted++;
      }),
    ]),
  );
  let ladders = 0;
  for (let seed = 1; seed <= PROGRAMS; seed++) {
    const p = generateLadders(seed);
    let [recognised, trees, fours] = [false, false, false];
    const failure = observingPasses(
      ({ name, before, after }) => {
        recognised ||= (name === 'recognise ladders' || name === 'recognise scans') && before !== after;
        trees ||= name === 'recognise scans' && before !== after;
        fours ||= name === 'recognise scans' && after.arrays.some((a) => a.name === '%sums');
      },
      () => check(p, devices),
    );
    const what = `seed ${seed}, ${failure?.device}, block ${p.block}:\n${printProgram(p)}\n${failure?.what}`;
    expect(failure, what).toBeUndefined();
    if (recognised) whole++;
    if (trees && printProgram(p).includes('>>=')) ofTrees++;
    if (fours) byFours++;
    if (printProgram(p).includes('<<=')) ladders++;
  }
  for (const device of devices.values()) device.close();
  expect(ladders).toBeGreaterThan(PROGRAMS / 2);
  expect(whole).toBeGreaterThan(ladders / 2);
  expect(ofTrees).toBeGreaterThan(PROGRAMS / 8);
  expect(byFours).toBeGreaterThan(PROGRAMS / 40);
  expect(counted).toBeGreaterThan(PROGRAMS / 8);
  if (process.env['FUZZ_LADDERS'] !== undefined) console.log({ PROGRAMS, ladders, whole, ofTrees, byFours, counted });
});
