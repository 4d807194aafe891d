/**
 * One form of a kernel on the device: its program, its cl_kernel with arguments, and where its records are.
 */
import type { Kernel } from '../../compiler/ir/ops.ts';
import type { OpenCLModule } from '../../compiler/render/opencl/module.ts';
import { FAULTS, PRINTS } from '../../compiler/render/reports.ts';
import { kernelLabel } from '../launch-errors.ts';
import { Launches } from '../launch-reports.ts';
import { KernelArguments } from './arguments.ts';
import type { OpenCLContext } from './context.ts';
import { type LaunchReports, type Watched, zero } from './launch-reports.ts';
import type { OpenCLMemory } from './memory.ts';
import type { BuiltProgram, Programs } from './programs.ts';
import type { OpenCLStream, Queues } from './queues.ts';

const KERNEL_WORK_GROUP_SIZE = 0x11b0;
const KERNEL_LOCAL_MEM_SIZE = 0x11b2;
const KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE = 0x11b3;
const KERNEL_PRIVATE_MEM_SIZE = 0x11b4;

/** What a module is loaded onto. */
export interface ModuleHost {
  readonly context: OpenCLContext;
  readonly memory: OpenCLMemory;
  readonly queues: Queues;
  readonly programs: Programs;
  readonly reports: LaunchReports;
}

/** A kernel that has been built. */
export class LoadedModule implements Watched {
  readonly kernel: Kernel;
  readonly module: OpenCLModule;
  /** The cl_kernel. */
  readonly handle: number;
  readonly arguments: KernelArguments;
  readonly sites: Watched['sites'];
  readonly printSites: Watched['printSites'];
  readonly faultsAt: number | undefined;
  readonly printsAt: number | undefined;
  readonly launches: Launches<OpenCLStream> = new Launches();
  /** Whether launches are noted with the device's records. */
  readonly watched: boolean;
  /** Work items that a group may have, for what the code needs. */
  readonly maxThreads: number;
  /** Groups are best a multiple of this. */
  readonly multiple: number;
  readonly privateBytes: number;
  /** Bytes of shared memory beside the dynamic ones, the implementation's own included. */
  readonly ownLocalBytes: number;
  /** Whether dynamic shared memory comes as an argument. */
  readonly takesShared: boolean;
  readonly #host: ModuleHost;
  readonly #program: BuiltProgram;
  readonly #constants: number;
  #loaded = true;

  constructor(host: ModuleHost, kernel: Kernel, module: OpenCLModule) {
    this.#host = host;
    this.kernel = kernel;
    this.module = module;
    this.sites = module.sites;
    this.printSites = module.prints;
    const label = kernelLabel(kernel);
    this.#program = host.programs.build(module.text, optionsOf(module), label);
    this.handle = host.programs.kernel(this.#program, module.entry);
    this.maxThreads = this.#info(KERNEL_WORK_GROUP_SIZE);
    this.multiple = Math.max(1, this.#info(KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE));
    this.privateBytes = this.#info(KERNEL_PRIVATE_MEM_SIZE);
    this.ownLocalBytes = this.localBytes();
    const wants = (kind: string): boolean => module.args.some((arg) => arg.kind === kind);
    this.takesShared = wants('shared');
    this.faultsAt = wants('faults') ? this.#zeroed(FAULTS.bytes) : undefined;
    this.printsAt = wants('prints') ? this.#zeroed(PRINTS.bytes) : undefined;
    this.watched = this.faultsAt !== undefined || this.printsAt !== undefined;
    this.#constants = module.constants === undefined ? 0 : this.#filled(module.constants);
    this.arguments = new KernelArguments(host.context, host.memory, this.handle, module.args, label);
    const own = { faults: this.faultsAt ?? 0, prints: this.printsAt ?? 0, constants: this.#constants };
    this.arguments.setOwn(own);
  }

  /** Bytes of shared memory that a launch with the arguments as they are takes. */
  localBytes(): number {
    return this.#info(KERNEL_LOCAL_MEM_SIZE);
  }

  #info(which: number): number {
    const { cl, out, id } = this.#host.context;
    out.set(0, 0n);
    const result = cl.clGetKernelWorkGroupInfo(this.handle, id, which, 8, out.at(0), 0);
    return result === 0 ? out.long(0) : 0;
  }

  #zeroed(bytes: number): number {
    const { context, memory, queues } = this.#host;
    const handle = memory.create(bytes);
    zero(context, queues, queues.default, handle, bytes);
    return handle;
  }

  #filled(bytes: Uint8Array): number {
    const { context, memory, queues } = this.#host;
    const handle = memory.create(Math.max(16, bytes.length));
    const queue = queues.begin(queues.default);
    const result = context.cl.clEnqueueWriteBuffer(queue, handle, 1, 0, bytes.length, bytes, 0, 0, 0);
    context.check(result, 'clEnqueueWriteBuffer');
    queues.done(queues.default);
    return handle;
  }

  /** Calling it again does nothing. */
  unload(): void {
    if (!this.#loaded) return;
    this.#loaded = false;
    const { context, programs, reports } = this.#host;
    reports.forget(this);
    context.cl.clReleaseKernel(this.handle);
    programs.release(this.#program);
    for (const buffer of [this.faultsAt ?? 0, this.printsAt ?? 0, this.#constants]) {
      if (buffer !== 0) context.cl.clReleaseMemObject(buffer);
    }
  }
}

function optionsOf({ buildOptions }: OpenCLModule): string {
  return buildOptions.join(' ');
}
