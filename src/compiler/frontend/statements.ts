/**
 * Statements of the source: declarations, control flow, jumps. What runs in a loop or a branch goes into a list of its own.
 */
import type {
  AnyNode,
  ForOfStatement,
  ForStatement,
  ReturnStatement,
  SwitchStatement,
  VariableDeclaration,
} from 'acorn';
import type { Pos } from '../source.ts';
import { type TExpr, type TStmt, walkStatements } from '../types/tree.ts';
import { arith, compare, not, select } from './arithmetic.ts';
import { indexView, viewValue } from './arrays.ts';
import { assignPattern, destructure } from './assignments.ts';
import { fail } from './diagnostics.ts';
import type { Evaluation, JumpTarget } from './evaluation.ts';
import { branchStatement, condition, discard } from './expressions.ts';
import { declareAhead, declareEmpty, hoistFunctions, isReassigned } from './names.ts';
import { applyBinary } from './operators.ts';
import { noteResult } from './partial-variables.ts';
import { constantText } from './printing.ts';
import {
  describeValue,
  isAbsent,
  isLiteral,
  literal,
  readLocal,
  Scope,
  scalar,
  UNDEFINED,
  type Value,
} from './values.ts';

/** Writes the statements of a list; what follows a jump is never reached and left out. */
export function statements(ctx: Evaluation, list: readonly AnyNode[], scope: Scope): void {
  declareAhead(ctx, list, scope);
  hoistFunctions(ctx, list, scope);
  for (const s of list) {
    statement(ctx, s, scope, []);
    const last = ctx.list.at(-1);
    if (last !== undefined && (last.k === 'break' || last.k === 'continue' || last.k === 'return' || last.k === 'trap'))
      return;
  }
}

function block(ctx: Evaluation, node: AnyNode, scope: Scope): void {
  const inner = new Scope(scope, scope.captured, false);
  statements(ctx, node.type === 'BlockStatement' ? node.body : [node], inner);
}

function statement(ctx: Evaluation, node: AnyNode, scope: Scope, labels: readonly string[]): void {
  const pos = ctx.pos(node, scope);
  switch (node.type) {
    case 'EmptyStatement':
    case 'FunctionDeclaration':
    case 'DebuggerStatement':
      return;
    case 'ExpressionStatement':
      return discard(ctx, node.expression, scope);
    case 'VariableDeclaration':
      return declaration(ctx, node, scope);
    case 'BlockStatement':
      return labels.length === 0 ? block(ctx, node, scope) : labelledBlock(ctx, node, scope, labels, pos);
    case 'IfStatement':
      return ifStatement(
        ctx,
        node.test,
        () => block(ctx, node.consequent, scope),
        node.alternate == null
          ? undefined
          : () => {
              if (node.alternate != null) block(ctx, node.alternate, scope);
            },
        scope,
        pos,
      );
    case 'ForStatement':
      return forStatement(ctx, node, scope, labels, pos);
    case 'WhileStatement':
      return loop(
        ctx,
        labels,
        pos,
        () => exitUnless(ctx, condition(ctx, node.test, scope), pos),
        () => block(ctx, node.body, scope),
        () => {},
      );
    case 'DoWhileStatement':
      return loop(
        ctx,
        labels,
        pos,
        () => {},
        () => block(ctx, node.body, scope),
        () => exitUnless(ctx, condition(ctx, node.test, scope), pos),
      );
    case 'ForOfStatement':
      return forOf(ctx, node, scope, labels, pos);
    case 'ForInStatement':
      return fail('K101', pos, '`for (… in …)` cannot be used in a kernel', {
        help: 'count: for (let i = 0; i < a.length; i++)',
      });
    case 'SwitchStatement':
      return switchStatement(ctx, node, scope, labels, pos);
    case 'LabeledStatement':
      return statement(ctx, node.body, scope, [...labels, node.label.name]);
    case 'BreakStatement':
    case 'ContinueStatement': {
      const target = jumpTarget(ctx, node.type === 'BreakStatement', node.label?.name, pos);
      ctx.emit({ k: node.type === 'BreakStatement' ? 'break' : 'continue', label: target.label, pos });
      return;
    }
    case 'ReturnStatement':
      return returnStatement(ctx, node, scope, pos);
    case 'ThrowStatement':
      return throwStatement(ctx, node.argument, scope, pos);
    case 'TryStatement':
      return fail('K101', pos, '`try` cannot be used in a kernel: nothing can be caught there', {
        help: 'test the condition instead',
      });
    case 'ClassDeclaration':
      return fail('K101', pos, 'a class cannot be declared in a kernel');
    default:
      return fail('K101', pos, `${node.type} cannot be used in a kernel`);
  }
}

// ---------------------------------------------------------------- declarations

function declaration(ctx: Evaluation, node: VariableDeclaration, scope: Scope): void {
  if ((node.kind as string) === 'using' || (node.kind as string) === 'await using') {
    fail('K101', ctx.pos(node, scope), '`using` cannot be used in a kernel: memory in a kernel is not disposed');
  }
  for (const d of node.declarations) {
    if (d.init == null) {
      if (node.kind !== 'var' && d.id.type === 'Identifier') declareEmpty(ctx, d.id.name, scope, ctx.pos(d.id, scope));
      continue;
    }
    const value = named(ctx.parts.evaluate(ctx, d.init, scope), d.id);
    destructure(ctx, d.id, value, scope, (target, v) => declareOne(ctx, node, target, v, scope));
  }
}

/** `const tile = cuda.shared.array(…)` and `const f = () => …` name memory and functions for messages. */
function named(v: Value, id: AnyNode): Value {
  if (v.kind === 'function' && v.fn.name === '' && id.type === 'Identifier')
    return { ...v, fn: { ...v.fn, name: id.name } };
  if (v.kind !== 'view' || id.type !== 'Identifier' || !v.view.name.startsWith('%')) return v;
  (v.view.root as { name: string }).name = id.name;
  return { kind: 'view', view: { ...v.view, name: id.name } };
}

function declareOne(ctx: Evaluation, node: VariableDeclaration, target: AnyNode, value: Value, scope: Scope): void {
  const pos = ctx.pos(target, scope);
  if (target.type !== 'Identifier') return fail('K101', pos, 'this cannot be declared in a kernel');
  if (node.kind === 'var') {
    const known = scope.find(target.name);
    if (known !== undefined && (known.value !== undefined || isAbsent(value))) return ctx.assign(known, value, pos);
    const binding = known ?? ctx.declare(scope, target.name, pos, !isReassigned(scope.captured.node, target.name));
    return ctx.initialise(binding, value, pos);
  }
  const constant = node.kind === 'const' || !isReassigned(scope.captured.node, target.name);
  ctx.initialise(ctx.declare(scope, target.name, pos, constant), value, pos);
}

// ---------------------------------------------------------------- branches

function ifStatement(
  ctx: Evaluation,
  test: AnyNode,
  then: () => void,
  otherwise: (() => void) | undefined,
  scope: Scope,
  pos: Pos,
): void {
  if (otherwise === undefined && test.type === 'LogicalExpression' && test.operator === '&&') {
    // if (a && b) S is if (a) if (b) S: what guards an access then stands around it.
    return ifStatement(
      ctx,
      test.left,
      () => ifStatement(ctx, test.right, then, undefined, scope, pos),
      undefined,
      scope,
      pos,
    );
  }
  branchStatement(ctx, condition(ctx, test, scope), then, otherwise ?? (() => {}), pos);
}

function labelledBlock(ctx: Evaluation, node: AnyNode, scope: Scope, labels: readonly string[], pos: Pos): void {
  const target: JumpTarget = { label: ctx.newLabel(), names: labels, kind: 'block' };
  ctx.frame.targets.push(target);
  const body = ctx.branch(() => block(ctx, node, scope));
  ctx.frame.targets.pop();
  ctx.emit({ k: 'block', label: target.label, body, pos });
}

function switchStatement(
  ctx: Evaluation,
  node: SwitchStatement,
  scope: Scope,
  labels: readonly string[],
  pos: Pos,
): void {
  const inner = new Scope(scope, scope.captured, false);
  const target: JumpTarget = { label: ctx.newLabel(), names: labels, kind: 'switch' };
  const given = ctx.parts.evaluate(ctx, node.discriminant, scope);
  // A captured string is compared while compiling.
  const on =
    given.kind === 'host' && typeof given.value === 'string'
      ? given
      : scalar(ctx.hold(ctx.scalar(given, ctx.pos(node.discriminant, scope)), '%switch'));
  const tests = node.cases.map((c) => {
    let test: TExpr | undefined;
    const before = ctx.branch(() => {
      if (c.test == null) return;
      test = ctx.scalar(applyBinary(ctx, '===', on, ctx.parts.evaluate(ctx, c.test, inner), pos), pos);
    });
    return { test, before };
  });
  ctx.frame.targets.push(target);
  for (const c of node.cases) hoistFunctions(ctx, c.consequent, inner);
  // The number of the case to start with; cases after it follow until a break.
  const otherwise = node.cases.findIndex((c) => c.test == null);
  const start = firstCase(ctx, tests, literal(otherwise < 0 ? node.cases.length : otherwise, pos), pos);
  const body = ctx.branch(() => {
    const first = isLiteral(start) ? start : ctx.temp(start, '%case');
    let entered = 0;
    let written = 0;
    node.cases.forEach((c, k) => {
      written = ctx.list.length;
      if (c.consequent.length === 0) return;
      // Only cases from which the one before does not fall through can be entered by `first` alone.
      const low = entered;
      const falls = !endsInJump(node.cases[k - 1]?.consequent);
      entered = k + 1;
      const enter: TExpr =
        falls && k > 0
          ? compare('le', first, literal(k, pos), pos)
          : low === k
            ? compare('eq', first, literal(k, pos), pos)
            : {
                k: 'logic',
                fn: 'and',
                a: compare('ge', first, literal(low, pos), pos),
                b: compare('le', first, literal(k, pos), pos),
                pos,
              };
      const test = isLiteral(first)
        ? literal(
            falls && k > 0 ? Number(first.value) <= k : Number(first.value) >= low && Number(first.value) <= k,
            pos,
          )
        : enter;
      branchStatement(
        ctx,
        test,
        () => statements(ctx, c.consequent, inner),
        () => {},
        ctx.pos(c, inner),
      );
    });
    // With a default one of the cases is entered; who comes to the last was not kept from it by a jump.
    const end = ctx.list.at(-1);
    if (otherwise >= 0 && end?.k === 'if' && ctx.list.length > written && !isLiteral(first))
      ctx.list[ctx.list.length - 1] = { ...end, always: true };
  });
  ctx.frame.targets.pop();
  ctx.emit({ k: 'block', label: target.label, body: markFinalBreaks(body, target.label), pos });
}

interface CaseTest {
  /** Whether the case is the one; undefined for `default`. */
  readonly test: TExpr | undefined;
  /** What happens on the way to that. */
  readonly before: readonly TStmt[];
}

/** Selects in one expression: what nests deeper takes more stack to compile. */
const SELECTS = 64;

/** The number of the first case whose test holds. Tests with side effects are made one after another, until then. */
function firstCase(ctx: Evaluation, tests: readonly CaseTest[], otherwise: TExpr, pos: Pos): TExpr {
  const lastWithEffects = tests.findLastIndex(({ before }) => before.length > 0);
  /** Without effects one select after another will do, and they may be made from the last to the first. */
  const plain = (first: number): TExpr => {
    let start = otherwise;
    let selects = 0;
    for (let k = tests.length - 1; k >= first; k--) {
      const test = tests[k]?.test;
      if (test === undefined) continue;
      start = select(test, literal(k, pos), start, pos);
      if (++selects % SELECTS === 0 && k > first) start = ctx.temp(start, '%case');
    }
    return start;
  };
  const from = (k: number): TExpr => {
    const next = tests[k];
    if (next === undefined) return otherwise;
    const { test, before } = next;
    for (const s of before) ctx.emit(s);
    if (k >= lastWithEffects) return plain(k);
    if (test === undefined) return from(k + 1);
    return ctx.scalar(
      ctx.choose(
        test,
        () => scalar(literal(k, pos)),
        () => scalar(from(k + 1)),
        pos,
      ),
      pos,
    );
  };
  return from(0);
}

function endsInJump(list: readonly AnyNode[] | undefined): boolean {
  const last = list?.at(-1);
  if (last?.type === 'BlockStatement') return endsInJump(last.body);
  return last !== undefined && /^(Break|Continue|Return|Throw)Statement$/.test(last.type);
}

/** In a chain of exclusive cases a final `break` only leads to where control goes anyway, if no later case can be entered. */
function markFinalBreaks(body: TStmt[], label: number): TStmt[] {
  const exclusive =
    body.every((s) => s.k === 'if' || (s.k === 'assign' && s.local.stable)) &&
    body
      .filter((s) => s.k === 'if')
      // A case without statements is not here, but may fall through to one that is.
      .every((s, k, all) => (k === 0 || !entersByFall(s.cond)) && (k === all.length - 1 || endsIn(s.then, label)));
  if (!exclusive) return body;
  return body.map((s) =>
    s.k === 'if' && endsIn(s.then, label) && s.cond.k !== 'lit' && !entersByFall(s.cond)
      ? { ...s, then: [...s.then.slice(0, -1), { k: 'break', label, moot: true, pos: s.pos }] }
      : s,
  );
}

function entersByFall(cond: TExpr): boolean {
  return cond.k === 'compare' && cond.fn === 'le';
}

function endsIn(list: readonly TStmt[], label: number): boolean {
  const last = list.at(-1);
  return last?.k === 'break' && last.label === label;
}

// ---------------------------------------------------------------- loops

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

function forStatement(ctx: Evaluation, node: ForStatement, scope: Scope, labels: readonly string[], pos: Pos): void {
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

function forOf(ctx: Evaluation, node: ForOfStatement, scope: Scope, labels: readonly string[], pos: Pos): void {
  if (node.await) fail('K101', pos, '`for await` cannot be used in a kernel');
  const over = ctx.holdValue(ctx.parts.evaluate(ctx, node.right, scope));
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
      for (const item of over.items) {
        const round: JumpTarget = { label: ctx.newLabel(), names: labels, kind: 'loop' };
        ctx.frame.targets.push({ ...target }, round);
        const inner = new Scope(scope, scope.captured, false);
        const copy = ctx.branch(() => {
          bind(item, inner);
          block(ctx, node.body, inner);
        });
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
      bind(viewValue(indexView(ctx, view, ctx.temp(readLocal(counter, pos)), pos), pos), inner);
      block(ctx, node.body, inner);
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

// ---------------------------------------------------------------- jumps

function jumpTarget(ctx: Evaluation, isBreak: boolean, name: string | undefined, pos: Pos): JumpTarget {
  const targets = ctx.frame.targets;
  for (let k = targets.length - 1; k >= 0; k--) {
    const t = targets[k];
    if (t === undefined) continue;
    if (
      name !== undefined
        ? t.names.includes(name) && (isBreak || t.kind === 'loop')
        : isBreak
          ? t.kind !== 'block'
          : t.kind === 'loop'
    )
      return t;
  }
  return fail(
    'K103',
    pos,
    name === undefined ? 'there is no loop here to leave' : `there is no loop or block labelled ${name} here`,
  );
}

function returnStatement(ctx: Evaluation, node: ReturnStatement, scope: Scope, pos: Pos): void {
  const frame = ctx.frame;
  if (frame.fn === 'kernel') {
    if (node.argument != null) kernelResult(ctx, node.argument, scope);
    ctx.emit({ k: 'return', pos });
    return;
  }
  const value = node.argument == null ? UNDEFINED : ctx.parts.evaluate(ctx, node.argument, scope);
  noteResult(
    ctx,
    frame,
    value,
    pos,
    `${frame.fn.name || 'this function'}() returns ${node.argument == null ? 'nothing' : describeValue(value)} here`,
  );
  frame.returned = true;
  if (frame.label !== undefined) ctx.emit({ k: 'break', label: frame.label, pos });
}

/** What a kernel returns: nothing, though minifiers write `return void f()` and `return a && b()`. */
export function kernelResult(ctx: Evaluation, node: AnyNode, scope: Scope): void {
  const effects =
    /^(AssignmentExpression|UpdateExpression|CallExpression|SequenceExpression|LogicalExpression|ConditionalExpression)$/.test(
      node.type,
    );
  if (effects) return discard(ctx, node, scope);
  const value = ctx.parts.evaluate(ctx, node, scope);
  if (isAbsent(value)) return;
  fail('K317', ctx.pos(node, scope), `a kernel returns nothing, but this returns ${describeValue(value)}`, {
    help: 'store the result in an array argument',
  });
}

function throwStatement(ctx: Evaluation, node: AnyNode, scope: Scope, pos: Pos): void {
  let message = 'error thrown';
  if (node.type === 'NewExpression' || node.type === 'CallExpression') {
    const [text] = node.arguments;
    if (text !== undefined) message = constantText(ctx, [text], scope);
  } else fail('K101', pos, 'only errors can be thrown in a kernel', { help: "throw new Error('what went wrong')" });
  // Without `debug` there is nobody to tell: the thread ends.
  ctx.emit(ctx.options.debug ? { k: 'trap', message, pos } : { k: 'return', pos });
}
