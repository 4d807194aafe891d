/**
 * A kernel loaded on a device behind the CUDA driver API: what launches have in common beside the launch itself. A platform's executable
 * derives from it and brings `launch`, the path that counts.
 *
 * CUDA driver API, sections "Execution Control" and "Occupancy"; HIP runtime API reference, likewise.
 */
import { DriverError } from '../../errors.ts';
import type { Executable, ExecutableAttributes, LaunchArgs, LaunchShape, Program, StreamHandle } from '../driver.ts';
import { describeLaunch, kernelLabel } from '../launch-errors.ts';
import type { CudaContext } from './context.ts';
import type { LaunchReports } from './launch-reports.ts';
import type { LoadedModule } from './module.ts';
import type { CudaStream, CudaStreams } from './streams.ts';

/** What a loaded kernel needs of its device. */
export interface ExecutableHost {
  readonly context: CudaContext;
  readonly streams: CudaStreams;
  readonly reports: LaunchReports;
  readonly maxThreadsPerBlock: number;
  /** `TSAMBA_DEBUG=sync`: launches wait, and throw what goes wrong. */
  readonly synchronous: boolean;
  /** What closing the device has to unload. */
  readonly loaded: Set<Executable>;
  synchronizeStream(stream: CudaStream): void;
  /** Whether an address that kernels are given is in memory of the host. */
  isHost(address: number): boolean;
}

/** A kernel on such a device. */
export abstract class CudaExecutable implements Executable {
  abstract readonly attributes: ExecutableAttributes;
  protected readonly host: ExecutableHost;
  protected readonly context: CudaContext;
  protected readonly program: Program;
  protected loaded = true;

  constructor(host: ExecutableHost, program: Program) {
    this.host = host;
    this.context = host.context;
    this.program = program;
  }

  abstract launch(shape: LaunchShape, args: LaunchArgs, stream: StreamHandle | undefined): void;
  abstract inspect(target: string): string | undefined;

  /** The usual form of the kernel, which attributes and occupancy are of; and those that have been made for other launches. */
  protected abstract modules(): readonly [usual: LoadedModule, ...others: LoadedModule[]];
  /** Bytes of dynamic shared memory of a launch that asks for so many; lets the usual module have them. */
  protected abstract dynamicBytes(asked: number): number;

  protected get name(): string {
    return kernelLabel(this.program.kernel);
  }

  suggestBlock(sharedBytes: number, limit: number): number {
    const { cuda, out } = this.context;
    const api = 'cuOccupancyMaxPotentialBlockSize';
    this.context.enter(api);
    const { function: entry } = this.modules()[0];
    const dynamic = this.dynamicBytes(sharedBytes);
    this.context.check(cuda[api](out.at(0), out.at(1), entry, 0, dynamic, limit), api);
    return Math.min(limit, this.attributes.maxThreadsPerBlock, Math.max(1, out.int(1)));
  }

  activeBlocks(threads: number, sharedBytes: number): number {
    const { cuda, out } = this.context;
    const api = 'cuOccupancyMaxActiveBlocksPerMultiprocessor';
    this.context.enter(api);
    const { function: entry } = this.modules()[0];
    const dynamic = this.dynamicBytes(sharedBytes);
    this.context.check(cuda[api](out.at(0), entry, threads, dynamic), api);
    return out.int(0);
  }

  /** Whether launches leave records, which are found by their number. */
  get watched(): boolean {
    return this.modules().some((module) => module.watched);
  }

  /** Notes a launch that a graph makes. */
  noteLaunch(shape: LaunchShape): void {
    this.context.launches.note(this.program.kernel, shape);
  }

  unload(): void {
    if (!this.loaded) return;
    this.loaded = false;
    const { reports, loaded } = this.host;
    loaded.delete(this);
    if (this.context.closed || this.context.broken !== undefined) return;
    this.context.enter('cuModuleUnload');
    for (const module of this.modules()) module.unload(reports);
  }

  protected failLaunch(result: number, shape: LaunchShape): never {
    const launch = `${this.name} with ${describeLaunch(shape)}`;
    throw this.context.failure(result, 'cuLaunchKernel', { about: `launching kernel ${launch}`, launch });
  }

  protected failUnloaded(): never {
    throw new DriverError('E_UNLOADED', `kernel ${this.name} has been unloaded with its device: launch it again`);
  }
}
