/**
 * A kernel loaded on an OpenCL device: one module for the usual launches, blocks of any shape and arrays that have buffers of their own,
 * and others for arrays that are parts of buffers, for shapes that only fit when the compiler knows them, and for parts of wide grids.
 *
 * `launch` is the path that counts: no closure, and no check that could be made once. A block is a work-group, a grid that many of
 * them. OpenCL API specification, section "Executing Kernels".
 */
import { withinStack } from '../../compiler/frontend/too-deep.ts';
import type { Kernel } from '../../compiler/ir/ops.ts';
import { describePasses } from '../../compiler/ir/passes/describe.ts';
import { readOnlyParams } from '../../compiler/ir/passes/walk.ts';
import type { OpenCLModule, OpenCLOptions, OpenCLTarget } from '../../compiler/render/opencl/module.ts';
import { DriverError, TsambaRangeError } from '../../errors.ts';
import { attributesOf } from '../attributes.ts';
import { refuseSeveralBlocks } from '../cooperative.ts';
import type {
  Dim3,
  Executable,
  ExecutableAttributes,
  LaunchArgs,
  LaunchShape,
  Program,
  StreamHandle,
} from '../driver.ts';
import { describeLaunch, kernelLabel } from '../launch-errors.ts';
import { isTooWide, partsOf } from '../parts.ts';
import type { OpenCLPipeline } from './compile.ts';
import type { Copies } from './copies.ts';
import { LoadedModule, type ModuleHost } from './module.ts';
import type { OpenCLStream } from './queues.ts';

/** Work items of a group that `forAll` takes at most. */
const SUGGESTED = 256;
/** Work items that a multiprocessor of a GPU holds, about. */
const RESIDENT = 2048;

/** What dynamic shared memory is aligned to. */
const SHARED_ALIGN = 16;

/** What a loaded kernel needs of its device. */
export interface ExecutableHost extends ModuleHost {
  readonly pipeline: OpenCLPipeline;
  readonly target: OpenCLTarget;
  readonly copies: Copies;
  /** `TSAMBA_DEBUG=sync`: launches wait, and throw what goes wrong. */
  readonly synchronous: boolean;
  /** Threads along one axis that one launch may have. */
  readonly mostAlong: number;
  streamOf(stream: StreamHandle | undefined, api: string): OpenCLStream;
  synchronizeStream(stream: OpenCLStream): void;
  /** The executables that have not been unloaded. */
  readonly loaded: Set<OpenCLExecutable>;
}

/** A kernel on an OpenCL device. */
export class OpenCLExecutable implements Executable {
  readonly attributes: ExecutableAttributes;
  readonly #host: ExecutableHost;
  readonly #program: Program;
  readonly #module: LoadedModule;
  /** By what they are for: parts of buffers, arrays that share memory, a block, an amount of shared memory, parts of grids. */
  readonly #special = new Map<string, LoadedModule>();
  /** Global and local size, three words each. */
  readonly #words: Uint32Array = new Uint32Array(new ArrayBuffer(128));
  readonly #at: number;
  /** Parameters that point to what the kernel writes. */
  readonly #written: ReadonlySet<number>;
  #loaded = true;

  constructor(host: ExecutableHost, program: Program) {
    this.#host = host;
    this.#program = program;
    this.#written = writtenParams(program.kernel);
    this.#at = Number(host.context.cl.ffi.address(this.#words));
    this.#module = this.#load({ disjoint: true, whole: true });
    this.attributes = this.#attributes();
    host.loaded.add(this);
  }

  #attributes(): ExecutableAttributes {
    const { info, privateBytesPerGroup } = this.#host.context.device;
    const { maxThreadsPerBlock } = info.limits;
    const { threadsPerBlockLimit, staticSharedBytes } = this.#module.module;
    const known = Math.min(
      maxThreadsPerBlock,
      threadsPerBlockLimit ?? maxThreadsPerBlock,
      this.#program.launchBounds ?? maxThreadsPerBlock,
    );
    const attributes = { ...attributesOf(this.#program.kernel, known), sharedBytes: staticSharedBytes };
    // Processors say the same number of all kernels, and do not refuse groups whose private memory they have no room for.
    if (privateBytesPerGroup === undefined) return { ...attributes, localBytes: this.#module.privateBytes };
    const most = Math.min(known, Math.floor(privateBytesPerGroup / attributes.localBytes));
    return { ...attributes, maxThreadsPerBlock: most };
  }

  get #name(): string {
    return kernelLabel(this.#program.kernel);
  }

  launch(shape: LaunchShape, args: LaunchArgs, stream: StreamHandle | undefined): void {
    const { grid } = shape;
    const host = this.#host;
    const target = host.streamOf(stream, 'clEnqueueNDRangeKernel');
    const blocks = grid[0] * grid[1] * grid[2];
    if (blocks === 0) return;
    if (!this.#loaded) this.#failUnloaded();
    host.context.enter('clEnqueueNDRangeKernel');
    const wide = isTooWide(shape, host.mostAlong);
    const module = this.#moduleWith(args, shape, wide);
    if (module.module.cooperative) refuseSeveralBlocks(this.#program.kernel, blocks, host.context.name);
    const number = module.watched ? host.reports.note(module, shape, target, this.launch) : 0;
    module.arguments.set(args, shape.sharedBytes, number);
    const mirrored = host.memory.mirrors > 0;
    if (mirrored) host.copies.push(module.arguments.mirrors(), target);
    if (wide) this.#enqueueParts(module, shape, target);
    else this.#enqueue(module, shape, grid, target);
    if (mirrored) host.copies.pull(module.arguments.mirrors(this.#written), target);
    if (host.synchronous) host.synchronizeStream(target);
  }

  #enqueueParts(module: LoadedModule, shape: LaunchShape, target: OpenCLStream): void {
    for (const part of partsOf(shape, this.#host.mostAlong)) {
      module.arguments.setPart(part, shape.grid);
      this.#enqueue(module, shape, part.grid, target);
    }
  }

  /** Enqueues these blocks of a launch. */
  #enqueue(module: LoadedModule, shape: LaunchShape, grid: Dim3, target: OpenCLStream): void {
    const { block } = shape;
    const { context, queues } = this.#host;
    const words = this.#words;
    for (let k = 0; k < 3; k++) {
      const size = (grid[k] as number) * (block[k] as number);
      words[2 * k] = size;
      words[2 * k + 1] = size / 2 ** 32;
      words[6 + 2 * k] = block[k] as number;
    }
    const queue = queues.begin(target);
    const result = context.cl.clEnqueueNDRangeKernel(queue, module.handle, 3, 0, this.#at, this.#at + 24, 0, 0, 0);
    if (result !== 0) this.#failLaunch(result, shape, module);
    // As on other devices, kernels start without anybody waiting for them.
    context.check(context.cl.clFlush(queue), 'clFlush');
  }

  /** The code for these arrays and this shape; it has been given the arrays. */
  #moduleWith(args: LaunchArgs, shape: LaunchShape, partial: boolean): LoadedModule {
    const whole = this.#module.arguments.setArrays(args);
    const module = this.#moduleFor(shape, whole, partial);
    if (module !== this.#module) module.arguments.setArrays(args);
    return module;
  }

  /** Code for any shape, or for this alone where the compiler has to know how large it is. */
  #moduleFor({ block, sharedBytes, aliased = false }: LaunchShape, whole: boolean, partial: boolean): LoadedModule {
    const usual = this.#module;
    const disjoint = !(aliased && usual.module.usesDisjoint);
    const fits = block[0] * block[1] * block[2] <= usual.maxThreads;
    const declared = usual.takesShared && !this.#hasRoom(sharedBytes);
    if (whole && disjoint && fits && !declared && !partial) return usual;
    const key = `${whole} ${disjoint} ${fits ? '' : block.join()} ${declared ? sharedBytes : ''} ${partial}`;
    let module = this.#special.get(key);
    if (module === undefined) {
      module = this.#load({
        disjoint,
        whole,
        ...(fits ? {} : { block: [block[0], block[1], block[2]] as const }),
        ...(declared ? { sharedBytes } : {}),
        ...(partial ? { partial } : {}),
      });
      this.#special.set(key, module);
    }
    return module;
  }

  /** Whether an argument of so many bytes fits behind the module's own shared memory: NVIDIA's driver keeps a byte, and aligns. */
  #hasRoom(sharedBytes: number): boolean {
    const own = Math.ceil(this.#module.ownLocalBytes / SHARED_ALIGN) * SHARED_ALIGN;
    return own + sharedBytes <= this.#host.context.device.info.limits.maxSharedBytesPerBlock;
  }

  #load(options: Omit<OpenCLOptions, 'name'>): LoadedModule {
    const { kernel } = this.#program;
    return new LoadedModule(this.#host, kernel, this.#compile(kernel, options));
  }

  #compile(kernel: Kernel, options: Omit<OpenCLOptions, 'name'>): OpenCLModule {
    const { pipeline, target } = this.#host;
    return withinStack(
      () => kernel.pos,
      () => pipeline.compile(kernel, target, { name: this.#program.name ?? kernel.name, ...options }),
    );
  }

  #failLaunch(result: number, shape: LaunchShape, module: LoadedModule): never {
    const { name, limits } = this.#host.context.device.info;
    const bytes = module.localBytes();
    if (bytes > limits.maxSharedBytesPerBlock) {
      throw new TsambaRangeError(
        'E_LAUNCH_LIMIT',
        `${this.#name} with ${describeLaunch(shape)} needs ${bytes} bytes of shared memory, ${name} has ${limits.maxSharedBytesPerBlock} for a block; make it smaller`,
      );
    }
    const launch = `${this.#name} with ${describeLaunch(shape)}`;
    throw this.#host.context.failure(result, 'clEnqueueNDRangeKernel', { about: `launching kernel ${launch}`, launch });
  }

  #failUnloaded(): never {
    throw new DriverError('E_UNLOADED', `kernel ${this.#name} has been unloaded with its device: launch it again`);
  }

  inspect(target: string): string | undefined {
    if (target === 'passes') return describePasses(this.#program.kernel, (kernel) => this.#compile(kernel, {}));
    return target === 'opencl' ? this.#module.module.text : undefined;
  }

  /** OpenCL has no occupancy calculator: a few times what the compiler prefers. */
  suggestBlock(_sharedBytes: number, limit: number): number {
    const { multiple, maxThreads } = this.#module;
    const most = Math.min(limit, SUGGESTED, Math.max(1, maxThreads), this.attributes.maxThreadsPerBlock);
    return most > multiple ? most - (most % multiple) : most;
  }

  activeBlocks(threads: number, sharedBytes: number): number {
    const { device } = this.#host.context;
    if (device.listed.hardware === 'cpu') return 1;
    const shared = sharedBytes + this.attributes.sharedBytes;
    const byShared = shared === 0 ? RESIDENT : Math.floor(device.info.limits.maxSharedBytesPerBlock / shared);
    return Math.max(1, Math.min(Math.floor(RESIDENT / threads), byShared));
  }

  unload(): void {
    if (!this.#loaded) return;
    this.#loaded = false;
    this.#host.loaded.delete(this);
    if (this.#host.context.closed) return;
    this.#module.unload();
    for (const module of this.#special.values()) module.unload();
    this.#special.clear();
  }
}

function writtenParams(kernel: Kernel): ReadonlySet<number> {
  const { params, body } = kernel;
  // A kernel without a body is one that a test has brought the code of.
  if (body.length === 0) return new Set(params.map(({ index }) => index));
  const readOnly = readOnlyParams(kernel);
  return new Set(params.flatMap(({ index, type }) => (type === 'ptr' && !readOnly.has(index) ? [index] : [])));
}
