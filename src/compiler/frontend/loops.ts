/**
 * Loops: `while`, `do`, `for`, `for … of` and `for … in`. A test is an `if` that leaves the loop; loops over tuples are unrolled.
 */
import type { AnyNode, DoWhileStatement, ForInStatement, ForOfStatement, ForStatement, WhileStatement } from 'acorn';
import type { Pos } from '../source.ts';
import { walkStatements } from '../types/parts.ts';
import type { TExpr, TStmt } from '../types/tree.ts';
import { arith, compare, not } from './arithmetic.ts';
import { indexView, viewValue } from './arrays.ts';
import { assignPattern, destructure } from './assignments.ts';
import { block, endsIn } from './blocks.ts';
import { declaration, declareOne } from './declarations.ts';
import { fail } from './diagnostics.ts';
import type { Evaluation, JumpTarget } from './evaluation.ts';
import { condition, discard } from './expressions.ts';
import { keysOf } from './kinds.ts';
import { isSequence, withCharacters } from './sequences.ts';
import { describeValue, isLiteral, literal, readLocal, Scope, scalar, type Value } from './values.ts';

function exitUnless(ctx: Evaluation, test: TExpr, pos: Pos): void {
  const target = ctx.frame.targets.at(-1);
  if (target === undefined) throw new Error('no loop');
  if (isLiteral(test) && test.value) return;
  ctx.emit({ k: 'if', cond: not(test, test.pos), then: [{ k: 'break', label: target.label, pos }], else: [], pos });
}

function loop(
  ctx: Evaluation,
  labels: readonly string[],
  pos: Pos,
  /** What stands at the head; gives true if the first round is entered for certain. */
  before: () => unknown,
  body: () => void,
  updateStep: () => void,
): void {
  const target: JumpTarget = { label: ctx.newLabel(), names: labels, kind: 'loop' };
  ctx.frame.targets.push(target);
  ctx.loops++;
  let entered = false;
  const bodyList = ctx.branch(() => {
    entered = before() === true;
    body();
  });
  const last = bodyList.at(-1);
  if (last?.k === 'continue' && last.label === target.label) bodyList.pop();
  const update = ctx.branch(updateStep);
  ctx.loops--;
  ctx.frame.targets.pop();
  // A loop whose condition is false at once.
  const first = bodyList[0];
  if (first?.k === 'if' && isLiteral(first.cond) && first.cond.value === true && endsIn(first.then, target.label))
    return;
  if (!leaves(bodyList, target.label) && !leaves(update, target.label)) {
    fail('K102', pos, 'this loop never ends', { help: 'give it a condition, a break or a return' });
  }
  ctx.emit({ k: 'loop', label: target.label, body: bodyList, update, ...(entered ? { entered } : {}), pos });
}

/** Whether a list can leave the loop: a break out of it, a return. */
function leaves(list: readonly TStmt[], label: number): boolean {
  let found = false;
  const inside = new Set<number>();
  walkStatements(list, (s) => {
    if (s.k === 'loop' || s.k === 'block') inside.add(s.label);
    if (s.k === 'return' || s.k === 'trap') found = true;
    if ((s.k === 'break' || s.k === 'continue') && !inside.has(s.label) && (s.k === 'break' || s.label !== label))
      found = true;
  });
  return found;
}

export function whileStatement(
  ctx: Evaluation,
  node: WhileStatement,
  scope: Scope,
  labels: readonly string[],
  pos: Pos,
): void {
  loop(
    ctx,
    labels,
    pos,
    () => exitUnless(ctx, condition(ctx, node.test, scope), pos),
    () => block(ctx, node.body, scope),
    () => {},
  );
}

export function doWhileStatement(
  ctx: Evaluation,
  node: DoWhileStatement,
  scope: Scope,
  labels: readonly string[],
  pos: Pos,
): void {
  loop(
    ctx,
    labels,
    pos,
    () => {},
    () => block(ctx, node.body, scope),
    () => exitUnless(ctx, condition(ctx, node.test, scope), pos),
  );
}

export function forStatement(
  ctx: Evaluation,
  node: ForStatement,
  scope: Scope,
  labels: readonly string[],
  pos: Pos,
): void {
  const inner = new Scope(scope, scope.captured, false);
  const start = ctx.list.length;
  if (node.init != null) {
    if (node.init.type === 'VariableDeclaration') declaration(ctx, node.init, inner);
    else discard(ctx, node.init, inner);
  }
  const given = ctx.list.slice(start);
  loop(
    ctx,
    labels,
    pos,
    () => {
      if (node.test == null) return false;
      const test = condition(ctx, node.test, inner);
      exitUnless(ctx, test, pos);
      return holdsAfter(given, test);
    },
    () => block(ctx, node.body, inner),
    () => {
      if (node.update != null) discard(ctx, node.update, inner);
    },
  );
  inner.closed = true;
}

/** Whether a comparison with numbers known while compiling holds after `given`: `k < 4` after `k = 0`. */
function holdsAfter(given: readonly TStmt[], test: TExpr): boolean {
  if (test.k !== 'compare' || given.some((s) => s.k !== 'assign' && s.k !== 'presence')) return false;
  const known = (e: TExpr): TExpr => {
    const last = given.findLast((s) => s.k === 'assign' && e.k === 'local' && s.local === e.local);
    return last?.k === 'assign' ? last.value : e;
  };
  const first = compare(test.fn, known(test.a), known(test.b), test.pos);
  return isLiteral(first) && first.value === true;
}

type Form = 'values' | 'keys' | 'entries';

/** What `for … of` goes through: an array or a tuple, or its keys or entries. */
function iterated(ctx: Evaluation, node: AnyNode, scope: Scope): { readonly over: Value; readonly form: Form } {
  const callee = node.type === 'CallExpression' && node.arguments.length === 0 ? node.callee : undefined;
  if (callee?.type === 'MemberExpression' && !callee.computed && callee.object.type !== 'Super') {
    const { name } = callee.property as { name: string };
    if (name === 'values' || name === 'keys' || name === 'entries') {
      const over = ctx.parts.evaluate(ctx, callee.object, scope);
      if (isSequence(over)) return { over, form: name };
    }
  }
  return { over: withCharacters(ctx.parts.evaluate(ctx, node, scope)), form: 'values' };
}

/** `for (const key in object)`: the names of its fields, which are known while compiling. */
export function forIn(ctx: Evaluation, node: ForInStatement, scope: Scope, labels: readonly string[], pos: Pos): void {
  const keys = keysOf(ctx, ctx.parts.evaluate(ctx, node.right, scope), pos);
  if (keys === undefined) {
    fail('K101', pos, '`for (… in …)` goes through the fields of objects in a kernel', {
      help: 'for an array count, for (let i = 0; i < a.length; i++), or write for (const v of a)',
    });
  }
  forEach(ctx, node, { over: keys, form: 'values' }, scope, labels, pos);
}

export function forOf(ctx: Evaluation, node: ForOfStatement, scope: Scope, labels: readonly string[], pos: Pos): void {
  if (node.await) fail('K101', pos, '`for await` cannot be used in a kernel');
  const { over, form } = iterated(ctx, node.right, scope);
  forEach(ctx, node, { over: ctx.holdValue(over), form }, scope, labels, pos);
}

function forEach(
  ctx: Evaluation,
  node: ForOfStatement | ForInStatement,
  { over, form }: { readonly over: Value; readonly form: Form },
  scope: Scope,
  labels: readonly string[],
  pos: Pos,
): void {
  const entry = (item: () => Value, index: TExpr): Value =>
    form === 'keys' ? scalar(index) : form === 'entries' ? { kind: 'tuple', items: [scalar(index), item()] } : item();
  const bind = (value: Value, inner: Scope): void => {
    if (node.left.type === 'VariableDeclaration') {
      const d = node.left;
      const id = d.declarations[0]?.id;
      if (id !== undefined) destructure(ctx, id, value, inner, (target, v) => declareOne(ctx, d, target, v, inner));
    } else assignPattern(ctx, node.left, value, inner);
  };
  if (over.kind === 'tuple') {
    const target: JumpTarget = { label: ctx.newLabel(), names: labels, kind: 'loop' };
    // Unrolled; `continue` leaves the copy, `break` the whole.
    const body = ctx.branch(() => {
      for (const [k, item] of over.items.entries()) {
        const round: JumpTarget = { label: ctx.newLabel(), names: labels, kind: 'loop' };
        ctx.frame.targets.push({ ...target }, round);
        const inner = new Scope(scope, scope.captured, false);
        const copy = ctx.branch(() => {
          bind(
            entry(() => item, literal(k, pos)),
            inner,
          );
          block(ctx, node.body, inner);
        });
        inner.closed = true;
        ctx.frame.targets.splice(-2);
        ctx.emit({ k: 'block', label: round.label, body: unrolledJumps(copy, round.label, target.label), pos });
      }
    });
    ctx.emit({ k: 'block', label: target.label, body, pos });
    return;
  }
  if (over.kind !== 'view' || over.view.axes.length === 0) {
    return fail('K224', pos, `${describeValue(over)} cannot be iterated over in a kernel`, {
      help: 'arrays and tuples can',
    });
  }
  const view = over.view;
  const counter = ctx.newLocal('%i', pos, false);
  const extent = view.axes[0]?.extent ?? literal(0, pos);
  ctx.emit({ k: 'assign', local: counter, value: literal(0, pos), pos });
  loop(
    ctx,
    labels,
    pos,
    () => exitUnless(ctx, compare('lt', readLocal(counter, pos), extent, pos), pos),
    () => {
      const inner = new Scope(scope, scope.captured, false);
      const index = ctx.temp(readLocal(counter, pos));
      bind(
        entry(() => viewValue(indexView(ctx, view, index, pos), pos), index),
        inner,
      );
      block(ctx, node.body, inner);
      inner.closed = true;
    },
    () =>
      ctx.emit({
        k: 'assign',
        local: counter,
        value: arith('add', readLocal(counter, pos), literal(1, pos), pos),
        pos,
      }),
  );
}

/** In one copy of an unrolled loop: `continue` leaves the copy; a `break` of the copy means the whole loop. */
function unrolledJumps(list: readonly TStmt[], round: number, whole: number): TStmt[] {
  return list.map((s): TStmt => {
    switch (s.k) {
      case 'continue':
        return s.label === round ? { ...s, k: 'break' } : s;
      case 'break':
        return s.label === round ? { ...s, label: whole } : s;
      case 'if':
        return { ...s, then: unrolledJumps(s.then, round, whole), else: unrolledJumps(s.else, round, whole) };
      case 'loop':
        return { ...s, body: unrolledJumps(s.body, round, whole), update: unrolledJumps(s.update, round, whole) };
      case 'block':
        return { ...s, body: unrolledJumps(s.body, round, whole) };
      default:
        return s;
    }
  });
}
