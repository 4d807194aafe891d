/**
 * Recorded work that is enqueued piece by piece: graphs on devices that have none of their own.
 *
 * Arguments have been checked and addresses found when the work was recorded, so that only the calls of the driver are left.
 */
import type { DeviceDriver, PreparedWork, RecordedWork, StreamHandle, Work } from './driver.ts';

/** Enqueues one piece of work. Without a stream copies are done when this returns. */
export function enqueueWork(driver: DeviceDriver, work: Work, stream: StreamHandle | undefined): void {
  switch (work.kind) {
    case 'launch':
      return work.executable.launch(work.shape, work.args, stream);
    case 'copyToDevice':
      return driver.copyToDevice(work.target, work.source, stream);
    case 'copyToHost':
      return driver.copyToHost?.(work.target, work.source, stream);
    case 'copyOnDevice':
      return driver.copyOnDevice(work.target, work.source, work.bytes, stream);
    case 'copyToDeviceStrided':
      return driver.copyToDeviceStrided(work.copy, stream);
    case 'copyToHostStrided':
      return driver.copyToHostStrided?.(work.copy, stream);
    case 'copyOnDeviceStrided':
      return driver.copyOnDeviceStrided(work.copy, stream);
    case 'fillStrided':
      return driver.fillStrided(work.fill, stream);
    case 'multiply':
      return driver.multiply?.(work.product, stream);
  }
}

/** A list of work; all of it goes to one stream, where its order is kept. */
export class WorkList implements PreparedWork {
  readonly kept = 0;
  readonly #driver: () => DeviceDriver;
  #work: readonly RecordedWork[];

  /** The driver is asked for at each launch: another one may stand before it, which makes calls fail. */
  constructor(driver: () => DeviceDriver, work: readonly RecordedWork[]) {
    this.#driver = driver;
    this.#work = work;
  }

  enqueue(stream: StreamHandle | undefined): void {
    const driver = this.#driver();
    for (const work of this.#work) enqueueWork(driver, work, stream);
  }

  replace(work: readonly RecordedWork[]): void {
    this.#work = work;
  }

  destroy(): void {
    this.#work = [];
  }
}
