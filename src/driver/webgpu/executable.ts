/**
 * A kernel loaded on a WebGPU device: a module and a pipeline for each block shape, amount of shared memory, and way in which arguments share buffers.
 */
import type { Kernel, ValueType } from '../../compiler/ir/ops.ts';
import { describePasses } from '../../compiler/ir/passes/pipeline.ts';
import type { WgslBinding, WgslModule, WgslOptions, WgslWord } from '../../compiler/render/wgsl/module.ts';
import { DriverError, NotSupportedError, TsambaRangeError } from '../../errors.ts';
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
import { type GpuBuffer, type GpuDevice, type GpuEncoder, USAGE } from './api.ts';
import { compileWgsl } from './compile.ts';
import type { Location } from './memory.ts';
import { type BindingKind, dispatch, type Pipeline, pipelineOf } from './pipelines.ts';
import type { Reports, Watched } from './reports.ts';

const SUGGESTED = 256;

/** What a loaded kernel needs of its device. */
export interface ExecutableHost {
  readonly info: DeviceInfo;
  readonly device: GpuDevice;
  readonly reports: Reports;
  /** The identity of the stream that a call is for. */
  enter(api: string, stream: StreamHandle | undefined): object;
  locate(pointer: Pointer): Location;
  /** Encodes commands and gives them to the queue. */
  submit(encode: (encoder: GpuEncoder) => void): void;
  /** Posts what the device finds wrong with what is made here. */
  scoped<R>(what: string, make: () => R): R;
  /** Has what kernels left looked at, whether or not somebody waits. */
  lookSoon(): void;
}

/** A module, and what it is launched with. */
interface Loaded {
  readonly module: WgslModule;
  readonly pipeline: Pipeline;
  readonly words: GpuBuffer;
  readonly view: DataView<ArrayBuffer>;
  readonly constants: GpuBuffer | undefined;
  readonly watched: Watched | undefined;
}

export class WebGpuExecutable implements Executable {
  readonly attributes: ExecutableAttributes;
  readonly #driver: ExecutableHost;
  readonly #program: Program;
  readonly #loaded = new Map<string, Loaded>();
  readonly #pointers: readonly number[];
  /** As it is for a block of one thread, and arrays that have buffers of their own. */
  readonly #usual: WgslModule;
  #live = true;

  /** Throws NotSupportedError for what WebGPU lacks. */
  constructor(driver: ExecutableHost, program: Program) {
    this.#driver = driver;
    this.#program = program;
    const { kernel } = program;
    this.#pointers = kernel.params.filter(({ type }) => type === 'ptr').map(({ index }) => index);
    this.#usual = compileWgsl(kernel, this.#options([1, 1, 1], 0, this.#pointers));
    const { maxThreadsPerBlock } = driver.info.limits;
    const most = Math.min(
      maxThreadsPerBlock,
      this.#usual.threadsPerBlockLimit ?? maxThreadsPerBlock,
      program.launchBounds ?? maxThreadsPerBlock,
    );
    this.attributes = { ...attributesOf(kernel, most), sharedBytes: this.#usual.sharedBytes };
  }

  get #kernel(): Kernel {
    return this.#program.kernel;
  }

  #options(block: Dim3, sharedBytes: number, buffers: readonly number[]): WgslOptions {
    return {
      name: this.#program.name ?? this.#kernel.name,
      block,
      sharedBytes,
      buffers: new Map(this.#pointers.map((param, k) => [param, buffers[k] as number])),
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
        `kernel ${kernelLabel(this.#kernel)} has been unloaded with its device: launch it anew`,
      );
    }
    const places = this.#pointers.map((param) => driver.locate(args[param] as Pointer));
    const distinct = [...new Set(places.map(({ buffer }) => buffer))];
    const numbers = places.map(({ buffer }) => distinct.indexOf(buffer));
    const loaded = this.#for(shape, numbers);
    const { module, view, watched } = loaded;
    if (module.cooperative) refuseSeveralBlocks(this.#kernel, blocks, driver.info.name);
    const number = watched === undefined ? 0 : driver.reports.note(watched, shape, target, this.launch);
    const offsets = new Map(this.#pointers.map((param, k) => [param, places[k]?.offset ?? 0]));
    const buffers = module.bindings.map((binding) => bufferOf(binding, loaded, distinct));
    const { maxComputeWorkgroupsPerDimension: along } = driver.device.limits;
    const threads: LaunchShape = { ...shape, block: [1, 1, 1] };
    for (const part of partsOf(threads, along)) {
      writeWords(module.words, view, { args, offsets, number, first: part.first, grid });
      driver.submit((encoder) => {
        driver.device.queue.writeBuffer(loaded.words, 0, new Uint8Array(view.buffer));
        dispatch(driver.device, encoder, loaded.pipeline, buffers, part.grid);
      });
    }
    if (watched !== undefined && driver.reports.isFull(watched)) driver.lookSoon();
  }

  #for(shape: LaunchShape, numbers: readonly number[]): Loaded {
    const { block, sharedBytes } = shape;
    const key = `${block}/${sharedBytes}/${numbers}`;
    const known = this.#loaded.get(key);
    if (known !== undefined) return known;
    const made = this.#load(shape, numbers);
    this.#loaded.set(key, made);
    return made;
  }

  #load(shape: LaunchShape, numbers: readonly number[]): Loaded {
    const { device, info, reports } = this.#driver;
    const module = compileWgsl(this.#kernel, this.#options([...shape.block], shape.sharedBytes, numbers));
    const label = `${kernelLabel(this.#kernel)} with ${describeLaunch(shape)}`;
    if (module.sharedBytes > info.limits.maxSharedBytesPerBlock) {
      throw new TsambaRangeError(
        'E_LAUNCH_LIMIT',
        `${label} needs ${module.sharedBytes} bytes of shared memory, ${info.name} has ${info.limits.maxSharedBytesPerBlock} for a block; make it smaller`,
      );
    }
    const storage = module.bindings.length - 1;
    if (storage > device.limits.maxStorageBuffersPerShaderStage) {
      throw new NotSupportedError(
        'E_BUFFERS',
        `kernel ${label} uses ${storage} buffers, and ${info.name} binds ${device.limits.maxStorageBuffersPerShaderStage} at most (maxStorageBuffersPerShaderStage)\n` +
          '  help: put arrays into one: parts of an array share its buffer',
      );
    }
    const pipeline = this.#driver.scoped(`kernel ${label}`, () =>
      pipelineOf(device, module.text, module.entry, module.bindings.map(kindOf)),
    );
    const size = Math.max(16, Math.ceil(wordsOf(module.words) / 4) * 16);
    const constants = module.bindings.find((b) => b.kind === 'constants');
    const watches = module.sites.length > 0 || module.prints.length > 0;
    return {
      module,
      pipeline,
      words: device.createBuffer({ size, usage: USAGE.uniform | USAGE.copyTarget }),
      view: new DataView(new ArrayBuffer(size)),
      constants: constants && this.#constants(constants.bytes),
      watched: watches ? reports.watch(this.#kernel, module.sites, module.prints) : undefined,
    };
  }

  #constants(bytes: Uint8Array): GpuBuffer {
    const { device } = this.#driver;
    const buffer = device.createBuffer({ size: bytes.length, usage: USAGE.storage | USAGE.copyTarget });
    device.queue.writeBuffer(buffer, 0, bytes);
    return buffer;
  }

  inspect(target: string): string | undefined {
    const usual = [this.#kernel, this.#options([SUGGESTED, 1, 1], 0, this.#pointers)] as const;
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
    for (const { words, constants } of this.#loaded.values()) {
      words.destroy();
      constants?.destroy();
    }
    this.#loaded.clear();
  }
}

function kindOf(binding: WgslBinding): BindingKind {
  if (binding.kind === 'words') return 'uniform';
  if (binding.kind === 'constants') return 'read-only-storage';
  return binding.kind === 'buffer' && !binding.written ? 'read-only-storage' : 'storage';
}

function bufferOf(binding: WgslBinding, loaded: Loaded, buffers: readonly GpuBuffer[]): GpuBuffer {
  const found = {
    words: loaded.words,
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

interface Values {
  readonly args: LaunchArgs;
  readonly offsets: ReadonlyMap<number, number>;
  readonly number: number;
  readonly first: Dim3;
  readonly grid: Dim3;
}

function writeWords(words: readonly WgslWord[], view: DataView, values: Values): void {
  let at = 0;
  for (const word of words) {
    switch (word.kind) {
      case 'offset':
        view.setUint32(at, values.offsets.get(word.param) ?? 0, true);
        break;
      case 'firstBlock':
        view.setUint32(at, values.first[word.axis], true);
        break;
      case 'blocks':
        view.setUint32(at, values.grid[word.axis], true);
        break;
      case 'zero':
        view.setUint32(at, 0, true);
        break;
      case 'launchNumber':
        view.setUint32(at, values.number, true);
        break;
      case 'value':
        writeValue(view, at, word.type, values.args[word.param] as number | bigint | boolean);
        if (word.words === 2) at += 4;
        break;
    }
    at += 4;
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
