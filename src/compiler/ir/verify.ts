/**
 * The verifier: whether a kernel is well-formed IR, at a given stage. Run after every pass in tests.
 *
 * It checks types of every operation, the representation of constants, scopes of labels, declarations and ids, memory
 * accesses, and that statements which a stage has removed are gone. A failure is a mistake of the compiler, so it throws
 * an internal error that quotes the statement.
 */

import type { ArraySym, AtomicOp, Expr, Kernel, Label, MemRef, Stmt, ValueType, Var } from './ops.ts';
import { ELEM_SIZE, isFloat, isInt, warpResult, widen } from './ops.ts';
import { exprParts } from './parts.ts';
import { printStmt } from './print.ts';
import { exprFault } from './verify-expr.ts';

/**
 * `lowered`: what the front end made. `returns`: after return lowering, no `return` is left. `regions`: a single region,
 * no barrier either.
 */
export type Stage = 'lowered' | 'returns' | 'regions';

/** Throws when the kernel is not what the stage asks for. */
export function verify(kernel: Kernel, stage: Stage = 'lowered'): void {
  new Verifier(kernel, stage).check();
}

interface Scope {
  readonly label: Label;
  readonly loop: boolean;
  /** Whether the place is in the update of this loop, which `continue` would start again. */
  readonly inUpdate: boolean;
}

/** Atomic operations that move whole elements, small ones too. */
const MOVES: ReadonlySet<AtomicOp> = new Set<AtomicOp>(['exch', 'cas', 'load', 'store']);

class Verifier {
  readonly #kernel: Kernel;
  readonly #stage: Stage;
  readonly #vars: ReadonlySet<Var>;
  readonly #arrays: ReadonlySet<ArraySym>;
  readonly #labels = new Set<Label>();
  readonly #seen = new Set<Stmt>();

  constructor(kernel: Kernel, stage: Stage) {
    this.#kernel = kernel;
    this.#stage = stage;
    this.#vars = new Set(kernel.vars);
    this.#arrays = new Set(kernel.arrays);
  }

  check(): void {
    this.#symbols();
    this.#list(this.#kernel.body, []);
  }

  #fail(what: string, s?: Stmt): never {
    const where = s ? `\n${printStmt(s, this.#kernel)}` : '';
    throw new Error(`internal error: kernel ${this.#kernel.name} is malformed: ${what}${where}`);
  }

  // -------------------------------------------------------------- symbols

  #symbols(): void {
    const { params, arrays, vars } = this.#kernel;
    for (const [i, p] of params.entries())
      if (p.index !== i) this.#fail(`parameter ${p.name} has index ${p.index} at ${i}`);
    if (new Set(vars.map((v) => v.id)).size < vars.length) this.#fail('two variables share an id');
    if (new Set(arrays.map((a) => a.id)).size < arrays.length) this.#fail('two arrays share an id');
    for (const a of arrays) this.#array(a);
  }

  #array(a: ArraySym): void {
    const param = a.param === undefined ? undefined : this.#kernel.params[a.param];
    const size = ELEM_SIZE[a.elem];
    if ((a.space === 'global') !== (a.param !== undefined))
      this.#fail(`array ${a.name}: only global arrays have a parameter`);
    if (a.space === 'global' && param?.type !== 'ptr')
      this.#fail(`array ${a.name}: parameter ${a.param} is no pointer`);
    if (a.dynamic && (a.space !== 'shared' || a.length !== undefined))
      this.#fail(`array ${a.name}: only a shared array without a length is dynamic`);
    const sized = a.space !== 'global' && !a.dynamic;
    if (sized && !(a.length !== undefined && Number.isInteger(a.length) && a.length >= 0))
      this.#fail(`array ${a.name} has length ${a.length}`);
    if (a.space === 'constant' && a.data?.length !== (a.length ?? 0) * size) {
      this.#fail(`constant array ${a.name}: ${a.data?.length} bytes of data for ${a.length} elements`);
    }
    if (a.align < size || Math.log2(a.align) % 1 !== 0)
      this.#fail(`array ${a.name}: alignment ${a.align} for elements of ${size} bytes`);
  }

  // -------------------------------------------------------------- statements

  #list(list: readonly Stmt[], scopes: readonly Scope[]): void {
    for (const s of list) this.#stmt(s, scopes);
  }

  #stmt(s: Stmt, scopes: readonly Scope[]): void {
    // Analyses keep their findings by statement.
    if (this.#seen.has(s)) this.#fail('a statement stands in two places', s);
    this.#seen.add(s);
    const value = (e: Expr, type: ValueType, what: string): void => {
      this.#expr(e, s);
      if (e.type !== type) this.#fail(`${what} is ${e.type}, not ${type}`, s);
    };
    switch (s.op) {
      case 'assign':
        this.#var(s.var, s);
        value(s.value, s.var.type, 'the value');
        return;
      case 'store':
        this.#mem(s.mem, s);
        if (s.mem.array.space === 'constant') this.#fail('a store to constant memory', s);
        value(s.value, widen(s.mem.elem), 'the value');
        return;
      case 'atomic':
        this.#atomic(s, value);
        return;
      case 'if':
        value(s.cond, 'bool', 'the condition');
        this.#list(s.then, scopes);
        this.#list(s.else, scopes);
        return;
      case 'loop':
        this.#label(s.label, s);
        this.#list(s.body, [...scopes, { label: s.label, loop: true, inUpdate: false }]);
        this.#list(s.update, [...scopes, { label: s.label, loop: true, inUpdate: true }]);
        return;
      case 'block':
        this.#label(s.label, s);
        this.#list(s.body, [...scopes, { label: s.label, loop: false, inUpdate: false }]);
        return;
      case 'break':
      case 'continue': {
        const scope = scopes.find((x) => x.label === s.label);
        if (!scope) this.#fail(`${s.op} of L${s.label}, which does not enclose it`, s);
        if (s.op === 'continue' && (!scope.loop || scope.inUpdate))
          this.#fail(`continue of L${s.label}, which is no loop body`, s);
        return;
      }
      case 'return':
        if (this.#stage !== 'lowered') this.#fail('a return after return lowering', s);
        return;
      case 'barrier':
        if (this.#stage === 'regions') this.#fail('a barrier within a region', s);
        if (isPlain(s.kind) !== (s.pred === undefined) || (isPlain(s.kind) && s.result))
          this.#fail('sync has neither predicate nor result, the others have a predicate', s);
        if (s.pred) value(s.pred, 'bool', 'the predicate');
        if (s.result) this.#result(s.result, 'i32', s);
        return;
      case 'warp':
        this.#warp(s, value);
        return;
      case 'extern':
        this.#extern(s, value);
        return;
      case 'rest':
        value(s.nanoseconds, 'u32', 'the time');
        return;
      case 'print':
        for (const p of s.parts) if (typeof p !== 'string') this.#expr(p, s);
        return;
      case 'fence':
      case 'trap':
        return;
    }
  }

  #atomic(s: Stmt & { op: 'atomic' }, value: (e: Expr, type: ValueType, what: string) => void): void {
    this.#mem(s.mem, s);
    const { elem } = s.mem;
    const type = widen(elem);
    const { space } = s.mem.array;
    if (space !== 'global' && space !== 'shared') this.#fail(`an atomic operation on ${space} memory`, s);
    const whole = type === elem || elem === 'f16' || elem === 'bf16' || MOVES.has(s.fn);
    if (!whole || elem === 'bool') this.#fail(`an atomic operation on ${elem} elements`, s);
    const operands = s.fn === 'cas' ? 2 : s.fn === 'load' ? 0 : 1;
    if (s.args.length !== operands) this.#fail(`atomic.${s.fn} with ${s.args.length} operands`, s);
    for (const a of s.args) value(a, type, 'the operand');
    const integer = ['and', 'or', 'xor', 'inc', 'dec'].includes(s.fn);
    if (integer && !isInt(elem)) this.#fail(`atomic.${s.fn} on ${elem} elements`, s);
    if (s.fn.startsWith('nan') && !isFloat(elem)) this.#fail(`atomic.${s.fn} on ${elem} elements`, s);
    if (s.result) this.#result(s.result, type, s);
    if (s.fn === 'store' && s.result) this.#fail('atomic.store with a result', s);
  }

  #warp(s: Stmt & { op: 'warp' }, value: (e: Expr, type: ValueType, what: string) => void): void {
    const { fn, mask, args, result } = s;
    if ((mask === undefined) !== (fn === 'activeMask')) this.#fail(`${fn} with or without a mask`, s);
    if (mask) value(mask, 'u32', 'the mask');
    const [first] = args;
    const exchanged = fn.startsWith('shfl') || fn.startsWith('match');
    const count = fn.startsWith('shfl') ? 2 : fn === 'sync' || fn === 'activeMask' ? 0 : 1;
    if (args.length !== count) this.#fail(`${fn} with ${args.length} operands`, s);
    if (first) value(first, exchanged ? first.type : 'bool', 'the operand');
    if (exchanged && first?.type === 'bool') this.#fail(`${fn} of a bool`, s);
    if (args[1]) value(args[1], 'i32', 'the lane');
    if ((result === undefined) !== (fn === 'sync')) this.#fail(`${fn} with or without a result`, s);
    if (result) this.#result(result, warpResult(fn, first?.type), s);
  }

  #extern(s: Stmt & { op: 'extern' }, value: (e: Expr, type: ValueType, what: string) => void): void {
    const { fn, args, result } = s;
    if (args.length !== fn.params.length) this.#fail(`${fn.name} with ${args.length} operands`, s);
    for (const [k, { elem, pointer }] of fn.params.entries()) {
      const arg = args[k];
      if (arg === undefined || (arg.op === 'address') !== pointer) this.#fail(`operand ${k} of ${fn.name}`, s);
      value(arg, pointer ? 'u64' : widen(elem), 'the operand');
    }
    if (result && fn.result !== undefined) this.#result(result, widen(fn.result), s);
    else if (result) this.#fail(`${fn.name} gives nothing`, s);
  }

  #result(v: Var, type: ValueType, s: Stmt): void {
    this.#var(v, s);
    if (v.type !== type) this.#fail(`the result goes to ${v.name}, which is ${v.type}, not ${type}`, s);
  }

  #label(label: Label, s: Stmt): void {
    if (this.#labels.has(label)) this.#fail(`label L${label} is used twice`, s);
    this.#labels.add(label);
  }

  #var(v: Var, s: Stmt): void {
    if (!this.#vars.has(v)) this.#fail(`variable ${v.name} (id ${v.id}) is not declared`, s);
  }

  // -------------------------------------------------------------- expressions

  #expr(e: Expr, s: Stmt): void {
    const reaches = e.op === 'load' || e.op === 'address';
    if (!reaches) for (const part of exprParts(e)) this.#expr(part, s);
    const found = exprFault(e, this.#kernel);
    if (found) this.#fail(found, s);
    if (e.op === 'var') this.#var(e.var, s);
    if (reaches) this.#mem(e.mem, s);
  }

  #mem(mem: MemRef, s: Stmt): void {
    const { array, index, scale, disp, elem } = mem;
    if (!this.#arrays.has(array)) this.#fail(`array ${array.name} (id ${array.id}) is not declared`, s);
    this.#expr(index, s);
    const width = this.#kernel.indexBits === 64 ? 'i64' : 'i32';
    if (index.type !== width) this.#fail(`the index into ${array.name} is ${index.type}, not ${width}`, s);
    if (!Number.isInteger(scale) || scale < 1) this.#fail(`scale ${scale}`, s);
    if (!Number.isInteger(disp)) this.#fail(`displacement ${disp}`, s);
    if (array.space !== 'global' && ELEM_SIZE[elem] > array.align)
      this.#fail(`${elem} elements in ${array.name}, which is aligned to ${array.align}`, s);
    for (const c of mem.checks) {
      this.#expr(c.index, s);
      this.#expr(c.extent, s);
      if (!isInt(c.index.type) || c.extent.type !== c.index.type) {
        this.#fail(`a check of ${c.index.type} against ${c.extent.type}`, s);
      }
    }
  }
}

/** Barriers that only wait. */
function isPlain(kind: (Stmt & { op: 'barrier' })['kind']): boolean {
  return kind === 'sync' || kind === 'grid';
}
