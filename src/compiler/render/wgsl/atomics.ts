/**
 * Atomic operations: WGSL's own of words, otherwise a loop around compare-and-exchange. All of them are relaxed; WGSL has no fence that orders other accesses
 * of blocks.
 */
import type { AtomicOp, ElemType, Stmt } from '../../ir/ops.ts';
import { ELEM_SIZE, isFloat, widen } from '../../ir/ops.ts';
import { isNaNOf } from './arithmetic.ts';
import { call, define, type Gen, type Print, typeOf, varName } from './code.ts';
import { byteOf, memoryOf, partBits, placeOf, wordOf } from './memory.ts';
import { refuseAt } from './refuse.ts';

type Atomic = Stmt & { op: 'atomic' };

/** Functions of words; `add` and `sub` wrap, so that the sign makes no difference. */
const NATIVE: Readonly<Partial<Record<AtomicOp, string>>> = {
  add: 'atomicAdd',
  sub: 'atomicSub',
  and: 'atomicAnd',
  or: 'atomicOr',
  xor: 'atomicXor',
  exch: 'atomicExchange',
  load: 'atomicLoad',
  store: 'atomicStore',
  max: 'atomicMax',
  min: 'atomicMin',
};
/** Those that take floats by their bits. */
const BITWISE: ReadonlySet<AtomicOp> = new Set(['exch', 'load', 'store']);

export function emitAtomic(g: Gen, print: Print, s: Atomic): void {
  refuse(g, s);
  const text = ELEM_SIZE[s.mem.elem] < 4 ? partCall(g, print, s) : wordCall(g, print, s);
  g.lines.add(s.result ? `${varName(s.result)} = ${text};` : `${text};`);
}

function refuse({ kernel }: Gen, { mem, order, scope, pos }: Atomic): void {
  const fail = (code: string, what: string, help: string): never => refuseAt(kernel, pos, code, what, help);
  if (ELEM_SIZE[mem.elem] > 4) {
    fail('E_ATOMIC64', 'has an atomic operation of 64 bits, which WebGPU does not have', 'use elements of 32 bits');
  }
  if (scope === 'system') {
    fail(
      'E_ATOMIC_SCOPE',
      "has an atomic operation of scope 'system', and WebGPU has none that the host sees while a kernel runs",
      "use the scope 'device', or end the kernel before the host looks",
    );
  }
  if (order !== undefined && order !== 'relaxed') {
    fail(
      'E_FENCE',
      `has an atomic operation of order '${order}', and WebGPU orders no other accesses by atomic operations`,
      'end the kernel where other blocks must see what was stored, or exchange all values by atomic operations',
    );
  }
}

/** A value as a word. */
function bits(elem: ElemType, x: string): string {
  return elem === 'u32' ? x : `bitcast<u32>(${x})`;
}

function wordCall(g: Gen, print: Print, s: Atomic): string {
  const { fn, mem } = s;
  const { elem } = mem;
  const memory = memoryOf(g, mem);
  const args = s.args.map(print);
  const back = (word: string): string => (elem === 'u32' ? word : `bitcast<${typeOf(widen(elem))}>(${word})`);
  const native = isFloat(elem) && !BITWISE.has(fn) ? undefined : NATIVE[fn];
  const signed = elem === 'i32' && (fn === 'max' || fn === 'min');
  if (native !== undefined && !signed) {
    const text = call(native, `&${memory.name}[${placeOf(g, print, mem)}]`, ...args.map((a) => bits(elem, a)));
    return fn === 'store' || s.result === undefined ? text : back(text);
  }
  const name = `${fn}_${elem}_${memory.name}`;
  return call(define(g, name, loopText(g, name, fn, elem, memory.name)), wordOf(g, print, mem), ...args);
}

/** Computes from what may be there, and exchanges if it is; otherwise again, with what is there. */
function loopText(g: Gen, name: string, fn: AtomicOp, elem: ElemType, memory: string): string {
  const T = typeOf(widen(elem));
  const word = `&${memory}[at]`;
  const params = fn === 'cas' ? `at: u32, a: ${T}, b: ${T}` : `at: u32, a: ${T}`;
  const { unless, next } = update(g, fn, T);
  const body = [
    `var seen = atomicLoad(${word}); var old = ${T}();`,
    'loop {',
    `old = bitcast<${T}>(seen);`,
    ...(unless === undefined ? [] : [`if (!(${unless})) { break; }`]),
    `let found = atomicCompareExchangeWeak(${word}, seen, bitcast<u32>(${next}));`,
    'if (found.exchanged) { break; }',
    'seen = found.old_value;',
    '}',
  ].join(' ');
  return `fn ${name}(${params}) -> ${T} { ${body} return old; }`;
}

/** What an operation leaves in memory; where `unless` is false, memory stays as it is. */
function update(g: Gen, fn: AtomicOp, T: string): { readonly unless?: string; readonly next: string } {
  const odd = T === 'f32' ? isNaNOf(g) : undefined;
  const number = (x: string): string => (odd === undefined ? 'true' : `!${odd}(${x})`);
  switch (fn) {
    case 'cas':
      return { unless: 'seen == bitcast<u32>(a)', next: 'b' };
    case 'inc':
      return { next: `select(old + 1${T === 'u32' ? 'u' : 'i'}, ${T}(0), old >= a)` };
    case 'dec':
      return { next: `select(old - 1${T === 'u32' ? 'u' : 'i'}, a, old == ${T}(0) || old > a)` };
    case 'max':
      return { unless: `a > old && ${number('a')} && ${number('old')}`, next: 'a' };
    case 'min':
      return { unless: `a < old && ${number('a')} && ${number('old')}`, next: 'a' };
    case 'nanMax':
      return { unless: odd === undefined ? 'a > old' : `!${odd}(a) && (${odd}(old) || a > old)`, next: 'a' };
    case 'nanMin':
      return { unless: odd === undefined ? 'a < old' : `!${odd}(a) && (${odd}(old) || a < old)`, next: 'a' };
    case 'add':
      return { next: 'old + a' };
    case 'sub':
      return { next: 'old - a' };
    default:
      throw new Error(`internal error: there is no atomic ${fn} of ${T}`);
  }
}

/** Of an element of 8 or 16 bits: in the word around it. */
function partCall(g: Gen, print: Print, s: Atomic): string {
  const { fn, mem } = s;
  const memory = memoryOf(g, mem);
  const width = partBits(mem.elem);
  const name = `${fn}_${mem.elem}_${memory.name}`;
  const signed = mem.elem === 'i8' || mem.elem === 'i16';
  const part = signed
    ? `(bitcast<i32>((seen >> shift) << ${32 - width}u) >> ${32 - width}u)`
    : `i32((seen >> shift) & ${2 ** width - 1}u)`;
  const word = `&${memory.name}[at >> 2u]`;
  const start = `let shift = (at & 3u) * 8u; let mask = ${2 ** width - 1}u << shift; var seen = atomicLoad(${word});`;
  const stored = fn === 'cas' ? 'b' : 'a';
  const body =
    fn === 'load'
      ? `return ${part};`
      : [
          'var old = 0i;',
          'loop {',
          `old = ${part};`,
          ...(fn === 'cas' ? ['if (old != a) { break; }'] : []),
          `let found = atomicCompareExchangeWeak(${word}, seen, (seen & ~mask) | ((bitcast<u32>(${stored}) << shift) & mask));`,
          'if (found.exchanged) { break; }',
          'seen = found.old_value;',
          '}',
          'return old;',
        ].join(' ');
  const params = ['at: u32', ...s.args.map((_, k) => `${'ab'[k]}: i32`)].join(', ');
  const text = `fn ${name}(${params}) -> i32 { ${start} ${body} }`;
  return call(define(g, name, text), byteOf(g, print, mem), ...s.args.map(print));
}
