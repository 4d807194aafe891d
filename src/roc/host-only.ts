/**
 * Tells the compiler which functions of `roc` only the host can call, by the names that users know.
 *
 * `roc.jit` declares them when it is first called: what a module did when it is loaded, a bundler would drop.
 */
import { declareHostOnly } from '../compiler/intrinsics.ts';
import {
  coarsegrainArray,
  DeviceNDArray,
  DeviceRecord,
  deviceArray,
  deviceArrayLike,
  finegrainArray,
  toDevice,
} from './arrays.ts';
import {
  close,
  currentContext,
  currentDevice,
  isAvailable,
  memoryStats,
  selectDevice,
  synchronize,
  synchronizeAsync,
} from './device.ts';
import { deregister, register } from './registration.ts';
import { stream } from './stream.ts';

const OF_ROC: Readonly<Record<string, object>> = {
  DeviceNDArray,
  DeviceRecord,
  deviceArray,
  deviceArrayLike,
  toDevice,
  coarsegrainArray,
  finegrainArray,
  register,
  deregister,
  stream,
  synchronize,
  synchronizeAsync,
  memoryStats,
  close,
  currentContext,
  currentDevice,
  isAvailable,
  selectDevice,
};

const HELP = 'call it before the launch, and pass what it gives as an argument';

let declared = false;

/** Declares them all, once. `jit` is given, as it stands above this file. */
export function declareRocFunctions(jit: object): void {
  if (declared) return;
  declared = true;
  for (const [name, fn] of Object.entries({ ...OF_ROC, jit })) {
    declareHostOnly(fn, { what: `roc.${name}`, help: HELP });
  }
}
