/**
 * Runs rendered modules in tests, without a driver: places a memory image, fills the launch record, calls `run`.
 *
 * `check` holds a kernel against the reference interpreter: same memory afterwards, bit for bit (a NaN is a NaN), and the
 * same fault where there is one.
 */
import { expect } from 'vitest';
import { evalCall, type Value } from '../../ir/evaluate.ts';
import { type InterpretFault, interpret } from '../../ir/interpret.ts';
import { ELEM_SIZE, type ElemType, type Kernel, type MathFn } from '../../ir/ops.ts';
import { expandIntrinsics } from '../../ir/passes/expand-intrinsics.ts';
import { nameLanes } from '../../ir/passes/lanes.ts';
import { simplify } from '../../ir/passes/simplify.ts';
import { unroll } from '../../ir/passes/unroll.ts';
import { hasExchange, lowerWarps } from '../../ir/passes/warps.ts';
import type { FaultSite } from '../sites.ts';
import { recogniseBlockScans } from './block-scans.ts';
import { isNative } from './intrinsics.ts';
import { RECORD_PARAMS_SLOT, type WasmExports, type WasmModule, type WasmVariant } from './module.ts';
import { renderWasm } from './render.ts';
import { warpLanes } from './whole-warps.ts';

/** TypeScript declares WebAssembly in its DOM library only. */
interface Engine {
  readonly Memory: new (limits: {
    initial: number;
    maximum: number;
    shared: true;
  }) => { readonly buffer: SharedArrayBuffer };
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: unknown };
}
const { WebAssembly } = globalThis as unknown as { WebAssembly: Engine };

export interface Launch {
  readonly grid?: readonly [number, number, number];
  readonly block: readonly [number, number, number];
  readonly sharedBytes?: number;
  readonly lanes?: 1 | 4;
  readonly concurrent?: boolean;
  /** Parameters of arrays that share no memory with any that the kernel writes. */
  readonly apart?: ReadonlySet<number>;
  /** Blocks in a call of `run`; all of them if left out. */
  readonly slice?: number;
}

export interface Outcome {
  readonly module: WasmModule;
  readonly memory: Uint8Array;
  readonly fault:
    | {
        readonly site: FaultSite;
        readonly thread: number;
        readonly block: number;
        readonly index: bigint;
        readonly extent: bigint;
      }
    | undefined;
  readonly prints: readonly (readonly (string | Value)[])[];
}

/** Where the image starts in the linear memory. */
const IMAGE = 4096;

export function runWasm(kernel: Kernel, launch: Launch, args: readonly Value[], image: Uint8Array): Outcome {
  const { grid = [1, 1, 1], block, sharedBytes = 0, lanes = 4, concurrent = false, apart } = launch;
  const blocks = grid[0] * grid[1] * grid[2];
  const { slice = blocks } = launch;
  const { module, compiled } = rendered(kernel, { block, lanes, concurrent, apart, memory64: false });
  const constants = IMAGE + Math.ceil((image.length + 64) / 16) * 16;
  const record = constants + Math.ceil((module.constants.length + 64) / 16) * 16;
  const scratch =
    record +
    8 * (RECORD_PARAMS_SLOT + kernel.params.length) +
    16 -
    ((8 * (RECORD_PARAMS_SLOT + kernel.params.length)) % 16);
  const bytes = scratch + module.scratchBytes + Math.ceil(sharedBytes / 16) * 16 + 256;
  const memory = new WebAssembly.Memory({ initial: Math.ceil(bytes / 65536), maximum: 65536, shared: true });
  const all = new Uint8Array(memory.buffer);
  const view = new DataView(memory.buffer);
  all.set(image, IMAGE);
  all.set(module.constants, constants);
  for (const [i, n] of grid.entries()) view.setInt32(record + 4 * i, n, true);
  view.setUint32(record + 12, sharedBytes, true);
  view.setUint32(record + 16, constants, true);
  for (const param of kernel.params) {
    const at = record + 8 * (RECORD_PARAMS_SLOT + param.index);
    const value = args[param.index] ?? 0;
    switch (param.type) {
      case 'ptr':
        view.setUint32(at, IMAGE + Number(value), true);
        break;
      case 'f32':
        view.setFloat32(at, Number(value), true);
        break;
      case 'f64':
        view.setFloat64(at, Number(value), true);
        break;
      case 'i64':
      case 'u64':
        view.setBigInt64(at, BigInt.asIntN(64, BigInt(value)), true);
        break;
      default:
        view.setInt32(at, Number(value), true);
    }
  }
  const prints: (string | Value)[][] = [];
  const math = Object.fromEntries(
    module.math.map((fn) => [fn, (...xs: number[]) => evalCall(fn as MathFn, 'f64', xs)]),
  );
  const print = (number: number, pointer: number): void => {
    const values = module.prints[number]?.parts ?? [];
    let at = pointer;
    prints.push(
      values.map((part) => {
        if (typeof part === 'string') return part;
        at += 8;
        if (part.type === 'i64') return view.getBigInt64(at - 8, true);
        if (part.type === 'u64') return view.getBigUint64(at - 8, true);
        const x = view.getFloat64(at - 8, true);
        return part.type === 'bool' ? x !== 0 : x;
      }),
    );
  };
  const instance = new WebAssembly.Instance(compiled, { env: { memory, print }, math });
  const { run } = instance.exports as WasmExports;
  let result = 0;
  for (let first = 0; first < blocks && result === 0; first += slice)
    result = run(first, Math.min(first + slice, blocks), record, scratch);
  const site = result === 0 ? undefined : module.sites[result - 1];
  if (result !== 0 && site === undefined) throw new Error(`run returned ${result}, of ${module.sites.length} sites`);
  return {
    module,
    memory: all.slice(IMAGE, IMAGE + image.length),
    prints,
    fault: site && {
      site,
      thread: view.getInt32(scratch + 4, true),
      block: view.getInt32(scratch + 8, true),
      index: view.getBigInt64(scratch + 16, true),
      extent: view.getBigInt64(scratch + 24, true),
    },
  };
}

interface Rendered {
  readonly module: WasmModule;
  readonly compiled: object;
}

/** Tests run a kernel with many arguments. */
const known = new WeakMap<Kernel, Map<string, Rendered>>();

function rendered(kernel: Kernel, variant: WasmVariant): Rendered {
  const key = JSON.stringify({ ...variant, apart: variant.apart && [...variant.apart] });
  const variants = known.get(kernel) ?? new Map<string, Rendered>();
  known.set(kernel, variants);
  let found = variants.get(key);
  if (found === undefined) {
    const ahead = optimised(expandIntrinsics(kernel, isNative), variant);
    const { kernel: ready, scans } = recogniseBlockScans(ahead, variant.block);
    const module = renderWasm(ready, variant, scans);
    found = { module, compiled: new WebAssembly.Module(module.bytes) };
    variants.set(key, found);
  }
  return found;
}

function optimised(kernel: Kernel, variant: WasmVariant): Kernel {
  const { block } = variant;
  if (!hasExchange(kernel)) return simplify(kernel, { block });
  const lowered =
    warpLanes(kernel, variant) === undefined ? lowerWarps(kernel).kernel : nameLanes(simplify(kernel, { block }));
  if (lowered === undefined) throw new Error('exchanges that cannot be lowered');
  return simplify(unroll(simplify(lowered, { block })), { block });
}

/** A piece of the memory image that is compared as elements of a type. */
export interface Region {
  readonly at: number;
  readonly elem: ElemType;
  readonly length: number;
}

/** The elements of a region as text: bits, but all NaN alike. */
export function elements(memory: Uint8Array, { at, elem, length }: Region): string[] {
  const view = new DataView(memory.buffer, memory.byteOffset, memory.byteLength);
  return Array.from({ length }, (_, i) => {
    const p = at + i * ELEM_SIZE[elem];
    switch (elem) {
      case 'f32': {
        const x = view.getFloat32(p, true);
        return Number.isNaN(x) ? 'NaN' : Object.is(x, -0) ? '-0' : String(x);
      }
      case 'f64': {
        const x = view.getFloat64(p, true);
        return Number.isNaN(x) ? 'NaN' : Object.is(x, -0) ? '-0' : String(x);
      }
      case 'i64':
      case 'u64':
        return String(view.getBigInt64(p, true));
      default: {
        let bits = 0;
        for (let b = ELEM_SIZE[elem] - 1; b >= 0; b--) bits = bits * 256 + (memory[p + b] ?? 0);
        return `0x${bits.toString(16)}`;
      }
    }
  });
}

/**
 * Runs on the interpreter and on modules of one lane and of several, and compares: memory, prints, and of a fault the kind
 * and the thread. Returns the interpreter's fault.
 */
export function check(
  kernel: Kernel,
  launch: Launch,
  args: readonly Value[],
  image: Uint8Array,
  regions: readonly Region[],
): InterpretFault | undefined {
  const { grid = [1, 1, 1] as const, block, sharedBytes } = launch;
  const expected = image.slice();
  const reference = interpret(kernel, { grid, block, sharedBytes }, args, expected);
  for (const lanes of launch.lanes ? [launch.lanes] : ([1, 4] as const)) {
    for (const concurrent of launch.concurrent === undefined ? [false] : [launch.concurrent]) {
      const name = `${kernel.name}, ${lanes} lanes, block ${block.join('×')}`;
      const outcome = runWasm(kernel, { ...launch, lanes, concurrent }, args, image);
      const { fault } = outcome;
      expect(fault && { kind: fault.site.kind, thread: fault.thread, block: fault.block }, name).toEqual(
        reference.fault && { kind: reference.fault.kind, thread: reference.fault.thread, block: reference.fault.block },
      );
      if (reference.fault) continue;
      for (const region of regions) {
        const [got, wanted] = [elements(outcome.memory, region), elements(expected, region)];
        // `expect` compares slowly; it is for the message.
        if (got.some((text, i) => text !== wanted[i])) expect(got, name).toEqual(wanted);
      }
      expect(outcome.prints, name).toEqual(reference.prints);
    }
  }
  return reference.fault;
}
