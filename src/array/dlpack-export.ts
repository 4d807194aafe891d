/**
 * DLPack, out: a device array as a managed tensor that libraries of this process take by its pointer.
 *
 * One native function deletes all tensors of a thread; a tensor holds its memory until then. Consumers on other threads have their calls
 * relayed to the JavaScript thread, which must be able to run.
 */
import { NotSupportedError, TsambaRangeError, TsambaTypeError } from '../errors.ts';
import type { Address, Ffi } from '../ffi/ffi.ts';
import { loadFfi } from '../ffi/koffi.ts';
import { extentOf } from '../layout/index.ts';
import { ownValue, readOptions } from '../options.ts';
import { show } from '../show.ts';
import type { DeviceMemory } from './device-memory.ts';
import { DL_CPU, DL_CUDA, type DlpackVersion, writeTensor } from './dlpack-struct.ts';

/** A managed tensor, by its pointer; what PyCapsules hold in Python. */
export interface DlpackCapsule {
  /** Address of the DLManagedTensor (version 0) or DLManagedTensorVersioned (version 1). */
  readonly pointer: number | bigint;
  /** 1 for a DLManagedTensorVersioned, 0 for the older DLManagedTensor. */
  readonly version: DlpackVersion;
  /** What Python calls such a capsule: `used_…` once it was taken. Another library's taker assigns that. */
  name?: string | undefined;
  /** Deletes the tensor, if nobody has deleted it. For tensors that nobody took: whoever takes one deletes it. */
  release?(): void;
}

/** Options of `toDlpack`. */
export interface ToDlpackOptions {
  /** 1 (default): DLManagedTensorVersioned. 0: DLManagedTensor, which cannot be read-only. */
  readonly version?: DlpackVersion | undefined;
}

interface Exported {
  readonly memory: DeviceMemory;
  readonly struct: ArrayBuffer;
  /** What else must not move. */
  readonly host: unknown;
}

/** Tensors that nobody has deleted, by address. */
const exported = new Map<number, Exported>();

/**
 * The structs of tensors that are gone, by address, oldest first. They are kept, so that a pointer that somebody uses once more is known
 * to be none; the oldest are given up when there are many.
 */
const spent = new Map<number, ArrayBuffer>();
const MANY_SPENT = 4096;

/** Whether a capsule has been consumed, of those that were made here. */
const consumed = new WeakMap<object, { used: boolean }>();

let deleter: Address | undefined;

/** The FFI; throws NotSupportedError where there is none. */
export function dlpackFfi(call: string): Ffi {
  const { ffi, reason } = loadFfi();
  if (ffi === undefined) throw new NotSupportedError('E_DLPACK', `${call}: ${reason}`);
  return ffi;
}

/** Throws TypeError for anything that is not a version. */
export function checkDlpackVersion(call: string, version: unknown): asserts version is DlpackVersion {
  if (version === 0 || version === 1) return;
  throw new TsambaTypeError(
    'E_DLPACK',
    `${call}: the version must be 0 (DLManagedTensor) or 1 (DLManagedTensorVersioned), got ${show(version)}`,
  );
}

/**
 * A DLPack tensor over the array's memory, which it keeps alive until its deleter is called: by the library that takes it, or by
 * `release()`. Nothing is copied. Waits for the work that uses the array. Synchronous.
 * @throws NotSupportedError without koffi, on devices whose memory DLPack has no name for, and for structs.
 */
export function exportDlpack(array: DeviceMemory, options: ToDlpackOptions = {}): Required<DlpackCapsule> {
  const { version = 1 } = readOptions('toDlpack', options, ['version']);
  checkDlpackVersion('toDlpack', version);
  array.checkUsable();
  const ffi = dlpackFfi('toDlpack');
  const { address, host, deviceType, deviceIndex } = whereIs(ffi, array);
  deleter ??= ffi.callback('void (void *)', (pointer) => void deleteTensor(Number(pointer)));
  const { dtype, shape, strides, readOnly } = array;
  const tensor = { address, deviceType, deviceIndex, dtype, shape, strides, readOnly };
  const { pointer, memory } = writeTensor(ffi, tensor, version, deleter);
  array.owner.waitForUses();
  array.owner.retain();
  exported.set(pointer, { memory: array, struct: memory, host });
  spent.delete(pointer);
  return capsuleOf(pointer, version);
}

/** What Python has a PyCapsule for: whoever takes the tensor renames it, and from then on the tensor is not its own any more. */
function capsuleOf(pointer: number, version: DlpackVersion): Required<DlpackCapsule> {
  const state = { used: false };
  const own = version === 0 ? 'dltensor' : 'dltensor_versioned';
  const capsule = Object.freeze({
    pointer,
    version,
    get name() {
      return state.used ? `used_${own}` : own;
    },
    set name(name: string) {
      if (name !== `used_${own}`) {
        throw new TsambaTypeError(
          'E_DLPACK',
          `a capsule is renamed to 'used_${own}' by whoever consumes it, got ${show(name)}`,
        );
      }
      state.used = true;
    },
    release: () => {
      if (!state.used) deleteTensor(pointer);
      state.used = true;
    },
  });
  consumed.set(capsule, state);
  return capsule;
}

/** Marks a capsule as taken. Throws RangeError for one that was taken or released before, here or by another library that renamed it. */
export function consume(capsule: object): () => void {
  const state = consumed.get(capsule) ?? { used: String(ownValue(capsule, 'name') ?? '').startsWith('used_') };
  if (state.used) throw usedTensor();
  return () => {
    state.used = true;
    consumed.set(capsule, state);
    const name = ownValue(capsule, 'name');
    if (typeof name === 'string' && !name.startsWith('used_')) Reflect.set(capsule, 'name', `used_${name}`);
  };
}

/** The error for a tensor that is not there any more. */
export function usedTensor(): TsambaRangeError {
  return new TsambaRangeError(
    'E_DLPACK_USED',
    'fromDlpack: this tensor was already consumed or released: each can be consumed once; call toDlpack() for another',
  );
}

interface Whereabouts {
  readonly address: number;
  /** What keeps the address valid, on devices in this process's own memory. */
  readonly host: unknown;
  readonly deviceType: number;
  readonly deviceIndex: number;
}

function whereIs(ffi: Ffi, array: DeviceMemory): Whereabouts {
  const { context, pointer, shape, strides, itemSize, size } = array;
  const { driver, info } = context;
  if (info.kind === 'nvidia')
    return { address: pointer, host: undefined, deviceType: DL_CUDA, deviceIndex: info.index };
  if (driver.hostBytes === undefined) {
    throw new NotSupportedError(
      'E_DLPACK',
      `toDlpack: DLPack cannot name the memory of ${info.name}: copyToHost() first`,
    );
  }
  const place = { deviceType: DL_CPU, deviceIndex: 0 };
  if (size === 0) return { address: 0, host: undefined, ...place };
  const { low, bytes } = extentOf(shape, strides, itemSize);
  const host = driver.hostBytes(pointer + low, bytes);
  return { address: Number(ffi.address(host)) - low, host, ...place };
}

/** The array behind a tensor that was made here; undefined for others'. Throws RangeError when the tensor was deleted, or its memory lost. */
export function exportedMemory(pointer: number): DeviceMemory | undefined {
  if (spent.has(pointer)) throw usedTensor();
  const memory = exported.get(pointer)?.memory;
  // The array itself may be disposed: the tensor has kept its memory. A reset of the device has not.
  if (memory !== undefined && (memory.owner.lost !== undefined || memory.context.closed)) memory.checkUsable();
  return memory;
}

/** What the native deleter does. A tensor that is gone already is none of ours any more. */
export function deleteTensor(pointer: number): void {
  const entry = exported.get(pointer);
  if (entry === undefined) return;
  exported.delete(pointer);
  spent.set(pointer, entry.struct);
  const [oldest] = spent.keys();
  if (spent.size > MANY_SPENT && oldest !== undefined) spent.delete(oldest);
  entry.memory.owner.release();
}
