/**
 * A kernel loaded on a HIP device: one code object, made when the kernel is loaded.
 *
 * `launch` is the path that counts: no allocation, no closure, and no check that could be made once. HIP runtime API reference,
 * sections "Execution Control" and "Occupancy".
 */
import { describePasses } from '../../compiler/ir/passes/pipeline.ts';
import { deviceOnlyAtomics } from '../../compiler/render/opencl/atomics.ts';
import { TsambaRangeError } from '../../errors.ts';
import { refuseSeveralBlocks } from '../cooperative.ts';
import { CudaExecutable, type ExecutableHost } from '../cuda-api/executable.ts';
import type { ExecutableAttributes, LaunchArgs, LaunchShape, Program, StreamHandle } from '../driver.ts';
import { describeLaunch, kernelLabel } from '../launch-errors.ts';
import { openclPipeline } from '../opencl/compile.ts';
import type { HipPipeline, HipTarget } from './compile.ts';
import { HipLoaded } from './module.ts';

/** Threads along one axis that no launch may reach: the packet for the GPU has 32 bits for them. */
const MOST_ALONG = 2 ** 32;

/** A kernel on a HIP device. */
export class HipExecutable extends CudaExecutable {
  readonly attributes: ExecutableAttributes;
  readonly #target: HipTarget;
  readonly #pipeline: HipPipeline;
  readonly #module: HipLoaded;
  /** Parameters whose arrays may not be in memory of the host in the usual module: atomic operations that PCIe does not carry. */
  readonly #deviceOnly: readonly number[];
  /** With atomic operations that it carries; made when a launch needs it. */
  #hostModule: HipLoaded | undefined;

  constructor(host: ExecutableHost, program: Program, pipeline: HipPipeline, target: HipTarget) {
    super(host, program);
    this.#target = target;
    this.#pipeline = pipeline;
    this.#deviceOnly = [...deviceOnlyAtomics(program.kernel)];
    this.#module = this.#load(false);
    const { registers, localBytes, constBytes, staticBytes, maxThreadsPerBlock, source } = this.#module;
    this.attributes = {
      registers,
      localBytes,
      constBytes,
      sharedBytes: Math.max(source.staticSharedBytes, staticBytes),
      maxThreadsPerBlock: Math.min(
        maxThreadsPerBlock,
        host.maxThreadsPerBlock,
        source.threadsPerBlockLimit ?? host.maxThreadsPerBlock,
        program.launchBounds ?? host.maxThreadsPerBlock,
      ),
    };
  }

  #load(hostAtomics: boolean): HipLoaded {
    const { kernel, name = kernelLabel(kernel) } = this.program;
    const options = hostAtomics ? { name, hostAtomics } : { name };
    const compiled = this.#pipeline.compile(kernel, this.#target, options);
    this.context.enter('cuModuleLoadDataEx');
    return new HipLoaded(this.context, kernel, compiled);
  }

  /** The usual module, unless atomic operations go to memory of the host. */
  #moduleFor(args: LaunchArgs): HipLoaded {
    if (!this.#deviceOnly.some((param) => this.host.isHost(Number(args[param] ?? 0)))) return this.#module;
    this.#hostModule ??= this.#load(true);
    return this.#hostModule;
  }

  launch(shape: LaunchShape, args: LaunchArgs, stream: StreamHandle | undefined): void {
    const { grid, block } = shape;
    const { context, streams, reports, synchronous } = this.host;
    const target = streams.resolve(stream, 'hipModuleLaunchKernel');
    const blocks = grid[0] * grid[1] * grid[2];
    if (blocks === 0) return;
    if (!this.loaded) this.failUnloaded();
    if (grid[0] * block[0] >= MOST_ALONG || grid[1] * block[1] >= MOST_ALONG) this.#failTooWide(shape);
    context.enter('hipModuleLaunchKernel');
    const module = this.#deviceOnly.length === 0 ? this.#module : this.#moduleFor(args);
    if (module.source.cooperative) refuseSeveralBlocks(this.program.kernel, blocks, context.name);
    module.write(args, shape.sharedBytes);
    if (module.watched) module.params.writeLaunchNumber(reports.note(module, shape, target, this.launch));
    context.launches.note(this.program.kernel, shape);
    const result = context.cuda.cuLaunchKernel(
      module.function,
      grid[0],
      grid[1],
      grid[2],
      block[0],
      block[1],
      block[2],
      shape.sharedBytes,
      target.handle,
      0,
      module.params.extra,
    );
    if (result !== 0) this.failLaunch(result, shape);
    if (synchronous) this.host.synchronizeStream(target);
  }

  #failTooWide(shape: LaunchShape): never {
    throw new TsambaRangeError(
      'E_LAUNCH_LIMIT',
      `${this.name} with ${describeLaunch(shape)}: ${this.context.name} takes fewer than 2 ** 32 threads along one axis: ` +
        'put some of the blocks along another, or let each thread take several elements (i += cuda.gridsize(1))',
    );
  }

  /** `hip`: the text in HIP C++. */
  inspect(target: string): string | undefined {
    if (target === 'passes') {
      const { kernel, name = kernelLabel(kernel) } = this.program;
      return describePasses(kernel, (k) => openclPipeline.compile(k, this.#target.target, { name }));
    }
    return target === 'hip' ? this.#module.source.text : undefined;
  }

  protected modules(): readonly [HipLoaded, ...HipLoaded[]] {
    return this.#hostModule === undefined ? [this.#module] : [this.#module, this.#hostModule];
  }

  protected dynamicBytes(asked: number): number {
    return asked;
  }
}
