/**
 * What the chapters launch, read and wait with, so that one test serves all devices: calls that wait where a thread can wait for the
 * device, and their asynchronous forms where it only answers through promises.
 */
import {
  type AsyncLaunchOptions,
  cuda,
  type DeviceRecord,
  type Event,
  type LaunchOptions,
  NotSupportedError,
  type Stream,
} from '../src/index.ts';

type Context = ReturnType<typeof cuda.currentContext>;
type OnStream = { readonly stream?: Stream | 0 | null | undefined };

/** Whether a thread can wait for a device. */
export function canWait(context: Context = cuda.currentContext()): boolean {
  return context.info.features.hostCanWait;
}

/** What is launched with such arguments. */
export interface Launched<A extends readonly unknown[]> {
  launch(options: LaunchOptions, ...args: A): void;
  compileAsync(...args: A): Promise<void>;
  launchAsync(options: AsyncLaunchOptions, ...args: A): Promise<void>;
}

/** Launches as `kernel.launch` does: what only takes arrays of the device is enqueued, host arrays have been copied back. */
export async function launch<A extends readonly unknown[]>(
  kernel: Launched<A>,
  options: LaunchOptions,
  ...args: NoInfer<A>
): Promise<void> {
  const now = (): boolean => {
    try {
      kernel.launch(options, ...args);
      return true;
    } catch (error) {
      if (error instanceof NotSupportedError && error.code === 'E_NO_WAIT') return false;
      throw error;
    }
  };
  if (now()) return;
  // Once it is compiled it can be enqueued at once, unless it takes host arrays.
  await kernel.compileAsync(...args);
  if (!now()) await kernel.launchAsync(options, ...args);
}

/** What copies to the host as an `X`. */
export interface Copied<X> {
  readonly context: Context;
  copyToHost(into: undefined, options?: OnStream): X;
  copyToHost(into: never, options?: OnStream): unknown;
}

/** What `copyToHost` gives. */
export function read<T>(record: DeviceRecord<T>, options?: OnStream): Promise<T>;
export function read<X>(array: Copied<X>, options?: OnStream): Promise<X>;
export function read<H>(array: { readonly context: Context }, into: H, options?: OnStream): Promise<H>;
export async function read(from: unknown, ...args: unknown[]): Promise<unknown> {
  const array = from as Readable;
  return canWait(array.context) ? array.copyToHost(...args) : array.copyToHostAsync(...args);
}

interface Readable {
  readonly context: Context;
  copyToHost(...args: unknown[]): unknown;
  copyToHostAsync(...args: unknown[]): Promise<unknown>;
}

/** What `get` gives. */
export function element<T, K extends string & keyof T>(
  record: DeviceRecord<T>,
  field: K,
  options?: OnStream,
): ReturnType<typeof record.getAsync<K>>;
export function element<X>(
  array: { readonly context: Context; getAsync(...index: number[]): Promise<X> },
  ...index: number[]
): Promise<X>;
export async function element(from: unknown, ...index: unknown[]): Promise<unknown> {
  const array = from as Indexed;
  return canWait(array.context) ? array.get(...index) : array.getAsync(...index);
}

interface Indexed {
  readonly context: Context;
  get(...index: unknown[]): unknown;
  getAsync(...index: unknown[]): Promise<unknown>;
}

/** Waits for a stream, an event or the device; rejects with what went wrong. */
export async function settled(what?: Stream | Event): Promise<void> {
  if (canWait(what?.context)) (what ?? cuda).synchronize();
  else await (what === undefined ? cuda.synchronizeAsync() : what.done());
}
