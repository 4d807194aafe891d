/**
 * The two forms of a context manager: an object for `using`, or a callback that is run and left.
 *
 * The effect has begun when either form is made. `leave` is called once, also when the body throws.
 */
import { TsambaTypeError } from '../errors.ts';

/** Something in force until it is disposed; disposing twice is a no-op. */
export interface Leavable {
  /** Ends it. Calling it again does nothing. */
  dispose(): void;
  [Symbol.dispose](): void;
}

/** The form for `using`. */
export function contextManager(exit: () => void): Leavable {
  let exited = false;
  const dispose = (): void => {
    if (exited) return;
    exited = true;
    exit();
  };
  return { dispose, [Symbol.dispose]: dispose };
}

/** Throws TypeError for a body that is not a function, before anything has begun. */
export function checkBody(what: string, body: unknown): void {
  if (typeof body === 'function') return;
  throw new TsambaTypeError(
    'E_CALLBACK',
    `${what} takes a function to run, got ${body === null ? 'null' : `a value of type ${typeof body}`}`,
  );
}

/** The form with a callback: runs a sync or async body, then leaves. Gives what the body gives. */
export function exitAfter<R>(exit: () => void, body: () => R): R {
  let result: R;
  try {
    result = body();
  } catch (error) {
    exit();
    throw error;
  }
  if (isThenable(result)) return Promise.resolve(result).finally(exit) as R;
  exit();
  return result;
}

/** Whether a value is a promise, of whatever library. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  return typeof (value as { then?: unknown }).then === 'function';
}
