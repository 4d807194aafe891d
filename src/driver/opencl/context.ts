/**
 * The OpenCL context of one open device, and the place where results become errors.
 *
 * A device that an implementation has given up (NVIDIA's after an illegal access) is kept as broken: every later call repeats the
 * first cause.
 */
import { DriverError } from '../../errors.ts';
import { OutParameters } from '../../ffi/out-parameters.ts';
import type { OpenCLDevice } from './info.ts';
import type { OpenCL } from './library.ts';
import { alone, pause } from './lock.ts';
import { CL_INVALID_BUFFER_SIZE, driverError, type FailureDetails, isOutOfMemory } from './result.ts';

/** Times that a context is made before its failure is believed: a thread that came too early gets a device without memory. */
const ATTEMPTS = 4;
const MEM_READ_WRITE = 1;

/** The context of one device. */
export class OpenCLContext {
  readonly cl: OpenCL;
  readonly device: OpenCLDevice;
  readonly out: OutParameters;
  /** The cl_context; 0 once it is closed. */
  #handle: number;
  #broken: DriverError | undefined;

  constructor(cl: OpenCL, device: OpenCLDevice) {
    this.cl = cl;
    this.device = device;
    this.out = new OutParameters(cl.ffi);
    this.#handle = alone(() => this.#open());
  }

  #open(): number {
    for (let attempt = 1; ; attempt++) {
      const handle = this.#create();
      // Whether it works at all shows in the first buffer.
      const buffer = this.cl.clCreateBuffer(handle, MEM_READ_WRITE, 256, null, this.out.at(0));
      const result = this.out.int(0);
      if (result === 0) {
        this.cl.clReleaseMemObject(buffer);
        return handle;
      }
      this.cl.clReleaseContext(handle);
      if (result !== CL_INVALID_BUFFER_SIZE || attempt === ATTEMPTS) throw this.failure(result, 'clCreateBuffer');
      pause(2 ** attempt);
    }
  }

  #create(): number {
    const { cl, out } = this;
    out.set(1, BigInt(this.device.listed.device));
    const handle = cl.clCreateContext(0, 1, out.at(1), 0, 0, out.at(0));
    this.check(out.int(0), 'clCreateContext', { about: `opening ${this.name}` });
    return handle;
  }

  get name(): string {
    return this.device.info.name;
  }

  /** The cl_context. */
  get handle(): number {
    return this.#handle;
  }

  /** The cl_device_id. */
  get id(): number {
    return this.device.listed.device;
  }

  get closed(): boolean {
    return this.#handle === 0;
  }

  /** What the device did not survive, if anything. */
  get broken(): DriverError | undefined {
    return this.#broken;
  }

  /** Throws when the device is closed or broken. */
  enter(api: string): void {
    if (this.#handle === 0) throw new DriverError('E_DEVICE_CLOSED', `${api}: ${this.name} has been closed`, { api });
    if (this.#broken !== undefined) throw this.#repeated(this.#broken, api);
  }

  /** Throws the error of a result other than success. */
  check(result: number, api: string, details?: FailureDetails): void {
    if (result !== 0) throw this.failure(result, api, details);
  }

  /** The error of a result other than success. */
  failure(result: number, api: string, details?: FailureDetails): DriverError {
    return driverError(result, api, this.name, details);
  }

  /** Work that had been enqueued has failed: GPUs take no more after that. */
  workFailed(result: number, api: string): DriverError {
    const error = this.failure(result, api, { about: 'work that had been enqueued before has failed' });
    if (this.device.listed.hardware === 'gpu' && !isOutOfMemory(result)) this.#broken ??= error;
    return error;
  }

  #repeated(first: DriverError, api: string): DriverError {
    const [summary] = first.message.split('\n', 1);
    return new DriverError(first.code, `${api}: ${this.name} is lost since ${summary}`, { api, cause: first });
  }

  close(): void {
    if (this.closed) return;
    this.cl.clReleaseContext(this.#handle);
    this.#handle = 0;
  }
}
