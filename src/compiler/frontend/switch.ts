/**
 * `switch`: the number of the case to start with, then the cases one after another, each entered by that number or from the one before.
 */
import type { AnyNode, SwitchStatement } from 'acorn';
import type { Pos } from '../source.ts';
import type { TExpr, TStmt } from '../types/tree.ts';
import { compare, select } from './arithmetic.ts';
import { endsIn } from './blocks.ts';
import type { Evaluation, JumpTarget } from './evaluation.ts';
import { branchStatement } from './expressions.ts';
import { hoistFunctions } from './names.ts';
import { applyBinary } from './operators.ts';
import { textType } from './texts.ts';
import { isTime } from './times.ts';
import { isLiteral, literal, Scope, scalar } from './values.ts';

export function switchStatement(
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
    (given.kind === 'host' && typeof given.value === 'string') || textType(given) !== undefined || isTime(given)
      ? ctx.holdValue(given)
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
        () => ctx.parts.statements(ctx, c.consequent, inner),
        () => {},
        ctx.pos(c, inner),
      );
    });
    // With a default one of the cases is entered; who comes to the last was not kept from it by a jump.
    const end = ctx.list.at(-1);
    if (otherwise >= 0 && end?.k === 'if' && ctx.list.length > written && !isLiteral(first))
      ctx.list[ctx.list.length - 1] = { ...end, always: true };
  });
  inner.closed = true;
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
