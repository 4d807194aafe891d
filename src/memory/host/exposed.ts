/**
 * ArrayBuffers over memory that is not JavaScript's: how they are kept from outliving it.
 *
 * A TypedArray may be kept by anybody for any time, and reading one whose memory was unmapped ends the process. So memory that
 * an ArrayBuffer shows is unmapped only once the buffer has been detached (by us: every old TypedArray then has length 0) or, in engines
 * that cannot, collected. Nobody else may move the memory to another buffer, which we would not know of.
 */
import { TsambaTypeError } from '../../errors.ts';
import { nodeModule } from '../../host/index.ts';

/**
 * Moves the memory of an ArrayBuffer to another. `structuredClone` and `postMessage` would not do: they copy native memory or refuse.
 * (`markAsUntransferable` would also keep ourselves from detaching.)
 */
type Transfer = (this: ArrayBuffer) => ArrayBuffer;

let transfer: Transfer | undefined;
let looked = false;

/** The engine's own `transfer`, once it is needed. Undefined where there is none. */
function findTransfer(): Transfer | undefined {
  if (looked) return transfer;
  looked = true;
  transfer = (ArrayBuffer.prototype as { readonly transfer?: Transfer }).transfer ?? transferOfNewContext();
  return transfer;
}

/**
 * V8 had `transfer` for some time before it showed it: Node 20 has it in contexts that are made while a flag is set. The flag is set back
 * at once: code caches are keyed by the flags.
 */
function transferOfNewContext(): Transfer | undefined {
  try {
    const { setFlagsFromString } = nodeModule('node:v8');
    const { runInNewContext } = nodeModule('node:vm');
    setFlagsFromString('--harmony-rab-gsab-transfer');
    try {
      const found: unknown = runInNewContext('ArrayBuffer.prototype.transfer');
      return typeof found === 'function' ? (found as Transfer) : undefined;
    } finally {
      setFlagsFromString('--no-harmony-rab-gsab-transfer');
    }
  } catch {
    return undefined;
  }
}

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
  const transfer = findTransfer();
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
