/**
 * The tree between the source and the IR: names resolved, calls inlined, side effects made statements, but types open.
 *
 * The front end builds it (`frontend/`), `ranges.ts` splits variables into live ranges, `infer.ts` decides every type, and
 * `frontend/lower.ts` turns it into IR with all conversions written out. Expressions are pure and may be shared.
 */
import type { Row } from '../intrinsics/define.ts';
import type { InnerLists, OperandFields, Operands } from '../ir/fields.ts';
import type { AtomicOp, CompareOp, ElemType, Label, MathFn, Space, Special, WarpOp } from '../ir/ops.ts';
import type { PrintForm } from '../ir/print-forms.ts';
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
  /** Bytes that the first element is aligned to, where that is more than its own size: of records. */
  readonly align?: number | undefined;
  readonly pos: Pos;
  /** global: argument path, or number of the captured device array. */
  readonly from?: { readonly path: readonly number[] } | { readonly capture: number } | undefined;
  /** Elements, for shared, local and constant arrays of fixed size. */
  readonly length?: number | undefined;
  readonly dynamic?: boolean | undefined;
  readonly data?: Uint8Array | undefined;
  readonly readonly: boolean;
  /** Stored to or updated atomically somewhere. */
  written: boolean;
}

/** A name of the source for a record in memory, or for a part of one: `const t = p[i]`. */
export interface RecordName {
  readonly name: string;
  readonly pos: Pos;
  /** Names one record from its declaration on. */
  readonly constant: boolean;
  readonly region: Region;
  /** Its first byte. */
  readonly base: Pick<TMem, 'index' | 'unit' | 'disp' | 'checks'>;
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
  readonly index: TExpr;
  readonly unit: number;
  readonly checks: readonly { readonly index: TExpr; readonly extent: TExpr; readonly axis: number }[];
  readonly via?: Via | undefined;
  readonly pos: Pos;
}

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
  /** An explicit cast. JavaScript's own give less of a type: `Number(flag)` counts, `BigInt(i)` has no sign to lose. */
  | { readonly k: 'cast'; readonly to: ElemType; readonly a: TExpr; readonly by?: 'Number' | 'BigInt' | 'u8c' }
  /** The bits of an integer as a 32-bit one, of what an intrinsic takes integers alone for; `what` is its name in messages. */
  | { readonly k: 'word'; readonly to: 'i32' | 'u32'; readonly a: TExpr; readonly what: string }
  /** A rounding of a float; of a quotient of integers, an integer division. */
  | { readonly k: 'round'; readonly fn: RoundFn; readonly a: TExpr }
  /** `x | 0`, `~~x`, `x >> 0`, and `x >>> 0`. */
  | { readonly k: 'toInt'; readonly unsigned: boolean; readonly a: TExpr }
  | { readonly k: 'imul'; readonly a: TExpr; readonly b: TExpr }
  | { readonly k: 'clz32'; readonly a: TExpr }
  | { readonly k: 'intrinsic'; readonly fn: Row; readonly args: readonly TExpr[] }
  | { readonly k: 'test'; readonly fn: 'isNaN' | 'isFinite' | 'isInteger'; readonly a: TExpr }
  | { readonly k: 'math'; readonly fn: MathFn | 'sqrt' | 'fmod'; readonly args: readonly TExpr[] }
  | { readonly k: 'fma'; readonly args: readonly [TExpr, TExpr, TExpr] }
  | { readonly k: 'uniform'; readonly a: TExpr }
  | { readonly k: 'load'; readonly mem: TMem }
);

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
  /** `moot`: where it leads control goes anyway. */
  | { readonly k: 'break' | 'continue'; readonly label: Label; readonly moot?: boolean }
  | { readonly k: 'return' }
  | {
      readonly k: 'barrier';
      readonly kind: 'sync' | 'count' | 'and' | 'or' | 'grid';
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
  | { readonly k: 'rest'; readonly nanoseconds: TExpr }
  | { readonly k: 'fence'; readonly scope: 'block' | 'device' | 'system' }
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

type Parts<N> = Operands<N, TreeTypes>;
type Fields<N> = OperandFields<N, TreeTypes>;

/** The operands of an expression, in order of evaluation. */
export function operands(e: TExpr): readonly TExpr[] {
  switch (e.k) {
    case 'lit':
    case 'local':
    case 'arg':
    case 'special':
    case 'extent':
    case 'stride':
      return [] satisfies Parts<typeof e>;
    case 'absent':
    case 'index':
    case 'neg':
    case 'plus':
    case 'abs':
    case 'sign':
    case 'bitnot':
    case 'not':
    case 'truth':
    case 'cast':
    case 'word':
    case 'round':
    case 'toInt':
    case 'clz32':
    case 'test':
    case 'uniform':
      return [e.a] satisfies Parts<typeof e>;
    case 'arith':
    case 'bits':
    case 'shift':
    case 'logic':
    case 'compare':
    case 'minmax':
    case 'imul':
      return [e.a, e.b] satisfies Parts<typeof e>;
    case 'select':
      return [e.cond, e.a, e.b] satisfies Parts<typeof e>;
    case 'math':
    case 'intrinsic':
      return ({ args: e.args } satisfies Fields<typeof e>).args;
    case 'fma':
      return ({ args: e.args } satisfies Fields<typeof e>).args;
    case 'load':
      return memOperands(({ mem: e.mem } satisfies Fields<typeof e>).mem);
  }
}

/** The expressions inside a memory reference. */
export function memOperands(mem: TMem): readonly TExpr[] {
  return [mem.index, ...mem.checks.flatMap((c) => [c.index, c.extent])];
}

/** The expressions that a statement evaluates itself (not those of nested statements). */
export function expressionsOf(s: TStmt): readonly TExpr[] {
  switch (s.k) {
    case 'assign':
      return [s.value] satisfies Parts<typeof s>;
    case 'if':
      return [s.cond] satisfies Parts<typeof s>;
    case 'rest':
      return [s.nanoseconds] satisfies Parts<typeof s>;
    case 'store': {
      const { mem, value } = { mem: s.mem, value: s.value } satisfies Fields<typeof s>;
      return [...memOperands(mem), value];
    }
    case 'atomic': {
      const { mem, args } = { mem: s.mem, args: s.args } satisfies Fields<typeof s>;
      return [...memOperands(mem), ...args];
    }
    case 'barrier': {
      const { pred } = { pred: s.pred } satisfies Fields<typeof s>;
      return pred === undefined ? [] : [pred];
    }
    case 'warp': {
      const { mask, args } = { mask: s.mask, args: s.args } satisfies Fields<typeof s>;
      return mask === undefined ? args : [mask, ...args];
    }
    case 'print': {
      const { parts } = { parts: s.parts } satisfies Fields<typeof s>;
      return parts.filter((p): p is TExpr => typeof p !== 'string');
    }
    case 'presence':
    case 'name':
    case 'overwritten':
    case 'loop':
    case 'block':
    case 'break':
    case 'continue':
    case 'return':
    case 'fence':
    case 'trap':
      return [] satisfies Parts<typeof s>;
  }
}

/** The lists of statements inside a statement. */
function listsOf(s: TStmt): readonly (readonly TStmt[])[] {
  switch (s.k) {
    case 'if':
      return [s.then, s.else] satisfies InnerLists<typeof s, TreeTypes>;
    case 'loop':
      return [s.body, s.update] satisfies InnerLists<typeof s, TreeTypes>;
    case 'block':
      return [s.body] satisfies InnerLists<typeof s, TreeTypes>;
    default:
      return [] satisfies InnerLists<typeof s, TreeTypes>;
  }
}

/** Calls `visit` for every statement, outer before inner. */
export function walkStatements(list: readonly TStmt[], visit: (s: TStmt) => void): void {
  for (const s of list) {
    visit(s);
    for (const inner of listsOf(s)) walkStatements(inner, visit);
  }
}

/** Calls `visit` for an expression and all below it, operands first. */
export function walkExpression(e: TExpr, visit: (e: TExpr) => void): void {
  for (const x of operands(e)) walkExpression(x, visit);
  visit(e);
}
