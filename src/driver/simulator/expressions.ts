/**
 * IR expressions as JavaScript text with the exact meaning of their types.
 *
 * What JavaScript has an operator for is written with it (`Math.fround`, `| 0`, `Math.imul`, `BigInt.asIntN`); the rest
 * calls the runtime, `$`.
 */
import type { BinaryOp, Expr, MemRef, Special, ValueType, Var } from '../../compiler/ir/ops.ts';
import type { Pos } from '../../compiler/source.ts';
import type { Site } from './runtime.ts';

/** How names come out in the text, and where sites are counted. */
export interface Naming {
  variable(v: Var): string;
  parameter(index: number): string;
  array(mem: MemRef): string;
  site(site: Site): number;
  readonly checked: boolean;
  /** Operations that say when they give another result than JavaScript. */
  readonly exact: ReadonlySet<Expr>;
  /** Position for what has none of its own. */
  readonly pos: Pos;
}

/** An expression as text that can stand anywhere. */
export function expression(e: Expr, names: Naming): string {
  switch (e.op) {
    case 'const':
      return literal(e.value);
    case 'var':
      return names.variable(e.var);
    case 'param':
      return names.parameter(e.param);
    case 'special':
      return special(e.name);
    case 'unary':
      return unary(e, names);
    case 'binary':
      return binary(e, names);
    case 'compare': {
      const sign = { eq: '===', ne: '!==', lt: '<', le: '<=', gt: '>', ge: '>=' }[e.fn];
      return `(${expression(e.a, names)} ${sign} ${expression(e.b, names)})`;
    }
    case 'select':
      return `(${expression(e.cond, names)} ? ${expression(e.a, names)} : ${expression(e.b, names)})`;
    case 'cast':
      return cast(e, names);
    case 'bitcast':
      return `$.bitcast('${e.a.type}', '${e.type}', ${expression(e.a, names)})`;
    case 'fma':
      return `$.fma('${e.to ?? e.type}', ${[e.a, e.b, e.c].map((x) => expression(x, names)).join(', ')})`;
    case 'call':
      return `$.call('${e.fn}', '${e.type}', ${e.args.map((x) => expression(x, names)).join(', ')})`;
    case 'intrinsic':
      return intrinsic(e, names);
    case 'load': {
      const { site, checks, offset } = access(e.mem, names);
      const get = `${names.array(e.mem)}.get(${site}, ${offset})`;
      return checks.length === 0 ? get : `(${checks.join(', ')}, ${get})`;
    }
    case 'native':
    case 'address':
    case 'available':
      throw new Error(`internal error: ${e.op} was not settled`);
  }
}

/** The parts of a memory access: its site, the calls that check it, and the byte offset. */
export function access(
  mem: MemRef,
  names: Naming,
): { readonly site: number; readonly checks: readonly string[]; readonly offset: string } {
  const site = names.site({ pos: mem.pos, array: mem.array });
  const checks = names.checked
    ? mem.checks.map(({ axis, index, extent }) => {
        const [i, n] = [expression(index, names), expression(extent, names)];
        return `$.check(${site}, ${axis}, ${i}, ${n})`;
      })
    : [];
  const index = expression(mem.index, names);
  const number = mem.index.type === 'i64' || mem.index.type === 'u64' ? `Number(${index})` : index;
  const scaled = mem.scale === 1 ? number : `${number} * ${mem.scale}`;
  return { site, checks, offset: mem.disp === 0 ? scaled : `${scaled} + ${mem.disp}` };
}

/** A constant as text; negative ones in parentheses. */
export function literal(value: number | bigint | boolean): string {
  if (typeof value === 'bigint') return value < 0n ? `(${value}n)` : `${value}n`;
  if (typeof value === 'boolean') return String(value);
  const text = Object.is(value, -0) ? '-0' : String(value);
  return text.startsWith('-') ? `(${text})` : text;
}

function special(name: Special): string {
  switch (name) {
    case 'warpSize':
      return '32';
    case 'laneId':
      return '($.thread % 32)';
    case 'sharedBytes':
      return '$.shape.sharedBytes';
    default:
      return name;
  }
}

/** Wraps an exact result into the type. */
function fit(type: ValueType, text: string): string {
  switch (type) {
    case 'i32':
      return `(${text} | 0)`;
    case 'u32':
      return `(${text} >>> 0)`;
    case 'i64':
      return `BigInt.asIntN(64, ${text})`;
    case 'u64':
      return `BigInt.asUintN(64, ${text})`;
    case 'f32':
      return `Math.fround(${text})`;
    default:
      return `(${text})`;
  }
}

function isWord(type: ValueType): boolean {
  return type === 'i32' || type === 'u32';
}

function isFloating(type: ValueType): boolean {
  return type === 'f32' || type === 'f64';
}

/** An operation of `names.exact`. */
function exactly(e: Expr & { op: 'unary' | 'binary' }, names: Naming): string {
  const site = names.site({ pos: e.pos ?? names.pos });
  // `Math.abs` of a number is not that of the number wrapped.
  const args = [e.fn === 'abs' ? expression(e.a, names) : unwrapped(e.a, names)];
  if (e.op === 'binary') args.push(e.fn === 'ipow' ? exponent(e, names) : unwrapped(e.b, names));
  return `$.${e.type}.${e.fn}(${[site, ...args].join(', ')})`;
}

/** An operand of such an operation as JavaScript has it: what it is made of need not be wrapped, if the whole fits. */
function unwrapped(e: Expr, names: Naming): string {
  if (e.op === 'cast' && e.to === 'u32' && e.a.type === 'i32') return unwrapped(e.a, names);
  if (e.op === 'unary' && e.fn === 'neg' && names.exact.has(e)) return `(-${unwrapped(e.a, names)})`;
  if (e.op === 'binary' && names.exact.has(e) && e.fn !== 'ipow') {
    const [a, b] = [unwrapped(e.a, names), unwrapped(e.b, names)];
    if (e.fn !== 'mul') return `(${a} ${OPERATOR[e.fn]} ${b})`;
    return `$.${e.type}.product(${names.site({ pos: e.pos ?? names.pos })}, ${a}, ${b})`;
  }
  return expression(e, names);
}

/** The exponent of an integer power, which may not be negative. */
function exponent(e: Expr & { op: 'binary' }, names: Naming): string {
  const b = expression(e.b, names);
  return names.checked ? `$.exponent(${names.site({ pos: e.pos ?? names.pos })}, ${b})` : b;
}

function unary(e: Expr & { op: 'unary' }, names: Naming): string {
  if (names.exact.has(e)) return exactly(e, names);
  const a = expression(e.a, names);
  const type = e.a.type;
  switch (e.fn) {
    case 'neg':
      return isFloating(type) ? `(-${a})` : fit(type, `-${a}`);
    case 'abs':
      if (isFloating(type)) return `Math.abs(${a})`;
      if (isWord(type)) return fit(type, `Math.abs(${a})`);
      break;
    case 'not':
      return type === 'bool' ? `(!${a})` : fit(type, `~${a}`);
    case 'sqrt':
      return fit(type, `Math.sqrt(${a})`);
    case 'floor':
    case 'ceil':
    case 'trunc':
    case 'round':
      if (isFloating(type)) return `Math.${e.fn}(${a})`;
      break;
    case 'sign':
      if (isFloating(type) || isWord(type)) return `Math.sign(${a})`;
      break;
    case 'toInt32':
      return `(${a} | 0)`;
    case 'isNaN':
      return `Number.isNaN(${a})`;
    case 'isFinite':
      return `Number.isFinite(${a})`;
    case 'uniform':
      return `$.uniform(${names.site({ pos: e.pos ?? names.pos })}, ${a})`;
  }
  return `$.unary('${e.fn}', '${type}', ${a})`;
}

function intrinsic({ fn, type, args }: Expr & { op: 'intrinsic' }, names: Naming): string {
  const operands = args.map((a) => expression(a, names));
  const own = fn.types.find((t) => t === type);
  const text = own && fn.native?.js?.(own, ...operands);
  return text ?? `$.intrinsic('${fn.name}', '${type}', [${operands.join(', ')}])`;
}

const OPERATOR: Partial<Record<BinaryOp, string>> = {
  add: '+',
  sub: '-',
  mul: '*',
  div: '/',
  rem: '%',
  and: '&',
  or: '|',
  xor: '^',
};

function binary(e: Expr & { op: 'binary' }, names: Naming): string {
  if (names.exact.has(e)) return exactly(e, names);
  const { fn, type } = e;
  const a = expression(e.a, names);
  const b = expression(e.b, names);
  const sign = OPERATOR[fn];
  if (type === 'bool') {
    if (fn === 'and') return `(${a} && ${b})`;
    if (fn === 'or') return `(${a} || ${b})`;
    if (fn === 'xor') return `(${a} !== ${b})`;
  } else if (isFloating(type)) {
    if (fn === 'min' || fn === 'max') return `Math.${fn}(${a}, ${b})`;
    if (fn === 'add' || fn === 'sub' || fn === 'mul' || fn === 'div' || fn === 'rem')
      return fit(type, `${a} ${sign} ${b}`);
  } else {
    if (fn === 'mul' && isWord(type)) return fit(type, `Math.imul(${a}, ${b})`);
    if (fn === 'add' || fn === 'sub' || fn === 'mul') return fit(type, `${a} ${sign} ${b}`);
    // These bind less tightly than the shift that makes a u32.
    if (fn === 'and' || fn === 'or' || fn === 'xor') return fit(type, `(${a} ${sign} ${b})`);
    if (isWord(type)) {
      if (fn === 'min' || fn === 'max') return `Math.${fn}(${a}, ${b})`;
      if (fn === 'shl') return fit(type, `${a} << ${b}`);
      if (fn === 'shr') return type === 'i32' ? `(${a} >> ${b})` : `(${a} >>> ${b})`;
    }
    if (fn === 'ipow') return `$.binary('ipow', '${type}', ${a}, ${exponent(e, names)})`;
  }
  return `$.binary('${fn}', '${type}', ${a}, ${b})`;
}

function cast(e: Expr & { op: 'cast' }, names: Naming): string {
  const a = expression(e.a, names);
  const from = e.a.type;
  if (e.checked && names.checked) {
    return `$.fit(${names.site({ pos: e.pos ?? names.pos })}, '${from}', '${e.to}', ${a})`;
  }
  if (names.exact.has(e)) return `$.stored(${names.site({ pos: e.pos ?? names.pos })}, '${from}', '${e.to}', ${a})`;
  if (from === e.to) return a;
  if (isWord(from) || from === 'f32' || from === 'f64') {
    if (e.to === 'f64') return a;
    if (e.to === 'f32') return `Math.fround(${a})`;
  }
  if (isWord(from)) {
    switch (e.to) {
      case 'i32':
      case 'u32':
        return fit(e.to, a);
      case 'i64':
      case 'u64':
        return fit(e.to, `BigInt(${a})`);
      case 'i8':
        return `(${a} << 24 >> 24)`;
      case 'i16':
        return `(${a} << 16 >> 16)`;
      case 'u8':
        return `(${a} & 255)`;
      case 'u16':
        return `(${a} & 65535)`;
    }
  }
  if (from === 'bool' && (isWord(e.type) || isFloating(e.type))) return `(${a} ? 1 : 0)`;
  return `$.cast('${from}', '${e.to}', ${a})`;
}
