/**
 * Tells the compiler which classes and functions of Tsamba only the host can call, by the names that users know, so that a kernel which
 * calls one is told so in place of being compiled with the library's insides. What a namespace makes for its devices says so itself
 * (`hostFunction`); here is what all namespaces share.
 *
 * `jit` declares them when it is first called: what a module did when it is loaded, a bundler would drop.
 */
import { isCudaArray } from '../array/cuda-interface.ts';
import { DeviceNDArray } from '../array/device-array.ts';
import { DeviceRecord } from '../array/device-record.ts';
import { toDlpack } from '../array/dlpack.ts';
import { ManagedNDArray, MappedNDArray, PinnedNDArray } from '../array/host-array.ts';
import { ndarray } from '../array/ndarray-create.ts';
import { SmartArray } from '../array/smart-array.ts';
import { CALL_BEFORE, declareHostOnly } from '../compiler/intrinsics.ts';
import { struct } from '../dtype/index.ts';
import { detect, isAvailable } from '../memory/gpus.ts';
import { trackLeaks } from '../memory/leaks.ts';
import { scope } from '../memory/scope.ts';
import { Event } from '../stream/event.ts';
import { Stream } from '../stream/stream.ts';
import { cache } from './cache.ts';
import { defineIntrinsic, overload } from './extend.ts';
import { declareDevice } from './external.ts';
import { In, InOut, Out } from './hints.ts';
import { scalar } from './scalar.ts';

const OF_CUDA: Readonly<Record<string, object>> = {
  DeviceNDArray,
  DeviceRecord,
  isCudaArray,
  PinnedNDArray,
  MappedNDArray,
  ManagedNDArray,
  SmartArray,
  toDlpack,
  In,
  InOut,
  Out,
  scalar,
  trackLeaks,
  detect,
  isAvailable,
  declareDevice,
  'cache.clear': cache.clear,
  Event,
  Stream,
};

let declared = false;

/** Declares them all, once. */
export function declareHostFunctions(): void {
  if (declared) return;
  declared = true;
  for (const [name, fn] of Object.entries(OF_CUDA)) declareHostOnly(fn, { what: `cuda.${name}`, help: CALL_BEFORE });
  for (const [what, fn] of Object.entries({ ndarray, scope, struct, defineIntrinsic, overload }))
    declareHostOnly(fn, { what, help: CALL_BEFORE });
}
