/**
 * Small makers of IR, for everybody who writes some by hand: the front end, passes, the math table and tests.
 *
 * Expression makers work out result types and round constants to them; statement makers fill in a position. A
 * `KernelBuilder` hands out fresh ids and collects symbols. Nothing here checks more than it must: `verify.ts` does.
 */
import type { Intrinsic } from '../intrinsics/row.ts';
import type { Pos } from '../source.ts';
import { OPPOSITE } from './measures.ts';
import type {
  ArraySym,
  AtomicOp,
  BinaryOp,
  Check,
  CompareOp,
  ElemType,
  Expr,
  Kernel,
  Label,
  MathFn,
  MemoryOrder,
  MemoryScope,
  MemRef,
  Param,
  ParamOrigin,
  Space,
  Special,
  Stmt,
  UnaryOp,
  ValueType,
  Var,
} from './ops.ts';
import { ELEM_SIZE, isFloat, widen } from './ops.ts';

/** The position of code that nobody wrote. */
export const NOWHERE: Pos = { source: { text: '', name: '(made by hand)' }, start: 0, end: 0 };

// ---------------------------------------------------------------- constants

/** A constant of `type`, wrapped or rounded to it. */
export function constant(type: ValueType, value: number | bigint | boolean): Expr {
  switch (type) {
    case 'bool':
      return { op: 'const', type, value: Boolean(value) };
    case 'i32':
      return { op: 'const', type, value: Number(BigInt.asIntN(32, integer(value))) };
    case 'u32':
      return { op: 'const', type, value: Number(BigInt.asUintN(32, integer(value))) };
    case 'i64':
      return { op: 'const', type, value: BigInt.asIntN(64, integer(value)) };
    case 'u64':
      return { op: 'const', type, value: BigInt.asUintN(64, integer(value)) };
    case 'f32':
      return { op: 'const', type, value: Math.fround(Number(value)) };
    case 'f64':
      return { op: 'const', type, value: Number(value) };
  }
}

function integer(value: number | bigint | boolean): bigint {
  return typeof value === 'bigint' ? value : BigInt(value);
}

export function i32(value: number): Expr {
  return constant('i32', value);
}
export function u32(value: number): Expr {
  return constant('u32', value);
}
export function i64(value: number | bigint): Expr {
  return constant('i64', value);
}
export function u64(value: number | bigint): Expr {
  return constant('u64', value);
}
export function f32(value: number): Expr {
  return constant('f32', value);
}
export function f64(value: number): Expr {
  return constant('f64', value);
}
export function bool(value: boolean): Expr {
  return constant('bool', value);
}

/** An integer constant of the kernel's index type. */
export function index(bits: 32 | 64, value: number | bigint): Expr {
  return constant(bits === 32 ? 'i32' : 'i64', value);
}

// ---------------------------------------------------------------- expressions

/** The value of a variable. */
export function read(v: Var): Expr {
  return { op: 'var', type: v.type, var: v };
}

export function param(type: ValueType, index: number): Expr {
  return { op: 'param', type, param: index };
}

export function special(name: Special): Expr {
  return { op: 'special', type: name === 'sharedBytes' ? 'u32' : 'i32', name };
}

export function unary(fn: UnaryOp, a: Expr, pos?: Pos): Expr {
  const type = fn === 'isNaN' || fn === 'isFinite' ? 'bool' : fn === 'toInt32' ? 'i32' : a.type;
  return { op: 'unary', type, fn, a, ...(pos && { pos }) };
}

export function neg(a: Expr): Expr {
  return unary('neg', a);
}
export function not(a: Expr): Expr {
  return unary('not', a);
}

/** The opposite of a condition, without a `not` where there is a shorter way to say it. NaN answers stay right. */
export function negate(cond: Expr): Expr {
  if (cond.op === 'unary' && cond.fn === 'not') return cond.a;
  if (cond.op === 'const') return bool(!cond.value);
  if (cond.op === 'compare' && (cond.fn === 'eq' || cond.fn === 'ne' || !isFloat(cond.a.type))) {
    return { ...cond, fn: OPPOSITE[cond.fn] };
  }
  return not(cond);
}

export function binary(fn: BinaryOp, a: Expr, b: Expr, pos?: Pos): Expr {
  return { op: 'binary', type: a.type, fn, a, b, ...(pos && { pos }) };
}

export function add(a: Expr, b: Expr): Expr {
  return binary('add', a, b);
}
export function sub(a: Expr, b: Expr): Expr {
  return binary('sub', a, b);
}
export function mul(a: Expr, b: Expr): Expr {
  return binary('mul', a, b);
}
export function div(a: Expr, b: Expr): Expr {
  return binary('div', a, b);
}
export function and(a: Expr, b: Expr): Expr {
  return binary('and', a, b);
}
export function or(a: Expr, b: Expr): Expr {
  return binary('or', a, b);
}

export function compare(fn: CompareOp, a: Expr, b: Expr): Expr {
  return { op: 'compare', type: 'bool', fn, a, b };
}

export function lt(a: Expr, b: Expr): Expr {
  return compare('lt', a, b);
}
export function ge(a: Expr, b: Expr): Expr {
  return compare('ge', a, b);
}
export function eq(a: Expr, b: Expr): Expr {
  return compare('eq', a, b);
}
export function ne(a: Expr, b: Expr): Expr {
  return compare('ne', a, b);
}

export function select(cond: Expr, a: Expr, b: Expr): Expr {
  return { op: 'select', type: a.type, cond, a, b };
}

export function cast(to: ElemType, a: Expr): Expr {
  return { op: 'cast', type: widen(to), to, a };
}

export function bitcast(type: ValueType, a: Expr): Expr {
  return { op: 'bitcast', type, a };
}

export function fma(a: Expr, b: Expr, c: Expr, to?: 'f16' | 'bf16'): Expr {
  return { op: 'fma', type: a.type === 'f64' ? 'f64' : 'f32', a, b, c, ...(to && { to }) };
}

export function call(fn: MathFn, ...args: readonly Expr[]): Expr {
  return { op: 'call', type: args[0]?.type === 'f64' ? 'f64' : 'f32', fn, args };
}

export function intrinsic(fn: Intrinsic<Expr>, ...args: readonly Expr[]): Expr {
  return { op: 'intrinsic', type: args[0]?.type ?? 'i32', fn, args };
}

/** `array[index]`, an element access with the array's own element type and size. */
export function at(
  array: ArraySym,
  index: Expr,
  extra: { checks?: readonly Check[]; disp?: number; pos?: Pos } = {},
): MemRef {
  return {
    array,
    elem: array.elem,
    index,
    scale: ELEM_SIZE[array.elem],
    disp: extra.disp ?? 0,
    checks: extra.checks ?? [],
    pos: extra.pos ?? NOWHERE,
  };
}

export function load(mem: MemRef): Expr {
  return { op: 'load', type: widen(mem.elem), mem };
}

// ---------------------------------------------------------------- statements

export function assign(v: Var, value: Expr, pos: Pos = NOWHERE): Stmt {
  return { op: 'assign', var: v, value, pos };
}

export function store(mem: MemRef, value: Expr, pos: Pos = NOWHERE): Stmt {
  return { op: 'store', mem, value, pos };
}

export function atomic(
  fn: AtomicOp,
  mem: MemRef,
  args: readonly Expr[],
  result?: Var,
  pos: Pos = NOWHERE,
  how: { readonly order?: MemoryOrder; readonly scope?: MemoryScope } = {},
): Stmt {
  return { op: 'atomic', fn, mem, args, ...(result && { result }), ...how, pos };
}

export function ifElse(cond: Expr, then: readonly Stmt[], otherwise: readonly Stmt[] = [], pos: Pos = NOWHERE): Stmt {
  return { op: 'if', cond, then, else: otherwise, pos };
}

export function loop(label: Label, body: readonly Stmt[], update: readonly Stmt[] = [], pos: Pos = NOWHERE): Stmt {
  return { op: 'loop', label, body, update, pos };
}

export function block(label: Label, body: readonly Stmt[], inlined?: string, pos: Pos = NOWHERE): Stmt {
  return { op: 'block', label, body, ...(inlined !== undefined && { inlined }), pos };
}

export function breakTo(label: Label, pos: Pos = NOWHERE): Stmt {
  return { op: 'break', label, pos };
}
export function continueTo(label: Label, pos: Pos = NOWHERE): Stmt {
  return { op: 'continue', label, pos };
}
export function ret(pos: Pos = NOWHERE): Stmt {
  return { op: 'return', pos };
}

export function barrier(pos: Pos = NOWHERE): Stmt {
  return { op: 'barrier', kind: 'sync', pos };
}

/** `syncThreadsCount` / `And` / `Or`. */
export function vote(kind: 'count' | 'and' | 'or', pred: Expr, result: Var, pos: Pos = NOWHERE): Stmt {
  return { op: 'barrier', kind, pred, result, pos };
}

export function fence(scope: MemoryScope, pos: Pos = NOWHERE): Stmt {
  return { op: 'fence', scope, pos };
}
export function print(parts: readonly (string | Expr)[], pos: Pos = NOWHERE): Stmt {
  return { op: 'print', parts, pos };
}
export function trap(message: string, pos: Pos = NOWHERE): Stmt {
  return { op: 'trap', message, pos };
}

// ---------------------------------------------------------------- kernels

/** Collects the symbols of a kernel while its body is being made. Ids and labels are fresh within the builder. */
export class KernelBuilder {
  readonly name: string;
  readonly params: Param[] = [];
  readonly arrays: ArraySym[] = [];
  readonly vars: Var[] = [];
  #labels = 0;
  #vars = 0;
  #arrays = 0;

  constructor(name: string) {
    this.name = name;
  }

  /** Goes on from an existing kernel: new ids follow those that it uses. */
  static from(kernel: Kernel): KernelBuilder {
    const b = new KernelBuilder(kernel.name);
    b.params.push(...kernel.params);
    b.arrays.push(...kernel.arrays);
    b.vars.push(...kernel.vars);
    b.#vars = 1 + kernel.vars.reduce((most, v) => Math.max(most, v.id), -1);
    b.#arrays = 1 + kernel.arrays.reduce((most, a) => Math.max(most, a.id), -1);
    b.#labels = 1 + highestLabel(kernel.body);
    return b;
  }

  /** A new variable of one thread. */
  variable(type: ValueType, name = '%t'): Var {
    const v: Var = { id: this.#vars++, name, type };
    this.vars.push(v);
    return v;
  }

  label(): Label {
    return this.#labels++;
  }

  /** A plain launch parameter; returns the expression that reads it. */
  value(type: ValueType, name: string): Expr {
    return param(type, this.#param(type, name, { kind: 'value', path: [this.params.length] }));
  }

  /** A global array and the pointer parameter that holds its base. */
  global(elem: ElemType, name: string): ArraySym {
    const param = this.#param('ptr', name, { kind: 'base', path: [this.params.length] });
    return this.#array(name, 'global', elem, { param });
  }

  /** Without a length: dynamic shared memory. */
  shared(elem: ElemType, name: string, length?: number): ArraySym {
    return this.#array(name, 'shared', elem, length === undefined ? { dynamic: true } : { length });
  }

  local(elem: ElemType, name: string, length: number): ArraySym {
    return this.#array(name, 'local', elem, { length });
  }

  constants(elem: ElemType, name: string, data: Uint8Array): ArraySym {
    return this.#array(name, 'constant', elem, { data, length: data.length / ELEM_SIZE[elem] });
  }

  #param(type: Param['type'], name: string, origin: ParamOrigin): number {
    const index = this.params.length;
    this.params.push({ index, name, type, origin });
    return index;
  }

  #array(name: string, space: Space, elem: ElemType, more: Partial<ArraySym>): ArraySym {
    const array: ArraySym = { id: this.#arrays++, name, space, elem, align: ELEM_SIZE[elem], ...more };
    this.arrays.push(array);
    return array;
  }

  /** The finished kernel. Unless `options` say otherwise: 32-bit indices, unchecked, exact arithmetic. */
  build(
    body: readonly Stmt[],
    options: Partial<Pick<Kernel, 'indexBits' | 'checked' | 'contract' | 'fastMath' | 'pos'>> = {},
  ): Kernel {
    return {
      name: this.name,
      params: [...this.params],
      arrays: [...this.arrays],
      vars: [...this.vars],
      body,
      indexBits: 32,
      checked: false,
      contract: false,
      fastMath: false,
      pos: NOWHERE,
      ...options,
    };
  }
}

function highestLabel(body: readonly Stmt[]): number {
  let most = -1;
  for (const s of body) {
    if (s.op === 'if') most = Math.max(most, highestLabel(s.then), highestLabel(s.else));
    else if (s.op === 'loop') most = Math.max(most, s.label, highestLabel(s.body), highestLabel(s.update));
    else if (s.op === 'block') most = Math.max(most, s.label, highestLabel(s.body));
  }
  return most;
}
