/**
 * A kernel loaded on a WebGPU device: a module and a pipeline for each block shape, amount of shared memory, and way in which arguments share buffers.
 */
import type { Kernel, ValueType } from '../../compiler/ir/ops.ts';
import { describePasses } from '../../compiler/ir/passes/describe.ts';
import type {
  Abilities,
  Known,
  WgslBinding,
  WgslModule,
  WgslOptions,
  WgslWord,
} from '../../compiler/render/wgsl/module.ts';
import { DriverError, NotSupportedError, TsambaRangeError } from '../../errors.ts';
import { ifLoaded } from '../../on-demand.ts';
import { attributesOf } from '../attributes.ts';
import { refuseSeveralBlocks } from '../cooperative.ts';
import type {
  DeviceInfo,
  Dim3,
  Executable,
  ExecutableAttributes,
  LaunchArgs,
  LaunchShape,
  Pointer,
  Program,
  StreamHandle,
} from '../driver.ts';
import { describeLaunch, kernelLabel } from '../launch-errors.ts';
import { partsOf } from '../parts.ts';
import { type GpuBuffer, type GpuDevice, type GpuLimits, USAGE } from './api.ts';
import type { Batch, Pipeline } from './batch.ts';
import { compileWgsl, rehearseWgsl } from './compile.ts';
import { LENGTHS, Variants } from './lengths.ts';
import type { Place } from './memory.ts';
import { type BindingKind, groupOf, pipelineLater, pipelineOf } from './pipelines.ts';
import type { Reports, Watched } from './reports.ts';

const SUGGESTED = 256;

/** Ways in which buffers are bound to a module that are remembered. */
const MOST_GROUPS = 64;

/** What a loaded kernel needs of its device. */
export interface ExecutableHost {
  readonly info: DeviceInfo;
  readonly device: GpuDevice;
  readonly limits: GpuLimits;
  readonly abilities: Abilities;
  readonly batch: Batch;
  readonly reports: Reports;
  /** The identity of the stream that a call is for. */
  enter(api: string, stream: StreamHandle | undefined): object;
  locate(pointer: Pointer): Place;
  /** Posts what the device finds wrong with a pipeline that is made here. */
  scoped(what: string, make: () => Pipeline): Pipeline;
  /** Has what kernels left looked at, whether or not somebody waits. */
  lookSoon(): void;
}

/** A module, and what it is launched with. */
interface Loaded {
  readonly module: WgslModule;
  readonly pipeline: Pipeline;
  /** What the launch in hand has in the uniform buffer. */
  readonly view: DataView<ArrayBuffer>;
  readonly bytes: Uint8Array;
  readonly constants: GpuBuffer | undefined;
  readonly watched: Watched | undefined;
  readonly dispatch: Dispatch;
  /** What has been bound, by the names of the buffers. */
  readonly groups: Map<string, object>;
  /** The same for lengths that came again. */
  readonly variants: Variants<Loaded>;
}

type Dispatch = WgslOptions['dispatch'];

/** What a module is made for. */
interface Wanted {
  readonly shape: LaunchShape;
  /** For each pointer the number of the buffer that it is in. */
  readonly numbers: readonly number[];
  readonly moved: readonly number[];
  readonly dispatch: Dispatch;
}

/** A launch that may come again with the same arguments. */
interface Prepared {
  readonly version: number;
  readonly block: Dim3;
  readonly sharedBytes: number;
  readonly loaded: Loaded;
  readonly group: object;
}

export class WebGpuExecutable implements Executable {
  readonly attributes: ExecutableAttributes;
  readonly #driver: ExecutableHost;
  readonly #program: Program;
  readonly #loaded = new Map<string, Loaded>();
  /** Blocks that `prepare` compiled for. */
  readonly #compiled = new Set<string>();
  readonly #pointers: readonly number[];
  /** Extents and strides of arrays. */
  readonly #lengths: readonly number[];
  /** As it is for a block of one thread, and arrays that have buffers of their own. */
  readonly #usual: WgslModule;
  #last: Prepared | undefined;
  #live = true;

  /** Throws NotSupportedError for what WebGPU lacks. */
  constructor(driver: ExecutableHost, program: Program) {
    this.#driver = driver;
    this.#program = program;
    const { kernel } = program;
    this.#pointers = kernel.params.filter(({ type }) => type === 'ptr').map(({ index }) => index);
    this.#lengths = kernel.params
      .filter(({ origin: { kind } }) => kind === 'extent' || kind === 'stride')
      .map(({ index }) => index);
    this.#usual = compileWgsl(kernel, this.#options([1, 1, 1], 0, this.#pointers, []));
    const { maxThreadsPerBlock } = driver.info.limits;
    const most = Math.min(
      maxThreadsPerBlock,
      this.#usual.threadsPerBlockLimit ?? maxThreadsPerBlock,
      program.launchBounds ?? maxThreadsPerBlock,
    );
    this.attributes = { ...attributesOf(kernel, most), sharedBytes: this.#usual.sharedBytes };
  }

  get #onProcessor(): boolean {
    return this.#driver.info.hardware?.type === 'cpu';
  }

  get #kernel(): Kernel {
    return this.#program.kernel;
  }

  /** `buffers` are the numbers of the buffers that arguments are in, `moved` the parameters whose arrays do not begin where their buffers do. */
  #options(
    block: Dim3,
    sharedBytes: number,
    buffers: readonly number[],
    moved: readonly number[],
    dispatch: Dispatch = 'whole',
    known?: Known,
  ): WgslOptions {
    return {
      name: this.#program.name ?? this.#kernel.name,
      block,
      sharedBytes,
      buffers: new Map(this.#pointers.map((param, k) => [param, buffers[k] as number])),
      moved: new Set(moved),
      dispatch,
      onProcessor: this.#onProcessor,
      known,
      abilities: this.#driver.abilities,
    };
  }

  launch(shape: LaunchShape, args: LaunchArgs, stream: StreamHandle | undefined): void {
    const driver = this.#driver;
    const { grid } = shape;
    const target = driver.enter('dispatchWorkgroups', stream);
    const blocks = grid[0] * grid[1] * grid[2];
    if (blocks === 0) return;
    if (!this.#live) {
      throw new DriverError(
        'E_UNLOADED',
        `kernel ${kernelLabel(this.#kernel)} has been unloaded with its device: launch it again`,
      );
    }
    const { loaded, group } = this.#prepared(shape, args);
    const { module, pipeline, view, bytes, watched } = loaded;
    if (module.cooperative) refuseSeveralBlocks(this.#kernel, blocks, driver.info.name);
    const number = watched === undefined ? 0 : driver.reports.note(watched, shape, target, this.launch);
    const { maxComputeWorkgroupsPerDimension: along } = driver.limits;
    if (loaded.dispatch === 'rows') {
      const rows = rowsOf(grid[0], along);
      const row = Math.ceil(grid[0] / rows);
      writePlace(module.words, view, { number, first: ORIGIN, grid, row });
      driver.batch.dispatch(pipeline, group, bytes, [row, rows, 1]);
    } else if (loaded.dispatch === 'whole') {
      writePlace(module.words, view, { number, first: ORIGIN, grid });
      driver.batch.dispatch(pipeline, group, bytes, grid);
    } else {
      for (const part of partsOf({ ...shape, block: [1, 1, 1] }, along)) {
        writePlace(module.words, view, { number, first: part.first, grid });
        driver.batch.dispatch(pipeline, group, bytes, part.grid);
      }
    }
    if (watched !== undefined && driver.reports.isFull(watched)) driver.lookSoon();
  }

  /** What is launched, with the values of all arguments written. */
  #prepared(shape: LaunchShape, args: LaunchArgs): Prepared {
    const { block, sharedBytes, argsVersion: version = -1 } = shape;
    const last = this.#last;
    if (
      last !== undefined &&
      version >= 0 &&
      last.version === version &&
      last.sharedBytes === sharedBytes &&
      last.loaded.dispatch === dispatchOf(shape, this.#driver.limits) &&
      last.block.every((n, axis) => n === block[axis])
    ) {
      return last;
    }
    const driver = this.#driver;
    const places = this.#pointers.map((param) => driver.locate(args[param] as Pointer));
    const names: number[] = [];
    const distinct: GpuBuffer[] = [];
    const numbers = places.map(({ start, buffer }) => {
      const known = distinct.indexOf(buffer);
      if (known >= 0) return known;
      distinct.push(buffer);
      return names.push(start) - 1;
    });
    const moved = this.#pointers.filter((_, k) => places[k]?.offset !== 0);
    const wanted = { shape, numbers, moved, dispatch: dispatchOf(shape, driver.limits) };
    const usual = this.#for(wanted);
    const own = this.#variant(usual, wanted, distinct, args);
    const loaded = own === 'none' ? usual : (own ?? usual);
    writeValues(loaded.module.words, loaded.view, args, (param) => places[this.#pointers.indexOf(param)]?.offset ?? 0);
    const group = this.#group(loaded, names, distinct);
    // A buffer of the program's own is looked up at each launch.
    const isOwn = places.every(({ foreign }) => foreign !== true);
    const made: Prepared = { version, block: [...block], sharedBytes, loaded, group };
    this.#last = isOwn && own !== undefined ? made : undefined;
    return made;
  }

  #group(loaded: Loaded, names: readonly number[], buffers: readonly GpuBuffer[]): object {
    const { groups, module, pipeline, bytes } = loaded;
    const key = names.join();
    const known = groups.get(key);
    if (known !== undefined) return known;
    const [, ...bindings] = module.bindings;
    const bound = bindings.map((binding) => bufferOf(binding, loaded, buffers));
    const made = groupOf(this.#driver.device, this.#driver.batch, pipeline, bytes.length, bound);
    for (const oldest of groups.keys()) {
      if (groups.size < MOST_GROUPS) break;
      groups.delete(oldest);
    }
    groups.set(key, made);
    return made;
  }

  /** Compiles once for a block in the ways in which arrays can lie in buffers: a launch, which cannot wait, takes no other functions of the compiler. */
  prepare({ block, sharedBytes }: LaunchShape): void {
    const key = `${block}/${sharedBytes}`;
    if (this.#compiled.has(key)) return;
    const pointers = this.#pointers;
    const way = (buffers: readonly number[], moved: readonly number[], dispatch: Dispatch): WgslOptions =>
      this.#options([...block], sharedBytes, buffers, moved, dispatch);
    const together = pointers.map(() => 0);
    rehearseWgsl(this.#kernel, [
      way(pointers, [], 'whole'),
      way(pointers, pointers, 'parts'),
      way(together, pointers, 'rows'),
    ]);
    this.#compiled.add(key);
  }

  #for(wanted: Wanted): Loaded {
    const { shape, numbers, moved, dispatch } = wanted;
    const key = `${shape.block}/${shape.sharedBytes}/${numbers}/${moved}/${dispatch}`;
    const known = this.#loaded.get(key);
    if (known !== undefined) return known;
    const made = this.#load(wanted);
    this.#loaded.set(key, made);
    return made;
  }

  #load(wanted: Wanted, known?: Known): Loaded {
    const { device } = this.#driver;
    const module = this.#module(wanted, known);
    const { label, size, kinds } = this.#checked(wanted, module);
    const pipeline = this.#driver.scoped(`kernel ${label}`, () =>
      pipelineOf(device, module.text, module.entry, size, kinds),
    );
    return this.#loadedOf(wanted, module, size, pipeline);
  }

  #module({ shape, numbers, moved, dispatch }: Wanted, known: Known | undefined): WgslModule {
    return compileWgsl(
      this.#kernel,
      this.#options([...shape.block], shape.sharedBytes, numbers, moved, dispatch, known),
    );
  }

  /** What is needed to load a module. Throws for what the device has too little of. */
  #checked({ shape }: Wanted, module: WgslModule): { label: string; size: number; kinds: readonly BindingKind[] } {
    const { info, limits } = this.#driver;
    const label = `${kernelLabel(this.#kernel)} with ${describeLaunch(shape)}`;
    if (module.sharedBytes > info.limits.maxSharedBytesPerBlock) {
      throw new TsambaRangeError(
        'E_LAUNCH_LIMIT',
        `${label} needs ${module.sharedBytes} bytes of shared memory, ${info.name} has ${info.limits.maxSharedBytesPerBlock} for a block; make it smaller`,
      );
    }
    const storage = module.bindings.length - 1;
    if (storage > limits.maxStorageBuffersPerShaderStage) {
      throw new NotSupportedError(
        'E_BUFFERS',
        `kernel ${label} uses ${storage} buffers, and ${info.name} binds ${limits.maxStorageBuffersPerShaderStage} at most (maxStorageBuffersPerShaderStage)\n` +
          '  help: put arrays into one: parts of an array share its buffer',
      );
    }
    const size = Math.max(16, Math.ceil(wordsOf(module.words) / 4) * 16);
    return { label, size, kinds: module.bindings.slice(1).map(kindOf) };
  }

  #loadedOf({ dispatch }: Wanted, module: WgslModule, size: number, pipeline: Pipeline): Loaded {
    const view = new DataView(new ArrayBuffer(size));
    const constants = module.bindings.find((b) => b.kind === 'constants');
    const watches = module.sites.length > 0 || module.prints.length > 0;
    return {
      module,
      pipeline,
      view,
      bytes: new Uint8Array(view.buffer),
      constants: constants && this.#constants(constants.bytes),
      watched: watches ? this.#driver.reports.watch(this.#kernel, module.sites, module.prints) : undefined,
      dispatch,
      groups: new Map(),
      variants: new Variants(),
    };
  }

  /** The module for the lengths at hand, as `Variants.of` says. */
  #variant(
    { variants }: Loaded,
    wanted: Wanted,
    buffers: readonly GpuBuffer[],
    args: LaunchArgs,
  ): Loaded | 'none' | undefined {
    if (!this.#onProcessor || buffers.length === 0) return 'none';
    const values = this.#lengths.map((param) => args[param] as number | bigint);
    return variants.of(`${buffers.map(({ size }) => size)}/${values}`, (done) => {
      const known: Known = {
        lengths: new Map(buffers.map(({ size }, k) => [k, size >> 2])),
        values: new Map(this.#lengths.map((param, k) => [param, values[k] as number | bigint])),
      };
      if (LENGTHS.after === 0) {
        done(this.#load(wanted, known));
        return true;
      }
      const module = ifLoaded(() => this.#module(wanted, known));
      if (module === undefined) return false;
      const { size, kinds } = this.#checked(wanted, module);
      pipelineLater(this.#driver.device, module.text, module.entry, size, kinds).then(
        (pipeline) => done(this.#live && pipeline ? this.#loadedOf(wanted, module, size, pipeline) : undefined),
        () => done(undefined),
      );
      return true;
    });
  }

  #constants(bytes: Uint8Array): GpuBuffer {
    const { device, batch } = this.#driver;
    const buffer = device.createBuffer({ size: bytes.length, usage: USAGE.storage | USAGE.copyTarget });
    batch.write(buffer, 0, bytes, true);
    return buffer;
  }

  inspect(target: string): string | undefined {
    const usual = [this.#kernel, this.#options([SUGGESTED, 1, 1], 0, this.#pointers, [])] as const;
    if (target === 'passes') return describePasses(this.#kernel, (kernel) => void compileWgsl(kernel, usual[1]));
    if (target !== 'wgsl') return undefined;
    return [...this.#loaded.values()].at(-1)?.module.text ?? compileWgsl(...usual).text;
  }

  suggestBlock(_sharedBytes: number, limit: number): number {
    return Math.min(limit, SUGGESTED, this.attributes.maxThreadsPerBlock);
  }

  activeBlocks(): number {
    return 1;
  }

  unload(): void {
    if (!this.#live) return;
    this.#live = false;
    for (const { constants } of [...this.#loaded.values()].flatMap((one) => [one, ...one.variants.all]))
      if (constants !== undefined) this.#driver.batch.destroy(constants);
    this.#loaded.clear();
    this.#last = undefined;
  }
}

/** A row of blocks that is longer than WebGPU has one is dispatched as several rows; wider grids run in parts. */
function dispatchOf({ grid }: LaunchShape, { maxComputeWorkgroupsPerDimension: along }: GpuLimits): Dispatch {
  const [x, y, z] = grid;
  if (x <= along && y <= along && z <= along) return 'whole';
  return y === 1 && z === 1 && Math.ceil(x / along) <= along / 2 ? 'rows' : 'parts';
}

function kindOf(binding: WgslBinding): BindingKind {
  if (binding.kind === 'constants') return 'read-only-storage';
  return binding.kind === 'buffer' && !binding.written ? 'read-only-storage' : 'storage';
}

function bufferOf(binding: WgslBinding, loaded: Loaded, buffers: readonly GpuBuffer[]): GpuBuffer {
  const found = {
    words: undefined,
    constants: loaded.constants,
    faults: loaded.watched?.faultBuffer,
    prints: loaded.watched?.printBuffer,
    buffer: binding.kind === 'buffer' ? buffers[binding.buffer] : undefined,
  }[binding.kind];
  if (found === undefined) throw new Error(`internal error: nothing to bind for ${binding.kind}`);
  return found;
}

function wordsOf(words: readonly WgslWord[]): number {
  return words.reduce((sum, word) => sum + (word.kind === 'value' ? word.words : 1), 0);
}

const ORIGIN: Dim3 = [0, 0, 0];

/** Writes what depends on the arguments. */
function writeValues(
  words: readonly WgslWord[],
  view: DataView,
  args: LaunchArgs,
  offsetOf: (param: number) => number,
): void {
  let at = 0;
  for (const word of words) {
    if (word.kind === 'offset') view.setUint32(at, offsetOf(word.param), true);
    else if (word.kind === 'value') writeValue(view, at, word.type, args[word.param] as number | bigint | boolean);
    at += word.kind === 'value' ? 4 * word.words : 4;
  }
}

interface Places {
  readonly number: number;
  readonly first: Dim3;
  readonly grid: Dim3;
  readonly row?: number;
}

/** As few rows as there can be, of which no block is left over where that is possible with a few more. */
function rowsOf(blocks: number, most: number): number {
  const least = Math.ceil(blocks / most);
  for (let rows = least; rows < 2 * least + 8; rows++) if (blocks % rows === 0) return rows;
  return least;
}

/** Writes what depends on the launch alone. */
function writePlace(words: readonly WgslWord[], view: DataView, { number, first, grid, row = 0 }: Places): void {
  let at = 0;
  for (const word of words) {
    if (word.kind === 'firstBlock') view.setUint32(at, first[word.axis], true);
    else if (word.kind === 'blocks') view.setUint32(at, grid[word.axis], true);
    else if (word.kind === 'row') view.setUint32(at, row, true);
    else if (word.kind === 'launchNumber') view.setUint32(at, number, true);
    at += word.kind === 'value' ? 4 * word.words : 4;
  }
}

function writeValue(view: DataView, at: number, type: ValueType, value: number | bigint | boolean): void {
  switch (type) {
    case 'f32':
      return view.setFloat32(at, Number(value), true);
    case 'i64':
    case 'u64':
      return view.setBigUint64(at, BigInt.asUintN(64, BigInt(value)), true);
    case 'f64':
      return view.setFloat64(at, Number(value), true);
    default:
      return view.setUint32(at, Number(value), true);
  }
}
