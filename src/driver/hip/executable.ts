/**
 * A kernel loaded on a HIP device: one code object, made when the kernel is loaded, and others for launches that it does not fit.
 *
 * `launch` is the path that counts: no allocation, no closure, and no check that could be made once. HIP runtime API reference,
 * sections "Execution Control" and "Occupancy".
 */
import { describePasses } from '../../compiler/ir/passes/describe.ts';
import { deviceOnlyAtomics } from '../../compiler/render/opencl/atomics.ts';
import type { OpenCLOptions } from '../../compiler/render/opencl/module.ts';
import { refuseSeveralBlocks } from '../cooperative.ts';
import { CudaExecutable, type ExecutableHost } from '../cuda-api/executable.ts';
import type { CudaStream } from '../cuda-api/streams.ts';
import type { Dim3, ExecutableAttributes, LaunchArgs, LaunchShape, Program, StreamHandle } from '../driver.ts';
import { kernelLabel } from '../launch-errors.ts';
import { openclPipeline } from '../opencl/compile.ts';
import { isTooWide, MOST_ALONG, partsOf } from '../parts.ts';
import type { HipPipeline, HipTarget } from './compile.ts';
import { HipLoaded } from './module.ts';

/** A kernel on a HIP device. */
export class HipExecutable extends CudaExecutable {
  readonly attributes: ExecutableAttributes;
  readonly #target: HipTarget;
  readonly #pipeline: HipPipeline;
  readonly #module: HipLoaded;
  /** Parameters whose arrays may not be in memory of the host in the usual module: atomic operations that PCIe does not carry. */
  readonly #deviceOnly: readonly number[];
  /** Made when a launch needs them: with atomic operations that PCIe carries, for parts of wide grids, or for both. */
  readonly #special = new Map<string, HipLoaded>();

  constructor(host: ExecutableHost, program: Program, pipeline: HipPipeline, target: HipTarget) {
    super(host, program);
    this.#target = target;
    this.#pipeline = pipeline;
    this.#deviceOnly = [...deviceOnlyAtomics(program.kernel)];
    this.#module = this.#load({});
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

  #load(form: Omit<OpenCLOptions, 'name'>): HipLoaded {
    const { kernel, name = kernelLabel(kernel) } = this.program;
    const compiled = this.#pipeline.compile(kernel, this.#target, { name, ...form });
    this.context.enter('cuModuleLoadDataEx');
    return new HipLoaded(this.context, kernel, compiled);
  }

  /** The usual module, unless atomic operations go to memory of the host, or the grid is launched in parts. */
  #moduleFor(args: LaunchArgs, partial: boolean): HipLoaded {
    const hostAtomics = this.#deviceOnly.some((param) => this.host.isHost(Number(args[param] ?? 0)));
    if (!hostAtomics && !partial) return this.#module;
    const key = `${hostAtomics} ${partial}`;
    let module = this.#special.get(key);
    if (module === undefined) {
      module = this.#load({ ...(hostAtomics ? { hostAtomics } : {}), ...(partial ? { partial } : {}) });
      this.#special.set(key, module);
    }
    return module;
  }

  launch(shape: LaunchShape, args: LaunchArgs, stream: StreamHandle | undefined): void {
    const { grid } = shape;
    const { context, streams, reports, synchronous } = this.host;
    const target = streams.resolve(stream, 'hipModuleLaunchKernel');
    const blocks = grid[0] * grid[1] * grid[2];
    if (blocks === 0) return;
    if (!this.loaded) this.failUnloaded();
    context.enter('hipModuleLaunchKernel');
    const wide = isTooWide(shape, MOST_ALONG);
    const module = wide || this.#deviceOnly.length > 0 ? this.#moduleFor(args, wide) : this.#module;
    if (module.source.cooperative) refuseSeveralBlocks(this.program.kernel, blocks, context.name);
    module.write(args, shape.sharedBytes);
    if (module.watched) module.params.writeLaunchNumber(reports.note(module, shape, target, this.launch));
    context.launches.note(this.program.kernel, shape);
    if (wide) this.#enqueueParts(module, shape, target);
    else this.#enqueue(module, shape, grid, target);
    if (synchronous) this.host.synchronizeStream(target);
  }

  #enqueueParts(module: HipLoaded, shape: LaunchShape, target: CudaStream): void {
    for (const part of partsOf(shape, MOST_ALONG)) {
      module.writePart(part, shape.grid);
      this.#enqueue(module, shape, part.grid, target);
    }
  }

  /** Enqueues these blocks of a launch. */
  #enqueue(module: HipLoaded, shape: LaunchShape, grid: Dim3, target: CudaStream): void {
    const { block, sharedBytes } = shape;
    const result = this.context.cuda.cuLaunchKernel(
      module.function,
      grid[0],
      grid[1],
      grid[2],
      block[0],
      block[1],
      block[2],
      sharedBytes,
      target.handle,
      0,
      module.params.extra,
    );
    if (result !== 0) this.failLaunch(result, shape);
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
    return [this.#module, ...this.#special.values()];
  }

  protected dynamicBytes(asked: number): number {
    return asked;
  }
}
