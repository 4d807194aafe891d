/**
 * A kernel loaded on an NVIDIA device: one module, and a second one for launches whose arrays overlap, made when first wanted.
 *
 * `launch` is the path that counts: no allocation, no closure, and no check that could be made once. CUDA driver API, sections
 * "Execution Control" and "Occupancy".
 */

import { describe } from '../../compiler/frontend/positions.ts';
import { withinStack } from '../../compiler/frontend/too-deep.ts';
import type { Kernel } from '../../compiler/ir/ops.ts';
import { describePasses } from '../../compiler/ir/passes/describe.ts';
import type { PtxModule, PtxTarget } from '../../compiler/render/ptx/module.ts';
import { variable } from '../../environment.ts';
import { NotSupportedError } from '../../errors.ts';
import { CudaExecutable, type ExecutableHost } from '../cuda-api/executable.ts';
import type { Cuda } from '../cuda-api/functions.ts';
import type { CudaStream, CudaStreams } from '../cuda-api/streams.ts';
import type { ExecutableAttributes, LaunchArgs, LaunchShape, Program, StreamHandle } from '../driver.ts';
import { kernelLabel } from '../launch-errors.ts';
import type { PtxPipeline } from './compile.ts';
import type { Cubins } from './cubins.ts';
import { PtxLoaded } from './module.ts';

/** What PTX kernels need of their device beside what all do. */
export interface PtxHost {
  readonly pipeline: PtxPipeline;
  /** Machine code that is kept from process to process; null: none is. */
  readonly cubins: Cubins | null;
  readonly target: PtxTarget;
  /** Shared memory of a block, static and dynamic together. */
  readonly maxSharedBytes: number;
  readonly cooperative: boolean;
}

/** A kernel on an NVIDIA device. */
export class PtxExecutable extends CudaExecutable {
  readonly attributes: ExecutableAttributes;
  readonly #ptx: PtxHost;
  readonly #streams: CudaStreams;
  readonly #launchKernel: Cuda['cuLaunchKernel'];
  readonly #module: PtxLoaded;
  #aliased: PtxLoaded | undefined;

  constructor(host: ExecutableHost, program: Program, ptxHost: PtxHost) {
    super(host, program);
    this.#ptx = ptxHost;
    this.#streams = host.streams;
    this.#launchKernel = host.context.cuda.cuLaunchKernel;
    this.#module = this.#load(false);
    const { registers, localBytes, constBytes, staticBytes, maxThreadsPerBlock, ptx } = this.#module;
    if (ptx.cooperative && !ptxHost.cooperative) {
      throw new NotSupportedError(
        'E_COOPERATIVE',
        `${this.name}: ${host.context.name} cannot launch grids whose blocks wait for each other`,
      );
    }
    this.attributes = {
      registers,
      localBytes,
      constBytes,
      sharedBytes: staticBytes + ptx.extraSharedBytes,
      maxThreadsPerBlock: Math.min(maxThreadsPerBlock, program.launchBounds ?? host.maxThreadsPerBlock),
    };
  }

  launch(shape: LaunchShape, args: LaunchArgs, stream: StreamHandle | undefined): void {
    const { grid, block } = shape;
    const { context } = this;
    const target = this.#streams.resolve(stream, 'cuLaunchKernel');
    if (grid[0] * grid[1] * grid[2] === 0) return;
    if (!this.loaded) this.failUnloaded();
    context.enter('cuLaunchKernel');
    const module = shape.aliased === true ? this.#aliasedModule() : this.#module;
    const { params } = module;
    params.write(args, shape.argsVersion);
    const dynamic = shape.sharedBytes + module.ptx.extraSharedBytes;
    if (dynamic > module.allowed) module.allowShared(this.#ptx.maxSharedBytes);
    if (module.watched) params.writeLaunchNumber(this.host.reports.note(module, shape, target, this.launch));
    context.launches.note(this.program.kernel, shape);
    const result = module.ptx.cooperative
      ? this.#launchCooperative(module, shape, dynamic, target)
      : this.#launchKernel(
          module.function,
          grid[0],
          grid[1],
          grid[2],
          block[0],
          block[1],
          block[2],
          dynamic,
          target.handle,
          0,
          params.extra,
        );
    if (result !== 0) this.failLaunch(result, shape);
    if (this.host.synchronous) this.host.synchronizeStream(target);
  }

  #launchCooperative(module: PtxLoaded, { grid, block }: LaunchShape, dynamic: number, stream: CudaStream): number {
    const { cuLaunchCooperativeKernel: launch } = this.context.cuda;
    // Without the function the device is not `cooperative`, and the kernel was refused.
    if (launch === undefined) return 0;
    return launch(
      module.function,
      grid[0],
      grid[1],
      grid[2],
      block[0],
      block[1],
      block[2],
      dynamic,
      stream.handle,
      module.params.pointers,
    );
  }

  /** The form that reads nothing through the read-only path. */
  #aliasedModule(): PtxLoaded {
    if (!this.#module.ptx.usesReadOnlyPath) return this.#module;
    this.#aliased ??= this.#load(true);
    return this.#aliased;
  }

  #load(aliased: boolean): PtxLoaded {
    this.context.enter('cuModuleLoadDataEx');
    const loaded = new PtxLoaded(this.context, this.program.kernel, this.#compile(aliased), this.#ptx.cubins);
    if (this.program.sharedCarveout !== undefined) loaded.preferShared(this.program.sharedCarveout);
    return loaded;
  }

  #compile(aliased: boolean, kernel: Kernel = this.program.kernel): PtxModule {
    const { launchBounds, minBlocks, cluster, maxRegisters, lineInfo = isProfiled() } = this.program;
    const name = this.program.name ?? (isProfiled() ? kernelLabel(kernel) : kernel.name);
    const lines = lineInfo ? describe : undefined;
    const { pipeline, target } = this.#ptx;
    return withinStack(
      () => kernel.pos,
      () => pipeline.compile(kernel, target, { name, launchBounds, minBlocks, cluster, maxRegisters, aliased, lines }),
    );
  }

  inspect(target: string): string | undefined {
    if (target === 'passes') return describePasses(this.program.kernel, (kernel) => this.#compile(false, kernel));
    return target === 'ptx' ? this.#module.ptx.text : undefined;
  }

  protected modules(): readonly [PtxLoaded, ...PtxLoaded[]] {
    return this.#aliased === undefined ? [this.#module] : [this.#module, this.#aliased];
  }

  protected dynamicBytes(asked: number): number {
    const dynamic = asked + this.#module.ptx.extraSharedBytes;
    if (dynamic > this.#module.allowed) this.#module.allowShared(this.#ptx.maxSharedBytes);
    return dynamic;
  }
}

/**
 * Whether a profiler has started this process: then anonymous kernels are called what their file assigns them to. Finding that out
 * reads files and source maps, which takes longer than compiling does.
 */
function isProfiled(): boolean {
  return ['CUDA_INJECTION64_PATH', 'NSYS_PROFILING_SESSION_ID', 'NV_TPS_LAUNCH_TOKEN'].some(
    (name) => variable(name) !== undefined,
  );
}
