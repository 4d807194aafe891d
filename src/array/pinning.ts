/**
 * `cuda.pinned(...)` and `cuda.mapped(...)`: memory of the program's own arrays, pinned in place for a while.
 *
 * Both come as an object for `using` and with a body. What is pinned at the call is unpinned when the object is disposed or the
 * body is done, also when it throws: as soon as no copy and no kernel touches the arrays, and outside of the queue of pending
 * deallocations, so that they can be pinned again at once.
 */
import { hostFunction } from '../compiler/intrinsics.ts';
import type { DType, ElementOf, Scalar, TypedArray } from '../dtype/index.ts';
import { NotSupportedError, TsambaTypeError } from '../errors.ts';
import { extentOf, type StridedLayout } from '../layout/index.ts';
import type { Context } from '../memory/context.ts';
import { isThenable, type Leavable } from '../memory/context-manager.ts';
import type { DeviceSelection } from '../memory/device-selection.ts';
import { knownBuffer } from '../memory/host/host-allocation.ts';
import { type RegisteredView, type Registration, register } from '../memory/host/registrations.ts';
import { Allocation, MemoryOwner } from '../memory/owner.ts';
import { describes, isPlainObject, readOptions } from '../options.ts';
import { show } from '../show.ts';
import { type Stream, streamOption } from '../stream/stream.ts';
import { whenDone } from '../stream/waiting.ts';
import { DeviceNDArray } from './device-array.ts';
import type { StreamOption } from './device-memory.ts';
import { MappedNDArray } from './host-array.ts';
import type { NDArray } from './ndarray.ts';
import { describeHostArray, type HostArrayLike } from './ndarray-input.ts';

/** Arrays that are pinned until this is disposed. `await using` waits for the copies that touch them without blocking. */
export interface Pinning extends Leavable {
  [Symbol.asyncDispose](): Promise<void>;
}

/** The device array that stands for a host array. */
export type DeviceOf<A> =
  A extends NDArray<infer T, infer R>
    ? DeviceNDArray<T, R>
    : A extends TypedArray
      ? DeviceNDArray<ElementOf<A>, 1>
      : DeviceNDArray;

/** The device arrays of several host arrays, in order. */
export type DevicesOf<A extends readonly unknown[]> = { readonly [K in keyof A]: DeviceOf<A[K]> };

/** Host arrays that kernels reach until this is disposed. */
export interface Mapping<A extends readonly unknown[] = readonly HostArrayLike[]> extends Pinning {
  /** The arrays as the device sees them, in the order given. They raise once the mapping has ended. */
  readonly arrays: DevicesOf<A>;
}

/** A host array as memory: the range that its elements lie in. */
export interface Range {
  readonly array: unknown;
  readonly dtype: DType;
  readonly layout: StridedLayout;
  /** Of the whole memory that `layout.offset` counts from. */
  readonly bytes: Uint8Array;
  /** From the lowest to the highest byte of an element. */
  readonly range: Uint8Array;
}

/** Pins host arrays for a while. */
export interface Pinned {
  (...arrays: readonly HostArrayLike[]): Pinning;
  <R>(...args: readonly [...arrays: HostArrayLike[], body: () => R]): R;
}

/** Lets kernels read and write host arrays in place for a while. */
export interface Mapped {
  <const A extends readonly HostArrayLike[]>(...arrays: A): Mapping<A>;
  <const A extends readonly HostArrayLike[]>(...args: readonly [...arrays: A, options: StreamOption]): Mapping<A>;
  <const A extends readonly HostArrayLike[], R>(...args: readonly [...arrays: A, body: (arrays: DevicesOf<A>) => R]): R;
  <const A extends readonly HostArrayLike[], R>(
    ...args: readonly [...arrays: A, options: StreamOption, body: (arrays: DevicesOf<A>) => R]
  ): R;
}

export function pinnedOf(devices: DeviceSelection): Pinned {
  const pinned = (...args: readonly unknown[]): unknown => {
    const { items, body } = takeApart('pinned', args, []);
    const context = devices.currentContext();
    const ranges = items.map((array, i) => rangeOf(array, i, 'pinned'));
    const held = new Held(context);
    held.build(() => {
      for (const { range } of ranges) held.pin(range, false);
    });
    return body === undefined ? held.contextManager({}) : held.around(body, undefined);
  };
  return hostFunction(devices, 'pinned', pinned as Pinned);
}

export function mappedOf(devices: DeviceSelection): Mapped {
  const mapped = (...args: readonly unknown[]): unknown => mapInto(devices.currentContext(), args);
  return hostFunction(devices, 'mapped', mapped as Mapped);
}

function mapInto(context: Context, args: readonly unknown[]): unknown {
  const { items, options, body } = takeApart('mapped', args, ['stream']);
  if (!context.info.features.mapsHostMemory) {
    throw new NotSupportedError(
      'E_HOST_MEMORY',
      `${context.info.name} cannot read and write arrays of the host in place`,
    );
  }
  const stream = streamOption((options as StreamOption).stream, context);
  const ranges = items.map((array, i) => rangeOf(array, i, 'mapped'));
  const held = new Held(context);
  const arrays: DeviceNDArray[] = [];
  held.build(() => {
    for (const range of ranges) arrays.push(held.map(range, stream));
  });
  return body === undefined ? held.contextManager({ arrays }) : held.around(body, arrays);
}

/** Arrays, then options, then a body. */
function takeApart(
  call: string,
  args: readonly unknown[],
  known: readonly string[],
): { items: readonly unknown[]; options: object; body: ((arrays: unknown) => unknown) | undefined } {
  const items = [...args];
  const body = typeof items.at(-1) === 'function' ? (items.pop() as (arrays: unknown) => unknown) : undefined;
  const last = items.at(-1);
  const isOptions = known.length > 0 && isPlainObject(last) && !describes(last, 'data') && !describes(last, 'shape');
  return { items, options: readOptions(call, isOptions ? items.pop() : undefined, known), body };
}

/** The range of an argument of `call`. Throws TypeError for anything that is not a host array. */
export function rangeOf(array: unknown, i: number, call: string): Range {
  const host = describeHostArray(array);
  if (host === undefined) {
    const what = Array.isArray(array) ? 'a JavaScript array' : show(array);
    throw new TsambaTypeError(
      'E_HOST_ARRAY',
      `${call}: argument ${i + 1} must be a TypedArray or an NDArray, got ${what}`,
    );
  }
  const { bytes, layout, dtype } = host;
  if ((bytes.buffer as { readonly resizable?: boolean }).resizable === true) {
    throw new TsambaTypeError(
      'E_HOST_ARRAY',
      `${call}: argument ${i + 1} is in a resizable ArrayBuffer, whose memory may move: copy it`,
    );
  }
  const { low, high } = extentOf(layout.shape, layout.strides, layout.itemSize);
  return { array, dtype, layout, bytes, range: bytes.subarray(layout.offset + low, layout.offset + high) };
}

/** What one call has pinned. */
export class Held {
  readonly #context: Context;
  readonly #registrations: Registration[] = [];
  /** What arrays over memory that is pinned anyhow have for an allocation. */
  readonly #views: (() => void)[] = [];
  #left = false;

  constructor(context: Context) {
    context.checkOpen();
    this.#context = context;
  }

  /** Runs what pins; if that fails, what has been pinned is unpinned. */
  build(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.leaveAside();
      throw error;
    }
  }

  pin(range: Uint8Array, reached: boolean): Registration | undefined {
    // What the driver allocated is pinned for good.
    if (range.length === 0 || (!reached && knownBuffer(range.buffer) !== undefined)) return undefined;
    const registration = register(this.#context, range, reached);
    this.#registrations.push(registration);
    return registration;
  }

  map(part: Range, stream: Stream | undefined): DeviceNDArray {
    const { array, dtype, layout, bytes, range } = part;
    const { shape, strides } = layout;
    if (range.length === 0) {
      return new DeviceNDArray<Scalar>(shape, strides, dtype as DType<Scalar>, { stream, gpuData: this.#context });
    }
    const first = bytes.byteOffset + layout.offset;
    const { owner, address } = this.#reach(array, range, first);
    const gpuData = { context: this.#context, owner, address };
    return new DeviceNDArray<Scalar>(shape, strides, dtype as DType<Scalar>, { stream, gpuData });
  }

  /** An owner for the range, and the address of a byte of the buffer in it. */
  #reach(array: unknown, range: Uint8Array, first: number): { owner: MemoryOwner; address: number } {
    const above = first - range.byteOffset;
    if (array instanceof MappedNDArray)
      return this.#borrow(array.device.owner, array.device.pointer, above, range.length);
    const known = knownBuffer(range.buffer);
    if (known?.pointer !== undefined) return this.#borrow(known.owner, known.pointer + first, above, range.length);
    const registration = this.pin(range, true);
    const address = registration?.addressOf(first);
    if (registration === undefined || address === undefined) throw new Error('a mapped range has no address');
    const view: RegisteredView = registration.view(address - above);
    this.#views.push(() => registration.endView(view));
    return { owner: new MemoryOwner(this.#context, view, range.length), address };
  }

  /** Memory that stays what it is, for arrays that end with the mapping. */
  #borrow(base: MemoryOwner, address: number, above: number, bytes: number): { owner: MemoryOwner; address: number } {
    const view = new BorrowedAllocation(this.#context, address - above, base);
    this.#views.push(() => {
      view.lost ??= 'its mapping has ended';
    });
    const owner = new MemoryOwner(this.#context, view, bytes);
    owner.externalOwner = base;
    return { owner, address };
  }

  /** Ends it all; waits for what touches the ranges. Throws what the driver throws, after having unpinned the rest. */
  leave(): void {
    if (this.#left) return;
    this.#left = true;
    for (const end of this.#views) end();
    const errors: unknown[] = [];
    for (const registration of this.#registrations.reverse()) {
      try {
        registration.leave();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }

  /** As `leave`, where another error is already on its way. */
  leaveAside(): void {
    try {
      this.leave();
    } catch (error) {
      this.#context.keepFault(error);
    }
  }

  /** As `leave`, without blocking. */
  async leaveLater(): Promise<void> {
    if (this.#left) return;
    for (const end of this.#views) end();
    const context = this.#context;
    if (!context.closed) {
      const handles = new Set(this.#registrations.flatMap((registration) => registration.waitsFor));
      await Promise.all(
        [...handles].map(
          (handle) =>
            new Promise<void>((resolve) => {
              whenDone(context, handle, () => resolve());
            }),
        ),
      );
    }
    this.leave();
  }

  contextManager<P extends object>(properties: P): P & Pinning {
    const dispose = (): void => this.leave();
    return {
      ...properties,
      dispose,
      [Symbol.dispose]: dispose,
      [Symbol.asyncDispose]: () => this.leaveLater(),
    };
  }

  /** Runs a sync or async body, then leaves; a body that is async leaves without blocking. */
  around(body: (arrays: unknown) => unknown, arrays: unknown): unknown {
    let result: unknown;
    try {
      result = arrays === undefined ? (body as () => unknown)() : body(arrays);
    } catch (error) {
      this.leaveAside();
      throw error;
    }
    if (isThenable(result)) return Promise.resolve(result).finally(() => this.leaveLater());
    this.leave();
    return result;
  }
}

/** For arrays over memory that another owner has: uses are noted there. */
class BorrowedAllocation extends Allocation {
  readonly #base: MemoryOwner;

  constructor(context: Context, address: number, base: MemoryOwner) {
    super(context, address, 0, undefined);
    this.#base = base;
  }

  override noteUse(...[stream]: Parameters<Allocation['noteUse']>): void {
    super.noteUse(stream);
    this.#base.touch({ handle: stream.handle, ref: stream });
  }
}
