/**
 * The devices that are open in this process, one driver each, and how they are opened: at once, or by a promise.
 *
 * Which of them a namespace computes on is `device-selection.ts`; what kinds there are is `providers.ts`.
 */
import { DEVICE_KINDS, type DeviceDriver, type DeviceKind } from '../driver/driver.ts';
import { traced } from '../driver/tracing.ts';
import { NotSupportedError } from '../errors.ts';
import { watchProgram } from '../profile/whole-program.ts';
import { OpenDevice } from './open-device.ts';
import { openAtOnce, probe } from './providers.ts';

/** By kind and number: `nvidia:1`. */
const devices = new Map<string, OpenDevice>();
/** Those that are being opened. */
const opening = new Map<string, Promise<OpenDevice>>();

/** `no OpenCL device (libOpenCL.so.1 was not found)`. */
export function noDevice(kind: DeviceKind): string {
  const { reason } = probe(kind);
  return `no ${DEVICE_KINDS[kind].name}${reason === undefined ? '' : ` (${reason})`}`;
}

/** Throws NotSupportedError unless there is the device; `asked` is who wants it, `instead` what could be had. */
export function checkThere(kind: DeviceKind, index: number, asked: string, instead = ''): void {
  const { count } = probe(kind);
  if (index < count) return;
  const there = count > 0 ? `there are ${count}, numbered from 0` : `there is ${noDevice(kind)}`;
  throw new NotSupportedError('E_NO_DEVICE', `${asked}: ${there}${instead}`);
}

/** Opens a device that `checkThere` has found. Throws NotSupportedError for one that is opened by a promise: `instead` waits for that. */
export function openDevice(kind: DeviceKind, index: number, asked: string, instead: string): OpenDevice {
  return knownDevice(keyOf(kind, index)) ?? keep(kind, index, openAtOnce(providerOf(kind), index, asked, instead));
}

/** The same, for every device. */
export async function openDeviceLater(kind: DeviceKind, index: number): Promise<OpenDevice> {
  const key = keyOf(kind, index);
  const known = knownDevice(key) ?? opening.get(key);
  if (known !== undefined) return known;
  const promise = (async () => keep(kind, index, await providerOf(kind).open(index)))();
  opening.set(key, promise);
  try {
    return await promise;
  } finally {
    opening.delete(key);
  }
}

/** The device that is open. One that is lost is left to those who have it. */
function knownDevice(key: string): OpenDevice | undefined {
  const known = devices.get(key);
  return known?.gone ? undefined : known;
}

function keep(kind: DeviceKind, index: number, driver: DeviceDriver): OpenDevice {
  watchProgram();
  const key = keyOf(kind, index);
  const device = new OpenDevice(traced(driver), (closed) => {
    if (devices.get(key) === closed) devices.delete(key);
  });
  devices.set(key, device);
  return device;
}

function providerOf(kind: DeviceKind): NonNullable<ReturnType<typeof probe>['provider']> {
  const { provider } = probe(kind);
  if (provider === undefined) throw new Error(`internal error: no provider of ${kind} devices`);
  return provider;
}

const keyOf = (kind: DeviceKind, index: number): string => `${kind}:${index}`;
