/**
 * Copies of a loop's rounds, and how many rounds there are.
 */
import { binary, constant, KernelBuilder, read } from '../builder.ts';
import type { Loop } from '../loops.ts';
import { exprsSize } from '../measures.ts';
import type { Check, Expr, Kernel, Label, MemRef, Stmt, Var } from '../ops.ts';
import { foldExpr } from './fold.ts';
import { analyseLiveness, type Liveness } from './liveness.ts';
import { assignedIn, eachStmt, mapExpr, mapLists, mapStmtExprs } from './walk.ts';

/** Every statement stands in one place only. Expressions may be shared, but not what is checked place by place. */
export function copyOf(s: Stmt): Stmt {
  return { ...mapLists(mapStmtExprs(s, anew), (list) => list.map(copyOf)) };
}

/** What threads assert to be uniform may differ from round to round: each round asserts for itself. */
export function anew(e: Expr): Expr {
  return e.op === 'unary' && e.fn === 'uniform' ? { ...e } : e;
}

/** Whether an expression is the variable. */
export function isRead(e: Expr, v: Var): boolean {
  return e.op === 'var' && e.var.id === v.id;
}

/** What a counter that grows by `step` is `k` rounds later. */
export function laterBy(counter: Expr, step: Expr, k: number): Expr {
  return foldExpr(binary('add', counter, binary('mul', step, constant(step.type, k))));
}

/** A copy of a statement in which `put` stands for the counter; `change` sees what that makes of expressions. */
export function copyAt(s: Stmt, counter: Var, put: Expr, change: (e: Expr) => Expr = anew): Stmt {
  const own = mapStmtExprs(s, (e) => (isRead(e, counter) ? put : change(e)));
  return { ...mapLists(own, (list) => list.map((x) => copyAt(x, counter, put, change))) };
}

/** How often the body runs, when start, step and condition are constants. */
export function countRounds(exit: Expr, step: Expr, counter: Var, start: Expr, most: number): number | undefined {
  let value = start;
  for (let rounds = 0; rounds <= most; rounds++) {
    const at = (e: Expr): Expr => foldExpr(mapExpr(e, (x) => (isRead(x, counter) ? value : x)));
    const over = at(exit);
    if (over.op !== 'const') return undefined;
    if (over.value === true) return rounds;
    value = at(step);
    if (value.op !== 'const') return undefined;
  }
  return undefined;
}

/** Expressions and statements. */
export function nodesIn(body: readonly Stmt[]): number {
  let statements = 0;
  eachStmt(body, () => {
    statements++;
  });
  return statements + exprsSize(body);
}

/** Copies the statements of a loop for another one, with variables of its own for what does not leave a round. */
export class Copier {
  readonly #b: KernelBuilder;
  readonly #outer: ReadonlySet<number>;
  readonly #from: Label;
  readonly #to: Label;
  readonly #keeps: ((check: Check) => boolean) | undefined;
  readonly #vars = new Map<number, Var>();

  /** With only those checks that `keeps` wants, where it is given. */
  constructor(b: KernelBuilder, outer: ReadonlySet<number>, from: Label, to: Label, keeps?: (check: Check) => boolean) {
    this.#b = b;
    this.#keeps = keeps;
    this.#outer = outer;
    this.#from = from;
    this.#to = to;
  }

  list(list: readonly Stmt[]): readonly Stmt[] {
    return list.map((s) => this.#statement(s));
  }

  #statement(s: Stmt): Stmt {
    const own = mapLists(
      mapStmtExprs(s, (e) => this.#expr(e)),
      (inner) => this.list(inner),
    );
    if (own.op === 'continue' && own.label === this.#from) return { ...own, label: this.#to };
    if (own.op === 'assign') return { ...own, var: this.#variable(own.var) };
    if (own.op === 'store') return { ...own, mem: this.#checked(own.mem) };
    if (own.op === 'atomic') return { ...own, result: own.result && this.#variable(own.result) };
    return { ...own };
  }

  /** What is asserted to be uniform is so place by place. */
  #expr(e: Expr): Expr {
    if (e.op === 'var') return this.#outer.has(e.var.id) ? e : read(this.#variable(e.var));
    if (e.op === 'load') return { ...e, mem: this.#checked(e.mem) };
    return e.op === 'unary' && e.fn === 'uniform' ? { ...e } : e;
  }

  #checked(mem: MemRef): MemRef {
    return this.#keeps === undefined ? mem : { ...mem, checks: mem.checks.filter(this.#keeps) };
  }

  #variable(v: Var): Var {
    if (this.#outer.has(v.id)) return v;
    const copy = this.#vars.get(v.id) ?? this.#b.variable(v.type, v.name);
    this.#vars.set(v.id, copy);
    return copy;
  }
}

/** What copies of a loop are made with. */
export interface Copying {
  readonly b: KernelBuilder;
  /** The variables of the kernel that no round of the loop leaves to others, nor to what is behind it. */
  readonly own: () => readonly Var[];
}

/** A kernel with statements in place of some of its loops, which stand behind `before`; the same kernel when there are none. */
export function replaceLoops(
  kernel: Kernel,
  replace: (loop: Loop, before: Stmt | undefined, copying: Copying) => readonly Stmt[] | undefined,
): Kernel {
  const b = KernelBuilder.from(kernel);
  const own = ownVariables(kernel);
  const inList = (list: readonly Stmt[]): readonly Stmt[] => {
    let changed = false;
    const out = list.flatMap((s, k) => {
      const copies = s.op === 'loop' ? replace(s, list[k - 1], { b, own: () => own(s) }) : undefined;
      const inner = copies ?? [mapLists(s, inList)];
      changed ||= inner[0] !== s;
      return inner;
    });
    return changed ? out : list;
  };
  const body = inList(kernel.body);
  return body === kernel.body ? kernel : { ...kernel, vars: [...b.vars], body };
}

/** A function that tells the variables that no round of a loop of the kernel leaves to others, nor to what is behind it. */
export function ownVariables(kernel: Kernel): (loop: Loop) => readonly Var[] {
  let liveness: Liveness | undefined;
  return (loop) => {
    liveness ??= analyseLiveness(kernel.body);
    const [before, after] = [liveness.before(loop), liveness.after(loop)];
    const inside = assignedIn(loop.body);
    return kernel.vars.filter(({ id }) => inside.has(id) && !before.has(id) && !after.has(id));
  };
}
