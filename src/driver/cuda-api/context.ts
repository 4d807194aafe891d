/**
 * The context of one open device: made current on this thread before calls, and the place where results become errors.
 *
 * Which context is current is the driver's affair, one for each thread; it is set only when another device of ours was used in
 * between, because most calls cost less than asking. An error that the context does not survive is kept: every later call
 * repeats it at once, with the first cause. Nothing brings the device back within the process: measured with driver 580, a
 * context that was destroyed or reset after such an error cannot be made again, not even a new one of another kind
 * (cuCtxCreate, cuDevicePrimaryCtxRetain give the same error), and resetting it corrupts the heap at exit. A new process works.
 */
import { DriverError, OutOfMemoryError } from '../../errors.ts';
import { OutParameters } from '../../ffi/out-parameters.ts';
import type { Cuda } from './functions.ts';
import { LaunchLog } from './launch-log.ts';
import { CUDA_ERROR_OUT_OF_MEMORY, driverError, type FailureDetails, functionName, isSticky } from './result.ts';

/** The context that is current on this thread; 0 for none of ours. Each worker thread has a copy of this module. */
let current = 0;

/**
 * What devices did not survive in this process, by platform and CUdevice, the first one first. Measured with two GPUs: what one does not
 * survive, the other does not either, because all GPUs of a process share an address space.
 */
const lost = new Map<string, Map<number, DriverError>>();

const RECOVERY =
  'The driver accepts no more work from this process or its worker threads: end the process. Run code that may fail like this in a child process ' +
  '(node:child_process), which can be started again.';

function lostOn(platform: string): Map<number, DriverError> {
  const known = lost.get(platform) ?? new Map<number, DriverError>();
  lost.set(platform, known);
  return known;
}

/** The context of one device. */
export class CudaContext {
  readonly cuda: Cuda;
  /** The CUdevice. */
  readonly device: number;
  readonly name: string;
  readonly out: OutParameters;
  /** What was launched lately: an error that comes up later names it. */
  readonly launches: LaunchLog = new LaunchLog();
  /** The CUcontext; 0 once it is closed. */
  #handle: number;
  /** The CUcontext while calls may be made, else NaN, which equals nothing: `enter` then looks closer. */
  #gate: number;
  #broken: DriverError | undefined;
  readonly #lost: Map<number, DriverError>;

  constructor(cuda: Cuda, device: number, name: string) {
    this.cuda = cuda;
    this.device = device;
    this.name = name;
    this.out = new OutParameters(cuda.ffi);
    this.#lost = lostOn(cuda.vocabulary.platform);
    const before = this.#lost.get(device);
    if (before !== undefined) throw this.#repeated(before, 'cuDevicePrimaryCtxRetain');
    const result = cuda.cuDevicePrimaryCtxRetain(this.out.at(0), device);
    if (result !== 0) {
      const help = isSticky(cuda, result)
        ? `something in this process has failed on the device before. ${RECOVERY}`
        : undefined;
      throw driverError(cuda, result, 'cuDevicePrimaryCtxRetain', { about: `opening ${name}`, help });
    }
    this.#handle = this.out.long(0);
    this.#gate = this.#handle;
  }

  /** The CUcontext. */
  get handle(): number {
    return this.#handle;
  }

  /** What the context did not survive, if anything. */
  get broken(): DriverError | undefined {
    return this.#broken;
  }

  get closed(): boolean {
    return this.#handle === 0;
  }

  /** Makes the context current on this thread. Throws when it is closed or broken. */
  enter(api: string): void {
    if (this.#gate !== current) this.#enter(api);
  }

  #enter(api: string): void {
    if (this.closed) {
      throw new DriverError('E_DEVICE_CLOSED', `${api}: ${this.name} has been closed`, { api });
    }
    if (this.#broken !== undefined) throw this.#repeated(this.#broken, api);
    this.#makeCurrent(this.#handle);
  }

  #makeCurrent(handle: number): void {
    const result = this.cuda.cuCtxSetCurrent(handle);
    if (result !== 0) throw this.failure(result, 'cuCtxSetCurrent');
    current = handle;
  }

  /** Throws the error of a result other than success. */
  check(result: number, api: string, details?: FailureDetails): void {
    if (result !== 0) throw this.failure(result, api, details);
  }

  /** The error of a result other than success; one that the context does not survive is kept. */
  failure(result: number, api: string, details: FailureDetails = {}): DriverError {
    if (result === CUDA_ERROR_OUT_OF_MEMORY && details.about === undefined) return this.#outOfMemory(api);
    if (!isSticky(this.cuda, result)) return driverError(this.cuda, result, api, details);
    const [earlier] = this.#lost.values();
    if (earlier !== undefined && this.#broken === undefined) {
      this.#break(earlier);
      return this.#repeated(earlier, api);
    }
    const suspects = this.launches.suspects();
    const error = driverError(this.cuda, result, api, {
      launch: this.launches.last(),
      ...details,
      about: [details.about, suspects, `${this.name} is lost, with everything on it. ${RECOVERY}`]
        .filter(Boolean)
        .join('\n  '),
    });
    this.#break(error);
    return error;
  }

  #break(cause: DriverError): void {
    this.#broken ??= cause;
    this.#lost.set(this.device, this.#broken);
    this.#gate = Number.NaN;
  }

  #repeated(first: DriverError, called: string): DriverError {
    const api = functionName(this.cuda, called);
    const [summary] = first.message.split('\n', 1);
    return new DriverError(
      first.code,
      `${api}: ${this.name} is lost since ${summary}${first.launch === undefined ? '' : `, in ${first.launch}`}. ${RECOVERY}`,
      { api, cause: first, ...(first.launch === undefined ? {} : { launch: first.launch }) },
    );
  }

  #outOfMemory(api: string): OutOfMemoryError {
    const called = functionName(this.cuda, api);
    return new OutOfMemoryError(`${called}: no memory left on ${this.name}`, {
      asked: 0,
      live: 0,
      pending: 0,
      pooled: 0,
    });
  }

  /** Gives the context back; one that is broken is left alone. */
  close(): void {
    if (this.closed) return;
    if (this.#broken !== undefined) {
      this.#handle = 0;
      current = 0;
      return;
    }
    if (current === this.#handle) {
      this.cuda.cuCtxSetCurrent(0);
      current = 0;
    }
    this.#handle = 0;
    this.#gate = Number.NaN;
    this.cuda.cuDevicePrimaryCtxRelease(this.device);
  }
}
