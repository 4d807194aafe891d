/**
 * Tells the compiler which functions of Tsamba only the host can call, by the names that users know, so that a kernel which
 * calls one is told so in place of being compiled with the library's insides.
 *
 * `jit` declares them when it is first called: what a module did when it is loaded, a bundler would drop.
 */

import { isCudaArray } from '../array/cuda-interface.ts';
import { DeviceNDArray } from '../array/device-array.ts';
import { asCudaArray, deviceArray, deviceArrayLike, toDevice } from '../array/device-create.ts';
import { DeviceRecord } from '../array/device-record.ts';
import { fromDlpack, toDlpack } from '../array/dlpack.ts';
import { ManagedNDArray, MappedNDArray, PinnedNDArray } from '../array/host-array.ts';
import { managedArray, mappedArray, mappedArrayLike, pinnedArray, pinnedArrayLike } from '../array/host-create.ts';
import { openIpcArray } from '../array/ipc.ts';
import { ndarray } from '../array/ndarray-create.ts';
import { mapped, pinned } from '../array/pinning.ts';
import { SmartArray } from '../array/smart-array.ts';
import { declareHostOnly } from '../compiler/intrinsics.ts';
import { struct } from '../dtype/index.ts';
import { deferCleanup } from '../memory/defer-cleanup.ts';
import { close, currentContext, currentDevice, isAvailable, selectDevice } from '../memory/devices.ts';
import { detect } from '../memory/gpus.ts';
import { trackLeaks } from '../memory/leaks.ts';
import { memoryStats } from '../memory/memory-stats.ts';
import { scope } from '../memory/scope.ts';
import { synchronize } from '../memory/synchronize.ts';
import { createEvent, Event } from '../stream/event.ts';
import {
  createStream,
  defaultStream,
  externalStream,
  legacyDefaultStream,
  perThreadDefaultStream,
  Stream,
} from '../stream/stream.ts';
import { synchronizeAsync } from '../stream/synchronize.ts';
import { In, InOut, Out } from './hints.ts';
import { scalar } from './scalar.ts';

const OF_CUDA: Readonly<Record<string, object>> = {
  DeviceNDArray,
  DeviceRecord,
  deviceArray,
  deviceArrayLike,
  toDevice,
  asCudaArray,
  isCudaArray,
  PinnedNDArray,
  MappedNDArray,
  ManagedNDArray,
  pinnedArray,
  pinnedArrayLike,
  mappedArray,
  mappedArrayLike,
  managedArray,
  pinned,
  mapped,
  openIpcArray,
  SmartArray,
  toDlpack,
  fromDlpack,
  In,
  InOut,
  Out,
  scalar,
  deferCleanup,
  trackLeaks,
  memoryStats,
  synchronize,
  synchronizeAsync,
  close,
  currentContext,
  currentDevice,
  detect,
  isAvailable,
  selectDevice,
  Event,
  event: createEvent,
  Stream,
  stream: createStream,
  defaultStream,
  externalStream,
  legacyDefaultStream,
  perThreadDefaultStream,
};

const HELP = 'call it before the launch, and pass what it gives as an argument';

let declared = false;

/** Declares them all, once. `jit` is given, as it stands above this file. */
export function declareHostFunctions(jit: object): void {
  if (declared) return;
  declared = true;
  for (const [name, fn] of Object.entries({ ...OF_CUDA, jit })) {
    declareHostOnly(fn, { what: `cuda.${name}`, help: HELP });
  }
  for (const [what, fn] of Object.entries({ ndarray, scope, struct })) declareHostOnly(fn, { what, help: HELP });
}
