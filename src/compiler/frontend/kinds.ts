/**
 * What JavaScript asks about values while the program runs and a kernel knows while it is compiled: `typeof`, `in`, `instanceof`, the keys of
 * objects, and which values are numbers at all.
 */
import type { AnyNode, BinaryExpression } from 'acorn';
import type { Pos } from '../source.ts';
import type { Local, TExpr, TMem } from '../types/tree.ts';
import { compare } from './arithmetic.ts';
import { fail } from './diagnostics.ts';
import type { Evaluation } from './evaluation.ts';
import { ownProperties } from './objects.ts';
import { absentTest } from './optionals.ts';
import { fieldNames, isRecord, member } from './record-fields.ts';
import { lengthOf } from './sequences.ts';
import type { Given, Kind } from './statement-writer.ts';
import { textType } from './texts.ts';
import { isTime } from './times.ts';
import { describeValue, isAbsent, isLiteral, isOptional, literal, type Scope, scalar, type Value } from './values.ts';

/** What `typeof` says of a scalar. */
export function kindOf(ctx: Evaluation, e: TExpr): Kind {
  return kindAmong(ctx, e, new Set()) ?? 'number';
}

/** The same, but for what it says of the variables in `asked`: undefined where that is all that there is. */
function kindAmong(ctx: Evaluation, e: TExpr, asked: ReadonlySet<Local>): Kind | undefined {
  switch (e.k) {
    case 'lit':
      return typeof e.value as Kind;
    case 'absent':
    case 'compare':
    case 'logic':
    case 'not':
    case 'truth':
    case 'test':
    case 'available':
      return 'boolean';
    case 'local':
      return kindOfGiven(ctx, e.local, asked);
    case 'arg':
      return e.arg.given === 'bigint' ? 'bigint' : e.arg.given === 'number' ? 'number' : kindOfType(e.arg.given);
    case 'load':
      return kindOfElement(ctx, e.mem, asked);
    case 'cast':
    case 'bitcast':
      return kindOfType(e.to);
    case 'select':
      return kindAmong(ctx, e.only === 'b' ? e.b : e.a, asked);
    case 'arith':
    case 'bits':
    case 'shift':
    case 'minmax':
    case 'abs':
    case 'neg':
    case 'bitnot':
      return kindAmong(ctx, e.a, asked) === 'bigint' ? 'bigint' : 'number';
    case 'like':
    case 'uniform':
      return kindAmong(ctx, e.a, asked);
    default:
      return 'number';
  }
}

function kindOfType(type: string): Kind {
  return type === 'bool' ? 'boolean' : type === 'i64' || type === 'u64' ? 'bigint' : 'number';
}

/** Of a variable: it is what it is given first, but for what it has itself: `a = b; b = a`. */
function kindOfGiven(ctx: Evaluation, local: Local, asked: ReadonlySet<Local>): Kind | undefined {
  if (asked.has(local)) return undefined;
  ctx.asked.add(local);
  const among = new Set(asked).add(local);
  for (const given of ctx.givenTo(local)) {
    const kind = kindOfResult(ctx, given, among);
    if (kind !== undefined) return kind;
  }
  return asked.size === 0 ? 'number' : undefined;
}

/** Refuses variables that are of one kind here and of another there, of which the program has asked what they are. */
export function refuseMixedKinds(ctx: Evaluation): void {
  for (const local of ctx.asked) {
    const among = new Set([local]);
    const kind = kindOfGiven(ctx, local, new Set());
    // What it has from itself is of any kind.
    const other = ctx.givenTo(local).find((given) => (kindOfResult(ctx, given, among) ?? kind) !== kind);
    if (other === undefined) continue;
    const name = local.name.startsWith('%') ? 'a value' : local.name;
    fail(
      'K231',
      other.pos,
      `${name} is a ${kind} first and a ${kindOfResult(ctx, other, among)} here, so its type is only known at run time`,
      {
        help: 'a variable keeps one kind of value where the kernel asks for it: use two variables',
      },
    );
  }
}

function kindOfResult(ctx: Evaluation, given: Given, asked: ReadonlySet<Local>): Kind | undefined {
  switch (given.k) {
    case 'barrier':
      return 'number';
    case 'atomic':
      return kindOfType(given.mem.elem);
    case 'warp': {
      const [value] = given.args;
      return given.fn.startsWith('shfl') && value !== undefined ? kindAmong(ctx, value, asked) : 'number';
    }
    case 'extern':
      return kindOfType(given.fn.result ?? 'f64');
    default:
      return kindAmong(ctx, given, asked);
  }
}

/** Elements of an array that the kernel made are those of its literal, or what is stored to it first. */
function kindOfElement(ctx: Evaluation, { root, elem, pos }: TMem, asked: ReadonlySet<Local>): Kind | undefined {
  if (root.open === undefined) return kindOfType(elem);
  const [first] = root.values ?? [];
  return first === undefined ? kindOfGiven(ctx, root.open.local, asked) : kindOf(ctx, literal(first, pos));
}

type TypeName = Kind | 'undefined' | 'object' | 'function' | 'string' | 'symbol';

/** `typeof v`, of what is there. */
function typeName(ctx: Evaluation, v: Value): TypeName {
  switch (v.kind) {
    case 'scalar':
      return kindOf(ctx, v.expr);
    case 'function':
    case 'functions':
    case 'class':
      return 'function';
    case 'host':
      return typeof v.value;
    case 'view':
      return textType(v) === undefined ? 'object' : 'string';
    case 'vector':
      return isTime(v) ? 'bigint' : 'object';
    default:
      return 'object';
  }
}

/** `typeof v`, a string known while compiling. */
export function typeOf(ctx: Evaluation, v: Value, pos: Pos): Value {
  if (isOptional(v) && !isAbsent(v)) {
    return fail('K319', pos, 'what typeof gives here is only known at run time: the value may be absent', {
      help: "compare it where it stands, typeof x === 'number', or ask x === undefined",
    });
  }
  return { kind: 'host', value: typeName(ctx, v), name: 'typeof' };
}

/** `typeof v === text`. */
export function hasType(ctx: Evaluation, v: Value, text: string, pos: Pos): TExpr {
  if (!isOptional(v) || isAbsent(v)) return literal(typeName(ctx, v) === text, pos);
  const there: TExpr = { k: 'not', a: absentTest(v, 'either', pos), pos };
  const isNull = absentTest(v, 'null', pos);
  if (typeName(ctx, v) === text) return text === 'object' ? { k: 'logic', fn: 'or', a: there, b: isNull, pos } : there;
  return text === 'object' ? isNull : literal(false, pos);
}

/** Names of what every array of a kernel has. */
const OF_VIEWS: ReadonlySet<string> = new Set(
  'length shape strides size ndim dtype T slice reshape view get set'.split(' '),
);

/** `key in object`. */
export function isIn(ctx: Evaluation, key: Value, object: Value, pos: Pos): Value {
  const v = ctx.parts.asObject(ctx, object, pos);
  const name = keyName(key);
  if (
    name === undefined &&
    key.kind === 'scalar' &&
    (v.kind === 'tuple' || (v.kind === 'view' && v.view.axes.length > 0))
  )
    return scalar(isInside(ctx.hold(key.expr), lengthOf(v as never, pos), pos));
  if (name === undefined) {
    return fail('K101', pos, 'the key before `in` must be known at compile time', {
      help: 'a kernel is compiled for objects with the fields that they have',
    });
  }
  return scalar(literal(hasKey(v, name, pos), pos));
}

/** The key as a string, where it is known while compiling. */
function keyName(key: Value): string | undefined {
  if (key.kind === 'host' && typeof key.value === 'string') return key.value;
  return key.kind === 'scalar' && isLiteral(key.expr) ? String(key.expr.value) : undefined;
}

function isInside(index: TExpr, length: TExpr, pos: Pos): TExpr {
  const low = compare('ge', index, literal(0, pos), pos);
  const high = compare('lt', index, length, pos);
  const whole: TExpr = { k: 'test', fn: 'isInteger', a: index, pos };
  return { k: 'logic', fn: 'and', a: whole, b: { k: 'logic', fn: 'and', a: low, b: high, pos }, pos };
}

function hasKey(v: Value, name: string, pos: Pos): boolean {
  switch (v.kind) {
    case 'record':
    case 'object': {
      const type = v.kind === 'record' ? v.type : v.object.type;
      if (v.kind === 'object' && v.object.fields.get(name)?.flag !== undefined) {
        return fail('K319', pos, `the field ${name} gets a value on some paths only`, {
          help: `give it a value on all paths, undefined if need be, and test o.${name} === undefined`,
        });
      }
      const own = v.kind === 'record' ? v.fields.has(name) : v.object.fields.has(name);
      const ofType = type?.methods.has(name) || type?.getters.has(name) || type?.setters.has(name);
      return own || ofType === true || name in Object.prototype;
    }
    case 'tuple':
      return isPlace(name, v.items.length) || name in Array.prototype;
    case 'view': {
      if (textType(v) !== undefined) break;
      if (isRecord(v)) return fieldNames(v.view).includes(name) || name in Object.prototype;
      const extent = v.view.axes[0]?.extent;
      if (extent !== undefined && /^\d+$/.test(name)) {
        if (isLiteral(extent)) return isPlace(name, Number(extent.value));
        break;
      }
      return OF_VIEWS.has(name) || name in Array.prototype;
    }
    case 'complex':
      return name === 're' || name === 'im';
    case 'vector':
      if (isTime(v)) break;
      return 'xyzw'.slice(0, v.lanes.length).includes(name) && name.length === 1;
    case 'class':
      return v.type.statics.has(name) || name in Function.prototype;
    case 'host':
      if ((typeof v.value === 'object' && v.value !== null) || typeof v.value === 'function') return name in v.value;
      break;
    default:
      break;
  }
  return fail('K101', pos, `\`in\` needs an object whose keys are known, not ${describeValue(v)}`);
}

function isPlace(name: string, length: number): boolean {
  return /^(?:0|[1-9]\d*)$/.test(name) && Number(name) < length;
}

/** `v instanceof C`, of the classes of kernels, which have no bases. */
export function isInstance(ctx: Evaluation, v: Value, type: Value, pos: Pos): Value {
  const made = ctx.parts.asObject(ctx, v, pos);
  const own = made.kind === 'record' ? made.type : made.kind === 'object' ? made.object.type : undefined;
  if (type.kind === 'class')
    return scalar(
      literal(own !== undefined && own.construct?.node === type.type.construct?.node && own === type.type, pos),
    );
  if (type.kind === 'host' && typeof type.value === 'function') {
    if (type.value === Object)
      return scalar(literal(typeName(ctx, made) === 'object' || typeName(ctx, made) === 'function', pos));
    const known = ctx.classes.get(type.value);
    if (made.kind === 'record' || made.kind === 'object' || made.kind === 'scalar')
      return scalar(literal(own !== undefined && own === known, pos));
  }
  return fail('K101', pos, `\`instanceof\` cannot tell what ${describeValue(v)} is in a kernel`, {
    help: 'it tests for classes of objects; for an array, write a.dtype === f32',
  });
}

const OBJECT_FUNCTIONS: ReadonlySet<unknown> = new Set([Object.keys, Object.values, Object.entries, Object.hasOwn]);

/** Whether this is `Object.keys`, `values`, `entries` or `hasOwn`. */
export function isObjectFunction(fn: unknown): boolean {
  return OBJECT_FUNCTIONS.has(fn);
}

/** `Object.keys(o)`, `Object.values(o)`, `Object.entries(o)` and `Object.hasOwn(o, key)`. */
export function objectFunction(ctx: Evaluation, fn: unknown, args: readonly Value[], pos: Pos): Value {
  const [object, key] = args;
  const fields = object === undefined ? undefined : ownFields(ctx, object, pos);
  if (fields === undefined) {
    return fail(
      'K314',
      pos,
      `Object.${(fn as { name: string }).name} needs an object, not ${object === undefined ? 'nothing' : describeValue(object)}`,
    );
  }
  if (fn === Object.hasOwn) {
    const name = key === undefined ? undefined : keyName(key);
    if (name === undefined) return fail('K101', pos, 'the key must be known at compile time');
    return scalar(literal(fields.has(name), pos));
  }
  const items = [...fields].map(([name, value]): Value => {
    if (fn === Object.keys) return text(name);
    return fn === Object.values ? value : { kind: 'tuple', items: [text(name), value] };
  });
  return { kind: 'tuple', items };
}

function text(name: string): Value {
  return { kind: 'host', value: name, name: `'${name}'` };
}

/** The keys of an object, in JavaScript's order; undefined for anything that is not an object of fields. */
export function keysOf(ctx: Evaluation, v: Value, pos: Pos): Value | undefined {
  const fields = ownFields(ctx, v, pos);
  return fields && { kind: 'tuple', items: [...fields.keys()].map(text) };
}

/** The fields that an object has of its own, as they are now; undefined for anything that is not an object of fields. */
function ownFields(ctx: Evaluation, v: Value, pos: Pos): ReadonlyMap<string, Value> | undefined {
  if (isRecord(v)) return new Map(fieldNames(v.view).map((name) => [name, member(v.view, name, pos)]));
  const object = ctx.parts.asObject(ctx, v, pos);
  if (object.kind !== 'record' && object.kind !== 'object') return undefined;
  return ownProperties(ctx, object, pos);
}

/** `Number.isInteger(v)` and its like, which are false of all that is not a number; undefined for other functions. */
export function numberTest(ctx: Evaluation, fn: unknown, v: Value | undefined, pos: Pos): Value | undefined {
  const test = TESTS.get(fn);
  if (test === undefined || v === undefined || v.kind === 'complex' || v.kind === 'vector') return undefined;
  if (v.kind === 'view' && v.view.axes.length === 0 && v.view.element.record === undefined) return undefined;
  if (v.kind !== 'scalar' || kindOf(ctx, v.expr) !== 'number') return scalar(literal(false, pos));
  const x = ctx.hold(v.expr);
  const is: TExpr = { k: 'test', fn: test === 'isSafeInteger' ? 'isInteger' : test, a: x, pos };
  const small = compare('lt', { k: 'abs', a: x, pos }, literal(2 ** 53, pos), pos);
  const all: TExpr = test === 'isSafeInteger' ? { k: 'logic', fn: 'and', a: is, b: small, pos } : is;
  if (!isOptional(v)) return scalar(all);
  const there: TExpr = { k: 'not', a: absentTest(v, 'either', pos), pos };
  return scalar({ k: 'logic', fn: 'and', a: there, b: all, pos });
}

const TESTS = new Map<unknown, 'isNaN' | 'isFinite' | 'isInteger' | 'isSafeInteger'>([
  [Number.isNaN, 'isNaN'],
  [Number.isFinite, 'isFinite'],
  [Number.isInteger, 'isInteger'],
  [Number.isSafeInteger, 'isSafeInteger'],
]);

/** `x` and the text in `typeof x === 'undefined'`, and whether it is to be so; minifiers write `typeof x > 'u'`. */
export function typeTest({ left, operator, right }: BinaryExpression): TypeTest | undefined {
  const [type, text] = left.type === 'UnaryExpression' ? [left, right] : [right, left];
  if (type.type !== 'UnaryExpression' || type.operator !== 'typeof') return undefined;
  if (text.type !== 'Literal' || typeof text.value !== 'string') return undefined;
  if (/^[!=]==?$/.test(operator)) return { operand: type.argument, text: text.value, is: !operator.startsWith('!') };
  const order = text.value === 'u' && (operator === '<' || operator === '>');
  return order ? { operand: type.argument, text: 'undefined', is: (operator === '>') === (type === left) } : undefined;
}

interface TypeTest {
  readonly operand: AnyNode;
  readonly text: string;
  readonly is: boolean;
}

/** `#name in object`. */
export function hasPrivate(ctx: Evaluation, name: string, right: AnyNode, scope: Scope, pos: Pos): Value {
  const v = ctx.parts.asObject(ctx, ctx.parts.evaluate(ctx, right, scope), pos);
  const own = v.kind === 'record' ? v.fields.has(`#${name}`) : v.kind === 'object' && v.object.fields.has(`#${name}`);
  return scalar(literal(own, pos));
}
