/**
 * An NVIDIA device that is open: what devices behind the CUDA driver API have in common, over libcuda, with kernels as PTX.
 */

import type { CudaDevice } from '../cuda-api/description.ts';
import { CudaDriver } from '../cuda-api/device.ts';
import type { ExecutableHost } from '../cuda-api/executable.ts';
import type { Cuda } from '../cuda-api/functions.ts';
import type { Executable, Program } from '../driver.ts';
import { type PtxPipeline, ptxPipeline } from './compile.ts';
import { cudaCopies } from './copies.ts';
import { Cubins } from './cubins.ts';
import { PtxExecutable, type PtxHost } from './executable.ts';
import { isaOf } from './info.ts';

/** What tests may bring. */
export interface NvidiaOptions {
  readonly pipeline?: PtxPipeline;
  /** Where machine code is kept; null: nowhere. */
  readonly cubins?: Cubins | null;
}

/** An NVIDIA device. */
export class NvidiaDriver extends CudaDriver {
  readonly #ptx: PtxHost;

  constructor(cuda: Cuda, device: CudaDevice, { pipeline = ptxPipeline, cubins }: NvidiaOptions = {}) {
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
  }

  protected executable(host: ExecutableHost, program: Program): Executable {
    return new PtxExecutable(host, program, this.#ptx);
  }
}
