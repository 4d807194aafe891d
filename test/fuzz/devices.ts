/**
 * The devices that programs run on, and how: compiled once by the front end, then loaded on each driver.
 */

import { compileKernel } from '../../src/compiler/compile.ts';
import type { ArgType } from '../../src/compiler/contract.ts';
import { NDARRAY } from '../../src/compiler/contract.ts';
import { captureFunction } from '../../src/compiler/frontend/capture.ts';
import type { Kernel } from '../../src/compiler/ir/ops.ts';
import { verify } from '../../src/compiler/ir/verify.ts';
import { cuda } from '../../src/cuda/index.ts';
import { wasmPipeline } from '../../src/driver/cpu/compile.ts';
import { openCpu } from '../../src/driver/cpu/index.ts';
import type { BlockingDriver } from '../../src/driver/driver.ts';
import { openOpenCL } from '../../src/driver/opencl/index.ts';
import { simulatorProvider } from '../../src/driver/simulator/index.ts';
import { webgpuProvider } from '../../src/driver/webgpu/index.ts';
import {
  bf16,
  bool,
  f8e4m3,
  f8e5m2,
  f16,
  f32,
  f64,
  i8,
  i16,
  i32,
  i64,
  u8,
  u8c,
  u16,
  u32,
  u64,
} from '../../src/dtype/index.ts';
import { evaluate, type Outcome } from './evaluate.ts';
import { difference, image, packed, placement } from './memory.ts';
import { argumentsOf, printProgram } from './print.ts';
import { collectLines, linesDiffer } from './prints.ts';
import { type ArrayDecl, count, type Program, SIZE, type Val } from './program.ts';
import { Absent, Discarded, Refused } from './verdicts.ts';

export const DTYPES = { bool, i8, u8, u8c, i16, u16, i32, u32, i64, u64, f16, bf16, f8e4m3, f8e5m2, f32, f64 } as const;

/** Sees every kernel that a device runs, after the passes that its renderer asks for; `lanes` is 1 for scalar code, `bytes` the code of the CPU device. */
export type Observer = (
  device: string,
  kernel: Kernel,
  block: readonly [number, number, number],
  lanes: number,
  bytes?: Uint8Array,
) => void;

export const DEVICE_NAMES = ['cpu', 'scalar', 'threads', 'simulator'] as const;
/** Those that any machine has, and the first OpenCL device, which may be missing and whose crash ends the process. */
export type DeviceName = (typeof DEVICE_NAMES)[number] | 'opencl' | 'webgpu';

export function openDevice(name: DeviceName, observer?: Observer): BlockingDriver {
  if (name === 'simulator') return simulatorProvider.open(0);
  if (name === 'opencl') return openOpenCL(0);
  if (name === 'webgpu') return openWebGpu();
  const pipeline = observer && {
    prepare: wasmPipeline.prepare,
    compile: (kernel: Kernel, variant: Parameters<typeof wasmPipeline.compile>[1]) => {
      const module = wasmPipeline.compile(kernel, variant);
      observer(name, kernel, variant.block, module.lanes, module.bytes);
      return module;
    },
  };
  const threads = name === 'threads' ? 2 : 1;
  return openCpu({
    lanes: name === 'scalar' ? 1 : 4,
    threads,
    alwaysParallel: name === 'threads',
    quick: name === 'threads',
    scalarFirst: false,
    pipeline,
  });
}

function openWebGpu(): BlockingDriver {
  const device = webgpuProvider.openNow?.(0);
  if (device === undefined) throw new Error('there is no WebGPU device that a thread can wait for');
  return device;
}

/** A host array that a kernel captures. */
function captured(a: ArrayDecl): object {
  const strides = a.shape.map((_, d) => SIZE[a.elem] * a.shape.slice(d + 1).reduce((x, y) => x * y, 1));
  return { [NDARRAY]: true, data: packed(a), dtype: DTYPES[a.elem], shape: a.shape, strides, byteOffset: 0 };
}

/** The names that the kernel's text takes from outside. */
export function captures(p: Program): Record<string, unknown> {
  const constants = p.arrays.filter((a) => a.space === 'const').map((a) => [a.name, captured(a)]);
  return { cuda, ...DTYPES, ...Object.fromEntries(constants) };
}

/** The kernel as a function of its own. */
export function functionOf(p: Program): (...args: never[]) => unknown {
  return new Function(`return (${printProgram(p)})`)() as (...args: never[]) => unknown;
}

export function argumentTypes(p: Program): ArgType[] {
  const arrays = argumentsOf(p).map((a): ArgType => {
    const { layout, unit } = placement(a);
    const clamped = a.elem === 'u8c';
    const elem = a.elem === 'u8c' ? 'u8' : a.elem;
    return { kind: 'array', elem, ...(clamped && { clamped }), ndim: a.shape.length, layout, unit };
  });
  return [...arrays, ...p.scalars.map((s): ArgType => ({ kind: 'scalar', type: s.t }))];
}

export function compileProgram(p: Program, defaultFloat: 'f32' | 'f64' = 'f64'): Kernel {
  const fn = captureFunction(functionOf(p), { captures: captures(p) });
  const { kernel } = compileKernel(fn, argumentTypes(p), {
    name: 'kernel',
    checked: p.seed % 4 !== 0,
    contract: false,
    fastMath: false,
    debug: false,
    defaultFloat,
    indexBits: p.indexBits,
  });
  verify(kernel, 'lowered');
  return kernel;
}

/** Runs the compiled program on a device; what each array's allocation holds afterwards. */
export function runOn(device: BlockingDriver, kernel: Kernel, p: Program): Map<string, Uint8Array> {
  const arrays = argumentsOf(p);
  const places = arrays.map(placement);
  const pointers = arrays.map((a, i) => {
    const pointer = Number(device.allocate(places[i]?.bytes ?? 1));
    device.copyToDevice(pointer, image(a, a.data));
    return pointer;
  });
  const values = kernel.params.map(({ origin, type }): Val => {
    if (origin.kind === 'capturedBase') throw new Error('no device array is captured');
    const n = origin.path[0] ?? 0;
    if (origin.kind === 'value') return p.scalars[n - arrays.length]?.v ?? 0;
    const place = places[n];
    if (origin.kind === 'base') return (pointers[n] ?? 0) + (place?.offset ?? 0);
    const value =
      origin.kind === 'extent'
        ? (arrays[n]?.shape[origin.axis] ?? 0)
        : (place?.strides[origin.axis] ?? 0) / origin.unit;
    return type === 'i64' ? BigInt(value) : value;
  });
  const executable = device.load({ kernel });
  const sharedBytes = Math.max(0, ...p.arrays.filter((a) => a.space === 'dynamic').map((a) => count(a) * SIZE[a.elem]));
  try {
    executable.launch({ grid: [p.grid, 1, 1], block: [p.block[0], p.block[1], 1], sharedBytes }, values, undefined);
    device.synchronize();
    return new Map(
      arrays.map((a, i) => {
        const bytes = new Uint8Array(places[i]?.bytes ?? 0);
        device.copyToHost(bytes, pointers[i] ?? 0);
        return [a.name, bytes];
      }),
    );
  } finally {
    executable.unload();
    for (const pointer of pointers) device.free(pointer);
  }
}

/** What is wrong, where and with which kind of failure (so that shrinking does not wander off to another). */
export interface Failure {
  readonly device: string;
  readonly kind: string;
  readonly what: string;
}

/** Runs a program on all devices; the first failure, if any. Throws Discarded for a program without a meaning. */
export function check(
  p: Program,
  devices: ReadonlyMap<string, BlockingDriver>,
  observer?: Observer,
): Failure | undefined {
  const expected = outcome(p);
  let kernel: Kernel;
  try {
    kernel = compileProgram(p, p.defaultFloat ?? 'f64');
  } catch (error) {
    if (p.risky && codeOf(error) === 'K319') return undefined;
    // A function that only gives an element, under `??`: refused on purpose, because JavaScript would test the index.
    if (codeOf(error) === 'K321') throw new Discarded();
    return { device: 'front end', kind: `throws ${codeOf(error)}`, what: textOf(error) };
  }
  if (expected instanceof Absent)
    return { device: 'front end', kind: 'accepts an absent value', what: expected.message };
  for (const [name, device] of devices) {
    if (isUnspecified(expected, device.info.kind)) continue;
    try {
      if (name === 'simulator') observer?.(name, kernel, [p.block[0], p.block[1], 1], 1);
      const { value: got, lines } = collectLines(() => runOn(device, kernel, p));
      if (expected instanceof Refused) return { device: name, kind: 'does not fault', what: expected.message };
      for (const a of argumentsOf(p)) {
        const wrong = difference(a, expected.memory.get(a.name) ?? [], got.get(a.name) ?? new Uint8Array());
        if (wrong !== undefined) return { device: name, kind: 'differs', what: wrong.what };
      }
      const printed = linesDiffer(expected.lines, lines);
      if (printed !== undefined) return { device: name, kind: 'prints', what: printed };
    } catch (error) {
      // What WebGPU has not at all.
      if (device.info.kind === 'webgpu' && ['E_ATOMIC64', 'E_BUFFERS', 'E_F64'].includes(codeOf(error))) continue;
      if (expected instanceof Refused && codeOf(error) === 'E_KERNEL_FAULT') {
        const text = textOf(error).replaceAll(/(\d),(?=\d)/g, '$1, ');
        if (expected.parts.every((part) => text.includes(part))) continue;
        // Where threads run at the same time, any that fails may be the first to say so.
        if (['nvidia', 'opencl', 'webgpu'].includes(device.info.kind) && /index -?\d+ is out of range/.test(text))
          continue;
        return { device: name, kind: 'reports another fault', what: `${text}\nmust be ${expected.message}` };
      }
      return { device: name, kind: `throws ${codeOf(error)}`, what: textOf(error) };
    }
  }
  return undefined;
}

/**
 * Whether a device of this kind may give other results: shuffles of hardware say nothing of lanes that take no part, and WGSL lets adapters take subnormal numbers for zero and round `fma` twice.
 */
export function isUnspecified(expected: Outcome | Refused | Absent, kind: string): boolean {
  if (!('asksAbsentLanes' in expected)) return false;
  if (kind === 'webgpu') return expected.hasSubnormals || expected.roundsOnce;
  return expected.asksAbsentLanes && (kind === 'nvidia' || kind === 'hip');
}

/** What the program leaves in its arrays, or what checked mode must say of it. */
function outcome(p: Program): Outcome | Refused | Absent {
  try {
    return evaluate(p);
  } catch (error) {
    if (error instanceof Refused || error instanceof Absent) return error;
    throw error;
  }
}

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown }).code;
  return code === undefined
    ? String((error as Error).message ?? error)
        .replace(/\d+/g, 'n')
        .slice(0, 60)
    : String(code);
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
