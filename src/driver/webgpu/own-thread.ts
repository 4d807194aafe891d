/**
 * The device in a thread of its own, for programs that wait: those of Node.js.
 */
import type { Abilities } from '../../compiler/render/wgsl/module.ts';
import { findNodeModule } from '../../host/index.ts';
import { whyNoThreads } from '../../host/threads.ts';
import type { DeviceInfo } from '../driver.ts';
import type { GpuLimits } from './api.ts';
import { dawnPath } from './door.ts';
import { RemoteDevice } from './remote.ts';
import { WaitingWebGpuDriver } from './waiting.ts';

/** What is made of a device. */
export interface Opening {
  describe(device: RemoteDevice): DeviceInfo;
  /** What it can do. Rejects with why it must not be used. */
  examine(device: RemoteDevice): PromiseLike<Abilities>;
  /** What is thrown where there is no adapter. */
  none(): Error;
  /** What is thrown where it cannot be opened. */
  refused(cause: unknown): Error;
}

/** Opens it. Undefined where there are no threads; throws where there is no adapter, or one that must not be used. */
export function openWaiting(
  limits: readonly (keyof GpuLimits)[],
  features: readonly string[],
  { describe, examine, none, refused }: Opening,
): WaitingWebGpuDriver | undefined {
  if (findNodeModule('node:worker_threads') === undefined || whyNoThreads() !== undefined) return undefined;
  let device: RemoteDevice | undefined;
  try {
    device = RemoteDevice.open({ path: dawnPath(), limits, features });
  } catch (cause) {
    throw refused(cause);
  }
  if (device === undefined) throw none();
  try {
    return new WaitingWebGpuDriver(device, describe(device), device.waitFor(examine(device)));
  } catch (error) {
    device.destroy();
    throw error;
  }
}
