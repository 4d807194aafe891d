/**
 * An NVIDIA device that is open: what devices behind the CUDA driver API have in common, over libcuda, with kernels as PTX.
 */

import type { CudaDevice } from '../cuda-api/description.ts';
import { CudaDriver } from '../cuda-api/device.ts';
import type { ExecutableHost } from '../cuda-api/executable.ts';
import type { Cuda } from '../cuda-api/functions.ts';
import type { CudaStream } from '../cuda-api/streams.ts';
import type { Executable, MatrixProduct, Pointer, ProductLibrary, Program, StreamHandle } from '../driver.ts';
import { type PtxPipeline, ptxPipeline } from './compile.ts';
import { cudaCopies } from './copies.ts';
import { Cubins } from './cubins.ts';
import { type CublasOrReason, loadCublas } from './cublas.ts';
import { PtxExecutable, type PtxHost } from './executable.ts';
import { isaOf } from './info.ts';
import { CublasProducts } from './products.ts';

/** What tests may bring. */
export interface NvidiaOptions {
  readonly pipeline?: PtxPipeline;
  /** Where machine code is kept; null: nowhere. */
  readonly cubins?: Cubins | null;
  /** Finds cuBLAS. */
  readonly cublas?: () => CublasOrReason;
}

/** An NVIDIA device. */
export class NvidiaDriver extends CudaDriver {
  readonly #ptx: PtxHost;
  readonly #products: CublasProducts;

  constructor(
    cuda: Cuda,
    device: CudaDevice,
    { pipeline = ptxPipeline, cubins, cublas = loadCublas }: NvidiaOptions = {},
  ) {
    super(cuda, device, cudaCopies(cuda));
    const { computeCapability: [major, minor] = [0, 0], limits, features } = device.info;
    const capability = 10 * major + minor;
    this.#ptx = {
      pipeline,
      cubins: cubins === undefined ? new Cubins(cuda, capability) : cubins,
      target: { capability, isa: isaOf(cuda.version) },
      maxSharedBytes: limits.maxSharedBytesPerBlock,
      cooperative: features.cooperative,
    };
    this.#products = new CublasProducts({ context: this.context, memory: this.memory, capability, load: cublas });
  }

  productLibrary(): ProductLibrary {
    return this.#products.library;
  }

  multiply(product: MatrixProduct, stream: StreamHandle | undefined): void {
    this.#products.multiply(product, this.streams.resolve(stream, 'multiply'));
  }

  override captureMemory(stream: CudaStream): Pointer {
    return this.#products.lend(stream);
  }

  override destroyStream(stream: StreamHandle): void {
    this.context.enter('destroyStream');
    const resolved = this.streams.resolve(stream, 'destroyStream');
    if (resolved.created) this.#products.forget(resolved);
    super.destroyStream(stream);
  }

  protected override closeLibraries(): void {
    this.#products.close();
  }

  protected executable(host: ExecutableHost, program: Program): Executable {
    return new PtxExecutable(host, program, this.#ptx);
  }
}
