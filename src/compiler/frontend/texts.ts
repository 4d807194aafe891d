/**
 * Strings in kernels: elements of arrays of `charSeq` and `unicodeCharSeq`, and strings that are known while compiling.
 *
 * A string in memory is a record whose only member is the array of its characters (`elements.ts`): it is named, copied and swapped as records
 * are, and what is asked of it is a loop over that array (`device-functions.ts`). Strings have JavaScript's meaning, in words of 16 bits.
 * Nothing makes new ones: there is no memory that they could be in.
 */
import { charSeq, isTextDType, type TextDType, unicodeCharSeq, unitsOf } from '../../dtype/index.ts';
import { NDARRAY } from '../contract.ts';
import { CONTENT } from '../elements.ts';
import type { CompareOp } from '../ir/ops.ts';
import type { Pos } from '../source.ts';
import type { TExpr } from '../types/tree.ts';
import { arith, compare, not } from './arithmetic.ts';
import { capturedView, elementValue, indexView } from './arrays.ts';
import {
  countUnits,
  countWords,
  findUnits,
  inline,
  orderUnits,
  sameUnits,
  standsAt,
  wordAt,
} from './device-functions.ts';
import { fail } from './diagnostics.ts';
import type { Evaluation } from './evaluation.ts';
import { fieldView } from './record-fields.ts';
import { didYouMean } from './suggest.ts';
import { describeValue, isAbsent, isLiteral, isOptional, literal, scalar, type Value, type View } from './values.ts';

type ViewValue = Extract<Value, { kind: 'view' }>;
type Known = Extract<Value, { kind: 'host' }> & { readonly value: string };
type Text = ViewValue | Known;

/** The type of a string in memory; undefined for all other values. */
export function textType(v: Value): TextDType | undefined {
  if (v.kind !== 'view' || v.view.axes.length > 0) return undefined;
  const { record } = v.view.element;
  return record !== undefined && isTextDType(record) ? record : undefined;
}

function isKnown(v: Value): v is Known {
  return v.kind === 'host' && typeof v.value === 'string';
}

function isText(v: Value): v is Text {
  return isKnown(v) || textType(v) !== undefined;
}

/** The array of a string's characters. */
function contentOf(view: View, pos: Pos): View {
  return fieldView(view, CONTENT, pos);
}

/** The characters as an array, with at least one zero behind those of a string that is known. */
function unitsFor(ctx: Evaluation, v: Text, pos: Pos): Value {
  if (v.kind === 'view') return ctx.holdValue({ kind: 'view', view: contentOf(v.view, pos) });
  const units = Array.from(v.value, (c) => c.codePointAt(0) ?? 0);
  if (units.at(-1) === 0) return fail('K248', pos, `${v.name} ends in NUL, which pads strings in memory`);
  let memory = ctx.texts.get(v.value);
  if (memory === undefined) {
    memory = Int32Array.from([...units, 0]);
    ctx.texts.set(v.value, memory);
  }
  const view = capturedView(ctx, memory, v.name, pos);
  if (view === undefined) throw new Error('a string is not an array');
  return { kind: 'view', view };
}

/** A string that is known, in constant memory as an element of a type. */
function inMemory(ctx: Evaluation, { value, name }: Known, type: TextDType, pos: Pos): Value {
  const key = `${type.name} ${value}`;
  let memory = ctx.texts.get(key);
  if (memory === undefined) {
    const units = unitsOf(value, type, (wrong) => fail('K248', pos, wrong));
    const data = type.kind === 'S' ? new Uint8Array(type.length) : new Int32Array(type.length);
    data.set(units);
    memory = { [NDARRAY]: true, data, dtype: type, shape: [], strides: [], byteOffset: 0 };
    ctx.texts.set(key, memory);
  }
  const view = capturedView(ctx, memory, name, pos);
  if (view === undefined) throw new Error('a string is not an array');
  return { kind: 'view', view };
}

/** A type that holds all of these. */
function typeFor(texts: readonly Known[]): TextDType {
  const characters = texts.map(({ value }) => Array.from(value));
  const length = Math.max(1, ...characters.map((c) => c.length));
  return characters.flat().some((c) => (c.codePointAt(0) ?? 0) > 0xff) ? unicodeCharSeq(length) : charSeq(length);
}

/** Two values that a thread chooses between: strings that are known become elements, of the type of the other if that is one. */
export function chosenTexts(ctx: Evaluation, a: Value, b: Value, pos: Pos): readonly [Value, Value] {
  if (!isText(a) || !isText(b) || (isKnown(a) && isKnown(b) && a.value === b.value)) return [a, b];
  const type = textType(a) ?? textType(b) ?? typeFor([a, b].filter(isKnown));
  return [isKnown(a) ? inMemory(ctx, a, type, pos) : a, isKnown(b) ? inMemory(ctx, b, type, pos) : b];
}

/** How many characters there are, as memory counts them. */
function unitCount(ctx: Evaluation, v: Text, units: Value, pos: Pos): TExpr {
  return isKnown(v) ? literal(Array.from(v.value).length, pos) : ctx.hold(inline(ctx, countUnits, [units], pos));
}

/** So many characters as JavaScript counts them. */
function inWords(ctx: Evaluation, v: Text, units: Value, count: TExpr, pos: Pos): TExpr {
  if (textType(v)?.kind === 'S') return count;
  return inline(ctx, countWords, [units, scalar(count)], pos);
}

// ---------------------------------------------------------------- operators

const isPlain = (value: unknown): boolean => value === null || !['object', 'function', 'symbol'].includes(typeof value);

/** The text of a string that is built of parts, `a${k}` or 'a' + k, where all of them are known while compiling; undefined for others. */
export function knownText(parts: readonly (string | Value)[]): string | undefined {
  const texts = parts.map((v) => {
    if (typeof v === 'string') return v;
    if (v.kind === 'host') return isPlain(v.value) ? String(v.value) : undefined;
    return v.kind === 'scalar' && isLiteral(v.expr) ? String(v.expr.value) : undefined;
  });
  return texts.includes(undefined) ? undefined : texts.join('');
}

const ORDER: Readonly<Record<string, CompareOp>> = { '<': 'lt', '<=': 'le', '>': 'gt', '>=': 'ge' };

/** A binary operator of which an operand is a string in memory; undefined where none is. */
export function textOperator(
  ctx: Evaluation,
  operator: string,
  left: Value,
  right: Value,
  pos: Pos,
): Value | undefined {
  if (textType(left) === undefined && textType(right) === undefined) return undefined;
  const equality = /^[!=]==?$/.test(operator);
  if (equality && (isAbsent(left) || isAbsent(right) || isOptional(left) || isOptional(right))) return undefined;
  if (!isText(left) || !isText(right)) {
    const other = isText(left) ? right : left;
    return fail('K248', pos, `${operator} does not take a string and ${describeValue(other)} together`, {
      help: 'strings are compared with strings; a character as a number is s.charCodeAt(k)',
    });
  }
  const units = [unitsFor(ctx, left, pos), unitsFor(ctx, right, pos)];
  if (equality) {
    const same = inline(ctx, sameUnits, units, pos);
    return scalar(operator.startsWith('!') ? not(same, pos) : same);
  }
  const order = ORDER[operator];
  if (order !== undefined) return scalar(compare(order, inline(ctx, orderUnits, units, pos), literal(0, pos), pos));
  return fail('K248', pos, `${operator} makes a new string, for which a kernel has no memory`, {
    help: operator === '+' ? 'print both as arguments of console.log, or join them on the host' : undefined,
  });
}

// ---------------------------------------------------------------- members

const METHODS = ['charCodeAt', 'startsWith', 'endsWith', 'includes', 'indexOf'] as const;
type Method = (typeof METHODS)[number];

/** Whether it is a method that strings in memory have. */
export function isTextMethod(name: string): name is Method {
  return METHODS.some((known) => known === name);
}

/** `s.length`, and what else strings have no properties for. */
export function textMember(ctx: Evaluation, v: ViewValue, key: string | number | TExpr, pos: Pos): Value {
  if (key === 'length') {
    const units = unitsFor(ctx, v, pos);
    return scalar(inWords(ctx, v, units, unitCount(ctx, v, units, pos), pos));
  }
  if (typeof key !== 'string') {
    return fail('K248', pos, 'a character of a string would be a new string', {
      help: 'compare its number: s.charCodeAt(k) === 97, or ask s.startsWith(t)',
    });
  }
  return fail('K248', pos, `strings have no ${key} in a kernel`, {
    help:
      didYouMean(key, ['length', ...METHODS]) ??
      `they have length, ${METHODS.join(', ')}; new strings cannot be made there`,
  });
}

/** Whether a string has a character: JavaScript's truthiness. */
export function textTruth(ctx: Evaluation, v: ViewValue, pos: Pos): TExpr {
  const units = unitsFor(ctx, v, pos);
  return compare('gt', unitCount(ctx, v, units, pos), literal(0, pos), pos);
}

/** A method of a string in memory. */
export function textMethod(ctx: Evaluation, v: ViewValue, name: Method, args: readonly Value[], pos: Pos): Value {
  const [first] = args;
  if (first === undefined || args.length > 1)
    return fail('K316', pos, `${name} takes 1 argument in a kernel, not ${args.length}`);
  const units = unitsFor(ctx, v, pos);
  if (name === 'charCodeAt') return scalar(charCode(ctx, v, units, ctx.scalar(first, pos, 'an index'), pos));
  if (!isText(first)) return fail('K248', pos, `${name} takes a string, not ${describeValue(first)}`);
  const wanted = unitsFor(ctx, first, pos);
  const own = unitCount(ctx, v, units, pos);
  const count = unitCount(ctx, first, wanted, pos);
  const search = [units, scalar(own), wanted, scalar(count)];
  if (name === 'startsWith') return scalar(inline(ctx, standsAt, [...search, scalar(literal(0, pos))], pos));
  if (name === 'endsWith') {
    const at = ctx.hold(arith('sub', own, count, pos));
    return scalar(inline(ctx, standsAt, [...search, scalar(at)], pos));
  }
  const found = ctx.hold(inline(ctx, findUnits, search, pos));
  if (name === 'includes') return scalar(compare('ge', found, literal(0, pos), pos));
  return scalar(inWords(ctx, v, units, found, pos));
}

/** `s.charCodeAt(k)`. Behind the end, where JavaScript has NaN, it is an error in checked mode and 0 elsewhere. */
function charCode(ctx: Evaluation, v: ViewValue, units: Value, index: TExpr, pos: Pos): TExpr {
  const at = ctx.hold(index, '%index');
  if (ctx.options.checked) {
    const length = ctx.hold(inWords(ctx, v, units, unitCount(ctx, v, units, pos), pos));
    const [below, above] = [compare('lt', at, literal(0, pos), pos), compare('ge', at, length, pos)];
    const cond: TExpr = { k: 'logic', fn: 'or', a: below, b: above, pos };
    const message = `charCodeAt: there is no such character in a string of ${v.view.name}`;
    ctx.emit({ k: 'if', cond, then: [{ k: 'trap', message, pos }], else: [], pos });
  }
  return inline(ctx, wordAt, [units, scalar(at)], pos);
}

/** Each character, and zeros behind, to be printed. */
export function textCharacters(ctx: Evaluation, v: ViewValue, pos: Pos): readonly TExpr[] {
  const content = contentOf(v.view, pos);
  return Array.from({ length: textType(v)?.length ?? 0 }, (_, k) => {
    const character = elementValue(indexView(ctx, content, literal(k, pos), pos), pos);
    return ctx.scalar(character, pos);
  });
}

// ---------------------------------------------------------------- memory

/** Stores a string where one is. `copy` copies a part of the array of its characters. */
export function storeText(
  ctx: Evaluation,
  target: View,
  type: TextDType,
  value: Value,
  copy: (part: View, value: Value) => void,
  pos: Pos,
): void {
  const to = contentOf(target, pos);
  const from = textType(value);
  if (isKnown(value)) {
    const units = unitsOf(value.value, type, (wrong) => fail('K248', pos, wrong));
    return copy(to, {
      kind: 'tuple',
      items: Array.from({ length: type.length }, (_, k) => scalar(literal(units[k] ?? 0, pos))),
    });
  }
  if (from === undefined || value.kind !== 'view') {
    return fail(
      'K242',
      pos,
      `cannot store ${describeValue(value)} to ${target.name}, whose elements are strings, ${type.name}`,
      { help: "assign a string, 'abc', or another element" },
    );
  }
  if (from.length > type.length || (from.kind === 'U' && type.kind === 'S')) {
    return fail(
      'K248',
      pos,
      `a string of ${from.name} may not fit in ${target.name}, whose elements are ${type.name}`,
      {
        help: 'make the elements long enough, on the host: nothing is truncated',
      },
    );
  }
  const content = contentOf(value.view, pos);
  if (from.length === type.length) return copy(to, { kind: 'view', view: content });
  const [whole] = to.axes;
  if (whole === undefined) throw new Error('a string without characters');
  copy({ ...to, axes: [{ ...whole, extent: literal(from.length, pos) }] }, { kind: 'view', view: content });
  for (let k = from.length; k < type.length; k++)
    copy({ ...indexView(ctx, to, literal(k, pos), pos), checks: to.checks }, scalar(literal(0, pos)));
}
