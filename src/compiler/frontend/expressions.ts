/**
 * Expressions of the source: from syntax to values. Operators, names, literals, conditions and the order of evaluation;
 * members stand in `members.ts`, assignment in `assignments.ts`, calls in `calls.ts` and what they call.
 */
import type {
  AnyNode,
  BinaryExpression,
  ChainExpression,
  ConditionalExpression,
  LogicalExpression,
  UnaryExpression,
} from 'acorn';
import type { Pos } from '../source.ts';
import type { TExpr } from '../types/tree.ts';
import { bitnot, negate, not, truth } from './arithmetic.ts';
import { madeAt } from './array-sites.ts';
import { assignment, update } from './assignments.ts';
import { callExpression } from './calls.ts';
import { evaluateClass, newExpression } from './classes.ts';
import { asComplex, complexTruth, negated } from './complex.ts';
import { fail } from './diagnostics.ts';
import { elements } from './elements.ts';
import type { Evaluation } from './evaluation.ts';
import { hasPrivate, hasType, isIn, isInstance, typeOf, typeTest } from './kinds.ts';
import { isCheap } from './measures.ts';
import { fromHost, memberExpression } from './members.ts';
import { refuseAhead } from './names.ts';
import { objectLiteral } from './objects.ts';
import { applyBinary } from './operators.ts';
import { absentTest, askAbsent } from './optionals.ts';
import { readVariable } from './partial-variables.ts';
import { knownText, textTruth, textType } from './texts.ts';
import { isTime, timeUnary } from './times.ts';
import {
  isAbsent,
  isLiteral,
  isOptional,
  literal,
  readLocal,
  type Scope,
  scalar,
  UNDEFINED,
  type Value,
} from './values.ts';
import { isVector, vectorUnary } from './vectors.ts';

/** The value of an expression; its side effects are written to the current statement list. */
export function evaluate(ctx: Evaluation, node: AnyNode, scope: Scope): Value {
  const pos = ctx.pos(node, scope);
  const known = ctx.pinned.size > 0 ? ctx.pinned.get(node) : undefined;
  if (known !== undefined) return known;
  switch (node.type) {
    case 'Literal':
      if (typeof node.value === 'number' || typeof node.value === 'bigint' || typeof node.value === 'boolean') {
        return scalar(literal(node.value, pos));
      }
      if (node.value instanceof RegExp) return fail('K101', pos, 'regular expressions cannot be used in a kernel');
      return { kind: 'host', value: node.value, name: String(node.raw) };
    case 'TemplateLiteral': {
      const parts = ctx.sequence(node.expressions.map((part) => () => evaluate(ctx, part, scope)));
      const text = knownText(node.quasis.flatMap(({ value }, k) => [value.cooked ?? '', ...parts.slice(k, k + 1)]));
      if (text !== undefined) return { kind: 'host', value: text, name: 'template' };
      return fail('K101', pos, 'a template string with parts computed at run time can only be printed', {
        help: 'write it directly as an argument of console.log',
      });
    }
    case 'Identifier':
      return identifier(ctx, node.name, scope, pos);
    case 'ParenthesizedExpression':
      return evaluate(ctx, node.expression, scope);
    case 'MemberExpression':
      return memberExpression(ctx, node, scope);
    case 'ChainExpression':
      return chain(ctx, node, scope, pos);
    case 'CallExpression':
      return callExpression(ctx, node, scope, false);
    case 'UnaryExpression':
      return unary(ctx, node, scope, pos);
    case 'BinaryExpression':
      return binary(ctx, node, scope, pos);
    case 'LogicalExpression':
      return logical(ctx, node, scope, pos);
    case 'ConditionalExpression':
      return conditional(ctx, node, scope, pos);
    case 'AssignmentExpression':
      return assignment(ctx, node, scope, false);
    case 'UpdateExpression':
      return update(ctx, node, scope, false);
    case 'SequenceExpression': {
      let last: Value = UNDEFINED;
      node.expressions.forEach((e, k) => {
        if (k === node.expressions.length - 1) last = evaluate(ctx, e, scope);
        else discard(ctx, e, scope);
      });
      return last;
    }
    case 'ArrayExpression':
      return arrayLiteral(ctx, node, scope, pos);
    case 'ObjectExpression':
      return objectLiteral(ctx, node, scope);
    case 'ArrowFunctionExpression':
    case 'FunctionExpression':
      return {
        kind: 'function',
        fn: { name: ('id' in node && node.id?.name) || '', node, captured: scope.captured, scope },
      };
    case 'ThisExpression':
      return thisValue(ctx, scope, pos);
    case 'NewExpression':
      return newExpression(ctx, node, scope);
    case 'ClassExpression':
      return { kind: 'class', type: evaluateClass(ctx, node, scope) };
    default:
      return fail('K101', pos, `${syntaxName(node.type)} cannot be used in a kernel`, { help: syntaxHelp(node.type) });
  }
}

function arrayLiteral(
  ctx: Evaluation,
  node: Extract<AnyNode, { type: 'ArrayExpression' }>,
  scope: Scope,
  pos: Pos,
): Value {
  // The rows of an array in memory are parts of it.
  const isRow = ctx.rows.has(node);
  if (isRow || ctx.hints.isMemory(node))
    for (const e of node.elements) if (e?.type === 'ArrayExpression') ctx.rows.add(e);
  const items = elements(ctx, node.elements, scope, pos);
  return isRow ? { kind: 'tuple', items } : madeAt(ctx, node, items, pos);
}

/** Evaluates for the side effects alone. */
export function discard(ctx: Evaluation, node: AnyNode, scope: Scope): void {
  switch (node.type) {
    case 'AssignmentExpression':
      return void assignment(ctx, node, scope, true);
    case 'UpdateExpression':
      return void update(ctx, node, scope, true);
    case 'CallExpression':
      return void callExpression(ctx, node, scope, true);
    case 'SequenceExpression':
      for (const e of node.expressions) discard(ctx, e, scope);
      return;
    case 'UnaryExpression':
      if (node.operator === 'void' || node.operator === '!') return discard(ctx, node.argument, scope);
      break;
    case 'LogicalExpression': {
      if (node.operator === '??') {
        const absent = askAbsent(evaluate(ctx, node.left, scope), 'either', ctx.pos(node, scope));
        return branchStatement(
          ctx,
          absent,
          () => discard(ctx, node.right, scope),
          () => {},
          ctx.pos(node, scope),
        );
      }
      const cond = condition(ctx, node.left, scope);
      const test = node.operator === '&&' ? cond : not(cond, cond.pos);
      return branchStatement(
        ctx,
        test,
        () => discard(ctx, node.right, scope),
        () => {},
        ctx.pos(node, scope),
      );
    }
    case 'ConditionalExpression': {
      const cond = condition(ctx, node.test, scope);
      return branchStatement(
        ctx,
        cond,
        () => discard(ctx, node.consequent, scope),
        () => discard(ctx, node.alternate, scope),
        ctx.pos(node, scope),
      );
    }
    default:
      break;
  }
  // A plain value: it is evaluated (errors in it are errors), and forgotten.
  evaluate(ctx, node, scope);
}

/** `if (cond) then else otherwise`; a condition known while compiling leaves only the arm that runs. */
export function branchStatement(ctx: Evaluation, cond: TExpr, then: () => void, otherwise: () => void, pos: Pos): void {
  if (isLiteral(cond)) {
    if (cond.value) then();
    else otherwise();
    return;
  }
  const thenList = ctx.branch(then);
  const elseList = ctx.branch(otherwise);
  if (thenList.length > 0 || elseList.length > 0) ctx.emit({ k: 'if', cond, then: thenList, else: elseList, pos });
}

/** An expression as a condition: JavaScript's truthiness, with `&&`, `||` and `!` evaluated lazily where that matters. */
export function condition(ctx: Evaluation, node: AnyNode, scope: Scope): TExpr {
  const pos = ctx.pos(node, scope);
  if (node.type === 'ParenthesizedExpression') return condition(ctx, node.expression, scope);
  if (node.type === 'UnaryExpression' && node.operator === '!') return not(condition(ctx, node.argument, scope), pos);
  if (node.type === 'LogicalExpression' && node.operator !== '??') {
    const fn = node.operator === '&&' ? 'and' : 'or';
    const a = condition(ctx, node.left, scope);
    if (isLiteral(a)) return Boolean(a.value) === (fn === 'and') ? condition(ctx, node.right, scope) : a;
    let b: TExpr | undefined;
    const list = ctx.branch(() => {
      b = condition(ctx, node.right, scope);
    });
    if (b === undefined) throw new Error('unreachable');
    if (list.length === 0 && isLiteral(b) && Boolean(b.value) === (fn === 'and')) return a;
    if (list.length === 0 && isCheap(b)) return { k: 'logic', fn, a, b, pos };
    const local = ctx.newLocal('%and', pos, false);
    ctx.emit({ k: 'assign', local, value: a, pos });
    const test = readLocal(local, pos);
    const body = [...list, { k: 'assign' as const, local, value: b, pos }];
    ctx.emit({ k: 'if', cond: fn === 'and' ? test : { k: 'not', a: test, pos }, then: body, else: [], pos });
    return readLocal(local, pos);
  }
  return truthOf(ctx, evaluate(ctx, node, scope), pos);
}

function truthOf(ctx: Evaluation, v: Value, pos: Pos): TExpr {
  if (isOptional(v) && !isAbsent(v)) {
    const there = not(absentTest(v, 'either', pos), pos);
    if (v.kind === 'complex') return { k: 'logic', fn: 'and', a: there, b: complexTruth(ctx, v, pos), pos };
    return v.kind === 'scalar' ? { k: 'logic', fn: 'and', a: there, b: truth(v.expr), pos } : there;
  }
  if (v.kind === 'host') return literal(Boolean(v.value), pos);
  if (isVector(v)) return truth(ctx.scalar(v, pos, 'a condition'));
  if (v.kind === 'scalar') return truth(v.expr);
  if (v.kind === 'complex') return complexTruth(ctx, v, pos);
  if (v.kind === 'view' && textType(v) !== undefined) return textTruth(ctx, v, pos);
  if (v.kind === 'view' && v.view.axes.length === 0) return truth(ctx.scalar(v, pos));
  return literal(true, pos);
}

function identifier(ctx: Evaluation, name: string, scope: Scope, pos: Pos): Value {
  const binding = scope.find(name);
  if (binding !== undefined) {
    refuseAhead(binding, pos);
    return readVariable(ctx, binding, pos);
  }
  if (name === 'undefined') return UNDEFINED;
  if (name === 'arguments')
    return fail('K101', pos, '`arguments` cannot be used in a kernel', { help: 'name the parameters' });
  return fromHost(ctx, scope.captured.lookup(name, pos), name, pos);
}

function thisValue(ctx: Evaluation, scope: Scope, pos: Pos): Value {
  const binding = scope.find('this');
  if (binding === undefined) {
    return fail('K006', pos, 'a kernel uses this, which has no meaning there', {
      help: 'read what you need into a variable outside the kernel (const gain = this.gain, or const self = this) and use that, or pass it as an argument',
    });
  }
  if (binding.value === undefined) {
    return fail('K301', pos, '`this` is undefined in a function that is not called as a method', {
      help: 'call it as a method, o.f(), write an arrow function, or capture the value in a variable outside',
    });
  }
  return readVariable(ctx, binding, pos);
}

function unary(ctx: Evaluation, node: UnaryExpression, scope: Scope, pos: Pos): Value {
  switch (node.operator) {
    case '!':
      return scalar(not(condition(ctx, node.argument, scope), pos));
    case 'void':
      discard(ctx, node.argument, scope);
      return UNDEFINED;
    case 'typeof':
      return typeOf(ctx, evaluate(ctx, node.argument, scope), pos);
    case 'delete':
      return fail('K101', pos, '`delete` cannot be used in a kernel', {
        help: 'elements and fields cannot be deleted: store 0, or use a separate variable',
      });
    default: {
      const value = evaluate(ctx, node.argument, scope);
      const z = asComplex(value);
      if (z !== undefined && node.operator === '-') return negated(z, pos);
      if (z !== undefined && node.operator === '+') return z;
      if (isTime(value)) return timeUnary(ctx, node.operator, value, pos);
      if (isVector(value)) return vectorUnary(ctx, node.operator, value, pos);
      const a = ctx.scalar(value, pos);
      if (node.operator === '-') return scalar(negate(a, pos));
      if (node.operator === '+') {
        return scalar(
          isLiteral(a) && typeof a.value !== 'bigint' ? literal(Number(a.value), pos) : { k: 'plus', a, pos },
        );
      }
      return scalar(bitnot(a, pos));
    }
  }
}

function binary(ctx: Evaluation, node: BinaryExpression, scope: Scope, pos: Pos): Value {
  const { left, operator } = node;
  if (left.type === 'PrivateIdentifier') return hasPrivate(ctx, left.name, node.right, scope, pos);
  const type = typeTest(node);
  if (type !== undefined) {
    const value = evaluate(ctx, type.operand, scope);
    const is = type.text === 'undefined' ? askAbsent(value, 'undefined', pos) : hasType(ctx, value, type.text, pos);
    return scalar(type.is ? is : not(is, pos));
  }
  const [a, b] = ctx.sequence([() => evaluate(ctx, left, scope), () => evaluate(ctx, node.right, scope)]);
  if (operator === 'in') return isIn(ctx, a, b, pos);
  return operator === 'instanceof' ? isInstance(ctx, a, b, pos) : applyBinary(ctx, operator, a, b, pos);
}

function isBoolean(e: TExpr): boolean {
  return (
    e.k === 'compare' ||
    e.k === 'logic' ||
    e.k === 'not' ||
    e.k === 'truth' ||
    e.k === 'test' ||
    e.k === 'absent' ||
    (e.k === 'lit' && typeof e.value === 'boolean')
  );
}

function logical(ctx: Evaluation, node: LogicalExpression, scope: Scope, pos: Pos): Value {
  const left = evaluate(ctx, node.left, scope);
  if (node.operator === '??') return otherwise(ctx, left, () => evaluate(ctx, node.right, scope), pos);
  const cond = truthOf(ctx, left, pos);
  const takeRight = node.operator === '&&';
  if (isLiteral(cond)) return Boolean(cond.value) === takeRight ? evaluate(ctx, node.right, scope) : left;
  if (isOptional(left)) {
    const held = ctx.holdValue(left);
    const right = (): Value => evaluate(ctx, node.right, scope);
    const there = truthOf(ctx, held, pos);
    return takeRight ? ctx.choose(there, right, () => held, pos) : ctx.choose(there, () => held, right, pos);
  }
  if (left.kind !== 'scalar' && left.kind !== 'complex') return takeRight ? evaluate(ctx, node.right, scope) : left;
  if (left.kind === 'scalar' && isBoolean(left.expr)) {
    let right: Value | undefined;
    const list = ctx.branch(() => {
      right = evaluate(ctx, node.right, scope);
    });
    if (list.length === 0 && right?.kind === 'scalar' && isBoolean(right.expr) && isCheap(right.expr)) {
      return scalar({ k: 'logic', fn: takeRight ? 'and' : 'or', a: left.expr, b: right.expr, pos });
    }
  }
  const held: Value =
    left.kind === 'complex' ? ctx.holdValue(left) : scalar(isLiteral(left.expr) ? left.expr : ctx.temp(left.expr));
  const test = truthOf(ctx, held, pos);
  const right = (): Value => evaluate(ctx, node.right, scope);
  return takeRight ? ctx.choose(test, right, () => held, pos) : ctx.choose(test, () => held, right, pos);
}

/** `left ?? right`. */
function otherwise(ctx: Evaluation, left: Value, right: () => Value, pos: Pos): Value {
  const absent = askAbsent(left, 'either', pos);
  if (isLiteral(absent)) return absent.value ? right() : left;
  const held = ctx.holdValue(left);
  return ctx.choose(absentTest(held, 'either', pos), right, () => held, pos);
}

/** `a?.b.c`: nothing where `a` is nothing, else what the chain says. */
function chain(ctx: Evaluation, node: ChainExpression, scope: Scope, pos: Pos): Value {
  const start = firstOptional(ctx, node.expression);
  if (start === undefined) return evaluate(ctx, node.expression, scope);
  const object = ctx.holdValue(evaluate(ctx, start, scope));
  const rest = (): Value => {
    ctx.pinned.set(start, object);
    try {
      return chain(ctx, node, scope, pos);
    } finally {
      ctx.pinned.delete(start);
    }
  };
  if (isAbsent(object)) return UNDEFINED;
  return isOptional(object) ? ctx.choose(absentTest(object, 'either', pos), () => UNDEFINED, rest, pos) : rest();
}

/** What stands before the first `?.` of a chain whose answer is not known yet. */
function firstOptional(ctx: Evaluation, node: AnyNode): AnyNode | undefined {
  if (node.type !== 'MemberExpression' && node.type !== 'CallExpression') return undefined;
  const start = node.type === 'MemberExpression' ? node.object : node.callee;
  return firstOptional(ctx, start) ?? (node.optional && !ctx.pinned.has(start) ? start : undefined);
}

function conditional(ctx: Evaluation, node: ConditionalExpression, scope: Scope, pos: Pos): Value {
  const cond = condition(ctx, node.test, scope);
  return ctx.choose(
    cond,
    () => evaluate(ctx, node.consequent, scope),
    () => evaluate(ctx, node.alternate, scope),
    pos,
  );
}

function syntaxName(type: string): string {
  const names: Readonly<Record<string, string>> = {
    AwaitExpression: '`await`',
    YieldExpression: '`yield`',
    TaggedTemplateExpression: 'a tagged template',
    ImportExpression: '`import()`',
    MetaProperty: '`new.target` or `import.meta`',
    Super: '`super`',
  };
  return names[type] ?? type;
}

function syntaxHelp(type: string): string | undefined {
  switch (type) {
    case 'AwaitExpression':
      return 'a kernel runs to its end; wait on the host: await stream.done()';
    default:
      return undefined;
  }
}
