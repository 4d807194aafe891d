/**
 * What `launchAsync` adds to a launch: options of its own, the promise, and how it is stopped.
 *
 * Devices that this process runs do the work beside the program and can stop it. On others the launch is enqueued as every launch
 * is, and the event loop asks for it; nothing stops a kernel there, which the errors say.
 */
import type { PendingLaunch } from '../driver/driver.ts';
import { describeLaunch } from '../driver/launch-errors.ts';
import { DriverError, TsambaTypeError } from '../errors.ts';
import { warn } from '../host/index.ts';
import type { Context } from '../memory/context.ts';
import { ownValue } from '../options.ts';
import { show } from '../show.ts';
import type { Stream } from '../stream/stream.ts';
import { whenDone } from '../stream/waiting.ts';
import type { CheckedShape, LaunchOptions } from './launch-shape.ts';
import type { Named } from './warnings.ts';

/** An `AbortSignal`, as programs know it whose types have neither the DOM nor Node.js. */
export interface Signal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** What `launchAsync` may say besides what every launch may. */
export interface AsyncExtras {
  /**
   * Told from the event loop how many blocks of the grid are done, now and then while the kernel runs, and at its end with `done` equal to
   * `total`. GPUs tell only of the end.
   */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
  /** Stops the kernel when it is aborted: the promise rejects with E_ABORTED. */
  readonly signal?: Signal | undefined;
}

/** What `launchAsync` takes first. */
export type AsyncLaunchOptions = LaunchOptions & AsyncExtras;

export const ASYNC_KEYS: readonly string[] = ['onProgress', 'signal'];

/** Checks what `AsyncExtras` names; throws TypeError. */
export function checkExtras(options: object): AsyncExtras {
  const [onProgress, signal] = [ownValue(options, 'onProgress'), ownValue(options, 'signal')];
  if (onProgress !== undefined && typeof onProgress !== 'function') {
    throw new TsambaTypeError('E_LAUNCH_OPTION', `onProgress must be a function, got ${show(onProgress)}`);
  }
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw new TsambaTypeError(
      'E_LAUNCH_OPTION',
      `signal must be an AbortSignal, got ${show(signal)}: pass the signal of an AbortController, or AbortSignal.timeout(ms)`,
    );
  }
  return { onProgress: onProgress as AsyncExtras['onProgress'], signal: signal as Signal | undefined };
}

/** What messages say of a launch. */
export interface Launched {
  readonly kernel: Named;
  readonly shape: CheckedShape;
  readonly extras: AsyncExtras;
}

/** The user's function; what it throws becomes a warning, as with callbacks of streams. */
export function reporter({ shape, extras: { onProgress } }: Launched): ((done: number) => void) | undefined {
  if (onProgress === undefined) return undefined;
  const total = shape.grid[0] * shape.grid[1] * shape.grid[2];
  return (done) => {
    try {
      onProgress(done, total);
    } catch (error) {
      const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
      warn(`onProgress threw: ${message}`, { type: 'TsambaWarning', code: 'TSAMBA_CALLBACK' });
    }
  };
}

/** Throws when the launch is not wanted any more. */
export function refuseAborted(launched: Launched): void {
  const { signal } = launched.extras;
  if (signal?.aborted) throw aborted(launched, 'was not launched');
}

/** Resolves when the kernel is done; the signal and the timeout of the launch end it. */
export async function settled(
  launched: Launched,
  context: Context,
  stream: Stream,
  pending: PendingLaunch | undefined,
): Promise<void> {
  const { signal } = launched.extras;
  const running = pending ?? enqueued(launched, context, stream);
  const stop = (): void => running.stop(aborted(launched, pending === undefined ? runsOn(context) : 'was stopped'));
  signal?.addEventListener('abort', stop, { once: true });
  try {
    await running.done;
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}

/** A launch on a device that works by itself: it can be left to itself, but not stopped. */
function enqueued(launched: Launched, context: Context, stream: Stream): PendingLaunch {
  const { timeout } = launched.shape;
  let reject: (error: unknown) => void = () => undefined;
  let timer: NodeJS.Timeout | undefined;
  let left = false;
  const leave = (error: DriverError): void => {
    left = true;
    reject(error);
  };
  const done = new Promise<void>((resolve, fail) => {
    reject = fail;
    whenDone(context, stream.use(), (outcome) => {
      clearTimeout(timer);
      if (outcome === undefined) resolve();
      // Where who launched has gone, somebody else must be told.
      else if (!left) {
        outcome.acknowledge();
        reject(outcome.error);
      }
    });
    if (timeout > 0) timer = setTimeout(() => leave(stillRuns(launched, context)), timeout);
  });
  return { done, stop: leave };
}

function runsOn({ info }: Context): string {
  return `still runs on ${info.name}, which cannot stop a kernel`;
}

function aborted({ kernel, shape, extras }: Launched, what: string): DriverError {
  const launch = describeLaunch(shape);
  return new DriverError(
    'E_ABORTED',
    `kernel ${kernel.name} ${what}: its signal was aborted\n  launched with ${launch}`,
    {
      launch: `${kernel.name} with ${launch}`,
      cause: extras.signal?.reason,
    },
  );
}

/** The time of a launch is over, and the device goes on with it. */
export function stillRuns({ kernel, shape }: Omit<Launched, 'extras'>, context: Context): DriverError {
  const launch = describeLaunch(shape);
  return new DriverError(
    'E_TIMEOUT',
    `kernel ${kernel.name} had not ended after ${shape.timeout} ms (timeout) and ${runsOn(context)}\n  launched with ${launch}\n` +
      '  help: arrays that it uses stay in use, and the next call that waits for the stream or the device waits for the kernel; if it may ' +
      'never end, run it in a separate process that can be ended',
    { launch: `${kernel.name} with ${launch}` },
  );
}

/** Milliseconds that the host sleeps between two looks at a device, in a launch that waits. */
const SHORTEST = 0.05;
const LONGEST = 5;

/** Blocks until what is on the stream now has been done; throws E_TIMEOUT when the launch's time is over. */
export function waitWithin(
  kernel: Named,
  shape: CheckedShape,
  { context, stream }: { readonly context: Context; readonly stream: Stream | undefined },
): void {
  const { driver } = context;
  const event = driver.createEvent(false);
  try {
    driver.recordEvent(event, stream?.handle);
    const started = performance.now();
    const asleep = new Int32Array(new SharedArrayBuffer(4));
    for (let pause = SHORTEST; !driver.queryEvent(event); pause = Math.min(2 * pause, LONGEST)) {
      const left = shape.timeout - (performance.now() - started);
      if (left <= 0) throw stillRuns({ kernel, shape }, context);
      Atomics.wait(asleep, 0, 0, Math.min(pause, left));
    }
  } finally {
    driver.destroyEvent(event);
  }
}
