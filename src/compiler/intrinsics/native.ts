/**
 * What libraries add to kernels: intrinsics with instructions of their own, and what stands in kernels for functions of the host.
 *
 * An intrinsic is a device function that some devices have an instruction for. The front end inlines the function and keeps the call beside it; once
 * types are known, each device takes the one or the other (`ir/passes/externals.ts`).
 */

/** Types that values of expressions have. */
export type ValueName = 'i32' | 'u32' | 'i64' | 'u64' | 'f32' | 'f64';

/** A function of TypeScript that runs in kernels. */
export type DeviceFunction = (...args: never[]) => unknown;

/** An instruction or an expression: a name that takes the operands, or a text with `$1`, `$2` in it (PTX: `$0` is the result). */
export interface NativeTexts {
  /** NVIDIA GPUs. `sm` is the compute capability: 90 for sm_90. Undefined: there is no instruction for this type. */
  ptx?(type: ValueName, sm: number): string | undefined;
  /** OpenCL devices. Undefined: there is no function for this type. */
  opencl?(type: ValueName): string | undefined;
  /** HIP devices. `arch` is the architecture: `'gfx90a'`. Undefined: there is no function for this type. */
  hip?(type: ValueName, arch: string): string | undefined;
}

/** An intrinsic of a library. Operands and result have one type. */
export interface NativeIntrinsic {
  readonly name: string;
  readonly arity: number;
  readonly types: readonly ValueName[];
  readonly expand: DeviceFunction | undefined;
  readonly native: NativeTexts;
}

const BRAND: unique symbol = Symbol.for('tsamba.native') as never;

/** What `defineIntrinsic` defined by this value, or undefined when it did not make it. */
export function nativeOf(value: unknown): NativeIntrinsic | undefined {
  return typeof value === 'function' ? (value as { [BRAND]?: NativeIntrinsic })[BRAND] : undefined;
}

/** Makes the compiler take a value for this intrinsic. */
export function markNative<F extends object>(value: F, native: NativeIntrinsic): F {
  Object.defineProperty(value, BRAND, { value: native });
  return value;
}

/** What an overload asks of an argument: a kind of value, or the dtype of a record. */
export type ArgumentKind = 'number' | 'array' | 'function' | 'object' | object;

export interface Overload {
  readonly body: DeviceFunction;
  /** One an argument; undefined: any arguments. */
  readonly when: readonly ArgumentKind[] | undefined;
}

const overloads = new WeakMap<object, Overload[]>();

/** From now on `body` stands in kernels for `fn`, where the arguments are such. Later ones come first. */
export function addOverload(fn: object, overload: Overload): void {
  const known = overloads.get(fn) ?? [];
  overloads.set(fn, [overload, ...known]);
}

/** What may stand for a function in kernels. */
export function overloadsOf(fn: object): readonly Overload[] {
  return overloads.get(fn) ?? [];
}
