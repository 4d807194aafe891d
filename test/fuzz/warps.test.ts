/**
 * Random programs whose lanes exchange values, and that the CPU device does so in registers where warps are vectors.
 */
import { expect, it } from 'vitest';
import type { Kernel } from '../../src/compiler/ir/ops.ts';
import { eachStmt } from '../../src/compiler/ir/passes/walk.ts';
import { withAllLanes } from '../../src/compiler/ir/passes/warps.testing.ts';
import { hasExchange, lowerWarps } from '../../src/compiler/ir/passes/warps.ts';
import { renderWasm } from '../../src/compiler/render/wasm/render.ts';
import { disassemble } from '../../src/driver/cpu/disassemble.ts';
import type { BlockingDriver } from '../../src/driver/driver.ts';
import { check, openDevice } from './devices.ts';
import { printProgram } from './print.ts';
import { Discarded } from './verdicts.ts';
import { generateWarps } from './warp-programs.ts';

const PROGRAMS = Number(process.env.FUZZ_WARPS ?? 40);
/** What is made of shuffles, of votes and of values in memory. */
const EXPECTED = ['i8x16.shuffle', 'i8x16.bitmask', 'i32x4.bitmask', 'v128.load32_lane', 'i64x2.eq'];

/** The simulator as a device with warps: it is left the exchanges to which whole warps come, and stops where a lane is missing. */
function openWarps(block: readonly [number, number], note: (kept: number, of: number) => void): BlockingDriver {
  const device = openDevice('simulator');
  const load = device.load.bind(device);
  device.load = (program) => {
    const { kernel } = program;
    const lowered = lowerWarps(kernel, [...block, 1]).kernel ?? kernel;
    note(exchangesIn(lowered), exchangesIn(kernel));
    return load({ ...program, kernel: withAllLanes(lowered) });
  };
  return device;
}

function exchangesIn({ body }: Kernel): number {
  let found = 0;
  eachStmt(body, (s) => {
    if (s.op === 'warp') found++;
  });
  return found;
}

it('do the same where whole warps exchange by themselves', { timeout: 300_000 }, () => {
  let [kept, all] = [0, 0];
  for (let seed = 1; seed <= PROGRAMS; seed++) {
    const p = generateWarps(seed);
    const device = openWarps(p.block, (some, of) => {
      kept += some;
      all += of;
    });
    try {
      const failure = check(p, new Map([['warps', device]]));
      expect(failure?.what, `seed ${seed}, block ${p.block}:\n${printProgram(p)}`).toBeUndefined();
    } catch (error) {
      if (!(error instanceof Discarded)) throw error;
    } finally {
      device.close();
    }
  }
  expect(kept).toBeGreaterThan(all / 5);
  expect(kept).toBeLessThan(all);
});

it('do the same as in the evaluator, in registers', { timeout: 300_000 }, () => {
  const seen = new Map<string, number>();
  const cpu = openDevice('cpu', (_, kernel, block, lanes) => {
    if (lanes === 1) return;
    const note = (name: string): void => void seen.set(name, (seen.get(name) ?? 0) + 1);
    note(hasExchange(kernel) ? 'in registers' : 'through memory');
    const { bytes } = renderWasm(kernel, { block, lanes: 4, concurrent: false, memory64: false });
    for (const [name] of disassemble(bytes).matchAll(/[iv]\d+(x\d+)?\.\w+/g)) note(name);
  });
  // Thread by thread, the simulator takes its time.
  const few = new Map([
    ['cpu', cpu],
    ['scalar', openDevice('scalar')],
    ['simulator', openDevice('simulator')],
  ]);
  const one = new Map([['cpu', cpu]]);
  let discarded = 0;
  for (let seed = 1; seed <= PROGRAMS; seed++) {
    const p = generateWarps(seed);
    try {
      const failure = check(p, seed % 4 === 0 ? few : one);
      expect(
        failure,
        `seed ${seed}, block ${p.block}, on ${failure?.device}:\n${printProgram(p)}\n${failure?.what}`,
      ).toBeUndefined();
    } catch (error) {
      if (!(error instanceof Discarded)) throw error;
      discarded++;
    }
  }
  for (const device of few.values()) device.close();
  expect(discarded).toBeLessThan(PROGRAMS / 8);
  expect([...EXPECTED, 'in registers', 'through memory'].filter((name) => !seen.has(name))).toEqual([]);
});
