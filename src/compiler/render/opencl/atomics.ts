/**
 * Atomic operations: OpenCL's own where it has one, otherwise a loop around compare-and-exchange; of bytes and halves, around that of the
 * word that they are in. What orders other accesses is a fence beside it.
 */
import { NotSupportedError } from '../../../errors.ts';
import type { AtomicOp, Kernel, Stmt, ValueType } from '../../ir/ops.ts';
import { ELEM_SIZE, isFloat, widen } from '../../ir/ops.ts';
import { fencesAround } from '../../ir/orders.ts';
import { eachStmt } from '../../ir/passes/walk.ts';
import { plainName } from '../names.ts';
import type { Print } from './arithmetic.ts';
import { elementName, type Gen, spaceName, spaceOf, typeOf, unsignedOf, varName } from './code.ts';
import { define, fence } from './helpers.ts';
import { addressOf } from './memory.ts';

type Atomic = Stmt & { op: 'atomic' };

/** Functions that every device has for 32 bits, and those with cl_khr_int64_base_atomics for 64. */
const BASE: Readonly<Partial<Record<AtomicOp, string>>> = {
  add: 'add',
  sub: 'sub',
  exch: 'xchg',
  cas: 'cmpxchg',
  load: 'cmpxchg',
  store: 'xchg',
};
/** Those that take floats by their bits. */
const BITWISE: ReadonlySet<AtomicOp> = new Set(['exch', 'cas', 'load', 'store']);
/** Those that need cl_khr_int64_extended_atomics for 64. */
const EXTENDED: Readonly<Partial<Record<AtomicOp, string>>> = {
  and: 'and',
  or: 'or',
  xor: 'xor',
  min: 'min',
  max: 'max',
};

/** What PCIe does not carry: a device loses such an operation on memory of the host without a word. */
const DEVICE_ONLY: ReadonlySet<AtomicOp> = new Set(['sub', 'and', 'or', 'xor', 'min', 'max']);

/** Parameters with arrays on which a kernel does what memory of the host cannot. */
export function deviceOnlyAtomics({ body }: Kernel): ReadonlySet<number> {
  const found = new Set<number>();
  eachStmt(body, (s) => {
    const param = s.op === 'atomic' && DEVICE_ONLY.has(s.fn) && !isFloat(s.mem.elem) ? s.mem.array.param : undefined;
    if (param !== undefined) found.add(param);
  });
  return found;
}

export function emitAtomic(g: Gen, print: Print, s: Atomic): void {
  const { before, after } = fencesAround(s);
  if (s.scope === 'system' && g.target.dialect !== 'hip') {
    throw new NotSupportedError(
      'E_ATOMIC_SCOPE',
      `kernel ${g.kernel.name} has an atomic operation of scope 'system', and OpenCL 1.2 has none that the host or another device sees while a kernel runs\n` +
        "  help: use the scope 'device', or end the kernel before the host looks",
    );
  }
  if (before) g.lines.add(`${fence(g, before)};`);
  const call = ELEM_SIZE[s.mem.elem] < 4 ? smallCall(g, print, s) : wordCall(g, print, s);
  g.lines.add(s.result ? `${varName(s.result)} = ${call};` : `${call};`);
  if (after) g.lines.add(`${fence(g, after)};`);
}

/** The call for an element of 32 or 64 bits. */
function wordCall(g: Gen, print: Print, s: Atomic): string {
  const type = widen(s.mem.elem);
  const space = spaceName(g, spaceOf(g, s.mem.array));
  const args = s.args.map((a) => print(a).text);
  const carried = g.options.hostAtomics !== true || s.mem.array.space !== 'global' || !DEVICE_ONLY.has(s.fn);
  const native = carried ? nativeName(g, s, type) : undefined;
  const [T, U] = [typeOf(type), unsignedOf(type)];
  const pointer = (to: string): string => `(volatile ${space}${to} *)(${addressOf(g, print, s.mem)})`;
  if (native === undefined) return `${compareLoop(g, s, type, space)}(${[pointer(U), ...args].join(', ')})`;
  // What is there, if it is 0, becomes 0: all that OpenCL 1.2 has to read with.
  if (s.fn === 'load') return `as_${T}(${native}(${pointer(U)}, (${U})0, (${U})0))`;
  if (!isFloat(type)) return `${native}(${[pointer(T), ...args].join(', ')})`;
  return `as_${T}(${native}(${[pointer(U), ...args.map((a) => `as_${U}(${a})`)].join(', ')}))`;
}

/** How operations are called with 32 and with 64 bits; HIP has some for all that share memory with the device. */
function prefix(g: Gen, { scope }: Atomic, wide: boolean): string {
  return scope === 'system' && g.target.dialect === 'hip' ? 'system' : wide ? 'atom' : 'atomic';
}

/** The function of an operation that the device has; of floats that of their bits. */
function nativeName(g: Gen, s: Atomic, type: ValueType): string | undefined {
  const { fn } = s;
  if (isFloat(type) && !BITWISE.has(fn)) return undefined;
  const wide = unsignedOf(type) === 'ulong';
  if (wide) needWide(g);
  if (BASE[fn]) return `${prefix(g, s, wide)}_${BASE[fn]}`;
  if (!EXTENDED[fn] || (wide && g.target.int64Atomics !== 'extended')) return undefined;
  if (wide) g.extensions.add('cl_khr_int64_extended_atomics');
  return `${prefix(g, s, wide)}_${EXTENDED[fn]}`;
}

function needWide(g: Gen): void {
  if (g.target.int64Atomics === 'none') {
    throw new NotSupportedError(
      'E_ATOMIC64',
      `kernel ${g.kernel.name} has atomic operations of 64 bits, which this OpenCL device does not have (cl_khr_int64_base_atomics)\n` +
        '  help: use elements of 32 bits',
    );
  }
  g.extensions.add('cl_khr_int64_base_atomics');
}

/**
 * Computes from what may be there, and exchanges if it is; otherwise again, with what is there. Nothing is read but by atomic
 * operations: a plain read beside those of others would be a data race.
 */
function compareLoop(g: Gen, s: Atomic, type: ValueType, space: string): string {
  const { fn } = s;
  const [T, U] = [typeOf(type), unsignedOf(type)];
  const wide = U === 'ulong';
  if (wide) needWide(g);
  const kind = prefix(g, s, wide);
  const exchange = `${kind}_cmpxchg`;
  const { unless, next } = update(fn as Updating, T);
  const name = `${kind}_${fn}_${type}${space === '' ? '' : `_${plainName(space.trim())}`}`;
  const params = `volatile ${space}${U} *p, ${T} a`;
  const body = [
    `${U} seen = ${unless === undefined ? '0' : `${exchange}(p, (${U})0, (${U})0)`};`,
    'for (;;) {',
    `${T} old = as_${T}(seen);`,
    ...(unless === undefined ? [] : [`if (!(${unless})) return old;`]),
    `${U} found = ${exchange}(p, seen, as_${U}((${T})(${next})));`,
    'if (found == seen) return old;',
    'seen = found;',
    '}',
  ].join(' ');
  return define(g, name, `${T} ${name}(${params}) { ${body} }`);
}

/**
 * The call for an element of 8 or 16 bits: exchanges in the word around it. What else is in that word stays: where another thread has
 * changed it meanwhile, the exchange fails and is tried again.
 */
function smallCall(g: Gen, print: Print, s: Atomic): string {
  const { fn, mem } = s;
  const space = spaceName(g, spaceOf(g, mem.array));
  const kind = prefix(g, s, false);
  const T = elementName(g, mem.elem);
  const bits = 8 * ELEM_SIZE[mem.elem];
  const name = `${kind}_${fn}_${mem.elem}${space === '' ? '' : `_${plainName(space.trim())}`}`;
  const address = g.target.dialect === 'hip' ? 'ulong' : 'size_t';
  const params = [`volatile ${space}${T} *p`, ...s.args.map((_, k) => `int ${'ab'[k]}`)].join(', ');
  const next = `(seen & ~mask) | (((uint)${fn === 'cas' ? 'b' : 'a'} << shift) & mask)`;
  const body = [
    `volatile ${space}uint *word = (volatile ${space}uint *)((${address})p & ~(${address})3);`,
    `uint shift = ((uint)(${address})p & 3u) * 8u; uint mask = ${bits === 8 ? '0xffu' : '0xffffu'} << shift;`,
    `uint seen = ${kind}_cmpxchg(word, 0u, 0u);`,
    ...(fn === 'load'
      ? [`return (${T})(seen >> shift);`]
      : [
          'for (;;) {',
          `int old = (${T})(seen >> shift);`,
          ...(fn === 'cas' ? ['if (old != a) return old;'] : []),
          `uint found = ${kind}_cmpxchg(word, seen, ${next});`,
          'if (found == seen) return old;',
          'seen = found;',
          '}',
        ]),
  ].join(' ');
  define(g, name, `int ${name}(${params}) { ${body} }`);
  const args = s.args.map((a) => print(a).text);
  return `${name}(${[`(volatile ${space}${T} *)(${addressOf(g, print, mem)})`, ...args].join(', ')})`;
}

/** What every device has for integers, and floats by their bits, is not computed. */
type Updating = Exclude<AtomicOp, 'exch' | 'cas' | 'load' | 'store'>;

/** What an operation leaves in memory; where `unless` is false, memory stays as it is. */
function update(fn: Updating, T: string): { readonly unless?: string; readonly next: string } {
  switch (fn) {
    case 'inc':
      return { next: `old >= a ? (${T})0 : old + 1` };
    case 'dec':
      return { next: 'old == 0 || old > a ? a : old - 1' };
    case 'max':
      return { unless: 'a > old', next: 'a' };
    case 'min':
      return { unless: 'a < old', next: 'a' };
    case 'nanMax':
      return { unless: 'a > old || (old != old && a == a)', next: 'a' };
    case 'nanMin':
      return { unless: 'a < old || (old != old && a == a)', next: 'a' };
    default:
      return { next: `old ${INFIX[fn]} a` };
  }
}

const INFIX: Readonly<Record<'add' | 'sub' | 'and' | 'or' | 'xor', string>> = {
  add: '+',
  sub: '-',
  and: '&',
  or: '|',
  xor: '^',
};
