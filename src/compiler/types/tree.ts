/**
 * The tree between the source and the IR: names resolved, calls inlined, side effects made statements, but types open.
 *
 * The front end builds it (`frontend/`), `ranges.ts` splits variables into live ranges, `infer.ts` decides every type, and
 * `frontend/lower.ts` turns it into IR with all conversions written out. Expressions are pure and may be shared.
 */
import type { Row } from '../intrinsics/define.ts';
import type { ExternalFunction } from '../intrinsics/external.ts';
import type { NativeIntrinsic } from '../intrinsics/native.ts';
import type {
  AtomicOp,
  CacheHint,
  CompareOp,
  ElemType,
  Label,
  MathFn,
  MemoryOrder,
  MemoryScope,
  Space,
  Special,
  ValueType,
  WarpOp,
  Wide,
} from '../ir/ops.ts';
import type { PrintForm } from '../ir/print-forms.ts';
import type { ComplexFn } from '../math/complex.ts';
import type { ExactFn } from '../math/exact.ts';
import type { SpecialFn } from '../math/special/names.ts';
import type { Pos } from '../source.ts';
import type { Type } from './lattice.ts';

/** A scalar variable as written; it may hold several live ranges. */
export interface Local {
  readonly id: number;
  readonly name: string;
  readonly pos: Pos;
  /** Assigned once, before every read: reading it later gives the same value. */
  readonly stable: boolean;
  /** What it is assigned, where that gives the same value later as well. */
  readonly is?: TExpr | undefined;
}

/** One live range of a local: the unit that has a type. */
export interface Range {
  readonly id: number;
  readonly local: Local;
  /** What is assigned to it. */
  readonly defs: Def[];
  /** Decided by inference. */
  type: Type | undefined;
  /** Marked when a use or its being a counter makes it an integer. */
  demand: 'index' | 'int' | undefined;
}

/** A definition: an assigned expression, or a value whose type is given (an atomic's or a barrier's result). */
export type Def = { readonly expr: TExpr } | { readonly type: Type };

/** A scalar argument of the kernel. */
export interface ScalarArg {
  readonly name: string;
  readonly path: readonly number[];
  readonly pos: Pos;
  /** `number` and `bigint` arguments are polymorphic; others have their type. */
  readonly given: Type | 'number' | 'bigint';
  type: Type | undefined;
  demand: 'index' | 'int' | undefined;
  /** Set when nothing but the default decided its type. */
  defaulted: boolean;
}

/** What a variable without a value is to JavaScript. */
export type Absent = 'undefined' | 'null';

/** Memory that the kernel names. */
export interface Root {
  readonly id: number;
  readonly name: string;
  readonly space: Space;
  readonly elem: ElemType;
  /** Bytes that the first element is aligned to, where that is more than its own size: of records, and of what is read as vectors. */
  align?: number | undefined;
  readonly pos: Pos;
  /** global: argument path, or number of the captured device array. */
  readonly from?: { readonly path: readonly number[] } | { readonly capture: number } | undefined;
  /** Elements, for shared, local and constant arrays of fixed size. */
  readonly length?: number | undefined;
  readonly dynamic?: boolean | undefined;
  readonly data?: Uint8Array | undefined;
  /** The elements as if they were one variable, where inference decides their type: of JavaScript arrays. `elem` says nothing then. */
  open?: Range | undefined;
  /** The elements of an open constant array. */
  readonly values?: readonly (number | bigint | boolean)[] | undefined;
  /** A JavaScript array, which the kernel made: its methods are JavaScript's. */
  made?: true | undefined;
  /** Of memory of the thread: rounds of loops inside of which it is made. */
  readonly madeIn?: number | undefined;
  /** What a constant array was made from, where a store makes memory of it instead (`frontend/array-sites.ts`). */
  readonly site?: object | undefined;
  readonly readonly: boolean;
  /** Stored to or updated atomically somewhere. */
  written: boolean;
  /** It is one of these, as only a thread knows (`frontend/array-choices.ts`). Lowering makes code for each. */
  readonly among?: ArrayChoice | undefined;
}

/** The arrays that a variable holds by turns. */
export interface ArrayChoice {
  readonly roots: Set<Root>;
  /** Choices that it is put into. */
  readonly into: Set<Root>;
  /** Run when it has grown. */
  readonly watchers: (() => void)[];
  /** The variable, and rounds of loops inside of which it was declared. */
  holder?: { readonly name: string; readonly loops: number };
}

/** A name of the source for a record in memory, or for a part of one: `const t = p[i]`. */
export interface RecordName {
  readonly name: string;
  readonly pos: Pos;
  /** Names one record from its declaration on. */
  readonly constant: boolean;
  /** The name of a string, for that itself and for its characters. */
  text?: RecordName | undefined;
  readonly region: Region;
  /** Its first byte. */
  readonly base: Pick<TMem, 'which' | 'index' | 'unit' | 'disp' | 'checks'>;
}

/** The name that memory is reached through, and bytes from the start of what it names; undefined when only a thread knows. */
export interface Via {
  readonly name: RecordName | undefined;
  readonly at: number | undefined;
}

/** The memory of a record or of a part of one, as far as it is known while compiling. */
export interface Region {
  readonly root: Root;
  /** Members from the array's element down to this: 0 for `p[i]`, 1 for `p[i].pos` and `p[i].f`, 2 for `p[i].f[0]`. */
  readonly level: number;
  readonly bytes: number;
  /** Where it starts: `start` bytes after a variable part, which is the same for regions of equal `base` and `scale`. */
  readonly place: { readonly base: unknown; readonly scale: number; readonly start: number } | undefined;
}

/** The assignment of a whole record or sub-array: `p[i] = …`, which leaves a JavaScript name with the object that was there. */
export interface Overwrite {
  readonly region: Region;
  readonly pos: Pos;
}

/** A scalar in memory, `disp` bytes after where `index` is: linear, in units of `unit` bytes from the root's first element. */
export interface TMem {
  readonly root: Root;
  readonly elem: ElemType;
  /** Stores clamp and round, as to a Uint8ClampedArray. */
  readonly clamped?: true | undefined;
  readonly disp: number;
  /** What its address is a multiple of; less than its size for members of packed records. */
  readonly align: number;
  /** Of a root that is one of several: the `id` of that one. */
  readonly which?: TExpr | undefined;
  readonly index: TExpr;
  readonly unit: number;
  readonly checks: readonly { readonly index: TExpr; readonly extent: TExpr; readonly axis: number }[];
  readonly via?: Via | undefined;
  readonly cache?: CacheHint | undefined;
  readonly wide?: Wide | undefined;
  readonly pos: Pos;
}

export type { Wide };

export type RoundFn = 'floor' | 'ceil' | 'round' | 'trunc' | 'rint';

export type TExpr = { readonly pos: Pos; type?: Type | undefined } & (
  | { readonly k: 'lit'; readonly value: number | bigint | boolean }
  /** With a flag, the value is needed: `frontend/presence.ts` makes sure that the variable has one. */
  | { readonly k: 'local'; readonly local: Local; readonly flag?: Local | undefined; range?: Range | undefined }
  /** Whether a variable has no value, by its flag `a`. `known` where the program leaves one answer. */
  | {
      readonly k: 'absent';
      readonly a: TExpr & { readonly k: 'local' };
      readonly as: Absent | 'either';
      known?: boolean;
    }
  | { readonly k: 'arg'; readonly arg: ScalarArg }
  | { readonly k: 'special'; readonly name: Special }
  | { readonly k: 'extent'; readonly root: Root; readonly axis: number }
  | { readonly k: 'stride'; readonly root: Root; readonly axis: number; readonly unit: number }
  /** As an index, of the specialisation's width. */
  | { readonly k: 'index'; readonly a: TExpr }
  | {
      readonly k: 'arith';
      readonly fn: 'add' | 'sub' | 'mul' | 'div' | 'rem' | 'pow';
      readonly a: TExpr;
      readonly b: TExpr;
    }
  | { readonly k: 'neg' | 'plus' | 'abs' | 'sign' | 'bitnot' | 'not' | 'truth'; readonly a: TExpr }
  /** A number, of halves as f32: where a function computes in several steps, none of which should round. */
  | { readonly k: 'widen'; readonly a: TExpr }
  | { readonly k: 'bits'; readonly fn: 'and' | 'or' | 'xor'; readonly a: TExpr; readonly b: TExpr }
  | { readonly k: 'shift'; readonly fn: 'shl' | 'shr' | 'ushr'; readonly a: TExpr; readonly b: TExpr }
  | { readonly k: 'logic'; readonly fn: 'and' | 'or'; readonly a: TExpr; readonly b: TExpr }
  | { readonly k: 'compare'; readonly fn: CompareOp; readonly a: TExpr; readonly b: TExpr }
  /** `only`: the arm that the program always takes, until `frontend/presence.ts` puts it in the place of the whole. */
  | { readonly k: 'select'; readonly cond: TExpr; readonly a: TExpr; readonly b: TExpr; only?: 'a' | 'b' }
  | {
      readonly k: 'minmax';
      readonly fn: 'min' | 'max' | 'fmin' | 'fmax' | 'copysign';
      readonly a: TExpr;
      readonly b: TExpr;
    }
  /**
   * An explicit cast. JavaScript's own give less of a type: `Number(flag)` counts, `BigInt(i)` has no sign to lose. A vector's lane converts as a
   * store to an array does.
   */
  | { readonly k: 'cast'; readonly to: ElemType; readonly a: TExpr; readonly by?: 'Number' | 'BigInt' | 'u8c' | 'lane' }
  /** The bits of an integer as a 32-bit one, of what an intrinsic takes integers alone for; `what` is its name in messages. */
  | { readonly k: 'word'; readonly to: 'i32' | 'u32'; readonly a: TExpr; readonly what: string }
  /** A rounding of a float; of a quotient of integers, an integer division. */
  /** `exact`: a quotient that leaves no remainder if it is one of integers; of floats it is taken as it is. */
  | { readonly k: 'round'; readonly fn: RoundFn; readonly a: TExpr; readonly exact?: true }
  /** `x | 0`, `~~x`, `x >> 0`, and `x >>> 0`. */
  | { readonly k: 'toInt'; readonly unsigned: boolean; readonly a: TExpr }
  | { readonly k: 'imul'; readonly a: TExpr; readonly b: TExpr }
  | { readonly k: 'clz32'; readonly a: TExpr }
  | { readonly k: 'intrinsic'; readonly fn: Row; readonly args: readonly TExpr[] }
  | { readonly k: 'test'; readonly fn: 'isNaN' | 'isFinite' | 'isInteger' | 'isNegative'; readonly a: TExpr }
  /** `fast`: as the hardware approximates it, where it has an instruction. */
  | {
      readonly k: 'math';
      readonly fn: MathFn | SpecialFn | 'sqrt' | 'fmod' | 'div';
      readonly args: readonly TExpr[];
      readonly fast?: boolean;
    }
  /** A function of `math/exact.ts`; `by` is the integer operand that some have. */
  | { readonly k: 'exact'; readonly fn: ExactFn; readonly args: readonly TExpr[]; readonly by?: TExpr | undefined }
  /** The same bits under another type; `what` is what messages call it. */
  | {
      readonly k: 'bitcast';
      readonly from: ValueType;
      readonly to: ValueType;
      readonly a: TExpr;
      readonly what: string;
    }
  /** The bits of the f16 nearest to a float as an i32, or the f16 that the low bits of an integer are. */
  | { readonly k: 'half'; readonly fn: 'bits' | 'value'; readonly a: TExpr; readonly what: string }
  | { readonly k: 'fma'; readonly args: readonly [TExpr, TExpr, TExpr] }
  /** `a`, in the type that it has in common with `b`, which is not evaluated: the parts of a complex number are of one type. */
  | { readonly k: 'like'; readonly a: TExpr; readonly b: TExpr }
  /** One part of a complex function of the parts in `args`. Nodes with the same `call` are parts of one result, computed once. */
  | {
      readonly k: 'complex';
      readonly fn: ComplexFn;
      readonly part: 're' | 'im';
      readonly args: readonly TExpr[];
      readonly call: object;
    }
  | { readonly k: 'uniform'; readonly a: TExpr }
  | { readonly k: 'load'; readonly mem: TMem }
  /** What an intrinsic of a library gives, by the device's own means or as its expansion. */
  | {
      readonly k: 'native';
      readonly fn: NativeIntrinsic;
      readonly args: readonly TExpr[];
      readonly otherwise?: TExpr | undefined;
    }
  /** Where an element is, for a function of another language. */
  | { readonly k: 'address'; readonly mem: TMem }
  /** Whether the device can call the function. */
  | { readonly k: 'available'; readonly fn: ExternalFunction }
);

/** A function that calls itself, with the arguments of one place. */
export interface Recursion {
  readonly name: string;
  readonly pos: Pos;
  /** The number of the frame that runs: the outermost call is 0. */
  readonly level: Local;
  /** Calls inside each other that there may be. */
  readonly depth: number;
  /** Variables that each call has for itself: those of numbers from `first` up to `last`, but for `results`. */
  readonly first: number;
  last: number;
  /** What a call leaves for its caller. */
  readonly results: Set<Local>;
}

export type TStmt = { readonly pos: Pos } & (
  | { readonly k: 'assign'; readonly local: Local; readonly value: TExpr; range?: Range | undefined }
  /** What the flag of a variable becomes; another flag is copied. Gone after `frontend/presence.ts`. */
  | { readonly k: 'presence'; readonly flag: Local; readonly is: Local | Absent | 'present'; readonly why?: string }
  /** `part`: of the assignment of something whole. */
  | { readonly k: 'store'; readonly mem: TMem; readonly value: TExpr; readonly part?: Overwrite | undefined }
  /** From here on `names` is what its variables say, which was reached by way of `of`. Makes no code. */
  | { readonly k: 'name'; readonly names: RecordName; readonly of: Via | undefined }
  /** All stores of an overwrite have been made. Makes no code. */
  | { readonly k: 'overwritten'; readonly by: Overwrite }
  | {
      readonly k: 'atomic';
      readonly fn: AtomicOp;
      readonly mem: TMem;
      readonly args: readonly TExpr[];
      readonly result?: Local | undefined;
      readonly order?: MemoryOrder | undefined;
      readonly scope?: MemoryScope | undefined;
      range?: Range | undefined;
    }
  | {
      readonly k: 'if';
      readonly cond: TExpr;
      readonly then: readonly TStmt[];
      readonly else: readonly TStmt[];
      /** What control that comes here cannot pass by: the last case of a `switch` with a default. */
      readonly always?: boolean;
    }
  | {
      readonly k: 'loop';
      readonly label: Label;
      readonly body: readonly TStmt[];
      readonly update: readonly TStmt[];
      /** Its condition holds in the first round. */
      readonly entered?: boolean;
    }
  | {
      readonly k: 'block';
      readonly label: Label;
      readonly body: readonly TStmt[];
      readonly inlined?: string | undefined;
    }
  /** A function that calls itself: `body` is one call. Gone after `frontend/recursion-frames.ts`, as is `recurse`. */
  | { readonly k: 'recursive'; readonly of: Recursion; readonly body: readonly TStmt[] }
  /** Such a call inside of one: `body` gives the parameters their values. */
  | { readonly k: 'recurse'; readonly of: Recursion; readonly body: readonly TStmt[] }
  /** `moot`: where it leads control goes anyway. */
  | { readonly k: 'break' | 'continue'; readonly label: Label; readonly moot?: boolean }
  | { readonly k: 'return' }
  | {
      readonly k: 'barrier';
      readonly kind: 'sync' | 'count' | 'and' | 'or' | 'grid';
      /** None of the block's threads may have returned. */
      readonly whole?: true | undefined;
      readonly pred?: TExpr | undefined;
      readonly result?: Local | undefined;
      range?: Range | undefined;
    }
  | {
      readonly k: 'warp';
      readonly fn: WarpOp | WaveOp;
      readonly mask?: TExpr | undefined;
      readonly args: readonly TExpr[];
      readonly result?: Local | undefined;
      range?: Range | undefined;
    }
  /** The call of a function of another language. */
  | {
      readonly k: 'extern';
      readonly fn: ExternalFunction;
      readonly args: readonly TExpr[];
      readonly result?: Local | undefined;
      range?: Range | undefined;
    }
  | { readonly k: 'rest'; readonly nanoseconds: TExpr }
  | { readonly k: 'fence'; readonly scope: MemoryScope }
  | {
      readonly k: 'print';
      readonly parts: readonly (string | TExpr)[];
      readonly forms?: readonly PrintForm[] | undefined;
    }
  | { readonly k: 'trap'; readonly message: string }
);

/**
 * What the 64 lanes of a wavefront give each other: `shflPush` says to which lane a value goes, `shflPull` from which it comes (a third
 * operand stands for lanes that take no part). Their types are those of shuffles; lowering makes them of shared memory and barriers.
 */
export type WaveOp = 'shflPush' | 'shflPull';

export interface TreeTypes {
  readonly expr: TExpr;
  readonly memory: TMem;
  readonly stmt: TStmt;
}
