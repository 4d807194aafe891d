/**
 * What a namespace says and does about devices: `currentContext`, `currentDevice`, `selectDevice`, `open`, `close`, `closeAsync`,
 * `synchronize`, `memoryStats` and `deferCleanup`, each made for the devices of one.
 */
import { hostFunction } from '../compiler/intrinsics.ts';
import type { DeviceKind } from '../driver/driver.ts';
import { type Profile, type ProfileOptions, profile } from '../profile/profile.ts';
import type { Context } from './context.ts';
import { checkBody, contextManager, exitAfter, type Leavable } from './context-manager.ts';
import type { Device } from './device.ts';
import type { DeviceSelection } from './device-selection.ts';
import { refuseRecording } from './recording.ts';
import type { MemoryStats } from './stats.ts';

/** What `selectDevice` takes: a kind of device, or a number, which is that of an NVIDIA GPU for `cuda` and of an agent for `roc`. */
export type DeviceChoice = number | DeviceKind;

/** Makes a device the current one: a number, or a kind of device and its number among those (0). */
export interface SelectDevice {
  (choice: DeviceChoice): Device;
  (kind: DeviceKind, index?: number): Device;
}

/** The same by a promise. */
export interface Open {
  (choice: DeviceChoice): Promise<Device>;
  (kind: DeviceKind, index?: number): Promise<Device>;
}

/** Puts off freeing until the result is disposed of, or until the body is done. */
export interface DeferCleanup {
  (): Leavable;
  <R>(body: () => R): R;
}

export function currentContextOf(devices: DeviceSelection): () => Context {
  return hostFunction(devices, 'currentContext', () => devices.currentContext());
}

export function currentDeviceOf(devices: DeviceSelection): () => Device {
  return hostFunction(devices, 'currentDevice', () => devices.currentDevice());
}

export function selectDeviceOf(devices: DeviceSelection): SelectDevice {
  return hostFunction(devices, 'selectDevice', (choice: unknown, index?: unknown) => devices.select(choice, index));
}

export function openOf(devices: DeviceSelection): Open {
  return hostFunction(devices, 'open', (choice: unknown, index?: unknown) => devices.open(choice, index));
}

export function closeOf(devices: DeviceSelection): () => void {
  return hostFunction(devices, 'close', () => devices.close());
}

export function closeAsyncOf(devices: DeviceSelection): () => Promise<void> {
  return hostFunction(devices, 'closeAsync', () => devices.closeAsync());
}

export function synchronizeOf(devices: DeviceSelection): () => void {
  return hostFunction(devices, 'synchronize', () => devices.currentContext().synchronize());
}

export function memoryStatsOf(devices: DeviceSelection): () => MemoryStats {
  return hostFunction(devices, 'memoryStats', () => devices.currentContext().memoryStats());
}

/** Has a profiler record from here on, or no more. */
export function profileOf(devices: DeviceSelection, name: string, on: boolean): () => void {
  return hostFunction(devices, name, () => devices.currentContext().driver.profile?.(on));
}

/** Runs a body, sync or async, and tells what was done meanwhile. */
export type TakeProfile = <R>(body: () => R, options?: ProfileOptions) => Promise<Profile<Awaited<R>>>;

export function takeProfileOf(devices: DeviceSelection): TakeProfile {
  return hostFunction(devices, 'profile', async (body, options) => {
    refuseRecording('profile()', 'its promise would wait for the work', 'make the graph within a profile');
    return profile(body, options);
  });
}

/** Makes a profiler record until the result is disposed of, or until the body is done. */
export interface Profiling {
  (): Leavable;
  <R>(body: () => R): R;
}

export function profilingOf(devices: DeviceSelection): Profiling {
  const profiling = <R>(body?: () => R): Leavable | R => {
    if (body !== undefined) checkBody('profiling', body);
    const { driver } = devices.currentContext();
    driver.profile?.(true);
    const leave = (): void => driver.profile?.(false);
    return body === undefined ? contextManager(leave) : exitAfter(leave, body);
  };
  return hostFunction(devices, 'profiling', profiling as Profiling);
}

export function deferCleanupOf(devices: DeviceSelection): DeferCleanup {
  const deferCleanup = <R>(body?: () => R): Leavable | R => {
    if (body !== undefined) checkBody('deferCleanup', body);
    const context = devices.currentContext();
    const ends = [context.deallocations.defer(), context.resourceDeallocations.defer()];
    const leave = (): void => {
      for (const end of ends) end();
    };
    return body === undefined ? contextManager(leave) : exitAfter(leave, body);
  };
  return hostFunction(devices, 'deferCleanup', deferCleanup as DeferCleanup);
}
