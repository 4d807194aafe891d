/**
 * Assignment: to names, to elements of arrays, to patterns; compound assignment and `++`.
 */
import type { AnyNode, AssignmentExpression, MemberExpression, Pattern, UpdateExpression } from 'acorn';
import type { Pos } from '../source.ts';
import type { TExpr, TMem } from '../types/tree.ts';
import { arith, not } from './arithmetic.ts';
import { markStored, storeToSite } from './array-choices.ts';
import { storeTo } from './array-sites.ts';
import { elementValue } from './arrays.ts';
import { complex, refuseComplex } from './complex.ts';
import { fail } from './diagnostics.ts';
import { spread } from './elements.ts';
import type { Evaluation } from './evaluation.ts';
import { fieldName } from './field-names.ts';
import { isStable } from './measures.ts';
import { memberOf, memberParts, noAxis } from './members.ts';
import { refuseAhead } from './names.ts';
import { isObject } from './object-slots.ts';
import { assignField, hasFields, makeObject, ownProperties, readField, settled, storeField } from './objects.ts';
import { applyBinary } from './operators.ts';
import { absentTest, askAbsent } from './optionals.ts';
import { isRecord } from './record-fields.ts';
import { assignWhole, detached, isSubArray, snapshot } from './records.ts';
import { storeComplex, writable } from './stores.ts';
import { textType } from './texts.ts';
import {
  type Binding,
  describeValue,
  isLiteral,
  isOptional,
  literal,
  type Scope,
  scalar,
  UNDEFINED,
  type Value,
  type View,
} from './values.ts';
import { isVector, vectorOfElement } from './vectors.ts';

/** The variable of a name that is assigned to. */
function target(name: string, scope: Scope, pos: Pos): Binding {
  const binding = scope.find(name);
  if (binding === undefined) {
    return fail('K313', pos, `${name} is captured from outside the kernel and cannot be assigned to`, {
      help: 'captured values are frozen at the first launch; pass an array and store to it',
    });
  }
  refuseAhead(binding, pos);
  if (binding.constant)
    return fail('K313', pos, `${name} is a constant and cannot be assigned to`, { help: `declare it with let` });
  return binding;
}

/** Where a store goes: a scalar in memory, both parts of a complex number, or a whole record or sub-array of one. */
type LValue = { readonly mem: TMem } | { readonly parts: readonly [TMem, TMem] } | { readonly whole: View };

type MemberParts = ReturnType<typeof memberParts>;

/** The field of an object that is assigned to; undefined for elements of arrays. */
function fieldTarget({ object, key }: MemberParts): { readonly object: Value; readonly name: string } | undefined {
  return hasFields(object) && typeof key !== 'object' ? { object, name: String(key) } : undefined;
}

/** The element of an array that `object[index]` or `object.member` names, as the target of a store. */
function lvalueOf(ctx: Evaluation, node: MemberExpression, { object, key, pos }: MemberParts): LValue {
  // The index is read by the ordinary rules; only the element it gives is not loaded.
  const value = memberOf(ctx, object, key, pos);
  if (value.kind === 'scalar' && value.expr.k === 'load') {
    storeTo(ctx, object);
    storeToSite(ctx.hints, value.expr.mem.root);
    return { mem: value.expr.mem };
  }
  if (value.kind === 'complex' && value.re.k === 'load' && value.im.k === 'load') {
    storeTo(ctx, object);
    storeToSite(ctx.hints, value.re.mem.root);
    return { parts: [value.re.mem, value.im.mem] };
  }
  if (isVector(value) && value.at !== undefined) {
    storeTo(ctx, object);
    storeToSite(ctx.hints, value.at.root);
    return { whole: value.at };
  }
  if (isRecord(value) || (value.kind === 'view' && (isSubArray(value.view) || textType(value) !== undefined)))
    return { whole: value.view };
  if (isVector(object)) {
    return fail('K240', pos, `a vector in a variable is a value: its lane ${memberName(node)} cannot be stored to`, {
      help: `make a new vector: v = ${object.type.name}(…)`,
    });
  }
  if (object.kind === 'complex') {
    return fail(
      'K240',
      pos,
      `a complex number in a variable is a value: its part ${memberName(node)} cannot be stored to`,
      {
        help: 'make a new number: z = c64(re, z.im)',
      },
    );
  }
  storeTo(ctx, object);
  if (!node.computed) {
    return fail('K240', pos, `cannot store to the property ${memberName(node)}`, {
      help: 'tuples and objects are values in a kernel: make a new one, or use cuda.local.array(shape, dtype)',
    });
  }
  if (value.kind === 'view') {
    const view = value.view;
    return fail(
      'K240',
      pos,
      `${view.name} has rank ${view.firstAxis + view.axes.length}: this names a part of it, not one element`,
      {
        help: `give all indices: ${view.name}${'[i]'.repeat(view.firstAxis + view.axes.length)}`,
      },
    );
  }
  return fail('K240', pos, 'cannot store to this: it is not an element of an array', {
    help:
      'tuples and objects are values in a kernel, JavaScript arrays given as arguments among them: pass a TypedArray or ' +
      'ndarray(…), or use cuda.local.array(shape, dtype)',
  });
}

/** As `lvalueOf`, where only one element will do: `++` and compound assignment. */
function elementTarget(ctx: Evaluation, node: MemberExpression, parts: MemberParts): Exclude<LValue, { whole: View }> {
  const lvalue = lvalueOf(ctx, node, parts);
  if (!('whole' in lvalue)) return lvalue;
  return refuseWhole(lvalue.whole, parts.pos);
}

/** Whether what is there is a value that operators take, or say why not. */
function isValue(view: View): boolean {
  return vectorOfElement(view.element) !== undefined || textType({ kind: 'view', view }) !== undefined;
}

function refuseWhole(view: View, pos: Pos): never {
  return fail('K240', pos, `${describeValue({ kind: 'view', view })} cannot be computed with as a whole`, {
    help: 'assign to its members or elements',
  });
}

function memberName(node: MemberExpression): string | undefined {
  return node.computed ? undefined : (node.property as { name?: string }).name;
}

/** The same memory with everything in its reference evaluated now. */
function holdMem(ctx: Evaluation, mem: TMem): TMem {
  const held = (e: TExpr): TExpr => (isStable(e) ? e : ctx.temp(e, '%index'));
  return {
    ...mem,
    which: mem.which && held(mem.which),
    index: held(mem.index),
    checks: mem.checks.map((c) => ({ ...c, index: held(c.index) })),
  };
}

/** What a reference is computed from, as a value that can be kept; `memFrom` puts it back. */
function memValue(mem: TMem): Value {
  const parts = [mem.index, ...mem.checks.map((c) => c.index)];
  return { kind: 'tuple', items: (mem.which === undefined ? parts : [...parts, mem.which]).map(scalar) };
}

function memFrom(mem: TMem, parts: Value): TMem {
  const items = parts.kind === 'tuple' ? parts.items.map((v) => (v.kind === 'scalar' ? v.expr : mem.index)) : [];
  return {
    ...mem,
    index: items[0] ?? mem.index,
    which: mem.which && items.at(-1),
    checks: mem.checks.map((c, k) => ({ ...c, index: items[k + 1] ?? c.index })),
  };
}

export function assignment(ctx: Evaluation, node: AssignmentExpression, scope: Scope, discarded: boolean): Value {
  const pos = ctx.pos(node, scope);
  const { left, operator } = node;
  if (operator === '&&=' || operator === '||=' || operator === '??=')
    return logicalAssignment(ctx, node, scope, pos, discarded);
  const op = operator.slice(0, -1);
  const compound = op === '' ? pos : { ...pos, assigns: assignedBy(node, op, scope) };
  if (left.type === 'Identifier') {
    const binding = target(left.name, scope, ctx.pos(left, scope));
    if (op === '') {
      ctx.assign(binding, ctx.parts.evaluate(ctx, node.right, scope), pos);
    } else {
      const [a, b] = ctx.sequence([
        () => ctx.parts.evaluate(ctx, left, scope),
        () => ctx.parts.evaluate(ctx, node.right, scope),
      ]);
      ctx.assign(binding, applyBinary(ctx, op, a, b, compound), pos);
    }
    return discarded ? UNDEFINED : ctx.parts.evaluate(ctx, left, scope);
  }
  if (left.type === 'MemberExpression') return storeElement(ctx, node, left, op, scope, compound, discarded);
  const given = ctx.parts.evaluate(ctx, node.right, scope);
  // Elements may trade places: [p[i], p[j]] = [p[j], p[i]].
  const value = ctx.holdValue(storesToMemory(left) ? detached(ctx, given, pos) : given);
  assignPattern(ctx, left, value, scope);
  return value;
}

/** `a += b` in the words of `a = a + b`. */
function assignedBy(node: AssignmentExpression, op: string, scope: Scope): Pos['assigns'] {
  const text = (n: AnyNode): string => scope.captured.source.text.slice(n.start, n.end);
  const right = /^(?:Binary|Conditional|Logical|Assignment|Sequence|Arrow)/.test(node.right.type)
    ? `(${text(node.right)})`
    : text(node.right);
  return { target: text(node.left), value: `${text(node.left)} ${op} ${right}` };
}

/** Whether a pattern has elements of arrays among its targets. */
function storesToMemory(pattern: Pattern): boolean {
  switch (pattern.type) {
    case 'MemberExpression':
      return true;
    case 'ArrayPattern':
      return pattern.elements.some((p) => p !== null && storesToMemory(p));
    case 'ObjectPattern':
      return pattern.properties.some((p) => storesToMemory(p.type === 'RestElement' ? p.argument : p.value));
    case 'AssignmentPattern':
      return storesToMemory(pattern.left);
    case 'RestElement':
      return storesToMemory(pattern.argument);
    default:
      return false;
  }
}

/** `a ||= b` is `if (!a) a = b`; `a &&= b` is `if (a) a = b`; `a ??= b` is `if (a == null) a = b`. */
function logicalAssignment(
  ctx: Evaluation,
  node: AssignmentExpression,
  scope: Scope,
  pos: Pos,
  discarded: boolean,
): Value {
  const cond =
    node.operator === '??='
      ? askAbsent(ctx.parts.evaluate(ctx, node.left, scope), 'either', pos)
      : ctx.parts.condition(ctx, node.left, scope);
  const test = node.operator === '||=' ? not(cond, pos) : cond;
  const assign = (): Value => assignment(ctx, { ...node, operator: '=' }, scope, true);
  if (node.operator === '??=' && isLiteral(test)) {
    if (test.value) assign();
  } else ctx.emit({ k: 'if', cond: test, then: ctx.branch(assign), else: [], pos });
  return discarded ? UNDEFINED : ctx.parts.evaluate(ctx, node.left, scope);
}

function storeElement(
  ctx: Evaluation,
  node: AssignmentExpression,
  left: MemberExpression,
  op: string,
  scope: Scope,
  pos: Pos,
  discarded: boolean,
): Value {
  const parts = memberParts(ctx, left, scope);
  const field = fieldTarget(parts);
  if (field !== undefined) {
    const combine = (old: Value, right: Value): Value => applyBinary(ctx, op, old, right, pos);
    return storeField(ctx, field.object, field.name, node, scope, pos, op === '' ? undefined : combine);
  }
  let target: LValue | undefined;
  // Target first, then the value, as JavaScript does.
  const [lvalue, right] = ctx.sequence([
    () => {
      target = lvalueOf(ctx, left, parts);
      if (op !== '' && 'whole' in target && !isValue(target.whole)) refuseWhole(target.whole, parts.pos);
      if ('parts' in target) return memValue(target.parts[0]);
      return 'mem' in target ? memValue(target.mem) : { kind: 'view', view: target.whole };
    },
    () => ctx.parts.evaluate(ctx, node.right, scope),
  ]);
  if (target === undefined) throw new Error('unreachable');
  if ('whole' in target) {
    markStored(target.whole.root, pos);
    if (op !== '' && lvalue.kind === 'view') {
      const value = applyBinary(ctx, op, elementValue(lvalue.view, pos), right, pos);
      assignWhole(ctx, lvalue.view, value, pos);
      return value;
    }
    // What is assigned to is a place in the array, not the object that is there.
    if (lvalue.kind === 'view') assignWhole(ctx, { ...lvalue.view, via: target.whole.via }, right, pos);
    return right;
  }
  if ('parts' in target) {
    const [re, im] = target.parts.map((mem) => holdMem(ctx, memFrom(mem, lvalue)));
    if (re === undefined || im === undefined) throw new Error('unreachable');
    const old = (mem: TMem): TExpr => ({ k: 'load', mem, pos: ctx.pos(left, scope) });
    const value = op === '' ? right : applyBinary(ctx, op, complex(old(re), old(im)), right, pos);
    return storeComplex(ctx, [re, im], value, pos);
  }
  const mem = memFrom(target.mem, lvalue);
  writable(mem, pos);
  if (op === '') {
    let value = ctx.scalar(right, ctx.pos(node.right, scope));
    if (!discarded && !isStable(value)) value = ctx.temp(value);
    ctx.emit({ k: 'store', mem, value, pos });
    return scalar(value);
  }
  const held = holdMem(ctx, mem);
  let value = ctx.scalar(
    applyBinary(ctx, op, scalar({ k: 'load', mem: held, pos: ctx.pos(left, scope) }), right, pos),
    pos,
  );
  if (!discarded) value = ctx.temp(value);
  ctx.emit({ k: 'store', mem: held, value, pos });
  return scalar(value);
}

/** `[a, b] = value`, `{ x, y } = value`, with targets of any kind. */
export function assignPattern(ctx: Evaluation, pattern: Pattern, value: Value, scope: Scope): void {
  destructure(ctx, pattern, value, scope, (node, v) => {
    const pos = ctx.pos(node, scope);
    if (node.type === 'Identifier') ctx.assign(target(node.name, scope, pos), v, pos);
    else if (node.type === 'MemberExpression') {
      const parts = memberParts(ctx, node, scope);
      const field = fieldTarget(parts);
      if (field !== undefined) return assignField(ctx, field.object, field.name, v, pos);
      const lvalue = lvalueOf(ctx, node, parts);
      if ('whole' in lvalue) {
        markStored(lvalue.whole.root, pos);
        assignWhole(ctx, lvalue.whole, v, pos);
      } else if ('parts' in lvalue) storeComplex(ctx, lvalue.parts, v, pos);
      else ctx.emit({ k: 'store', mem: writable(lvalue.mem, pos), value: ctx.scalar(v, pos), pos });
    } else fail('K101', pos, 'this pattern cannot be used in a kernel');
  });
}

/** Whether an object has no such field or accessor. */
function lacks(v: Value, key: string): boolean {
  if (!isObject(v)) return v.kind === 'host' && typeof v.value === 'object' && v.value !== null && !(key in v.value);
  const [fields, type] = v.kind === 'record' ? [v.fields, v.type] : [v.object.fields, v.object.type];
  return !fields.has(key) && type?.getters.has(key) !== true && type?.methods.has(key) !== true;
}

/** What `[…, ...rest]` names: the items from number `from` on, or a copy of an array's elements, as many as are known. */
function restOf(ctx: Evaluation, value: Value, from: number, pos: Pos): Value {
  if (value.kind === 'tuple') return { kind: 'tuple', items: value.items.slice(from) };
  const rest = spread(ctx, value, pos, from);
  if (rest.kind === 'tuple') return rest;
  return fail('K222', pos, `only a tuple or a few elements can have a rest, not ${describeValue(value)}`, {
    help:
      value.kind === 'view'
        ? `take as many as you need: ${value.view.name}.slice([0, ${from + 3}]), or write a loop`
        : undefined,
  });
}

/** Takes a value apart by a pattern and hands each part to `bind`. */
export function destructure(
  ctx: Evaluation,
  pattern: Pattern,
  value: Value,
  scope: Scope,
  bind: (node: Pattern, value: Value) => void,
): void {
  const pos = ctx.pos(pattern, scope);
  switch (pattern.type) {
    case 'ArrayPattern':
      pattern.elements.forEach((p, k) => {
        if (p === null) return;
        if (p.type === 'RestElement') {
          return destructure(ctx, p.argument, restOf(ctx, value, k, pos), scope, bind);
        }
        const part =
          value.kind === 'view'
            ? memberOf(ctx, value, literal(k, pos), pos)
            : value.kind === 'tuple'
              ? (value.items[k] ??
                (value.axesOf === undefined ? UNDEFINED : noAxis(value.axesOf, value.items.length, k, pos)))
              : fail('K222', pos, `cannot take ${describeValue(value)} apart as a tuple`, {
                  help: value.kind === 'scalar' ? 'it is one number: leave out the brackets' : undefined,
                });
        destructure(ctx, p, part, scope, bind);
      });
      return;
    case 'ObjectPattern': {
      const taken = new Set<string>();
      for (const p of pattern.properties) {
        const at = ctx.pos(p, scope);
        if (p.type === 'RestElement') {
          const whole = isRecord(value) ? snapshot(ctx, value.view, at) : settled(ctx, value, at);
          if (whole.kind !== 'record')
            return fail('K222', at, `only an object can have a rest, not ${describeValue(value)}`);
          const rest = new Map([...ownProperties(ctx, whole, at)].filter(([name]) => !taken.has(name)));
          destructure(ctx, p.argument, makeObject(ctx, rest, undefined, at), scope, bind);
        } else if (p.computed) {
          fail('K101', at, 'only named fields can be taken from an object in a kernel');
        } else {
          const key = fieldName(p.key);
          taken.add(key);
          // A missing field with a default is undefined, as in JavaScript.
          const missing = p.value.type === 'AssignmentPattern' && lacks(value, key);
          destructure(ctx, p.value, missing ? UNDEFINED : memberOf(ctx, value, key, at), scope, bind);
        }
      }
      return;
    }
    case 'AssignmentPattern': {
      const given = isOptional(value) ? ctx.holdValue(value) : value;
      const part = ctx.choose(
        absentTest(given, 'undefined', pos),
        () => ctx.parts.evaluate(ctx, pattern.right, scope),
        () => given,
        pos,
      );
      destructure(ctx, pattern.left, part, scope, bind);
      return;
    }
    case 'RestElement':
      return fail('K101', pos, 'a rest element cannot be used here');
    default:
      bind(pattern, value);
  }
}

export function update(ctx: Evaluation, node: UpdateExpression, scope: Scope, discarded: boolean): Value {
  const pos = ctx.pos(node, scope);
  const fn = node.operator === '++' ? 'add' : 'sub';
  const one = literal(1, pos);
  if (node.argument.type === 'Identifier') {
    const binding = target(node.argument.name, scope, pos);
    const old = ctx.scalar(ctx.parts.evaluate(ctx, node.argument, scope), pos);
    if (discarded || node.prefix) {
      ctx.assign(binding, scalar(arith(fn, old, one, pos)), pos);
      return discarded ? UNDEFINED : ctx.parts.evaluate(ctx, node.argument, scope);
    }
    const before = isLiteral(old) ? old : ctx.temp(old);
    ctx.assign(binding, scalar(arith(fn, before, one, pos)), pos);
    return scalar(before);
  }
  if (node.argument.type !== 'MemberExpression') return fail('K101', pos, 'this cannot be incremented in a kernel');
  const parts = memberParts(ctx, node.argument, scope);
  const field = fieldTarget(parts);
  if (field !== undefined && isObject(field.object)) {
    const old = ctx.scalar(readField(ctx, field.object, field.name, pos), pos);
    const before = isLiteral(old) ? old : ctx.temp(old);
    const after = discarded ? arith(fn, before, one, pos) : ctx.hold(arith(fn, before, one, pos));
    assignField(ctx, field.object, field.name, scalar(after), pos);
    return scalar(node.prefix ? after : before);
  }
  const place = elementTarget(ctx, node.argument, parts);
  if ('parts' in place) return refuseComplex('a number that can be counted', pos);
  const mem = writable(holdMem(ctx, place.mem), pos);
  const before = ctx.temp({ k: 'load', mem, pos });
  const after = arith(fn, before, one, pos);
  ctx.emit({ k: 'store', mem, value: after, pos });
  return scalar(node.prefix ? after : before);
}
