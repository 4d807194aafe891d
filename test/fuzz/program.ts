/**
 * Programs of the fuzzer: a small typed language of its own, which is printed as a kernel and evaluated directly.
 *
 * Every leaf has an explicit machine type, so that a mistake in type inference cannot hide. Nothing here comes from the
 * compiler. Programs have no undefined behaviour: indices are in range, memory is initialised, outcomes do not depend on order.
 */

/** Types of values. */
export type Ty = 'bool' | 'i32' | 'u32' | 'i64' | 'u64' | 'f16' | 'bf16' | 'f32' | 'f64';
/** Types of elements in memory and of casts. */
export type Elem = Ty | 'i8' | 'u8' | 'u8c' | 'i16' | 'u16' | Narrow;
/** Floats narrower than f32. */
export type Narrow = 'f16' | 'bf16' | 'f8e4m3' | 'f8e5m2';

/** Types that the compiler's IR has; halves are f32 there. */
export type MachineTy = Exclude<Ty, 'f16' | 'bf16'>;
export const MACHINE_TYPES: readonly MachineTy[] = ['bool', 'i32', 'u32', 'i64', 'u64', 'f32', 'f64'];
export const TYPES: readonly Ty[] = [...MACHINE_TYPES, 'f16', 'bf16'];
export const NUMBERS: readonly Ty[] = ['i32', 'u32', 'i64', 'u64', 'f16', 'bf16', 'f32', 'f64'];
/** What memory is made of, and what there are scalars of. */
export const STORED: readonly Exclude<Elem, 'u8c'>[] = [...TYPES, 'i8', 'u8', 'i16', 'u16', 'f8e4m3', 'f8e5m2'];
/** Clamped bytes are bytes with stores of their own. */
export const ELEMS: readonly Elem[] = [...STORED, 'u8c'];

export const SIZE: Readonly<Record<Elem, number>> = {
  bool: 1,
  i8: 1,
  u8: 1,
  u8c: 1,
  i16: 2,
  u16: 2,
  f16: 2,
  bf16: 2,
  f8e4m3: 1,
  f8e5m2: 1,
  i32: 4,
  u32: 4,
  f32: 4,
  i64: 8,
  u64: 8,
  f64: 8,
};

/** The type that an element has in expressions. */
export function widened(e: Elem): Ty {
  if (e === 'i8' || e === 'u8' || e === 'u8c' || e === 'i16' || e === 'u16') return 'i32';
  return e === 'f8e4m3' || e === 'f8e5m2' ? 'f32' : e;
}

/** The type that an element has in the compiler's IR. */
export function machineOf(e: Elem): MachineTy {
  const t = widened(e);
  return t === 'f16' || t === 'bf16' ? 'f32' : t;
}

export function isNarrow(e: Elem): e is Narrow {
  return e === 'f16' || e === 'bf16' || e === 'f8e4m3' || e === 'f8e5m2';
}

export function isFloat(t: Elem): boolean {
  return isNarrow(t) || t === 'f32' || t === 'f64';
}

export function isBig(t: Elem): boolean {
  return t === 'i64' || t === 'u64';
}

/** A value: bigint for 64-bit integers, boolean for bool, else a number. */
export type Val = number | bigint | boolean;

export type BinOp =
  | 'add'
  | 'sub'
  | 'mul'
  | 'div'
  | 'rem'
  | 'and'
  | 'or'
  | 'xor'
  | 'shl'
  | 'shr'
  | 'ushr'
  | 'min'
  | 'max'
  | 'fmin'
  | 'fmax'
  | 'imul'
  | 'pow'
  | 'copysign';
/** Rounded quotients of integers; `or0` of 32-bit ones alone. */
export type QuotientOp = 'or0' | 'trunc' | 'floor' | 'ceil' | 'round' | 'rint';
export type UnOp =
  | 'neg'
  | 'not'
  | 'abs'
  | 'sign'
  | 'sqrt'
  | 'floor'
  | 'ceil'
  | 'trunc'
  | 'round'
  | 'rint'
  | 'clz'
  | 'popc'
  | 'ffs'
  | 'brev'
  | 'clz32'
  | 'isNaN'
  | 'isFinite'
  | 'isInteger'
  | 'square'
  | 'uniform'
  /** `x | 0` and `x >>> 0`. */
  | 'or0'
  | 'ushr0';
export type CmpOp = 'eq' | 'ne' | 'lt' | 'le' | 'gt' | 'ge';
export type Special =
  | 'threadIdx.x'
  | 'threadIdx.y'
  | 'blockIdx.x'
  | 'blockDim.x'
  | 'blockDim.y'
  | 'gridDim.x'
  | 'laneId'
  /** The number of the thread in the launch, and in its block. */
  | 'k'
  | 't';

export type Expr = {
  readonly t: Ty;
} /** `weak`: printed without its cast, where the other operand gives the type. */ & (
  | { readonly k: 'lit'; readonly v: Val; readonly polymorphic?: boolean }
  | { readonly k: 'var'; readonly name: string }
  | { readonly k: 'thread'; readonly what: Special }
  /** Of an array of one axis. */
  | { readonly k: 'length'; readonly array: ArrayDecl }
  | { readonly k: 'load'; readonly array: ArrayDecl; readonly at: LValue }
  | { readonly k: 'bin'; readonly op: BinOp; readonly a: Expr; readonly b: Expr }
  | { readonly k: 'quotient'; readonly op: QuotientOp; readonly a: Expr; readonly b: Expr }
  | { readonly k: 'un'; readonly op: UnOp; readonly a: Expr }
  | { readonly k: 'cmp'; readonly op: CmpOp; readonly a: Expr; readonly b: Expr }
  | { readonly k: 'logic'; readonly op: 'and' | 'or'; readonly a: Expr; readonly b: Expr }
  /** `selp`: written as a call, not as a ternary. */
  | { readonly k: 'sel'; readonly selp: boolean; readonly c: Expr; readonly a: Expr; readonly b: Expr }
  | { readonly k: 'cast'; readonly to: Elem; readonly a: Expr }
  | { readonly k: 'fma' | 'dp4a'; readonly a: Expr; readonly b: Expr; readonly c: Expr }
  | { readonly k: 'call'; readonly fn: FuncDecl; readonly args: readonly Expr[] }
  /** Whether there is nothing, in one of the spellings of that; `falsy` is true of zeros and NaN, too. */
  | { readonly k: 'absent'; readonly of: Maybe; readonly how: 'strict' | 'loose' | 'typeof' | 'falsy' }
  /** `of ?? otherwise` */
  | { readonly k: 'coalesce'; readonly of: Maybe; readonly otherwise: Expr }
);

/** What may be undefined, or null: one of them, as `===` tells them apart. */
export type Nothing = 'undefined' | 'null';
export type Maybe = { readonly t: Ty; readonly nothing: Nothing } & (
  | { readonly k: 'of'; readonly value: Expr }
  | { readonly k: 'none' }
  | { readonly k: 'name'; readonly name: string }
  | { readonly k: 'ask'; readonly fn: FuncDecl; readonly args: readonly Maybe[] }
  | { readonly k: 'choice'; readonly c: Expr; readonly a: Maybe; readonly b: Maybe }
);

/** What a line of `console.log` shows. The parts of a text are words and values in turns, joined by a template or by `+`. */
export type Shown =
  | { readonly k: 'value'; readonly e: Expr }
  | { readonly k: 'word'; readonly text: string }
  | { readonly k: 'text'; readonly template: boolean; readonly parts: readonly (string | Expr)[] }
  | { readonly k: 'items'; readonly of: readonly Shown[] }
  | { readonly k: 'fields'; readonly of: readonly (readonly [name: string, value: Shown])[] };

/**
 * Which element. `own`: number scale * id + offset in C order, and on by a loop counter, counted from the end where `reverse`; id is the thread's number
 * in the launch, for shared arrays that in the block. `any`: one i32 or u32 an axis, brought into range by `& (extent - 1)`.
 * `counter`: a loop counter that is in range, as it is. `raw`: indices as they are, which checked mode may have to refuse.
 */
export type LValue =
  | {
      readonly form: 'own';
      readonly scale: number;
      readonly offset: number;
      readonly reverse: boolean;
      readonly counter?: string;
    }
  | { readonly form: 'any'; readonly index: readonly Expr[] }
  | { readonly form: 'counter'; readonly name: string }
  | { readonly form: 'raw'; readonly index: readonly Expr[] };

/** How a global array lies in memory. */
export type Layout = 'C' | 'F' | 'reversed' | 'stepped' | 'transposed' | 'broadcast' | 'bytes';

/** Memory. Extents are powers of two. */
export interface ArrayDecl {
  readonly name: string;
  readonly elem: Elem;
  readonly shape: readonly number[];
  /** `name`: a variable that stands for one array or another of this type and shape. */
  readonly space: 'in' | 'out' | 'shared' | 'dynamic' | 'local' | 'const' | 'atomic' | 'name';
  /** in, out, atomic. */
  readonly layout: Layout;
  /** Of an array that threads write in rows: how many elements each has. */
  readonly row?: number;
  /** Contents before the launch, in C order; in, out, atomic, const. */
  readonly data: readonly Val[];
}

/** An array, or one of several: by a condition (in the words of a function where `call`), or by an index. */
export type Choice =
  | { readonly k: 'array'; readonly array: ArrayDecl }
  | { readonly k: 'either'; readonly call: boolean; readonly c: Expr; readonly a: Choice; readonly b: Choice }
  | { readonly k: 'nth'; readonly of: readonly Choice[]; readonly index: Expr };

export interface FuncDecl {
  readonly name: string;
  readonly params: readonly { readonly name: string; readonly t: Ty; readonly preset?: Expr }[];
  readonly body: readonly Stmt[];
  readonly result: Ty;
  /** Returns a value on some paths only, and may be given fewer arguments. */
  readonly maybe?: boolean;
}

export type AtomicOp =
  | 'add'
  | 'sub'
  | 'and'
  | 'or'
  | 'xor'
  | 'min'
  | 'max'
  | 'nanMin'
  | 'nanMax'
  | 'inc'
  | 'dec'
  | 'exch'
  | 'cas';

export type ExchangeOp =
  | 'shflSync'
  | 'shflUpSync'
  | 'shflDownSync'
  | 'shflXorSync'
  | 'ballotSync'
  | 'allSync'
  | 'anySync'
  | 'eqSync'
  | 'matchAnySync'
  | 'matchAllSync';

export interface Case {
  readonly test: number | undefined;
  readonly body: readonly Stmt[];
  readonly falls: boolean;
}

export type Stmt =
  | { readonly k: 'let'; readonly name: string; readonly value: Expr }
  /**
   * A quotient of 32-bit integers in a variable, perhaps replaced by another or by an integer, and what it is rounded to:
   * `let name = a / b; if (c) name = x; let v = Math.ceil(name);`
   */
  | {
      readonly k: 'ratio';
      readonly name: string;
      readonly t: Ty;
      readonly a: Expr;
      readonly b: Expr;
      readonly other?: { readonly c: Expr; readonly a: Expr; readonly b?: Expr };
      readonly uses: readonly { readonly name: string; readonly op: QuotientOp }[];
    }
  /** `op` absent: plain assignment; else `name op= value`, for bool `&&=` and `||=`. */
  | { readonly k: 'set'; readonly name: string; readonly t: Ty; readonly op?: BinOp; readonly value: Expr }
  | { readonly k: 'store'; readonly array: ArrayDecl; readonly at: LValue; readonly op?: BinOp; readonly value: Expr }
  /** `const name = a[i]++`, or another of the four forms. */
  | {
      readonly k: 'bump';
      readonly name: string;
      readonly array: ArrayDecl;
      readonly at: LValue;
      readonly up: boolean;
      readonly prefix: boolean;
    }
  | { readonly k: 'if'; readonly c: Expr; readonly then: readonly Stmt[]; readonly else: readonly Stmt[] }
  /** A counted loop; `name` is an i32 counter that the body does not change. A step that is no number is positive. */
  | {
      readonly k: 'for';
      readonly name: string;
      readonly from: number | Expr;
      /** An expression gives the same in each round. */
      readonly to: number | Expr;
      readonly step: number | Expr;
      /** The counter is shifted by the step instead, to the left, or to the right down to the limit. */
      readonly shift?: 'left' | 'right';
      readonly label?: string;
      readonly body: readonly Stmt[];
    }
  /** A loop bounded by fuel: runs while `c`, at most `fuel` times. `post`: do … while. */
  | {
      readonly k: 'while';
      readonly fuelName: string;
      readonly fuel: number;
      readonly post: boolean;
      readonly c: Expr;
      readonly label?: string;
      readonly body: readonly Stmt[];
    }
  | { readonly k: 'switch'; readonly on: Expr; readonly cases: readonly Case[] }
  | { readonly k: 'break' | 'continue'; readonly label?: string }
  | { readonly k: 'return'; readonly value?: Expr; readonly maybe?: Maybe }
  /** A variable that may have no value. One declared by `let` has none at first, one by `var` keeps what it had. */
  | { readonly k: 'maybe'; readonly name: string; readonly how: 'let' | 'var'; readonly value?: Maybe }
  /** An assignment to one; `ifNone`: by `??=`. */
  | { readonly k: 'give'; readonly name: string; readonly value: Maybe; readonly ifNone: boolean }
  /** Variables that stand for arrays: declared, or all assigned at once. */
  | {
      readonly k: 'arrays';
      readonly how: 'let' | 'set';
      readonly to: readonly { readonly name: ArrayDecl; readonly of: Choice }[];
    }
  | { readonly k: 'barrier' }
  /** A line that begins with the thread's number; arguments that have a name are variables first. */
  | { readonly k: 'print'; readonly args: readonly Shown[]; readonly names: readonly (string | undefined)[] }
  | { readonly k: 'vote'; readonly kind: 'Count' | 'And' | 'Or'; readonly name: string; readonly pred: Expr }
  /** `const name = cuda.fn(mask, value, by)`: what lanes of a warp give each other. Only shuffles have `by`. */
  | {
      readonly k: 'exchange';
      readonly fn: ExchangeOp;
      readonly name: string;
      readonly mask: Expr;
      readonly value: Expr;
      readonly by: Expr;
    }
  | {
      readonly k: 'atomic';
      readonly op: AtomicOp;
      readonly array: ArrayDecl;
      readonly at: LValue;
      readonly args: readonly Expr[];
      /** The variable that receives the old value. */
      readonly name?: string;
    };

export interface Program {
  /** What numbers are whose type nothing decides: f64 where this is absent. */
  readonly defaultFloat?: 'f32';
  readonly seed: number;
  readonly grid: number;
  readonly block: readonly [number, number];
  readonly indexBits: 32 | 64;
  readonly arrays: readonly ArrayDecl[];
  /** Scalar arguments, each with an explicit type. */
  readonly scalars: readonly { readonly name: string; readonly t: Exclude<Elem, 'u8c'>; readonly v: Val }[];
  readonly functions: readonly FuncDecl[];
  readonly body: readonly Stmt[];
  /** Uses a variable where it may have no value: the compiler may refuse it, and must where it has none. */
  readonly risky?: boolean;
}

/** Threads in all. */
export function threads(p: Program): number {
  return p.grid * p.block[0] * p.block[1];
}

export function count(a: { readonly shape: readonly number[] }): number {
  return a.shape.reduce((x, y) => x * y, 1);
}

/** Whether threads wait for each other somewhere in these statements. */
export function hasBarrier(list: readonly Stmt[]): boolean {
  return list.some((s) => {
    switch (s.k) {
      case 'barrier':
      case 'vote':
      case 'exchange':
        return true;
      case 'if':
        return hasBarrier(s.then) || hasBarrier(s.else);
      case 'for':
      case 'while':
        return hasBarrier(s.body);
      case 'switch':
        return s.cases.some((c) => hasBarrier(c.body));
      default:
        return false;
    }
  });
}
