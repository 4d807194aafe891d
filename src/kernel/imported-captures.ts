/**
 * Captured objects of other libraries: what `__cuda_array_interface__` says of them, for the compiler.
 */

import { deviceOf } from '../array/device-create.ts';
import { type CapturedArray, DEVICE_ARRAY } from '../compiler/contract.ts';
import type { Context } from '../memory/context.ts';

/** Imports each object once, however often the compiler asks in one compilation. */
export function importerOf(context: Context): (object: object) => CapturedArray {
  const known = new Map<object, CapturedArray>();
  return (object) => {
    const found = known.get(object);
    if (found !== undefined) return found;
    const device = deviceOf(object, context);
    if (device === undefined) throw new Error('a CUDA array was none');
    const array = (device as unknown as { readonly [DEVICE_ARRAY]: CapturedArray })[DEVICE_ARRAY];
    const imported = { ...array, readonly: device.readOnly };
    known.set(object, imported);
    return imported;
  };
}
