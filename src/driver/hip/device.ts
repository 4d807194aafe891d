/**
 * A HIP device that is open: what manages NVIDIA devices, over HIP's library, with code objects in place of PTX.
 *
 * Compiled for AMD GPUs and run against a model of the library; not yet run on hardware.
 */
import { NvidiaDriver } from '../nvidia/device.ts';
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
export class HipDriver extends NvidiaDriver {
  readonly device: HipDevice;

  constructor(hip: Hip, device: HipDevice, options: HipOptions = {}) {
    const { pipeline = hipPipeline } = options;
    const { arch, identity, runtime } = device;
    const compile =
      options.compileCopies ??
      ((text) => compileHip(text, { name: 'copies', arch, identity, runtime, options: ['-O3'] }));
    super(device.ownPool ? withOwnPool(hip.cuda) : hip.cuda, device, {
      backend: {
        copies: hipCopies(hip, compile),
        load: (host, program) => new HipExecutable(host, program, pipeline, device),
      },
    });
    this.device = device;
  }
}
