/**
 * Communicators of NCCL: `ncclCommInitRank` and `ncclCommInitAll`. Both wait for all ranks, and block this thread meanwhile.
 */
import { TsambaTypeError } from '../../errors.ts';
import type { Context } from '../../memory/context.ts';
import { show } from '../../show.ts';
import type { Link } from '../links/link.ts';
import { check, ID_BYTES, loadNccl, type Nccl } from './library.ts';
import { NativeTransport } from './transport.ts';

/** An id by which ranks find each other, as hexadecimal digits. NCCL: `ncclGetUniqueId`. */
export function uniqueId(nccl: Nccl = loadNccl()): string {
  const bytes = new Uint8Array(new ArrayBuffer(ID_BYTES));
  check(nccl, nccl.ncclGetUniqueId(nccl.ffi.address(bytes)), 'ncclGetUniqueId');
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function bytesOfId(id: unknown): Uint8Array {
  if (typeof id !== 'string' || id.length !== 2 * ID_BYTES || !/^[\da-f]*$/i.test(id)) {
    throw new TsambaTypeError(
      'E_NCCL_ARGUMENT',
      `nccl.init: id must be the result of nccl.uniqueId(), got ${show(id)}`,
    );
  }
  return Uint8Array.from({ length: ID_BYTES }, (_, k) => Number.parseInt(id.slice(2 * k, 2 * k + 2), 16));
}

/** What `initNative` needs. */
export interface NativeOptions {
  readonly rank: number;
  readonly size: number;
  readonly id: string;
  readonly link: Link | undefined;
  readonly timeout: number;
  readonly context: Context;
}

/** One rank. */
export function initNative(
  { rank, size, id, link, timeout, context }: NativeOptions,
  nccl: Nccl = loadNccl(),
): NativeTransport {
  const bytes = bytesOfId(id);
  // Makes the context the current one of this thread, which NCCL takes the device from.
  context.memoryInfo();
  check(nccl, nccl.ncclCommInitRank(nccl.out.at(0), size, { bytes }, rank), 'ncclCommInitRank');
  return new NativeTransport({ nccl, comm: nccl.out.long(0), rank, size, context, link, ownsLink: true, timeout });
}

/** One rank for each context, in this thread. */
export function initAllNative(
  contexts: readonly Context[],
  timeout: number,
  nccl: Nccl = loadNccl(),
): readonly NativeTransport[] {
  const devices = Int32Array.from({ length: Math.max(contexts.length, 32) }, (_, k) => contexts[k]?.info.index ?? 0);
  const comms = new BigUint64Array(Math.max(contexts.length, 16));
  contexts[0]?.memoryInfo();
  const { ffi } = nccl;
  check(
    nccl,
    nccl.ncclCommInitAll(ffi.address(pinned(comms)), contexts.length, ffi.address(pinned(devices))),
    'ncclCommInitAll',
  );
  return contexts.map(
    (context, rank) =>
      new NativeTransport({
        nccl,
        comm: Number(comms[rank]),
        rank,
        size: contexts.length,
        context,
        link: undefined,
        ownsLink: false,
        timeout,
      }),
  );
}

/** Touching the buffer takes it off the heap that moves. */
function pinned<T extends ArrayBufferView>(view: T): T {
  void view.buffer;
  return view;
}
