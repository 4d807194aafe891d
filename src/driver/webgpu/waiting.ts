/**
 * A WebGPU device that a thread may wait for: it belongs to a thread of its own, and this one sleeps until that has answered.
 */
import type { Abilities } from '../../compiler/render/wgsl/module.ts';
import { DriverError } from '../../errors.ts';
import type {
  BlockingCalls,
  DeviceInfo,
  DeviceSide,
  EventHandle,
  Executable,
  HostSide,
  Pointer,
  Program,
  StreamHandle,
  StridedCopy,
} from '../driver.ts';
import { type Mark, WebGpuDriver } from './device.ts';
import type { RemoteDevice } from './remote.ts';

export class WaitingWebGpuDriver extends WebGpuDriver implements BlockingCalls {
  readonly #remote: RemoteDevice;

  constructor(remote: RemoteDevice, info: DeviceInfo, abilities: Abilities) {
    super(remote, info, abilities, false);
    this.#remote = remote;
  }

  copyToHost(target: Uint8Array, source: Pointer, stream?: StreamHandle): void {
    this.copyToHostStrided(
      {
        target: { bytes: target, offset: 0, strides: [1] },
        source: { pointer: source, strides: [1] },
        shape: [target.length],
        itemSize: 1,
      },
      stream,
    );
  }

  copyToHostStrided(copy: StridedCopy<HostSide, DeviceSide>, stream?: StreamHandle): void {
    const { last } = this.enter('copyToHost', stream);
    const fill = this.copies.fetch(copy);
    this.#come(last);
    let filled = false;
    let failure: unknown;
    fill?.().then(
      () => {
        filled = true;
      },
      (error) => {
        failure = error;
      },
    );
    if (fill !== undefined) this.#remote.wait(() => filled || failure !== undefined);
    this.#alive('copyToHost');
    if (failure !== undefined) throw new DriverError('E_DRIVER', `copyToHost: ${(failure as Error).message}`);
    if (stream === undefined) this.reports.log.raise();
  }

  synchronizeStream(stream: StreamHandle): void {
    const { last } = this.enter('synchronizeStream', stream);
    this.#come(last);
    this.#alive('synchronizeStream');
    this.reports.log.raise(this.orderedWith(stream));
  }

  synchronizeEvent(event: EventHandle): void {
    this.reachEvent(event);
    const { stream, moment } = event.event as Mark;
    if (moment !== undefined) this.reports.log.raise(this.orderedWith(stream), moment.position);
  }

  // A thread that may wait may also ask in a loop, and its event loop hears nothing meanwhile.
  override queryEvent(event: EventHandle): boolean {
    return super.queryEvent(event) || this.#heard(() => super.queryEvent(event));
  }

  override queryStream(stream: StreamHandle): boolean {
    return super.queryStream(stream) || this.#heard(() => super.queryStream(stream));
  }

  #heard(ask: () => boolean): boolean {
    this.#remote.look();
    return ask();
  }

  reachEvent(event: EventHandle): void {
    this.#come((event.event as Mark).at);
    this.#alive('synchronizeEvent');
  }

  synchronize(): void {
    const { last } = this.enter('synchronize');
    this.#come(last);
    this.#alive('synchronize');
    this.reports.log.raise();
  }

  load(program: Program): Executable {
    return this.loadNow(program);
  }

  #come(position: number): void {
    this.#remote.wait(() => this.reached(position));
  }

  /** Throws where the device was lost meanwhile. */
  #alive(api: string): void {
    this.enter(api);
  }
}
