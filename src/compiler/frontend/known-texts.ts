/**
 * Strings that are known while compiling: literals, captured ones and arguments. Their methods are JavaScript's own, asked by the compiler; only the
 * character that a variable names is read from memory.
 */
import type { Pos } from '../source.ts';
import type { TExpr } from '../types/tree.ts';
import { capturedView, indexView, viewValue } from './arrays.ts';
import { fail } from './diagnostics.ts';
import type { Evaluation } from './evaluation.ts';
import { didYouMean } from './suggest.ts';
import { describeValue, isLiteral, literal, scalar, type Value } from './values.ts';

type Known = Extract<Value, { kind: 'host' }> & { readonly value: string };

type HostValue = string | number | boolean | undefined;

/** Those that take strings and numbers, and give such or a truth value; `split` gives several. */
const METHODS = [
  'at',
  'charAt',
  'charCodeAt',
  'codePointAt',
  'concat',
  'endsWith',
  'includes',
  'indexOf',
  'lastIndexOf',
  'padEnd',
  'padStart',
  'repeat',
  'slice',
  'split',
  'startsWith',
  'substring',
  'toLowerCase',
  'toUpperCase',
  'trim',
] as const;
type Method = (typeof METHODS)[number];

export function isKnownText(v: Value): v is Known {
  return v.kind === 'host' && typeof v.value === 'string';
}

export function isKnownTextMethod(name: string): name is Method {
  return METHODS.some((known) => known === name);
}

/** What a host string, number or truth value is in a kernel. */
function given(value: HostValue, pos: Pos): Value {
  return typeof value === 'number' || typeof value === 'boolean'
    ? scalar(literal(value, pos))
    : { kind: 'host', value, name: JSON.stringify(value) };
}

/** What an argument is, if that is known. */
function known(v: Value): { readonly value: unknown } | undefined {
  if (isKnownText(v)) return v;
  if (v.kind === 'host' && v.value === undefined) return v;
  return v.kind === 'scalar' && isLiteral(v.expr) ? v.expr : undefined;
}

/** `s.length`, and `s[k]` of a known k. */
export function knownTextMember(v: Known, key: string | number | TExpr, pos: Pos): Value {
  if (key === 'length') return scalar(literal(v.value.length, pos));
  if (typeof key === 'number' || (typeof key === 'string' && /^\d+$/.test(key)))
    return given(v.value[Number(key)], pos);
  if (typeof key === 'object')
    return fail('K312', pos, `which character of ${v.name} this is would only be known at run time`, {
      help: `take its number: ${v.name}.charCodeAt(k)`,
    });
  return fail('K312', pos, `${v.name} is a string: in a kernel it has no property ${key}`, {
    help: didYouMean(key, ['length', ...METHODS]) ?? `it has length, ${METHODS.join(', ')}`,
  });
}

/** A method of a string that is known. */
export function knownTextMethod(ctx: Evaluation, v: Known, name: Method, args: readonly Value[], pos: Pos): Value {
  const asked = args.map(known);
  if (asked.every((a) => a !== undefined)) {
    const method = v.value[name] as (...args: unknown[]) => HostValue | readonly string[];
    const of = asked.map((a) => a.value);
    const result = method.apply(v.value, of);
    return typeof result === 'object'
      ? { kind: 'tuple', items: result.map((part) => given(part, pos)) }
      : given(result, pos);
  }
  const [index] = args;
  if (index !== undefined && args.length === 1 && (name === 'charCodeAt' || name === 'codePointAt'))
    return character(ctx, v, name, index, pos);
  const unknown = args[asked.indexOf(undefined)] as Value;
  return fail(
    'K312',
    pos,
    `${name} of a string is evaluated at compile time, and ${describeValue(unknown)} is not known then`,
    {
      help:
        name === 'at' || name === 'charAt'
          ? `take its number: ${v.name}.charCodeAt(k)`
          : 'compare numbers: s.charCodeAt(k), or search an array of them',
    },
  );
}

/** The number of the character that a variable names: from an array in constant memory. */
function character(ctx: Evaluation, v: Known, name: 'charCodeAt' | 'codePointAt', index: Value, pos: Pos): Value {
  const units = Uint32Array.from({ length: v.value.length }, (_, k) => v.value[name](k) ?? 0);
  const narrow = units.every((u) => u < 256) ? Uint8Array : units.every((u) => u < 65536) ? Uint16Array : Int32Array;
  const key = `\0${name} ${v.value}`;
  const memory = ctx.texts.get(key) ?? narrow.from(units);
  ctx.texts.set(key, memory);
  const view = v.value === '' ? undefined : capturedView(ctx, memory, v.name, pos);
  if (view === undefined) return fail('K312', pos, `${v.name} has no characters`);
  return ctx.holdValue(viewValue(indexView(ctx, view, ctx.scalar(index, pos, 'an index'), pos), pos));
}
