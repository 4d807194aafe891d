/**
 * A HIP device that is open: what devices behind the CUDA driver API have in common, over HIP's library, with kernels as code objects.
 *
 * Compiled for AMD GPUs and run against a model of the library; not yet run on hardware.
 */
import { CudaDriver } from '../cuda-api/device.ts';
import type { ExecutableHost } from '../cuda-api/executable.ts';
import type { Executable, Program } from '../driver.ts';
import { type HipPipeline, hipPipeline } from './compile.ts';
import { compileHip } from './compiler.ts';
import { hipCopies } from './copy-kernels.ts';
import { HipExecutable } from './executable.ts';
import type { HipDevice } from './info.ts';
import type { Hip } from './library.ts';
import { withOwnPool } from './pool.ts';

/** What tests may bring. */
export interface HipOptions {
  readonly pipeline?: HipPipeline;
  /** HIP C++ of the copy kernels to a code object. */
  readonly compileCopies?: (text: string) => Uint8Array;
}

/** An AMD GPU, by HIP. */
export class HipDriver extends CudaDriver {
  readonly device: HipDevice;
  readonly #pipeline: HipPipeline;

  constructor(hip: Hip, device: HipDevice, { pipeline = hipPipeline, compileCopies }: HipOptions = {}) {
    const { arch, identity, runtime } = device;
    const compile =
      compileCopies ?? ((text) => compileHip(text, { name: 'copies', arch, identity, runtime, options: ['-O3'] }));
    super(device.ownPool ? withOwnPool(hip.cuda) : hip.cuda, device, hipCopies(hip, compile));
    this.device = device;
    this.#pipeline = pipeline;
  }

  /** HIP's own pool is of the device: others in the process take from it. Ours is not. */
  trim(): void {
    if (!this.device.ownPool) return;
    this.context.enter('trim');
    this.memory.trim();
  }

  protected executable(host: ExecutableHost, program: Program): Executable {
    return new HipExecutable(host, program, this.#pipeline, this.device);
  }
}
