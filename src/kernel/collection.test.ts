import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { beforeEach, expect, it } from 'vitest';
import { InterpretingDriver } from '../../test/support/interpreting-driver.ts';
import { deviceArray, jit } from '../cuda/host.ts';
import { f32 } from '../dtype/index.ts';
import { Context } from '../memory/context.ts';
import { cudaDevices } from '../memory/devices.ts';
import type { Configured } from './kernel-types.ts';
import type { Vec } from './types.ts';

let driver: InterpretingDriver;
let context: Context;
beforeEach(() => {
  driver = new InterpretingDriver();
  context = new Context(driver);
  cudaDevices.enter(context);
});

/** Collects garbage and lets finalisers run. */
async function collect(): Promise<void> {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  for (let i = 0; i < 5; i++) {
    gc();
    await new Promise((done) => setTimeout(done, 5));
  }
  context.resourceDeallocations.clear();
}

/** In a function of its own, so that no register or stack slot keeps the kernel. */
function makeAndLaunch(keep: (configured: Configured<[Vec<f32>]>) => void): void {
  const kernel = jit((a: Vec<f32>) => {
    a[0] = 1;
  });
  kernel.launch({ threads: 1 }, deviceArray(1, f32));
  keep(kernel.configure(1, 1));
}

it('the code of a kernel that was dropped is unloaded', async () => {
  for (let i = 0; i < 10; i++) makeAndLaunch(() => undefined);
  await collect();
  expect(driver.unloaded).toBeGreaterThanOrEqual(9);
});

it('a configured launch keeps the kernel’s code', async () => {
  const kept: Configured<[Vec<f32>]>[] = [];
  for (let i = 0; i < 10; i++) makeAndLaunch((configured) => kept.push(configured));
  await collect();
  expect(driver.unloaded).toBe(0);
  const d = deviceArray(1, f32);
  for (const launch of kept) launch(d);
  expect([driver.programs.length, d.get(0)]).toEqual([10, 1]);
});
