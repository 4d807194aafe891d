/**
 * What kernels leave in buffers for the host, fault records and printed values: copied out behind the launches, read when the device has come so far.
 *
 * Only modules that can fault or print, and that have been launched since they were last looked at, cost anything here.
 */
import type { Kernel } from '../../compiler/ir/ops.ts';
import { FAULT, FAULTS, PRINTS } from '../../compiler/render/reports.ts';
import type { FaultSite, PrintSite } from '../../compiler/render/sites.ts';
import { type DriverError, withStackDepth } from '../../errors.ts';
import type { LaunchShape } from '../driver.ts';
import { faultAt, readFault } from '../fault-message.ts';
import { FaultLog } from '../faults.ts';
import { printedLines } from '../launch-reports.ts';
import { inTurn } from './answer.ts';
import { type GpuBuffer, type GpuDevice, USAGE } from './api.ts';
import type { Batch } from './batch.ts';
import type { Copies } from './copies.ts';

interface Launched {
  readonly number: number;
  readonly stream: object;
  readonly shape: LaunchShape;
  /** Holds the stack of the launch, of checked kernels. */
  readonly site: { readonly stack?: string } | undefined;
}

/** A loaded module that can fault or print. */
export interface Watched {
  readonly kernel: Kernel;
  readonly sites: readonly FaultSite[];
  readonly prints: readonly PrintSite[];
  readonly faultBuffer: GpuBuffer | undefined;
  readonly printBuffer: GpuBuffer | undefined;
  /** Launches that have not been looked at. */
  launched: Launched[];
  faultsRead: number;
}

/** Launches of a module that nobody has looked at, at most, before it is looked at. */
const MOST_PENDING = FAULTS.most / 2;

export class Reports {
  readonly log: FaultLog = new FaultLog();
  readonly #device: GpuDevice;
  readonly #batch: Batch;
  readonly #copies: Copies;
  readonly #dirty = new Set<Watched>();
  /** Read what has been copied out. */
  #looks: (() => PromiseLike<void>)[] = [];

  constructor(device: GpuDevice, batch: Batch, copies: Copies) {
    this.#device = device;
    this.#batch = batch;
    this.#copies = copies;
  }

  /** The buffers of a module that has sites. */
  watch(kernel: Kernel, sites: readonly FaultSite[], prints: readonly PrintSite[]): Watched {
    const usage = USAGE.storage | USAGE.copySource | USAGE.copyTarget;
    const buffer = (bytes: number): GpuBuffer => this.#device.createBuffer({ size: bytes, usage });
    return {
      kernel,
      sites,
      prints,
      faultBuffer: sites.length > 0 ? buffer(FAULTS.bytes) : undefined,
      printBuffer: prints.length > 0 ? buffer(PRINTS.bytes) : undefined,
      launched: [],
      faultsRead: 0,
    };
  }

  /** Remembers a launch that is about to be made, and gives its number. */
  note(module: Watched, shape: LaunchShape, stream: object, launch: (...args: never[]) => unknown): number {
    const number = this.log.advance();
    const { grid, block, sharedBytes } = shape;
    const [first] = module.launched;
    // Their records would be the same.
    if (first !== undefined && number - first.number >= FAULTS.most) this.#looks.push(...this.#look(module));
    module.launched.push({
      number,
      stream,
      shape: { grid: [...grid], block: [...block], sharedBytes },
      site: module.kernel.checked ? siteOf(launch) : undefined,
    });
    this.#dirty.add(module);
    return number;
  }

  /** Whether so many launches of a module have not been looked at that it has to be looked at. */
  isFull({ launched }: Watched): boolean {
    return launched.length >= MOST_PENDING;
  }

  /** Copies out what the launches so far leave; the function that it gives reads it. Undefined where there is nothing to read. */
  begin(): (() => PromiseLike<void>) | undefined {
    const looks = [...this.#looks.splice(0), ...[...this.#dirty].flatMap((module) => this.#look(module))];
    this.#dirty.clear();
    return looks.length === 0 ? undefined : () => inTurn(looks);
  }

  #look(module: Watched): (() => PromiseLike<void>)[] {
    const launched = module.launched;
    module.launched = [];
    const { faultBuffer, printBuffer } = module;
    const faults = faultBuffer && this.#copies.stage(faultBuffer, 0, FAULTS.bytes);
    const prints = printBuffer && this.#copies.stage(printBuffer, 0, PRINTS.bytes);
    if (printBuffer !== undefined) this.#batch.encode((encoder) => encoder.clearBuffer(printBuffer));
    const looks: (() => PromiseLike<void>)[] = [];
    if (prints !== undefined) looks.push(() => prints((bytes) => print(module.prints, bytes)));
    if (faults !== undefined) looks.push(() => faults((bytes) => this.#post(module, launched, bytes)));
    return looks;
  }

  #post(module: Watched, launched: readonly Launched[], bytes: Uint8Array): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    if (view.getUint32(FAULTS.count, true) === module.faultsRead) return;
    for (const { number, shape, stream, site } of launched) {
      const record = FAULTS.records + (number % FAULTS.most) * FAULT.bytes;
      if (view.getUint32(record + FAULT.launch, true) !== number) continue;
      module.faultsRead++;
      const error = faultAt(module.kernel, shape, module.sites, readFault(view, record));
      this.log.post(withSite(error, site), stream, number);
    }
  }
}

function print(sites: readonly PrintSite[], bytes: Uint8Array): void {
  const taken = new DataView(bytes.buffer, bytes.byteOffset).getUint32(PRINTS.taken, true);
  const room = PRINTS.bytes - PRINTS.records;
  const records = bytes.subarray(PRINTS.records, PRINTS.records + Math.min(taken, room));
  for (const line of printedLines(sites, records)) console.log(...line);
  if (taken > room) console.log(`… and ${taken - room} more bytes of output, which did not fit`);
}

function siteOf(launch: (...args: never[]) => unknown): { readonly stack?: string } {
  const site: { stack?: string } = {};
  withStackDepth(50, () => Error.captureStackTrace(site, launch));
  return site;
}

/** Gives a fault the stack of its launch. */
function withSite(error: DriverError, site: Launched['site']): DriverError {
  const stack = site?.stack;
  const frames = stack?.indexOf('\n    at ') ?? -1;
  if (stack !== undefined && frames >= 0) error.stack = `${error.name}: ${error.message}${stack.slice(frames)}`;
  return error;
}
