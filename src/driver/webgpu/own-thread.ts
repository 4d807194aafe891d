/**
 * The device in a thread of its own, for programs that wait: those of Node.js.
 */
import { findNodeModule } from '../../host/index.ts';
import { whyNoThreads } from '../../host/threads.ts';
import type { DeviceInfo } from '../driver.ts';
import { dawnPath, type GpuLimits } from './api.ts';
import { RemoteDevice } from './remote.ts';
import { WaitingWebGpuDriver } from './waiting.ts';

/** Opens it. Undefined where there are no threads; throws what `none` gives where there is no adapter. */
export function openWaiting(
  limits: readonly (keyof GpuLimits)[],
  features: readonly string[],
  describe: (device: RemoteDevice) => DeviceInfo,
  none: () => Error,
): WaitingWebGpuDriver | undefined {
  if (findNodeModule('node:worker_threads') === undefined || whyNoThreads() !== undefined) return undefined;
  const device = RemoteDevice.open({ path: dawnPath(), limits, features });
  if (device === undefined) throw none();
  return new WaitingWebGpuDriver(device, describe(device));
}
