/**
 * The error classes a user can meet, and their stable codes.
 *
 * Numba's TypeError stays a TypeError and its ValueError / IndexError become a RangeError; what has no counterpart
 * among the built-ins has a class here. Every error thrown by Tsamba carries a `code` that does not change between
 * releases, so that programs can tell cases apart without reading messages. Names are defined as fields, not assigned: where
 * the built-ins are frozen, an assignment to an inherited property throws.
 */

/** What every Tsamba error carries besides its message. */
export interface Coded {
  /** Stable machine-readable code, e.g. `'E_DTYPE'`. */
  readonly code: string;
}

/** Longer messages quote something of the program's that nobody reads to its end. */
const LONGEST = 2_000;

function cut(message: string): string {
  return message.length <= LONGEST ? message : `${message.slice(0, LONGEST - 500)} … ${message.slice(-400)}`;
}

/** A `TypeError` with a code: an argument of the wrong kind (Numba raises TypeError in the same place). */
export class TsambaTypeError extends TypeError implements Coded {
  /** `'TypeError'`. */
  override readonly name: string = 'TypeError';
  readonly code: string;
  constructor(code: string, message: string, options?: ErrorOptions) {
    super(cut(message), options);
    this.code = code;
  }
}

/** A `RangeError` with a code: a value out of range (Numba raises ValueError or IndexError in the same place). */
export class TsambaRangeError extends RangeError implements Coded {
  /** `'RangeError'`. */
  override readonly name: string = 'RangeError';
  readonly code: string;
  constructor(code: string, message: string, options?: ErrorOptions) {
    super(cut(message), options);
    this.code = code;
  }
}

/** Where in the user's own file something is: 1-based line and column. */
export interface SourceLocation {
  /** Path or URL of the file. */
  readonly file: string;
  /** Line, from 1 on. */
  readonly line: number;
  /** Column, from 1 on. */
  readonly column: number;
}

/** A kernel that cannot be compiled: the message holds a code frame, the call chain and a `help:` line. */
export class KernelError extends Error implements Coded {
  /** `'KernelError'`. */
  override readonly name: string = 'KernelError';
  readonly code: string;
  /** Position in the user's file, when it is known. */
  readonly location: SourceLocation | undefined;
  /** The first line of the message alone, without frame and help. */
  readonly summary: string;
  /** What to write instead. */
  readonly help: string | undefined;
  constructor(
    code: string,
    message: string,
    details: { location?: SourceLocation; summary?: string; help?: string; cause?: unknown } = {},
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.location = details.location;
    this.summary = details.summary ?? message;
    this.help = details.help;
  }
}

/** A failure at run time on a device: a driver's own error, a device fault, a checked-mode failure. */
export class DriverError extends Error implements Coded {
  /** `'DriverError'`. */
  override readonly name: string = 'DriverError';
  readonly code: string;
  /** The driver call that failed, e.g. `'cuLaunchKernel'`, or `'kernel'` for a fault inside one. */
  readonly api: string;
  /** The kernel and launch shape that caused it, when there is one. */
  readonly launch: string | undefined;
  constructor(code: string, message: string, details: { api?: string; launch?: string; cause?: unknown } = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.api = details.api ?? 'kernel';
    this.launch = details.launch;
  }
}

/** Not enough device memory, with the byte counts that explain why. */
export class OutOfMemoryError extends DriverError {
  /** `'OutOfMemoryError'`. */
  override readonly name: string = 'OutOfMemoryError';
  /** Bytes that were requested. */
  readonly asked: number;
  /** Bytes of allocations that are in use. */
  readonly live: number;
  /** Bytes that wait to be freed. */
  readonly pending: number;
  /** Bytes that the driver keeps for later allocations. */
  readonly pooled: number;
  /** A bound of one allocation, which it exceeds whatever is free. */
  readonly bound: string | undefined;
  constructor(
    message: string,
    bytes: { asked: number; live: number; pending: number; pooled: number; bound?: string },
  ) {
    super('E_OUT_OF_MEMORY', message, { api: 'allocate' });
    this.bound = bytes.bound;
    this.asked = bytes.asked;
    this.live = bytes.live;
    this.pending = bytes.pending;
    this.pooled = bytes.pooled;
  }
}

/** Something that this device, engine or version cannot do. */
export class NotSupportedError extends Error implements Coded {
  /** `'NotSupportedError'`. */
  override readonly name: string = 'NotSupportedError';
  readonly code: string;
  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Runs `body` while new stacks have `depth` frames at most; where the built-ins are frozen, as many as they have. */
export function withStackDepth<T>(depth: number, body: () => T): T {
  const { stackTraceLimit } = Error;
  const mutable = Object.getOwnPropertyDescriptor(Error, 'stackTraceLimit')?.writable === true;
  if (mutable) Error.stackTraceLimit = depth;
  try {
    return body();
  } finally {
    if (mutable) Error.stackTraceLimit = stackTraceLimit;
  }
}
