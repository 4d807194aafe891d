/**
 * ArrayBuffers over memory that is not JavaScript's: how they are kept from outliving it.
 *
 * A TypedArray may be kept by anybody for any time, and reading one whose memory was unmapped ends the process. So memory that
 * an ArrayBuffer shows is unmapped only once the buffer has been detached (by us, where the engine has `transfer`: every old
 * TypedArray then has length 0) or collected. Nobody else may move the memory to another buffer, which we would not know of.
 */
import { TsambaTypeError } from '../../errors.ts';

/**
 * The engine's own `transfer`; Node 20 has none. `structuredClone` and `postMessage` move no native memory by themselves: they copy it
 * or refuse. (`markAsUntransferable` would also keep ourselves from detaching.)
 */
const { transfer } = ArrayBuffer.prototype as { readonly transfer?: (this: ArrayBuffer) => ArrayBuffer };

function refuse(): never {
  throw new TsambaTypeError(
    'E_TRANSFER',
    'the memory of a pinned, mapped or managed array cannot be moved to another ArrayBuffer; copy it: buffer.slice()',
  );
}

/** Makes a buffer over native memory refuse to be transferred. */
export function keepInPlace(buffer: ArrayBuffer): void {
  for (const name of ['transfer', 'transferToFixedLength']) {
    if (name in buffer) Object.defineProperty(buffer, name, { value: refuse });
  }
}

/** Makes the memory unreachable from a buffer and all its views; false where the engine cannot, and only collecting it will. */
export function detach(buffer: ArrayBuffer): boolean {
  const { byteLength } = buffer;
  // Somebody else has moved it: where to, only the collector knows, and it will not say.
  if (byteLength === 0 || transfer === undefined) return false;
  try {
    transfer.call(buffer);
  } catch {
    return false;
  }
  return buffer.byteLength === 0;
}

const collected = new FinalizationRegistry<() => void>((then) => then());

/** Calls `then` some time after a buffer was collected. `then` must not refer to the buffer. */
export function whenCollected(buffer: ArrayBuffer, then: () => void): void {
  // Bytes that were moved away by force are somewhere else: they are never given back.
  if (buffer.byteLength > 0) collected.register(buffer, then);
}
