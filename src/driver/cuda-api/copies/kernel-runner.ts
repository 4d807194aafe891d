/**
 * Runs the copy and fill kernels of one device: each is loaded when it is first needed.
 */

import { OutParameters } from '../../../ffi/out-parameters.ts';
import { type CopyLaunch, PARAMETERS, pack, type Unit } from '../../copies/launches.ts';
import type { CopyDevice } from './device.ts';

/** CU_LAUNCH_PARAM_BUFFER_POINTER, _SIZE and _END. */
const BUFFER_POINTER = 1n;
const BUFFER_SIZE = 2n;
const LIST = PARAMETERS.bytes;
/** Blocks of a launch at most: several rounds of the largest devices; threads take more than one round beyond that. */
const MAX_BLOCKS = 8192;
/** Threads of a block. */
export const BLOCK = 256;
/** Units that a thread takes a round, about. */
export const PER_THREAD = 4;

/** The name of a kernel, as profilers show it. */
export function entryName(kind: 'copy' | 'fill', unit: Unit): string {
  return `tsamba_${kind}_${unit}`;
}

export class KernelRunner {
  readonly #device: CopyDevice;
  readonly #out: OutParameters;
  readonly #functions = new Map<string, number>();
  readonly #modules: number[] = [];
  readonly #parameters: DataView;
  /** The driver reads the parameters through a list of pairs, while it is being called. */
  readonly #extra: number;

  constructor(device: CopyDevice) {
    this.#device = device;
    const { ffi } = device.cuda;
    this.#out = new OutParameters(ffi);
    // One buffer: the parameters, then the list, then the size that the list points to.
    const buffer = new ArrayBuffer(LIST + 48);
    this.#parameters = new DataView(buffer);
    const address = Number(ffi.address(this.#parameters));
    this.#extra = address + LIST;
    const list = [BUFFER_POINTER, BigInt(address), BUFFER_SIZE, BigInt(this.#extra + 40)];
    new BigUint64Array(buffer, LIST).set([...list, device.platform.endOfExtra, BigInt(PARAMETERS.bytes)]);
  }

  copy(launches: readonly CopyLaunch[], stream: number): void {
    for (const launch of launches) this.#launch('copy', launch, stream);
  }

  /** `pattern` is as long as the unit of the launches. */
  fill(launches: readonly CopyLaunch[], pattern: Uint8Array, stream: number): void {
    for (const launch of launches) this.#launch('fill', launch, stream, pattern);
  }

  /** Gives the modules back. */
  close(): void {
    for (const module of this.#modules) this.#device.cuda.cuModuleUnload(module);
    this.#modules.length = 0;
    this.#functions.clear();
  }

  #launch(kind: 'copy' | 'fill', launch: CopyLaunch, stream: number, pattern?: Uint8Array): void {
    const entry = this.#function(kind, launch.unit);
    pack(launch, this.#parameters, pattern);
    const blocks = launch.ordered ? 1 : Math.min(MAX_BLOCKS, Math.ceil(launch.count / (BLOCK * PER_THREAD)));
    const threads = launch.ordered ? 1 : BLOCK;
    const { cuda } = this.#device;
    const result = cuda.cuLaunchKernel(entry, blocks, 1, 1, threads, 1, 1, 0, stream, 0, this.#extra);
    this.#device.check(result, 'cuLaunchKernel');
  }

  #function(kind: 'copy' | 'fill', unit: Unit): number {
    const name = entryName(kind, unit);
    let entry = this.#functions.get(name);
    if (entry === undefined) {
      entry = this.#load(name, this.#device.platform.module(kind, unit));
      this.#functions.set(name, entry);
    }
    return entry;
  }

  #load(name: string, image: Uint8Array): number {
    const { cuda } = this.#device;
    this.#device.check(cuda.cuModuleLoadDataEx(this.#out.at(0), image, 0, 0, 0), 'cuModuleLoadDataEx');
    const module = this.#out.long(0);
    this.#modules.push(module);
    const bytes = Buffer.from(`${name}\0`);
    this.#device.check(cuda.cuModuleGetFunction(this.#out.at(0), module, bytes), 'cuModuleGetFunction');
    return this.#out.long(0);
  }
}
