/**
 * Runs tests on a device of their own: the context becomes the current one, and is closed afterwards.
 */
import { afterEach, beforeEach } from 'vitest';
import { openCpu } from '../../src/driver/cpu/index.ts';
import type { BlockingDriver, DeviceDriver } from '../../src/driver/driver.ts';
import { Context } from '../../src/memory/context.ts';
import { cudaDevices } from '../../src/memory/devices.ts';
import { BlockDriver } from './block-driver.ts';
import { QueueingDriver } from './queueing-driver.ts';

/** The device of the test that is running. */
export interface TestDevice<D extends DeviceDriver> {
  readonly driver: D;
  readonly context: Context;
}

function freshDevice<D extends DeviceDriver>(open: () => D): TestDevice<D> {
  const holder: { driver?: D; context?: Context } = {};
  let leave: (() => void) | undefined;
  beforeEach(() => {
    holder.driver = open();
    holder.context = new Context(holder.driver);
    leave = cudaDevices.enter(holder.context);
  });
  afterEach(() => {
    leave?.();
    holder.context?.close();
  });
  // Read inside tests only, where both are there.
  return holder as TestDevice<D>;
}

/** A device that works at once and checks every address, fresh for each test. */
export function freshBlockDevice(totalMemory?: number): TestDevice<BlockDriver> {
  return freshDevice(() => new BlockDriver(totalMemory));
}

/** A device that works late, fresh for each test. */
export function freshQueueingDevice(
  totalMemory?: number,
  options?: { readonly cuda?: boolean },
): TestDevice<QueueingDriver> {
  return freshDevice(() => new QueueingDriver(totalMemory, options));
}

/** The CPU device itself, fresh for each test. */
export function freshCpuDevice(): TestDevice<BlockingDriver> {
  return freshDevice(() => openCpu({ threads: 1 }));
}
