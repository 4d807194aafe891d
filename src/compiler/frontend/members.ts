/**
 * Members: properties of arrays, tuples, records and host objects, and what a captured host value is in a kernel.
 */
import type { AnyNode, MemberExpression } from 'acorn';
import { type VectorToken, vectorTypeOf } from '../../dtype/index.ts';
import { dtypeOfElement } from '../elements.ts';
import { intrinsicName } from '../intrinsics.ts';
import type { ElemType, Special } from '../ir/ops.ts';
import type { Pos } from '../source.ts';
import type { TExpr } from '../types/tree.ts';
import { refuseUndefined } from './absence.ts';
import { mulIndex } from './arithmetic.ts';
import { Unfilled } from './array-makers.ts';
import { indexTuple } from './array-sites.ts';
import { capturedView, indexView, viewSize, viewValue } from './arrays.ts';
import { paired } from './complex.ts';
import { fail } from './diagnostics.ts';
import type { Evaluation } from './evaluation.ts';
import { isKnownText, knownTextMember } from './known-texts.ts';
import { readField } from './objects.ts';
import { supposedMember } from './partial-variables.ts';
import { isMember, isRecord, member } from './record-fields.ts';
import { didYouMean } from './suggest.ts';
import { textMember, textType } from './texts.ts';
import { hostDate } from './times.ts';
import {
  describeValue,
  hostIdentity,
  isAbsent,
  isLiteral,
  literal,
  type Scope,
  scalar,
  type Value,
  type View,
} from './values.ts';
import { laneValue, vectorOf } from './vectors.ts';

/** A value of the host as the kernel sees it: numbers are literals, arrays constant memory, functions device functions. */
export function fromHost(ctx: Evaluation, value: unknown, name: string, pos: Pos): Value {
  switch (typeof value) {
    case 'number':
    case 'bigint':
    case 'boolean':
      return scalar(literal(value, pos));
    case 'object': {
      if (value === null) break;
      const special = intrinsicName(value);
      if (special === 'laneId' || special === 'warpSize') return scalar({ k: 'special', name: special, pos });
      if (special !== undefined) break;
      if (Array.isArray(value))
        return {
          kind: 'tuple',
          items: value.map((v, k) => fromHost(ctx, v, `${name}[${k}]`, pos)),
          site: value,
          identity: hostIdentity(value),
        };
      if (value instanceof Date) return hostDate(value, pos);
      const view = capturedView(ctx, value, name, pos);
      if (view !== undefined) return { kind: 'view', view };
      const vector = vectorTypeOf(value);
      if (vector !== undefined) return hostVector(vector, value, pos);
      const { re, im } = value as { re?: unknown; im?: unknown };
      if (typeof re === 'number' && typeof im === 'number' && Object.keys(value).length === 2)
        return paired(literal(re, pos), literal(im, pos));
      break;
    }
    default:
      break;
  }
  return { kind: 'host', value, name };
}

/** A captured vector: its lanes as they are now. */
function hostVector(type: VectorToken<unknown>, value: object, pos: Pos): Value {
  const to = type.lane.name as ElemType;
  const lanes = type.fields.map(({ name }): TExpr => {
    const lane = (value as Readonly<Record<string, number | bigint>>)[name] ?? 0;
    return { k: 'cast', to, a: literal(lane, pos), pos };
  });
  return vectorOf(type, lanes);
}

/** The name of a member that is known at compile time, or undefined. */
function staticKey(ctx: Evaluation, node: MemberExpression, scope: Scope): string | number | TExpr {
  if (!node.computed) {
    if (node.property.type === 'PrivateIdentifier') return `#${node.property.name}`;
    return (node.property as { name: string }).name;
  }
  commaIndex(ctx, node, scope);
  const v = ctx.parts.evaluate(ctx, node.property, scope);
  if (v.kind === 'host' && typeof v.value === 'string') return v.value;
  return ctx.scalar(v, ctx.pos(node.property, scope), 'an index');
}

function mentionsEffect(node: AnyNode): boolean {
  return /Assignment|Update|Call/.test(node.type);
}

/** `A[i, j]` is the comma operator: it reads A[j], which nobody means. */
function commaIndex(ctx: Evaluation, node: MemberExpression, scope: Scope): void {
  const p = node.property;
  if (p.type !== 'SequenceExpression' || p.expressions.slice(0, -1).some(mentionsEffect)) return;
  const text = (n: AnyNode): string => scope.captured.source.text.slice(n.start, n.end);
  const parts = p.expressions.map((e) => `[${text(e)}]`).join('');
  fail(
    'K238',
    ctx.pos(node, scope),
    `${text(node)} is JavaScript's comma operator: it means ${text(node.object)}[${text(p.expressions.at(-1) ?? p)}]`,
    {
      help: `write ${text(node.object)}${parts}`,
    },
  );
}

export function memberExpression(ctx: Evaluation, node: MemberExpression, scope: Scope): Value {
  const { object, key, pos } = memberParts(ctx, node, scope);
  return memberOf(ctx, object, key, pos);
}

/** What stands on both sides of the dot, in the order of evaluation. */
export function memberParts(
  ctx: Evaluation,
  node: MemberExpression,
  scope: Scope,
): { readonly object: Value; readonly key: string | number | TExpr; readonly pos: Pos } {
  const pos = ctx.pos(node, scope);
  if (node.object.type === 'Super') return fail('K101', pos, '`super` cannot be used in a kernel');
  const objectNode = node.object;
  let key: string | number | TExpr = '';
  const [object] = ctx.sequence([
    () => ctx.parts.evaluate(ctx, objectNode, scope),
    () => {
      key = staticKey(ctx, node, scope);
      return typeof key === 'object' ? scalar(key) : { kind: 'host', value: key, name: '' };
    },
  ]);
  return { object, key, pos };
}

/** `object.key` or `object[key]`. */
export function memberOf(ctx: Evaluation, object: Value, key: string | number | TExpr, pos: Pos): Value {
  if (typeof key === 'object' && isLiteral(key) && typeof key.value === 'number' && object.kind !== 'view')
    key = key.value;
  switch (object.kind) {
    case 'view':
      if (textType(object) !== undefined) return textMember(ctx, object, key, pos);
      if (isRecord(object)) {
        if (typeof key !== 'object') return member(object.view, String(key), pos);
        return fail('K233', pos, `an element of ${object.view.name} is a record: it has members, not indices`, {
          help: 'name the member, as in p[i].x',
        });
      }
      return typeof key === 'object'
        ? viewValue(indexView(ctx, object.view, key, pos), pos)
        : viewProperty(object.view, String(key), pos);
    case 'tuple': {
      if (key === 'length') return scalar(literal(object.items.length, pos));
      if (typeof key === 'object')
        return indexTuple(ctx, { ...object, items: object.items.map((v) => asRecord(ctx, v, pos)) }, key, pos);
      const item = object.items[Number(key)];
      if (item === undefined) {
        if (Number.isNaN(Number(key))) {
          return fail('K235', pos, `a JavaScript array has no ${String(key)} in a kernel`, {
            help: /^(?:shape|strides|size|ndim|T|slice|get|field)$/.test(String(key))
              ? 'give the kernel an array: a TypedArray, ndarray([[1, 2], [3, 4]]), or cuda.toDevice of either'
              : /^(?:push|pop|shift|unshift|splice|concat|flat|flatMap)$/.test(String(key))
                ? 'an array keeps its length there: make one that is long enough, new Array(16).fill(0), and count its elements in a variable: v[n++] = x'
                : 'write a loop',
          });
        }
        if (object.axesOf !== undefined) return noAxis(object.axesOf, object.items.length, Number(key), pos);
        return fail('K235', pos, `a tuple of ${object.items.length} has no element ${String(key)}`);
      }
      return item;
    }
    case 'complex': {
      if (key === 're' || key === 'im') return scalar(object[key]);
      return fail('K312', pos, `a complex number has no ${typeof key === 'object' ? 'indices' : `member ${key}`}`, {
        help: 'it has re and im',
      });
    }
    case 'vector':
      return laneValue(object, typeof key === 'object' ? '[…]' : String(key), pos);
    case 'record':
    case 'object':
      if (typeof key !== 'object') return readField(ctx, object, String(key), pos);
      return fail('K312', pos, `${describeValue(object)} has named fields, and cannot be indexed by a variable`, {
        help: 'use a switch, or cuda.local.array(shape, dtype)',
      });
    case 'class': {
      const member = typeof key === 'object' ? undefined : object.type.statics.get(String(key));
      if (member !== undefined) return member;
      return fail('K312', pos, `${describeValue(object)} has no static member ${typeof key === 'object' ? '' : key}`, {
        help: didYouMean(String(key), [...object.type.statics.keys()]),
      });
    }
    case 'host':
      return hostMember(ctx, object, key, pos);
    case 'scalar': {
      // To the checker any number has these: of a real one they are itself and 0.
      if (key === 're') return object;
      if (key === 'im') return scalar(literal(0, pos));
      const text =
        typeof key !== 'string' ? 'a number cannot be indexed' : `a number has no property ${key} in a kernel`;
      const help = typeof key !== 'string' ? 'the array has fewer axes than there are indices' : NUMBER_METHODS[key];
      return supposedMember(ctx, object, pos, () => fail('K223', pos, text, { help }));
    }
    case 'function':
    case 'functions':
      return fail('K223', pos, `${describeValue(object)} has no properties in a kernel`);
  }
}

/** What to do instead of methods that make text of a number. */
const NUMBER_METHODS: Readonly<Record<string, string>> = Object.fromEntries(
  ['toFixed', 'toPrecision', 'toExponential', 'toString', 'toLocaleString'].map((name) => [
    name,
    `text is made on the host: store the number in an array, and call ${name} on the result of copyToHost; to round to two digits here: Math.round(x * 100) / 100; console.log prints numbers in a kernel`,
  ]),
);

/** A plain object of the host as a record; other values as they are. */
function asRecord(ctx: Evaluation, v: Value, pos: Pos): Value {
  if (v.kind !== 'host' || typeof v.value !== 'object' || v.value === null) return v;
  if (Object.getPrototypeOf(v.value) !== Object.prototype) return v;
  const fields = Object.entries(v.value).map(([key, field]): [string, Value] => [
    key,
    asRecord(ctx, fromHost(ctx, field, `${v.name}.${key}`, pos), pos),
  ]);
  return { kind: 'record', fields: new Map(fields) };
}

/** A length or stride of an axis that the array does not have: it was meant to be of another rank. */
export function noAxis(name: string, rank: number, axis: number, pos: Pos): never {
  return fail('K235', pos, `${name} has rank ${rank} in this launch: there is no axis ${axis}`, {
    help: `pass an array of rank ${axis + 1}: array.reshape(…), or ndarray(data, { shape: […] })`,
  });
}

function viewProperty(view: View, key: string, pos: Pos): Value {
  switch (key) {
    case 'length': {
      const axis = view.axes[0];
      if (axis === undefined)
        return fail('K223', pos, `${view.name} is 0-d: it has no length`, { help: 'read its element with .get()' });
      return scalar(axis.extent);
    }
    case 'shape':
      return { kind: 'tuple', items: view.axes.map((a) => scalar(a.extent)), axesOf: view.name };
    case 'strides':
      return {
        kind: 'tuple',
        items: view.axes.map((a) => scalar(mulIndex(a.stride, literal(view.unit, pos), pos))),
        axesOf: view.name,
      };
    case 'size':
      return scalar(viewSize(view, pos));
    case 'ndim':
      return scalar(literal(view.axes.length, pos));
    case 'dtype':
      return { kind: 'host', value: dtypeOfElement(view.element), name: `${view.name}.dtype` };
    case 'T':
      return { kind: 'view', view: { ...view, axes: [...view.axes].reverse() } };
    default:
      return fail('K223', pos, `arrays have no property ${key} in a kernel`, {
        help: isMember(view, key)
          ? `it is a member of each element: ${view.name}${'[i]'.repeat(view.axes.length)}.${key}; of all of them: ${view.name}.field('${key}')`
          : 'they have length, shape, strides, size, ndim, dtype, T, slice(…), reshape(…), view(…) and get(…)',
      });
  }
}

function hostMember(
  ctx: Evaluation,
  object: Extract<Value, { kind: 'host' }>,
  key: string | number | TExpr,
  pos: Pos,
): Value {
  const { value, name } = object;
  const intrinsic = intrinsicName(value);
  if (value instanceof Unfilled && key !== 'length')
    return fail('K311', pos, 'new Array(n) has no values yet', { help: 'write new Array(n).fill(0)' });
  if (isKnownText(object)) return knownTextMember(object, key, pos);
  if (typeof key === 'object')
    return fail('K223', pos, `${describeValue(object)} cannot be indexed by a variable in a kernel`, {
      help: 'an array can be; of few keys, a switch gives the value of each',
    });
  if (intrinsic !== undefined) {
    if (/^(threadIdx|blockIdx|blockDim|gridDim)$/.test(intrinsic) && /^[xyz]$/.test(String(key))) {
      return scalar({ k: 'special', name: `${intrinsic}.${key}` as Special, pos });
    }
    return fail('K312', pos, `${intrinsic} has no member ${key}`, {
      help: /Idx$|Dim$/.test(intrinsic) ? 'it has x, y and z' : undefined,
    });
  }
  if (typeof key === 'string' && key.startsWith('#')) {
    return fail('K101', pos, `${name}.${key} is private, and cannot be read from a captured object`, {
      help: 'declare it with the word private instead, or pass the value',
    });
  }
  if (object.why !== undefined && isAbsent(object)) return refuseUndefined(name, pos, object.why);
  if (value === undefined || value === null) {
    return fail('K312', pos, `${name} is ${String(value)}: it has no property ${key}`, {
      help: 'was it initialised before the first launch?',
    });
  }
  if ((typeof value !== 'object' && typeof value !== 'function') || !(key in value)) {
    const names = typeof value === 'object' && !ArrayBuffer.isView(value) ? Object.getOwnPropertyNames(value) : [];
    const text = `${name} has no property ${key}`;
    const few = intrinsicName(value) === undefined && names.length > 0 && names.length <= 24;
    const help =
      value instanceof Promise
        ? `${name} is a Promise: await it first`
        : (didYouMean(String(key), names) ?? (few ? `it has ${names.join(', ')}` : undefined));
    // An optional property of settings may be asked for.
    if (
      typeof value === 'object' &&
      Object.getPrototypeOf(value) === Object.prototype &&
      !(Symbol.toStringTag in value)
    )
      return {
        kind: 'host',
        value: undefined,
        name: `${name}.${key}`,
        why: { text, pos, error: { code: 'K312', help } },
      };
    return fail('K312', pos, text, { help });
  }
  return fromHost(ctx, (value as Record<string | number, unknown>)[key], `${name}.${key}`, pos);
}
