/**
 * Random moves of records that lie anywhere, and that these go word by word or as vectors of a lane each.
 */
import { expect, it } from 'vitest';
import { renderWasm } from '../../src/compiler/render/wasm/render.ts';
import { disassemble } from '../../src/driver/cpu/disassemble.ts';
import { generateAnywhere } from './anywhere-programs.ts';
import { check, openDevice } from './devices.ts';
import { printProgram } from './print.ts';

const PROGRAMS = Number(process.env['FUZZ_ANYWHERE'] ?? 60);

it('do the same as in the evaluator', { timeout: 300_000 }, () => {
  const seen = new Set<string>();
  const cpu = openDevice('cpu', (_, kernel, block, lanes) => {
    const { bytes } = renderWasm(kernel, { block, lanes: lanes === 1 ? 1 : 4, concurrent: false, memory64: false });
    for (const [name] of disassemble(bytes).matchAll(/v128\.\w+/g)) seen.add(name);
  });
  const devices = new Map([
    ['cpu', cpu],
    ['threads', openDevice('threads')],
  ]);
  for (let seed = 1; seed <= PROGRAMS; seed++) {
    const p = generateAnywhere(seed);
    const failure = check(p, devices);
    expect(failure, `seed ${seed}, block ${p.block}:\n${printProgram(p)}\n${failure?.what}`).toBeUndefined();
  }
  for (const device of devices.values()) device.close();
  for (const name of ['v128.load32_lane', 'v128.load64_zero', 'v128.store64_lane']) expect(seen).toContain(name);
});
