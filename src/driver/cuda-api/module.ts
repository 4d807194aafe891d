/**
 * One form of a kernel on the device: its loaded module, its function, and what the library says of that. What code a module has, how its
 * arguments are packed and where its records are is each platform's.
 *
 * CUDA driver API, section "Module Management"; HIP runtime API reference, likewise.
 */
import type { Kernel } from '../../compiler/ir/ops.ts';
import { cString } from '../../ffi/out-parameters.ts';
import { Launches } from '../launch-reports.ts';
import type { CudaContext } from './context.ts';
import type { LaunchReports, Watched } from './launch-reports.ts';
import type { ParamBuffer } from './params.ts';
import type { CudaStream } from './streams.ts';

/** CUfunction_attribute, hipFunction_attribute. */
const MAX_THREADS_PER_BLOCK = 0;
const SHARED_SIZE_BYTES = 1;
const CONST_SIZE_BYTES = 2;
const LOCAL_SIZE_BYTES = 3;
const NUM_REGS = 4;

/** What a renderer says of a module. */
export interface ModuleSource {
  readonly entry: string;
  readonly sites: Watched['sites'];
  readonly prints: Watched['printSites'];
}

/** A module that has been loaded. */
export abstract class LoadedModule implements Watched {
  readonly kernel: Kernel;
  /** The CUfunction. */
  readonly function: number;
  abstract readonly params: ParamBuffer;
  readonly sites: Watched['sites'];
  readonly printSites: Watched['printSites'];
  abstract readonly faultsAt: number | undefined;
  abstract readonly printsAt: number | undefined;
  readonly launches: Launches<CudaStream> = new Launches();
  readonly registers: number;
  readonly localBytes: number;
  readonly constBytes: number;
  readonly maxThreadsPerBlock: number;
  /** Bytes of static shared memory. */
  readonly staticBytes: number;
  protected readonly context: CudaContext;
  /** The CUmodule. */
  protected readonly handle: number;
  #loaded = true;

  constructor(context: CudaContext, kernel: Kernel, handle: number, { entry, sites, prints }: ModuleSource) {
    this.context = context;
    this.kernel = kernel;
    this.handle = handle;
    this.sites = sites;
    this.printSites = prints;
    const { cuda, out } = context;
    context.check(cuda.cuModuleGetFunction(out.at(0), handle, cString(entry)), 'cuModuleGetFunction');
    this.function = out.long(0);
    this.registers = this.#attribute(NUM_REGS);
    this.localBytes = this.#attribute(LOCAL_SIZE_BYTES);
    this.constBytes = this.#attribute(CONST_SIZE_BYTES);
    this.maxThreadsPerBlock = this.#attribute(MAX_THREADS_PER_BLOCK);
    this.staticBytes = this.#attribute(SHARED_SIZE_BYTES);
  }

  /** Whether launches are noted with the device's records. */
  get watched(): boolean {
    return this.faultsAt !== undefined || this.printsAt !== undefined;
  }

  #attribute(which: number): number {
    const { cuda, out } = this.context;
    this.context.check(cuda.cuFuncGetAttribute(out.at(0), which, this.function), 'cuFuncGetAttribute');
    return out.int(0);
  }

  /** Frees what the module has beside its code. */
  protected release(): void {
    // Nothing, where records are variables of the module.
  }

  /** Calling it again does nothing. */
  unload(reports: LaunchReports): void {
    if (!this.#loaded) return;
    this.#loaded = false;
    reports.forget(this);
    this.release();
    this.context.check(this.context.cuda.cuModuleUnload(this.handle), 'cuModuleUnload');
  }
}
