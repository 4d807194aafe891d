/**
 * The kinds of devices that there are: one provider each, which finds the devices of its kind and opens them.
 *
 * A provider finds out what there is when it is first asked, and not when it is imported: importing Tsamba loads neither an
 * FFI nor a driver's library.
 */
import type { DeviceDriver, DeviceKind, DriverProvider, OfflineCode } from '../driver/driver.ts';
import { cannotWait } from './blocking.ts';
import { PROVIDERS } from './provider-list.ts';

const NO_DRIVER = 'this version of Tsamba has no driver for it';

const providers = new Map<DeviceKind, DriverProvider>(PROVIDERS.map((provider) => [provider.kind, provider]));

/** What a kind of device says of itself. */
export interface Found {
  readonly provider: DriverProvider | undefined;
  readonly count: number;
  /** Why there is none. */
  readonly reason: string | undefined;
}

/** Makes a kind of device known; the last one given for a kind holds, for devices that have not been opened yet. */
export function registerProvider(provider: DriverProvider): void {
  providers.set(provider.kind, provider);
}

/** How many devices of a kind there are, and why there is none. Never throws. */
export function probe(kind: DeviceKind): Found {
  const provider = providers.get(kind);
  if (provider === undefined) return { provider, count: 0, reason: NO_DRIVER };
  const { count, reason } = provider.probe();
  if (count > 0) return { provider, count, reason: undefined };
  return { provider, count: 0, reason: reason ?? 'the driver finds no device' };
}

/** Whether a kind may have GPUs here, asked before anything is loaded. */
export function mayHaveGpu(kind: DeviceKind): boolean {
  const provider = providers.get(kind);
  return provider !== undefined && (provider.mayHaveGpu?.() ?? true);
}

/** Code that can be had without a device, of all kinds. */
export function offlineCode(): readonly OfflineCode[] {
  return [...providers.values()].flatMap(({ offline = [] }) => offline);
}

/** Opens a device for a call that cannot wait. Throws NotSupportedError where it opens by a promise: `instead` waits for that. */
export function openAtOnce(provider: DriverProvider, index: number, asked: string, instead: string): DeviceDriver {
  const now = provider.openNow?.(index);
  if (now !== undefined) return now;
  const opened = provider.open(index);
  if (!(opened instanceof Promise)) return opened;
  opened.then(
    (driver) => driver.close(),
    () => undefined,
  );
  throw cannotWait(`${asked}: a ${provider.kind} device cannot be opened at once`, instead);
}

/** The kinds that have a provider. */
export function knownKinds(): readonly DeviceKind[] {
  return [...providers.keys()];
}
