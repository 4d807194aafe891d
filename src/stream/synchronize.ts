/**
 * `synchronizeAsync()` of a namespace.
 */
import { hostFunction } from '../compiler/intrinsics.ts';
import type { DeviceSelection } from '../memory/device-selection.ts';
import { done } from './waiting.ts';

export function synchronizeAsyncOf(devices: DeviceSelection): () => Promise<void> {
  return hostFunction(devices, 'synchronizeAsync', async () => {
    const context = devices.currentContext();
    context.checkOpen();
    context.counters.synchronizations++;
    await context.turns.afterThem();
    await done(context, undefined);
  });
}
