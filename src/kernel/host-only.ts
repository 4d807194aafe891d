/**
 * Tells the compiler which classes and functions of Tsamba only the host can call, by the names that users know, so that a kernel which
 * calls one is told so in place of being compiled with the library's insides. What a namespace makes for its devices says so itself
 * (`hostFunction`); here is what all namespaces share.
 *
 * `jit` declares them when it is first called: what a module did when it is loaded, a bundler would drop. Others say it where they are defined (`hostOnly`, `~hostOnly`): pages load them only where
 * programs use them.
 */
import { isCudaArray } from '../array/cuda-interface.ts';
import { DeviceNDArray } from '../array/device-array.ts';
import { DeviceRecord } from '../array/device-record.ts';
import { CALL_BEFORE, declareHostOnly } from '../compiler/intrinsics.ts';
import { struct } from '../dtype/index.ts';
import { Stream } from '../stream/stream.ts';
import { In, InOut, Out } from './hints.ts';

const OF_CUDA: Readonly<Record<string, object>> = {
  DeviceNDArray,
  DeviceRecord,
  isCudaArray,
  In,
  InOut,
  Out,
  Stream,
};

let declared = false;

/** Declares them all, once. */
export function declareHostFunctions(): void {
  if (declared) return;
  declared = true;
  for (const [name, fn] of Object.entries(OF_CUDA)) declareHostOnly(fn, { what: `cuda.${name}`, help: CALL_BEFORE });
  declareHostOnly(struct, { what: 'struct', help: CALL_BEFORE });
}
