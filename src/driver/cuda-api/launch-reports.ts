/**
 * The fault records and printed values of a device behind the CUDA driver API: how its memory is read.
 */
import { LaunchReports as Records, type ReportMemory, type Watched as WatchedModule } from '../launch-reports.ts';
import type { CudaContext } from './context.ts';
import { CUDA_ERROR_NOT_READY } from './result.ts';
import type { CudaStream } from './streams.ts';

/** A loaded module that can fault or print; its records are at device addresses. */
export type Watched = WatchedModule<CudaStream, number>;

/** The records of all modules of a device. */
export class LaunchReports extends Records<CudaStream, number> {
  constructor(context: CudaContext) {
    super(new CudaRecordMemory(context));
  }
}

class CudaRecordMemory implements ReportMemory<CudaStream, number> {
  readonly #context: CudaContext;

  constructor(context: CudaContext) {
    this.#context = context;
  }

  get lost(): boolean {
    return this.#context.broken !== undefined;
  }

  isDefault(stream: CudaStream): boolean {
    return stream === stream.owner.default;
  }

  isBusy(stream: CudaStream): boolean {
    return this.#context.cuda.cuStreamQuery(stream.handle) === CUDA_ERROR_NOT_READY;
  }

  waitForAll(): void {
    this.#context.check(this.#context.cuda.cuCtxSynchronize(), 'cuCtxSynchronize');
  }

  read(into: Uint8Array, at: number, offset: number, stream: CudaStream | undefined): void {
    const { cuda } = this.#context;
    const on = stream?.handle ?? 0;
    this.#context.check(cuda.cuMemcpyDtoHAsync(into, at + offset, into.length, on), 'cuMemcpyDtoHAsync');
    this.#context.check(cuda.cuStreamSynchronize(on), 'cuStreamSynchronize');
  }

  zero(at: number, bytes: number, stream: CudaStream | undefined): void {
    const { cuda } = this.#context;
    const on = stream?.handle ?? 0;
    this.#context.check(cuda.cuMemsetD8Async(at, 0, bytes, on), 'cuMemsetD8Async');
    this.#context.check(cuda.cuStreamSynchronize(on), 'cuStreamSynchronize');
  }
}
