/**
 * Places in a kernel that its code reports by number: where it can stop, and where it prints. The renderers number them, the
 * drivers turn the numbers into messages.
 */
import type { ArraySym } from '../ir/ops.ts';
import type { PrintForm } from '../ir/print-forms.ts';
import type { Pos } from '../source.ts';

/** A place in the kernel that can stop it. */
export interface FaultSite {
  readonly kind: 'bounds' | 'trap' | 'cast' | 'uniform' | 'exponent';
  readonly pos: Pos;
  /** bounds: which array and axis. */
  readonly array?: ArraySym | undefined;
  readonly axis?: number | undefined;
  /** trap: the message. */
  readonly message?: string | undefined;
}

/** How a printed value is stored; an object, so that no text is mistaken for it. */
export interface PrintedValue {
  readonly type: 'i64' | 'u64' | 'f64' | 'bool' | 'i32' | 'u32' | 'f32';
}

/** A `console.log`: values are stored one after another as 8-byte slots (i64 / u64 / f64 bits, all others widened to f64; on devices without f64 in the first half, as they are) before the call. */
export interface PrintSite {
  readonly pos: Pos;
  readonly parts: readonly (string | PrintedValue)[];
  /** What the arguments of the host's `console.log` are made of; undefined: each part is one. */
  readonly forms?: readonly PrintForm[] | undefined;
}
