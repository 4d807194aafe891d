/**
 * Atomic read-modify-writes: OpenCL's own where it has one, otherwise a loop around compare-and-exchange.
 */
import { NotSupportedError } from '../../../errors.ts';
import type { AtomicOp, Kernel, Stmt, ValueType } from '../../ir/ops.ts';
import { isFloat } from '../../ir/ops.ts';
import { eachStmt } from '../../ir/passes/walk.ts';
import { plainName } from '../names.ts';
import type { Print } from './arithmetic.ts';
import { type Gen, spaceName, spaceOf, typeOf, unsignedOf, varName } from './code.ts';
import { define } from './helpers.ts';
import { addressOf } from './memory.ts';

type Atomic = Stmt & { op: 'atomic' };

/** Functions that every device has for 32 bits, and those with cl_khr_int64_base_atomics for 64. */
const BASE: Readonly<Partial<Record<AtomicOp, string>>> = { add: 'add', sub: 'sub', exch: 'xchg', cas: 'cmpxchg' };
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
  const type = s.mem.elem as ValueType;
  const space = spaceName(g, spaceOf(g, s.mem.array));
  const args = s.args.map((a) => print(a).text);
  const carried = g.options.hostAtomics !== true || s.mem.array.space !== 'global' || !DEVICE_ONLY.has(s.fn);
  const native = carried ? nativeName(g, s.fn, type) : undefined;
  const [name, pointee] =
    native === undefined ? [compareLoop(g, s.fn, type, space), unsignedOf(type)] : [native, typeOf(type)];
  const call = `${name}((volatile ${space}${pointee} *)(${addressOf(g, print, s.mem)}), ${args.join(', ')})`;
  g.lines.add(s.result ? `${varName(s.result)} = ${call};` : `${call};`);
}

function nativeName(g: Gen, fn: AtomicOp, type: ValueType): string | undefined {
  if (isFloat(type)) return undefined;
  const wide = unsignedOf(type) === 'ulong';
  if (wide) needWide(g);
  if (BASE[fn]) return `${wide ? 'atom' : 'atomic'}_${BASE[fn]}`;
  if (!EXTENDED[fn] || (wide && g.target.int64Atomics !== 'extended')) return undefined;
  if (wide) g.extensions.add('cl_khr_int64_extended_atomics');
  return `${wide ? 'atom' : 'atomic'}_${EXTENDED[fn]}`;
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
function compareLoop(g: Gen, fn: AtomicOp, type: ValueType, space: string): string {
  const [T, U] = [typeOf(type), unsignedOf(type)];
  const wide = U === 'ulong';
  if (wide) needWide(g);
  const exchange = wide ? 'atom_cmpxchg' : 'atomic_cmpxchg';
  const { unless, next } = update(fn, T);
  const name = `atomic_${fn}_${type}${space === '' ? '' : `_${plainName(space.trim())}`}`;
  const params = `volatile ${space}${U} *p, ${T} a${fn === 'cas' ? `, ${T} b` : ''}`;
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

/** What an operation leaves in memory; where `unless` is false, memory stays as it is. */
function update(fn: AtomicOp, T: string): { readonly unless?: string; readonly next: string } {
  switch (fn) {
    case 'exch':
      return { next: 'a' };
    case 'cas':
      return { unless: 'old == a', next: 'b' };
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
