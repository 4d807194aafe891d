/**
 * Everything that can be called: found by reflection over what the entry points export and over one instance of each class, so that a
 * new function is called from the day that it is added. What is listed here is only what makes a call good: without it a function
 * gets odd values and nothing else.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as tsamba from '../../src/index.ts';
import * as testsuite from '../../testsuite/index.ts';

/** One thing to call. `make` gives the receiver anew. */
export interface Callable {
  readonly name: string;
  readonly make: () => object;
  readonly key: string;
  /** A method; a constructor; a property that is assigned to. */
  readonly how: 'call' | 'new' | 'set';
  readonly valid: readonly (() => unknown)[];
}

type Any = Record<string, unknown>;

const { cuda, roc, ndarray, struct, f32, f64, i32, SmartArray } = tsamba;

const floats = (): Float32Array => Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8);
const host = (): unknown => ndarray(floats());
const device = (): ReturnType<typeof cuda.toDevice> => cuda.toDevice(floats());
const kernel = (): unknown => cuda.jit((x: { [k: number]: number }) => void (x[0] = 1));
const shape = (): unknown => [2, 4];
const dtype = (): unknown => f32;
const options = (): unknown => ({});

/** Arguments of good calls, by the last part of the name. */
const VALID: Readonly<Record<string, readonly (() => unknown)[]>> = {
  asCudaArray: [device],
  asCudaArrayOf: [device],
  bind: [() => cuda.stream()],
  copyToDevice: [host, () => cuda.stream()],
  copyToHost: [host, () => cuda.stream()],
  copyToHostAsync: [host, () => cuda.stream()],
  deferCleanup: [() => () => {}],
  deviceArray: [shape, dtype, options],
  deviceArrayLike: [device, options],
  field: [() => 'x'],
  fromDlpack: [device, options],
  get: [() => 0],
  at: [() => 0],
  isCudaArray: [device],
  jit: [() => () => {}, options],
  launch: [() => ({ grid: 1, block: 1 }), device],
  launchAsync: [() => ({ grid: 1, block: 1 }), device],
  configure: [() => 1, () => 1, () => cuda.stream(), () => 0],
  forAll: [() => 8, options],
  managedArray: [shape, dtype, options],
  mappedArray: [shape, dtype, options],
  mappedArrayLike: [host, options],
  ndarray: [floats, dtype, options],
  openIpcArray: [() => ({}), shape, dtype, options],
  pinnedArray: [shape, dtype, options],
  pinnedArrayLike: [host, options],
  reshape: [() => 2, () => 4],
  scalar: [dtype, () => 1],
  scope: [() => () => 1],
  selectDevice: [() => 'cpu'],
  set: [() => 0, () => 1],
  slice: [() => [0, 2]],
  split: [() => 2, () => cuda.stream()],
  squeeze: [() => 0],
  struct: [() => ({ x: f32, n: i32 }), options],
  toDevice: [host, options],
  toDlpack: [device, options],
  transpose: [() => 1, () => 0],
  view: [dtype],
  astype: [dtype],
  zeros: [shape, dtype, options],
  ones: [shape, dtype, options],
  empty: [shape, dtype, options],
  full: [shape, () => 1, dtype, options],
  arange: [() => 0, () => 8, () => 1, dtype],
  array: [() => [1, 2], options],
  record: [() => cuda.stream()],
  wait: [() => cuda.event()],
  elapsedTime: [() => cuda.event()],
  addCallback: [() => () => {}],
  runConformance: [() => ({ device: 'cpu', filter: 'no test is called so' })],
  withFaults: [() => ({ allocate: 1 }), () => () => 1],
};

/** What ends the device for all calls after it; and what runs for minutes when its options are good. */
const SPARED = /(^|\.)(close(Async)?|constructor|prototype|conformanceTests|runConformance)$/;

function receivers(): Record<string, () => object> {
  const point = struct({ x: f32, n: i32 });
  return {
    tsamba: () => tsamba,
    cuda: () => cuda,
    'cuda.gpus': () => cuda.gpus,
    'cuda.atomic': () => cuda.atomic,
    'cuda.shared': () => cuda.shared,
    'cuda.local': () => cuda.local,
    'cuda.const': () => cuda.const,
    'cuda.cg': () => cuda.cg,
    'cuda.threadIdx': () => cuda.threadIdx,
    roc: () => roc,
    testsuite: () => testsuite,
    ndarray: () => ndarray,
    f32: () => f32,
    f64: () => f64,
    i32: () => i32,
    i64: () => tsamba.i64,
    bool: () => tsamba.bool,
    c64: () => tsamba.c64,
    point: () => point,
    'DeviceNDArray()': () => cuda.toDevice(Float32Array.of(1, 2, 3, 4)),
    'NDArray()': () =>
      ndarray(
        [
          [1, 2, 3, 4],
          [5, 6, 7, 8],
        ],
        { dtype: f32 } as never,
      ),
    'records()': () => cuda.deviceArray(3, point),
    'DeviceRecord()': () => cuda.deviceArray(3, point).get(0) as unknown as object,
    'SmartArray()': () => new SmartArray(Float32Array.of(1, 2, 3, 4)),
    'stream()': () => cuda.stream(),
    'event()': () => cuda.event(),
    'jit()': () => kernel() as object,
    'jit().configure()': () => (kernel() as ReturnType<typeof cuda.jit>).configure(1, 1) as object,
    'jit().forAll()': () => (kernel() as ReturnType<typeof cuda.jit>).forAll(8) as object,
    'currentDevice()': () => cuda.currentDevice() as object,
    'pinned()': () => cuda.pinnedArray(4, f32) as object,
    'mapped()': () => cuda.mappedArray(4, f32) as object,
    'managed()': () => cuda.managedArray(4, f32) as object,
    'trackLeaks()': () => cuda.trackLeaks() as object,
  };
}

/** The names of an object and of its classes, but for what all objects and functions have. */
function keysOf(object: object): string[] {
  const keys = new Set<string>();
  for (let at: object | null = object; at !== null; at = Object.getPrototypeOf(at)) {
    if (at === Object.prototype || at === Function.prototype || at === Array.prototype) break;
    for (const key of Object.getOwnPropertyNames(at)) keys.add(key);
  }
  return [...keys].filter((key) => !/^(length|name|prototype|arguments|caller)$/.test(key));
}

/** The types of the package, which leave out what is the library's own business. */
const DIST = fileURLToPath(new URL('../../dist', import.meta.url));
let types: string | undefined;

function isPublished(key: string): boolean {
  types ??= readdirSync(DIST, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.d.ts'))
    .map((file) => readFileSync(join(DIST, file), 'utf8'))
    .join();
  return types.includes(key);
}

/** These take addresses as numbers, and what is no address of what it should be ends the process: SECURITY.md says so. */
const TAKES_ADDRESS = /\.(fromDlpack|externalStream)$/;

/** Whether a call would read memory at a made-up address. */
export function isAddress({ name }: Callable, value: unknown): boolean {
  return TAKES_ADDRESS.test(name) && (typeof value === 'number' || typeof value === 'bigint');
}

/** All that can be called, in an order that stays. */
export function surface(): Callable[] {
  cuda.selectDevice('cpu');
  const found: Callable[] = [];
  for (const [path, make] of Object.entries(receivers())) {
    let object: object;
    try {
      object = make();
    } catch {
      continue;
    }
    for (const key of keysOf(object)) {
      const name = `${path}.${key}`;
      if (SPARED.test(name) || !isPublished(key)) continue;
      let value: unknown;
      try {
        value = (object as Any)[key];
      } catch {
        continue;
      }
      const valid = Object.hasOwn(VALID, key) ? (VALID[key] ?? []) : [];
      if (isClass(value)) {
        // Under both namespaces it is the same class. Errors are the library's to make; programs compare with their classes.
        if (!(value.prototype instanceof Error)) found.push({ name: `new ${name}`, make, key, how: 'new', valid });
      } else if (typeof value === 'function') found.push({ name, make, key, how: 'call', valid });
      else if (path.endsWith(')')) found.push({ name: `${name} =`, make, key, how: 'set', valid: [] });
    }
    if (typeof object === 'function') {
      const key = 'call itself';
      found.push({
        name: `${path}()`,
        make: () => ({ [key]: make() }),
        key,
        how: 'call',
        valid: Object.hasOwn(VALID, path) ? (VALID[path] ?? []) : [],
      });
    }
  }
  return found;
}

function isClass(value: unknown): value is { readonly prototype: object } {
  return typeof value === 'function' && /^class\b/.test(Function.prototype.toString.call(value));
}

/** How many positions of its arguments are tried. */
export function positions({ make, key, how, valid }: Callable): number {
  if (how === 'set') return 1;
  const { length } = (make() as Any)[key] as { length: number };
  return Math.max(1, valid.length, Math.min(length, 5));
}
