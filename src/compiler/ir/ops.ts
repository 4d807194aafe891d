/**
 * The intermediate representation: what a kernel is, once names, types and positions have been settled.
 *
 * A kernel is a structured tree (if / loop / block / break / continue / return / barrier) of statements over pure, typed
 * expressions. Every side effect is a statement of its own, so that expressions may be evaluated in any order, and twice.
 * There is no SSA and no control-flow graph: WebAssembly, OpenCL C and WGSL all want structure, and PTX can be made from
 * it. The front end builds this, passes rewrite it, renderers print it. `verify.ts` checks it after each stage.
 */
import { rowOf, SCALAR_NAMES, type StoredName } from '../../dtype/index.ts';
import type { ExternalFunction, LinkItem } from '../intrinsics/external.ts';
import type { NativeIntrinsic } from '../intrinsics/native.ts';
import type { Intrinsic } from '../intrinsics/row.ts';
import type { Pos } from '../source.ts';
import type { PrintForm } from './print-forms.ts';

// ---------------------------------------------------------------- types

/** Types of values in expressions. Narrower storage types widen when loaded: i8…u16 to i32, narrow floats to f32. */
export type ValueType = 'bool' | 'i32' | 'u32' | 'i64' | 'u64' | 'f32' | 'f64';

/** Types of array elements in memory (`bool` is one byte, 0 or 1). */
export type ElemType = StoredName;

/** Where an array lives. `constant` arrays carry their bytes in the module. */
export type Space = 'global' | 'constant' | 'shared' | 'local';

// ---------------------------------------------------------------- symbols

/** A mutable local variable of one thread. Uninitialised variables read as zero. */
export interface Var {
  readonly id: number;
  /** The user's name, or a `%`-prefixed name for a temporary. Not unique. */
  readonly name: string;
  readonly type: ValueType;
}

/** A region of memory that loads, stores and atomics name. */
export interface ArraySym {
  readonly id: number;
  /** The user's name, for messages. */
  readonly name: string;
  readonly space: Space;
  readonly elem: ElemType;
  /** `global`: the index in `Kernel.params` of the `ptr` parameter that holds its base address. */
  readonly param?: number | undefined;
  /** `shared`, `local`, `constant`: number of elements. Absent for global and for dynamic shared arrays. */
  readonly length?: number | undefined;
  /** `shared` only: starts where the static shared memory ends (all dynamic arrays of a kernel alias). */
  readonly dynamic?: boolean | undefined;
  /** `constant` only: the bytes. */
  readonly data?: Uint8Array | undefined;
  /** Alignment in bytes; at least the element's own. */
  readonly align: number;
}

/**
 * A launch parameter. `ptr` parameters hold the address of the first element of an array (a device pointer; 32 or 64 bits
 * as the driver has them); all others are plain values. `origin` says how the launcher computes it from the arguments.
 */
export interface Param {
  readonly index: number;
  readonly name: string;
  readonly type: ValueType | 'ptr';
  readonly origin: ParamOrigin;
}

/** `path` is the position in the argument list, with further steps into tuples: `[2]`, `[0, 1]`. */
export type ParamOrigin =
  | { readonly kind: 'base'; readonly path: readonly number[] }
  | { readonly kind: 'extent'; readonly path: readonly number[]; readonly axis: number }
  /** Stride in units of `unit` bytes (the element size where all strides are multiples of it, else 1). */
  | { readonly kind: 'stride'; readonly path: readonly number[]; readonly axis: number; readonly unit: number }
  | { readonly kind: 'value'; readonly path: readonly number[] }
  /** Base address of a device array that the kernel captured: index into `Kernel.captured`. */
  | { readonly kind: 'capturedBase'; readonly capture: number };

// ---------------------------------------------------------------- expressions (pure)

/** Values that the launch or the hardware gives. All are i32, but `sharedBytes` (u32). */
export type Special =
  | 'threadIdx.x'
  | 'threadIdx.y'
  | 'threadIdx.z'
  | 'blockIdx.x'
  | 'blockIdx.y'
  | 'blockIdx.z'
  | 'blockDim.x'
  | 'blockDim.y'
  | 'blockDim.z'
  | 'gridDim.x'
  | 'gridDim.y'
  | 'gridDim.z'
  | 'laneId'
  | 'warpSize'
  /** Bytes of dynamic shared memory of this launch. */
  | 'sharedBytes';

/** One operand, result type as stated. */
export type UnaryOp =
  /** Same type. Integers wrap; float `neg` flips the sign bit, `abs` clears it. `abs` of the least integer wraps. */
  | 'neg'
  | 'abs'
  /** Bitwise complement of an integer; logical negation of a bool. */
  | 'not'
  /** Floats, exact (IEEE): same type. `rint` rounds half to even; `round` is JavaScript's Math.round. */
  | 'sqrt'
  | 'floor'
  | 'ceil'
  | 'trunc'
  | 'rint'
  | 'round'
  /** -1, 0, 1 of an integer; of a float JavaScript's Math.sign (NaN and the zeros come back as they are). */
  | 'sign'
  /** Float → i32: JavaScript's ToInt32, truncated and taken modulo 2³²; 0 of NaN and the infinities. */
  | 'toInt32'
  /** Float → bool. */
  | 'isNaN'
  | 'isFinite'
  /** Asserts that the value is the same in the whole block; the value itself. Checked mode verifies it. */
  | 'uniform'
  | ApproxOp;

/**
 * Approximations that GPUs have as instructions (PTX ISA, `ex2.approx.ftz.f32` and so on), of f32; `rcpApprox` and
 * `rsqrtApprox` of f64 as well, to 2⁻²⁰ at least. Denormal operands and results are flushed to zero, but those of `tanhApprox`. A device without
 * the instruction computes them as well as it can; the interpreter rounds the true value. Only the math table's bodies and
 * fastMath make them.
 */
export type ApproxOp =
  | 'exp2Approx'
  | 'log2Approx'
  | 'rcpApprox'
  | 'rsqrtApprox'
  | 'sqrtApprox'
  | 'sinApprox'
  | 'cosApprox'
  | 'tanhApprox';

/** Two operands of one type, result of the same type. */
export type BinaryOp =
  /** Integers wrap; floats are IEEE, never contracted unless the kernel's `contract` is set. */
  | 'add'
  | 'sub'
  | 'mul'
  /** Integers: the upper half of the product of twice the width. */
  | 'mulhi'
  /** f32: `div.approx.ftz.f32`, an approximate quotient, as `ApproxOp`. */
  | 'divApprox'
  /** Float: IEEE division. Integer: truncating division; x/0 = 0, least/-1 wraps. */
  | 'div'
  /** Float: JavaScript's % (fmod). Integer: sign of the dividend; x%0 = 0, x%-1 = 0. */
  | 'rem'
  /** Integers: division rounding down; x/0 = 0. */
  | 'floordiv'
  /** bool: logical; integers: bitwise. */
  | 'and'
  | 'or'
  | 'xor'
  /** Integers; the count has the type of the operand and is taken modulo the width. `shr` is arithmetic on signed types. */
  | 'shl'
  | 'shr'
  /** Integers: plain. Floats: `min`/`max` are JavaScript's (NaN wins, -0 < +0); `fmin`/`fmax` are C's (a number wins). */
  | 'min'
  | 'max'
  | 'fmin'
  | 'fmax'
  /** Integer power by squaring, wraps; a negative exponent gives 0 (checked mode: an error). Float powers are `call`s. */
  | 'ipow'
  /** Float: magnitude of a, sign of b. */
  | 'copysign';

/** Two operands of one type (numbers or bool for eq/ne) → bool. Float comparisons with NaN are false, but `ne`. */
export type CompareOp = 'eq' | 'ne' | 'lt' | 'le' | 'gt' | 'ge';

/** Functions of floats that are approximated to a stated error; f32 or f64, operands and result of one type. */
export type MathFn =
  | 'exp'
  | 'exp2'
  | 'expm1'
  | 'log'
  | 'log2'
  | 'log10'
  | 'log1p'
  | 'sin'
  | 'cos'
  | 'tan'
  | 'asin'
  | 'acos'
  | 'atan'
  | 'atan2'
  | 'sinh'
  | 'cosh'
  | 'tanh'
  | 'asinh'
  | 'acosh'
  | 'atanh'
  | 'pow'
  | 'hypot'
  | 'cbrt'
  | 'rsqrt'
  | 'erf'
  | 'erfc'
  | 'tgamma'
  | 'lgamma';

export type Expr =
  /** Integers of 64 bits are bigint, all others number (f32 already rounded), bool is boolean. */
  | { readonly op: 'const'; readonly type: ValueType; readonly value: number | bigint | boolean }
  | { readonly op: 'var'; readonly type: ValueType; readonly var: Var }
  | { readonly op: 'param'; readonly type: ValueType; readonly param: number }
  | { readonly op: 'special'; readonly type: 'i32' | 'u32'; readonly name: Special }
  | {
      readonly op: 'unary';
      readonly type: ValueType;
      readonly fn: UnaryOp;
      readonly a: Expr;
      /** Of `sqrt`: may be the hardware's approximation. */
      readonly fast?: boolean | undefined;
      readonly pos?: Pos | undefined;
    }
  | {
      readonly op: 'binary';
      readonly type: ValueType;
      readonly fn: BinaryOp;
      readonly a: Expr;
      readonly b: Expr;
      /** Of a float `div`: may be the hardware's approximation. */
      readonly fast?: boolean | undefined;
      readonly pos?: Pos | undefined;
    }
  | { readonly op: 'compare'; readonly type: 'bool'; readonly fn: CompareOp; readonly a: Expr; readonly b: Expr }
  /** Both arms may be evaluated. */
  | {
      readonly op: 'select';
      readonly type: ValueType;
      readonly cond: Expr;
      readonly a: Expr;
      readonly b: Expr;
      /** Only in bodies of the math table: `math/lower.ts` makes an `if` of it. */
      readonly branch?: Branch | undefined;
    }
  /**
   * Conversion. `to` may be a storage type: the value is narrowed to it and widened again (`i8(x)` wraps to 8 bits, `f16(x)`
   * rounds to half). int→int wraps, int→float rounds to nearest, float→int truncates and saturates with NaN → 0
   * (u8/i8/u16/i16 saturate to their own range), to bool is `!= 0 and not NaN`, from bool is 0 / 1.
   * `checked`: in checked mode a value that does not fit is an error (an index that leaves 32 bits). `stores`: of a float, for the integer
   * element that it is stored to.
   */
  | {
      readonly op: 'cast';
      readonly type: ValueType;
      readonly to: ElemType;
      readonly a: Expr;
      readonly checked?: boolean | undefined;
      readonly stores?: true | undefined;
      readonly pos?: Pos | undefined;
    }
  /** Same bits under another type of the same width. */
  | { readonly op: 'bitcast'; readonly type: ValueType; readonly a: Expr }
  /** a * b + c, rounded once. `to`: to that format, which the operands have as well; the value is an f32 that holds it. */
  | {
      readonly op: 'fma';
      readonly type: 'f32' | 'f64';
      readonly a: Expr;
      readonly b: Expr;
      readonly c: Expr;
      readonly to?: 'f16' | 'bf16' | undefined;
    }
  | {
      readonly op: 'call';
      readonly type: 'f32' | 'f64';
      readonly fn: MathFn;
      readonly args: readonly Expr[];
      /** May be the hardware's approximation. */
      readonly fast?: boolean | undefined;
    }
  /** What a row of the table of intrinsics means, of operands of its own type. */
  | {
      readonly op: 'intrinsic';
      readonly type: ValueType;
      readonly fn: Intrinsic<Expr>;
      readonly args: readonly Expr[];
    }
  /** Reads memory: may be repeated or reordered only while nothing is stored. Never placed where it might not run in the source. */
  | { readonly op: 'load'; readonly type: ValueType; readonly mem: MemRef }
  /** An intrinsic of a library: by the device's own means, or `otherwise`. One of the two is gone before anything is rendered (`passes/externals.ts`). */
  | {
      readonly op: 'native';
      readonly type: ValueType;
      readonly fn: NativeIntrinsic;
      readonly args: readonly Expr[];
      readonly otherwise?: Expr | undefined;
    }
  /** The address of an element, as an argument of `extern` alone. Where addresses have spaces it is a pointer of its array's. */
  | { readonly op: 'address'; readonly type: 'u64'; readonly mem: MemRef }
  /** Whether the device can call the function. Decided before anything is rendered (`passes/externals.ts`). */
  | { readonly op: 'available'; readonly type: 'bool'; readonly fn: ExternalFunction };

/** Selects that one branch decides together: only the arms that are wanted are computed, of `rare` ones the second in any case. */
export interface Branch {
  readonly unlikely: boolean;
  readonly members: readonly (Expr & { readonly op: 'select' })[];
}

/**
 * An element of memory. Its address is `base(array) + index * scale + disp` bytes. `index` is i32, or i64 where the
 * kernel is compiled for 64-bit indexing. The element accessed has type `elem` (as a rule `array.elem`).
 * `checks` are what checked mode tests before the access, one an axis; they hold the user's own indices.
 */
export interface MemRef {
  readonly array: ArraySym;
  readonly elem: ElemType;
  readonly index: Expr;
  readonly scale: number;
  readonly disp: number;
  readonly checks: readonly Check[];
  /** How caches should treat it, as PTX calls that (`ld.global.cg`); other devices take no notice. */
  readonly cache?: CacheHint | undefined;
  readonly wide?: Wide | undefined;
  readonly pos: Pos;
}

/** Of loads: at all levels, beside the first, read once, used for the last time. Of stores: written back, beside the first, once, through. */
export type CacheHint = 'ca' | 'cg' | 'cs' | 'lu' | 'wb' | 'wt';

/**
 * Part `lane` of an access to `lanes` neighbours (two, four, or more of a few bytes), all of which are there: a device may make one of them. `aligned`: the
 * address of the first is a multiple of the bytes of all.
 */
export interface Wide {
  readonly lane: number;
  readonly lanes: number;
  readonly aligned: boolean;
}

/** `0 <= index < extent` or the kernel stops with an error that names array, axis, index, extent and thread. */
export interface Check {
  readonly index: Expr;
  readonly extent: Expr;
  readonly axis: number;
}

// ---------------------------------------------------------------- statements

export type AtomicOp =
  | 'add'
  | 'sub'
  | 'and'
  | 'or'
  | 'xor'
  | 'exch'
  | 'inc'
  | 'dec'
  /** Floats: no change when either is NaN. */
  | 'max'
  | 'min'
  /** Floats: a NaN in memory is replaced, a NaN value is ignored. */
  | 'nanMax'
  | 'nanMin'
  /** `args` = [compare, value]. Floats are compared by their bits. */
  | 'cas'
  /** No operand: the element, read at once. */
  | 'load'
  /** Written at once; no result. */
  | 'store';

/** What an atomic operation says of the accesses around it, as C++ has it. */
export type MemoryOrder = 'relaxed' | 'acquire' | 'release' | 'acq_rel' | 'seq_cst';

/** The threads that an order or a fence is for. */
export type MemoryScope = 'block' | 'device' | 'system';

/**
 * Exchange between the lanes of a warp (32 threads of a block that are neighbours in linear order). `mask` names the lanes that take
 * part; all of them that are still running must come to the same statement. PTX ISA: `shfl.sync`, `vote.sync`, `match.sync`, `bar.warp.sync`.
 */
export type WarpOp =
  /** `args` = [value, lane i32]; the value of lane `lane % 32`. */
  | 'shfl'
  /** `args` = [value, delta i32]; the value of the lane `delta` below or above, or the own value where that leaves the warp. */
  | 'shflUp'
  | 'shflDown'
  /** `args` = [value, lanes i32]; the value of lane `laneId ^ lanes`. */
  | 'shflXor'
  /** `args` = [bool]; whether it holds in all lanes, in any, is the same in all → bool; the lanes in which it holds → u32. */
  | 'all'
  | 'any'
  | 'eq'
  | 'ballot'
  /** `args` = [value]; the lanes with the same bits → u32; all lanes if they all have the same bits, else 0 → u32. */
  | 'matchAny'
  | 'matchAll'
  /** The lanes that run together with this one → u32; no mask. */
  | 'activeMask'
  /** Waits for the lanes, and orders their memory accesses; no result. */
  | 'sync';

/** Labels name blocks and loops; each is unique in its kernel. */
export type Label = number;

export type Stmt =
  | { readonly op: 'assign'; readonly var: Var; readonly value: Expr; readonly pos: Pos }
  /** `value` has the widened type of `mem.elem`; storing narrows (integers wrap, floats round). */
  | { readonly op: 'store'; readonly mem: MemRef; readonly value: Expr; readonly pos: Pos }
  /**
   * Read-modify-write, read or write; `result` receives the old value. Element types i32 u32 i64 u64 f32 f64; `exch`, `cas`, `load` and `store`
   * have integers of 8 and 16 bits and, until they are expanded, narrow floats as well: their operands are rounded or wrapped to the element.
   */
  | {
      readonly op: 'atomic';
      readonly fn: AtomicOp;
      readonly mem: MemRef;
      readonly args: readonly Expr[];
      readonly result?: Var | undefined;
      /** Undefined is relaxed. */
      readonly order?: MemoryOrder | undefined;
      /** Undefined is the device. */
      readonly scope?: MemoryScope | undefined;
      readonly pos: Pos;
    }
  | {
      readonly op: 'if';
      readonly cond: Expr;
      readonly then: readonly Stmt[];
      readonly else: readonly Stmt[];
      readonly pos: Pos;
    }
  /**
   * Runs `body` for ever, until a break, a return or, after each round of `body`, a false `cond`:
   *   for (;;) { body (continue jumps here:) update; }
   * A source `for (init; test; update)` becomes: init; loop { if (!test) break; body } update { update }.
   */
  | {
      readonly op: 'loop';
      readonly label: Label;
      readonly body: readonly Stmt[];
      readonly update: readonly Stmt[];
      readonly pos: Pos;
    }
  /** Runs once; `break label` leaves it. An inlined device function is a block with `inlined` set. */
  | {
      readonly op: 'block';
      readonly label: Label;
      readonly body: readonly Stmt[];
      readonly inlined?: string | undefined;
      readonly pos: Pos;
    }
  | { readonly op: 'break'; readonly label: Label; readonly pos: Pos }
  /** Only of a loop: goes on with its `update`. */
  | { readonly op: 'continue'; readonly label: Label; readonly pos: Pos }
  | { readonly op: 'return'; readonly pos: Pos }
  /**
   * Execution barrier of the block; count/and/or reduce `pred` over all threads that are still running, into `result` (i32).
   * `grid`: of all blocks of a cooperative launch.
   */
  | {
      readonly op: 'barrier';
      readonly kind: 'sync' | 'count' | 'and' | 'or' | 'grid';
      /** What the block computes together rests on it: none of its threads may have returned. */
      readonly whole?: true | undefined;
      readonly pred?: Expr | undefined;
      readonly result?: Var | undefined;
      readonly pos: Pos;
    }
  /** See `WarpOp`. `mask` is u32. */
  | {
      readonly op: 'warp';
      readonly fn: WarpOp;
      readonly mask?: Expr | undefined;
      readonly args: readonly Expr[];
      readonly result?: Var | undefined;
      readonly pos: Pos;
    }
  /** Calls a function of another language, which may do anything to memory that it can reach. Arguments have the parameters' widened types. */
  | {
      readonly op: 'extern';
      readonly fn: ExternalFunction;
      readonly args: readonly Expr[];
      readonly result?: Var | undefined;
      readonly pos: Pos;
    }
  | { readonly op: 'fence'; readonly scope: MemoryScope; readonly pos: Pos }
  /** Lets the thread rest for about so many nanoseconds (u32), if the device can. PTX: `nanosleep`. */
  | { readonly op: 'rest'; readonly nanoseconds: Expr; readonly pos: Pos }
  /** `console.log`: words and values. `forms` says what its arguments are made of; without it each part is one. */
  | {
      readonly op: 'print';
      readonly parts: readonly (string | Expr)[];
      readonly forms?: readonly PrintForm[] | undefined;
      readonly pos: Pos;
    }
  /** `throw` and failed `console.assert` in a debug build: stops the kernel with this message. */
  | { readonly op: 'trap'; readonly message: string; readonly pos: Pos };

/** The type of the result of a warp operation; `value` is the type of its first operand. */
export function warpResult(fn: WarpOp, value: ValueType | undefined): ValueType {
  if (fn === 'all' || fn === 'any' || fn === 'eq') return 'bool';
  return fn.startsWith('shfl') ? (value ?? 'i32') : 'u32';
}

// ---------------------------------------------------------------- kernels

export interface Kernel {
  readonly name: string;
  readonly params: readonly Param[];
  readonly arrays: readonly ArraySym[];
  readonly vars: readonly Var[];
  readonly body: readonly Stmt[];
  /** Width of index arithmetic in this specialisation. */
  readonly indexBits: 32 | 64;
  /** Whether bounds and other run-time checks are wanted. */
  readonly checked: boolean;
  /** Whether a*b+c may be fused where the device contracts. */
  readonly contract: boolean;
  /** Whether approximations and flushed denormals are allowed. */
  readonly fastMath: boolean;
  /** Code that the kernel is linked with beside that of the functions it calls. */
  readonly link?: readonly LinkItem[] | undefined;
  readonly pos: Pos;
}

// ---------------------------------------------------------------- facts about types

/** Bytes of an element in memory. */
export const ELEM_SIZE: Readonly<Record<ElemType, number>> = Object.fromEntries(
  SCALAR_NAMES.filter((name) => rowOf(name).stored === undefined).map((name) => [name, rowOf(name).bytes]),
) as Record<ElemType, number>;

/** The type a value of this element type has in expressions. */
export function widen(elem: ElemType): ValueType {
  return rowOf(elem).value;
}

export function isFloat(type: ElemType): boolean {
  return rowOf(type).kind === 'f';
}

/** Any integer type; bool is none. */
export function isInt(type: ElemType): boolean {
  return type !== 'bool' && !isFloat(type);
}

export function isUnsigned(type: ElemType): boolean {
  return rowOf(type).kind === 'u';
}
