/**
 * Records the work of a body instead of enqueueing it: stands before the driver of a context, takes what is enqueued, and lets everything else
 * pass.
 *
 * So memory is allocated and kernels are compiled as always while a body is recorded, and nothing of the device knows of it: a body that fails
 * leaves nothing behind.
 */
import type { DeviceDriver, EventHandle, RecordedWork, StreamHandle, Work } from '../driver/driver.ts';
import { TsambaTypeError } from '../errors.ts';
import type { Context } from '../memory/context.ts';
import { isThenable } from '../memory/context-manager.ts';
import { type Kept, type Recording, recording, refuseRecording, unrecordable, WAITS } from '../memory/recording.ts';
import { builtinState } from '../stream/stream-state.ts';
import { Lanes } from './lanes.ts';

/** What a body has left: its work, and what that uses. */
export interface Recorded {
  readonly work: readonly RecordedWork[];
  readonly kept: ReadonlySet<Kept>;
  /** Host memory and objects of other libraries. */
  readonly held: readonly object[];
  readonly result: unknown;
}

type Places = readonly number[];
type Method = (...args: never[]) => unknown;

/** Calls that wait, and what to call them. */
const WAITING: ReadonlyMap<PropertyKey, string> = new Map([
  ['synchronize', 'synchronize()'],
  ['synchronizeStream', 'synchronize() of a stream'],
  ['synchronizeEvent', 'synchronize() of an event'],
  ['reachEvent', 'waiting for an event'],
  ['copyToHostLater', 'copyToHostAsync()'],
]);

/** Records a body on a context. Throws what the body throws, and what cannot be recorded. */
export function recordWork(context: Context, body: () => unknown): Recorded {
  refuseRecording('graph()', 'another one is being recorded', 'make it before, and launch it inside');
  const recorder = new Recorder(context);
  const { driver } = context;
  context.driver = recorder.before(driver);
  recording.current = recorder;
  let result: unknown;
  try {
    result = body();
  } catch (error) {
    recorder.giveUp();
    throw error;
  } finally {
    recording.current = undefined;
    context.driver = driver;
  }
  if (isThenable(result)) {
    Promise.resolve(result).catch(() => undefined);
    recorder.fail(
      new TsambaTypeError(
        'E_GRAPH',
        'the body of a graph returned a promise, but it must be synchronous: what comes after an await would not be recorded',
      ),
    );
  }
  return recorder.finish(result);
}

class Recorder implements Recording {
  readonly #context: Context;
  readonly #default: unknown;
  readonly #lanes = new Lanes();
  readonly #work: RecordedWork[] = [];
  readonly #marks = new Map<EventHandle, Places>();
  readonly #kept = new Set<Kept>();
  readonly #held: object[] = [];
  #failure: Error | undefined = undefined;

  constructor(context: Context) {
    this.#context = context;
    this.#default = builtinState(context, 'default').handle?.stream;
  }

  record(work: Work, stream: StreamHandle | undefined): void {
    const lane = this.#laneOf(stream);
    this.#work.push({ ...work, lane, after: this.#lanes.add(lane) });
  }

  keep(used: Kept): void {
    if (this.#kept.has(used)) return;
    if (used.context !== this.#context) {
      throw this.fail(
        unrecordable(
          'this work',
          `the graph belongs to ${this.#context.place}, and the work does not`,
          'use only arrays, streams and kernels of that device and namespace',
        ),
      );
    }
    used.retain();
    this.#kept.add(used);
  }

  hold(object: object): void {
    this.#held.push(object);
  }

  knows(event: EventHandle): boolean {
    return this.#marks.has(event);
  }

  fail<E extends Error>(error: E): E {
    this.#failure ??= error;
    return error;
  }

  /** The body is over. */
  finish(result: unknown): Recorded {
    if (this.#failure !== undefined) {
      this.giveUp();
      throw this.#failure;
    }
    return { work: this.#work, kept: this.#kept, held: this.#held, result };
  }

  /** Lets go of what was kept. */
  giveUp(): void {
    for (const used of this.#kept) used.release();
    this.#kept.clear();
  }

  #laneOf(stream: StreamHandle | undefined): number {
    return this.#lanes.laneOf(stream?.stream === this.#default ? undefined : stream?.stream);
  }

  /** What stands before the driver. */
  before(driver: DeviceDriver): DeviceDriver {
    const taken = this.#taken(driver);
    const methods = new Map<PropertyKey, unknown>();
    return new Proxy(driver, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        let method = methods.get(name);
        if (method === undefined) {
          const waiting = WAITING.get(name);
          // Drivers have private fields, which a proxy as `this` cannot reach.
          method =
            waiting === undefined
              ? (taken[name as keyof DeviceDriver] ?? ((...args: never[]) => (value as Method).apply(target, args)))
              : () => this.#refuse(waiting);
          methods.set(name, method);
        }
        return method;
      },
    });
  }

  #refuse(call: string): never {
    throw this.fail(unrecordable(call, WAITS, 'call it outside, after the graph was launched'));
  }

  /** The calls that are recorded. */
  #taken(driver: DeviceDriver): Partial<DeviceDriver> {
    return {
      copyToDevice: (target, source, stream) => {
        this.#held.push(source);
        this.record({ kind: 'copyToDevice', target, source }, stream);
      },
      copyToHost: (target, source, stream) => {
        if (stream === undefined) this.#refuse('reading elements');
        this.#held.push(target);
        this.record({ kind: 'copyToHost', target, source }, stream);
      },
      copyOnDevice: (target, source, bytes, stream) =>
        this.record({ kind: 'copyOnDevice', target, source, bytes }, stream),
      copyToDeviceStrided: (copy, stream) => {
        this.#held.push(copy.source.bytes);
        this.record({ kind: 'copyToDeviceStrided', copy }, stream);
      },
      copyToHostStrided: (copy, stream) => {
        if (stream === undefined) this.#refuse('reading elements');
        this.#held.push(copy.target.bytes);
        this.record({ kind: 'copyToHostStrided', copy }, stream);
      },
      copyOnDeviceStrided: (copy, stream) => this.record({ kind: 'copyOnDeviceStrided', copy }, stream),
      fillStrided: (fill, stream) => this.record({ kind: 'fillStrided', fill }, stream),
      multiply: (product, stream) => this.record({ kind: 'multiply', product }, stream),
      copyFromPeer: () => {
        throw this.fail(
          unrecordable(
            'a copy from another device',
            'a graph belongs to one device',
            'copy before the graph is launched',
          ),
        );
      },
      recordEvent: (event, stream) => void this.#marks.set(event, this.#lanes.frontier(this.#laneOf(stream))),
      waitEvent: (event, stream) => {
        const mark = this.#marks.get(event);
        // Of the library's own: what streams that are gone have left must come before everything that is launched from now on.
        if (mark === undefined) driver.waitEvent(event, undefined);
        else this.#lanes.wait(this.#laneOf(stream), mark);
      },
    };
  }
}
