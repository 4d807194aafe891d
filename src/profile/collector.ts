/**
 * The collector: looks at all that is done while at least one profile or trace is being taken, and gives it to each of them.
 *
 * It stands before the drivers of all contexts then, and goes away with the last recording. Profiles may nest and overlap: each sees all that
 * happens in the process between its beginning and its end. The line that shows what takes long is told as well, and stays.
 */
import type { DeviceDriver } from '../driver/driver.ts';
import { DeviceClock } from './device-clock.ts';
import { inFront, type Noticed, unobserved } from './in-front.ts';
import { type Doing, type Enqueuing, knownContexts, type Observed, type Observer, observing } from './observing.ts';
import type { Progress } from './progress.ts';
import { deviceId, type Recording, Seen } from './records.ts';
import { streamName } from './stream-names.ts';

/** Takes part in what is seen from now on. */
export function startRecording(recording: Recording): void {
  collector.start(recording);
}

/** Resolves when the device's times of all that has been enqueued until now are known. */
export function timesKnown(): Promise<void> {
  return collector.settled();
}

/** Sees no more. */
export function stopRecording(recording: Recording): void {
  collector.stop(recording);
}

/** Tells the line of what takes long from now on. */
export function showProgress(line: Progress): void {
  collector.show(line);
}

/** Reads the times that are known without waiting for others. */
export function readTimes(): void {
  collector.poll();
}

class Collector implements Observer, Noticed {
  readonly #recordings = new Set<Recording>();
  readonly #clocks = new Map<DeviceDriver, DeviceClock>();
  /** The bytes that were live when it was last said. */
  #live = new WeakMap<Observed, number>();

  #line: Progress | undefined = undefined;

  start(recording: Recording): void {
    this.#recordings.add(recording);
    this.#look();
  }

  show(line: Progress): void {
    this.#line = line;
    this.#look();
  }

  #look(): void {
    if (observing.current === this) return;
    observing.current = this;
    for (const context of knownContexts()) this.opened(context);
  }

  stop(recording: Recording): void {
    if (!this.#recordings.delete(recording) || this.#recordings.size > 0) return;
    for (const clock of this.#clocks.values()) clock.close();
    this.#clocks.clear();
    this.#live = new WeakMap();
    if (this.#line !== undefined) return;
    observing.current = undefined;
    for (const context of knownContexts()) {
      const driver = unobserved(context.driver);
      // Where something else stands before it, as while faults are injected, it stays and passes calls on.
      if (driver !== context.driver) context.driver = driver;
    }
  }

  poll(): void {
    for (const clock of this.#clocks.values()) clock.poll();
  }

  async settled(): Promise<void> {
    await Promise.all(Array.from(this.#clocks.values(), (clock) => clock.settled()));
  }

  opened(context: Observed): void {
    context.driver = inFront(context, this);
    this.changed(context);
  }

  enqueue<R>(what: Enqueuing, body: () => R): R {
    const over = this.#line?.begin(what);
    try {
      return this.#recordings.size === 0 ? body() : this.#enqueue(what, body);
    } finally {
      over?.();
    }
  }

  #enqueue<R>(what: Enqueuing, body: () => R): R {
    const { context, stream } = what;
    const clock = this.#clockOf(context);
    const track = streamName(unobserved(context.driver), context.info.features.externalStreams, stream);
    const enqueued = performance.now();
    const begun = clock.begin(stream, enqueued, track);
    const seen = new Seen(what, enqueued, { stream: track, clock });
    try {
      const result = body();
      seen.end = performance.now();
      if (begun !== undefined) {
        clock.end(begun, stream, track, (time) => {
          seen.time = time;
        });
      }
      return result;
    } catch (error) {
      if (begun !== undefined) clock.cancel(begun);
      this.#failed(seen, error);
      throw error;
    } finally {
      this.#add(seen);
    }
  }

  spend<R>(what: Doing, body: () => R): R {
    const over = this.#line?.begin(what);
    const seen = new Seen(what, performance.now());
    try {
      return body();
    } catch (error) {
      this.#failed(seen, error);
      throw error;
    } finally {
      seen.end = performance.now();
      this.#add(seen);
      over?.();
    }
  }

  begin(what: Doing): (error?: unknown, nested?: boolean) => void {
    const seen = new Seen(what, performance.now(), { overlapping: true });
    const hide = this.#line?.begin(what);
    let over = false;
    return (error, nested = false) => {
      if (over) return;
      over = true;
      hide?.();
      seen.overlapping = !nested;
      if (error !== undefined) this.#failed(seen, error);
      seen.end = performance.now();
      this.#add(seen);
    };
  }

  mark(what: Doing): void {
    this.#add(new Seen(what, performance.now()));
  }

  allocated(context: Observed, bytes: number): void {
    this.#sample(context, context.counters.live + bytes);
  }

  changed(context: Observed): void {
    this.#sample(context, context.counters.live);
  }

  waiting(driver: DeviceDriver): void {
    this.#clocks.get(driver)?.interrupt();
  }

  closing(driver: DeviceDriver): void {
    this.#clocks.get(driver)?.close();
    this.#clocks.delete(driver);
  }

  #clockOf(context: Observed): DeviceClock {
    const driver = unobserved(context.driver);
    let clock = this.#clocks.get(driver);
    if (clock === undefined) {
      // WebGPU's events are reached when the page hears of them, long after the device.
      clock = new DeviceClock(driver, context.info.kind !== 'webgpu');
      this.#clocks.set(driver, clock);
    }
    return clock;
  }

  #failed(seen: Seen, error: unknown): void {
    seen.end = performance.now();
    seen.error = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  }

  #add(seen: Seen): void {
    for (const recording of this.#recordings) recording.add(seen);
  }

  #sample(context: Observed, bytes: number): void {
    if (this.#live.get(context) === bytes) return;
    this.#live.set(context, bytes);
    const sample = {
      time: performance.now(),
      device: deviceId(context.info),
      namespace: context.namespace,
      bytes,
    };
    for (const recording of this.#recordings) recording.sample(sample);
  }
}

const collector: Collector = /* @__PURE__ */ new Collector();
