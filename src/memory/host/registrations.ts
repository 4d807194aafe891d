/**
 * Memory of the host that is pinned in place for a while: which ranges are, on which context, and by how many.
 *
 * A range within one that is pinned already shares it; one that is partly pinned is refused, as by CUDA. The last to leave
 * waits for the copies and kernels that touch the range, and unpins at once: this never goes through the pending queue, so that
 * the range can be pinned again right away.
 */
import type { HostMemory, StreamHandle } from '../../driver/driver.ts';
import { TsambaRangeError } from '../../errors.ts';
import type { Context } from '../context.ts';
import { Allocation } from '../owner.ts';
import type { Resource } from '../resources.ts';
import type { StreamRef } from '../stream-ref.ts';
import { addHostUser, type HostUser, removeHostUser } from './uses.ts';

/** One range that the driver has pinned. Its streams are known as those of an allocation are. */
export class Registration extends Allocation implements HostUser, Resource {
  readonly start: number;
  readonly end: number;
  readonly #context: Context;
  /** Kept alive as long as it is pinned. */
  readonly #range: Uint8Array;
  #memory: HostMemory;
  #mapped: boolean;
  #users = 1;
  /** The arrays through which kernels reach the range, a mapping each. */
  readonly #views = new Set<RegisteredView>();

  constructor(context: Context, range: Uint8Array, mapped: boolean) {
    super(context, 0, 0, undefined);
    this.#context = context;
    this.#range = range;
    this.#mapped = mapped;
    this.start = range.byteOffset;
    this.end = range.byteOffset + range.byteLength;
    this.#memory = context.retrying(range.length, () => context.driver.registerHost(range, mapped));
    context.adopt(this);
    registrationsOf(context).add(this);
    addHostUser(range.buffer, this);
  }

  /** Device address of a byte of the buffer; undefined where only copies use the memory. */
  addressOf(byte: number): number | undefined {
    const { pointer } = this.#memory;
    return pointer === undefined ? undefined : Number(pointer) + byte - this.start;
  }

  /** Streams that copies and kernels still use the range on; undefined for the default stream. */
  get waitsFor(): readonly (StreamHandle | undefined)[] {
    return this.#users > 1 ? [] : this.users(this.#mapped);
  }

  /** How the range lies to another one. */
  relation(range: Uint8Array): 'around' | 'partly' | 'apart' {
    const start = range.byteOffset;
    const end = start + range.byteLength;
    if (range.buffer !== this.#range.buffer || end <= this.start || this.end <= start) return 'apart';
    return this.start <= start && end <= this.end ? 'around' : 'partly';
  }

  /** Memory for arrays over the range until their mapping ends. */
  view(address: number): RegisteredView {
    const view = new RegisteredView(this.#context, address, this);
    this.#views.add(view);
    return view;
  }

  /** The mapping of these arrays ends. */
  endView(view: RegisteredView): void {
    view.lost ??= 'its mapping has ended';
    this.#views.delete(view);
  }

  /** One more shares it. */
  share(mapped: boolean): void {
    if (mapped && !this.#mapped) this.#map();
    this.#users++;
  }

  /** One fewer shares it; the last one waits for what touches the range, then unpins it. */
  leave(): void {
    this.#users--;
    if (this.#users > 0 || this.lost !== undefined) return;
    this.#context.disown(this);
    this.finishUses(this.#mapped);
    this.destroy();
  }

  /** Unpins it. Nothing touches it any more, or its context is going. */
  override destroy(): void {
    if (this.lost !== undefined) return;
    this.lost = 'the context of its mapping was reset or closed';
    for (const view of this.#views) view.lost ??= this.lost;
    registrationsOf(this.#context).delete(this);
    removeHostUser(this.#range.buffer, this);
    this.#context.driver.unregisterHost(this.#memory);
  }

  /** What was pinned for copies only is to be reached by kernels too: it is pinned anew. */
  #map(): void {
    const context = this.#context;
    this.finishUses(false);
    context.driver.unregisterHost(this.#memory);
    try {
      this.#memory = context.retrying(this.#range.length, () => context.driver.registerHost(this.#range, true));
      this.#mapped = true;
    } catch (error) {
      this.#memory = context.driver.registerHost(this.#range, false);
      throw error;
    }
  }
}

/** What a device array over registered memory has for an allocation: it can be used until its mapping ends. */
export class RegisteredView extends Allocation {
  readonly #registration: Registration;

  constructor(context: Context, address: number, registration: Registration) {
    super(context, address, 0, undefined);
    this.#registration = registration;
  }

  override noteUse(stream: StreamRef): void {
    super.noteUse(stream);
    this.#registration.noteUse(stream);
  }
}

const registrations = new WeakMap<Context, Set<Registration>>();

function registrationsOf(context: Context): Set<Registration> {
  let known = registrations.get(context);
  if (known === undefined) {
    known = new Set();
    registrations.set(context, known);
  }
  return known;
}

/**
 * Pins a range of host memory, or shares it if it is pinned; `leave()` of the result undoes it. Throws RangeError when part of it is
 * pinned already, OutOfMemoryError, DriverError.
 */
export function register(context: Context, range: Uint8Array, mapped: boolean): Registration {
  for (const known of registrationsOf(context)) {
    const relation = known.relation(range);
    if (relation === 'apart') continue;
    if (relation === 'partly') {
      throw new TsambaRangeError(
        'E_PINNED',
        `bytes ${range.byteOffset} to ${range.byteOffset + range.byteLength} of the buffer overlap bytes ${known.start} to ` +
          `${known.end}, which are pinned already: pin one array that holds all of them, once`,
      );
    }
    known.share(mapped);
    return known;
  }
  return new Registration(context, range, mapped);
}
