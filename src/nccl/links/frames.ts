/**
 * Messages as bytes on a connection: a head of fixed length, two texts, the payload. Little-endian.
 */
import { CommunicatorError } from '../errors.ts';
import type { Message } from './link.ts';

/** To all ranks but the sender. */
export const TO_ALL = 0xffff;

/** A message and where it goes. */
export interface Frame extends Message {
  readonly to: number;
}

const HEAD = 20;
const MAGIC = 0x31534d54;

/** The bytes of a frame, the payload not copied. */
export function encodeFrame({ from, to, key, what, payload }: Frame): readonly Uint8Array[] {
  const texts = new TextEncoder().encode(key + what);
  const keyLength = new TextEncoder().encode(key).length;
  const head = new Uint8Array(HEAD + texts.length);
  const view = new DataView(head.buffer);
  view.setUint32(0, MAGIC, true);
  view.setUint16(4, from, true);
  view.setUint16(6, to, true);
  view.setUint16(8, keyLength, true);
  view.setUint16(10, texts.length - keyLength, true);
  view.setFloat64(12, payload.length, true);
  head.set(texts, HEAD);
  return payload.length === 0 ? [head] : [head, payload];
}

/** Puts frames together from the pieces that a connection gives. */
export class FrameReader {
  /** Bytes that a frame may have: few before the other side has shown who it is. */
  limit: number;
  #pieces: Uint8Array[] = [];
  #length = 0;
  #wanted = HEAD;

  constructor(limit: number) {
    this.limit = limit;
  }

  /** The frames that a piece completes. Throws CommunicatorError for anything that is not a frame. */
  *push(piece: Uint8Array): Generator<Frame> {
    // Node.js gives Buffers, whose `slice` is not that of arrays: it would share what comes with the pool.
    this.#pieces.push(new Uint8Array(piece.buffer, piece.byteOffset, piece.byteLength));
    this.#length += piece.length;
    while (this.#length >= this.#wanted) {
      const bytes = this.#joined();
      const total = this.#totalOf(bytes);
      if (bytes.length < total) {
        this.#wanted = total;
        return;
      }
      this.#pieces = bytes.length > total ? [bytes.subarray(total)] : [];
      this.#length = bytes.length - total;
      this.#wanted = HEAD;
      yield decode(bytes, total);
    }
  }

  #joined(): Uint8Array {
    if (this.#pieces.length === 1) return this.#pieces[0] as Uint8Array;
    const bytes = new Uint8Array(this.#length);
    let at = 0;
    for (const piece of this.#pieces) {
      bytes.set(piece, at);
      at += piece.length;
    }
    this.#pieces = [bytes];
    return bytes;
  }

  #totalOf(bytes: Uint8Array): number {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const total = HEAD + view.getUint16(8, true) + view.getUint16(10, true) + view.getFloat64(12, true);
    if (view.getUint32(0, true) !== MAGIC || !(total <= this.limit)) {
      throw new CommunicatorError('E_NCCL', 'what came over the connection is not a message of tsamba/nccl');
    }
    return total;
  }
}

function decode(bytes: Uint8Array, total: number): Frame {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const keyEnd = HEAD + view.getUint16(8, true);
  const whatEnd = keyEnd + view.getUint16(10, true);
  const text = new TextDecoder();
  return {
    from: view.getUint16(4, true),
    to: view.getUint16(6, true),
    key: text.decode(bytes.subarray(HEAD, keyEnd)),
    what: text.decode(bytes.subarray(keyEnd, whatEnd)),
    // Of its own: what follows in the same piece is not kept alive, and elements are aligned.
    payload: bytes.slice(whatEnd, total),
  };
}
