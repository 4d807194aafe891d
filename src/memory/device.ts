/**
 * A device as users see it: what `currentDevice()`, `selectDevice()`, `cuda.gpus` and `roc.agents` give, in every namespace.
 */
import type { DeviceInfo, DeviceKind, DeviceLimits, HardwareInfo } from '../driver/driver.ts';
import { freezeData } from '../guarded.ts';
import { checkBody, contextManager, exitAfter, type Leavable } from './context-manager.ts';

/** A device as users see it. Numba: what `cuda.gpus` has and `get_current_device()` gives; the `Agent` of `roc`. */
export interface Device {
  /** What kind of device it is: `'cpu'`, `'nvidia'`, …. */
  readonly kind: DeviceKind;
  /** The name that the driver gives the hardware. */
  readonly name: string;
  /** Number among the devices of its kind. */
  readonly index: number;
  /** What it is: `'gpu'`, `'cpu'` or `'other'`. */
  readonly type: HardwareInfo['type'];
  /** Who made the hardware. */
  readonly vendor: HardwareInfo['vendor'];
  /** `[9, 0]` on NVIDIA; undefined elsewhere. */
  readonly computeCapability: readonly [number, number] | undefined;
  /** What launches are checked against. */
  readonly limits: DeviceLimits;
  /** Why this device was taken and not the one that is usually meant; undefined if it is that, or was asked for by name. */
  readonly fallbackReason: string | undefined;
  /**
   * What Tsamba's code goes around on this device, because its compiler was found to get it wrong when it was opened: `[]` for nothing, as
   * for devices that are not open.
   */
  readonly workarounds: readonly string[];
  /** `GPU-` and 32 hexadecimal digits; undefined for devices without one. */
  readonly uuid: string | undefined;
  /** `0000:3b:00.0`; undefined for devices without one. */
  readonly pciBusId: string | undefined;
  /** The newest version that the hardware's driver supports, `CUDA 13.0`; undefined where there is no such driver. */
  readonly driverVersion: string | undefined;
  /**
   * Makes this the current device of the namespace that it was got from, until the result is disposed of, or until `body`, sync or async, is
   * done; also when it throws. The one that was current then is again. Numba: `with cuda.gpus[i]:`.
   */
  activate(): Leavable;
  activate<R>(body: () => R): R;
}

/** The user's view of a device. `enter` makes it current, and gives what ends that. */
export function describeDevice(info: DeviceInfo, fallbackReason: string | undefined, enter: () => () => void): Device {
  const { kind, name, index, computeCapability, limits, uuid, pciBusId, driverVersion } = freezeData(info);
  const { type, vendor } = hardwareOf(info);
  const activate = <R>(body?: () => R): Leavable | R => {
    if (body !== undefined) checkBody('activate', body);
    const leave = enter();
    return body === undefined ? contextManager(leave) : exitAfter(leave, body);
  };
  return Object.freeze({
    kind,
    name,
    index,
    type,
    vendor,
    computeCapability,
    limits,
    fallbackReason,
    workarounds: Object.freeze([...(info.workarounds ?? [])]),
    uuid,
    pciBusId,
    driverVersion,
    activate: activate as Device['activate'],
  });
}

/** What stands behind a device. */
export function hardwareOf({ kind, hardware }: DeviceInfo): HardwareInfo {
  return hardware ?? (kind === 'nvidia' ? { type: 'gpu', vendor: 'nvidia' } : { type: 'cpu', vendor: 'other' });
}
