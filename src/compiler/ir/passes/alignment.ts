/**
 * What vectors that begin at multiples of their lanes make of quotients, remainders and bits of consecutive integers.
 *
 * With eight lanes, `threadIdx.x / 16` is the same in all of them and `threadIdx.x % 16` is consecutive: no vector crosses a
 * multiple of 16. Such shapes hold only while no row is run from elsewhere (see `Uniformity.isAligned`).
 */
import type { Expr, Var } from '../ops.ts';
import { isInt, isUnsigned } from '../ops.ts';
import { WARP_SIZE } from '../warp.ts';

/** What is to be known of the kernel around. */
export interface AlignmentFacts {
  readonly lanes: number;
  readonly block?: readonly [number, number, number] | undefined;
  /** All values that are assigned to a variable; undefined where there are others than these. */
  readonly values: (v: Var) => readonly Expr[] | undefined;
}

/**
 * The shape of `a fn b` where `a` is consecutive and `b` a constant: U or C where the lanes' alignment says so, else undefined.
 */
export function alignedShape(e: Expr & { op: 'binary' }, facts: AlignmentFacts): 'U' | 'C' | undefined {
  const { lanes } = facts;
  if (lanes < 2 || e.b.op !== 'const' || !isInt(e.type)) return undefined;
  const by = Number(e.b.value);
  const low = modulo(e.b.value, lanes);
  const whole = (fn: () => boolean = () => true): boolean => fn() && residueOf(e.a, facts) === 0;
  switch (e.fn) {
    case 'shr':
      return by >= Math.log2(lanes) && by < 32 && whole() ? 'U' : undefined;
    case 'floordiv':
      return by > 0 && low === 0 && whole() ? 'U' : undefined;
    case 'div':
      return by > 0 && low === 0 && whole(() => isNatural(e.a, facts)) ? 'U' : undefined;
    case 'rem':
      return by > 0 && low === 0 && whole(() => isNatural(e.a, facts)) ? 'C' : undefined;
    case 'and':
      if (low === 0) return whole() ? 'U' : undefined;
      return low === lanes - 1 && whole() ? 'C' : undefined;
    default:
      return undefined;
  }
}

/** Of 64-bit constants exactly: as numbers they may lose their last bits. */
function modulo(n: number | bigint | boolean, lanes: number): number {
  if (typeof n === 'bigint') return modulo(Number(n % BigInt(lanes)), lanes);
  return ((Number(n) % lanes) + lanes) % lanes;
}

/** More than this many steps through operands and variables are not taken. */
const MOST = 24;

/** The first lane's value modulo the lanes, of a value that is consecutive or the same in all lanes. */
function residueOf(e: Expr, { lanes, values }: AlignmentFacts): number | undefined {
  /** What is assumed of variables while their values are looked at: a counter's start, until its steps have been seen. */
  const assumed = new Map<number, number | undefined>();
  let steps = 0;
  return of(e);

  function of(x: Expr): number | undefined {
    if (steps++ > MOST) return undefined;
    switch (x.op) {
      case 'const':
        return modulo(x.value, lanes);
      case 'special':
        return x.name === 'threadIdx.x' || x.name === 'laneId' ? 0 : undefined;
      case 'var':
        return ofVariable(x.var);
      case 'cast':
        return isInt(x.a.type) && /^[iu](32|64)$/.test(x.to) ? of(x.a) : undefined;
      case 'bitcast':
        return isInt(x.a.type) ? of(x.a) : undefined;
      case 'binary':
        return isInt(x.type) ? ofBinary(x) : undefined;
      default:
        return undefined;
    }
  }

  function ofBinary({ fn, a, b }: Expr & { op: 'binary' }): number | undefined {
    const [x, y] = [of(a), of(b)];
    if (fn === 'mul' && (x === 0 || y === 0)) return 0;
    if (x === undefined || y === undefined) return undefined;
    switch (fn) {
      case 'add':
        return modulo(x + y, lanes);
      case 'sub':
        return modulo(x - y, lanes);
      case 'mul':
        return modulo(x * y, lanes);
      case 'shl':
        return b.op === 'const' ? modulo(x * 2 ** Math.min(Number(b.value), 32), lanes) : undefined;
      case 'and':
        return b.op === 'const' ? x & y : undefined;
      case 'rem':
        return b.op === 'const' && y === 0 && Number(b.value) !== 0 ? x : undefined;
      default:
        return undefined;
    }
  }

  function ofVariable(v: Var): number | undefined {
    if (assumed.has(v.id)) return assumed.get(v.id);
    assumed.set(v.id, undefined);
    const all = values(v);
    const [first] = all ?? [];
    if (all === undefined || first === undefined) return undefined;
    const start = of(first);
    if (start === undefined) return undefined;
    const before = [...assumed];
    assumed.set(v.id, start);
    if (all.every((value) => of(value) === start)) return start;
    // What was found of others may rest on the assumption.
    assumed.clear();
    for (const [id, residue] of before) assumed.set(id, residue);
    return undefined;
  }
}

/** Whether an integer is surely not negative. */
function isNatural(e: Expr, facts: AlignmentFacts): boolean {
  if (isUnsigned(e.type)) return true;
  const range = rangeOf(e, facts);
  return range !== undefined && range[0] >= 0;
}

type Range = readonly [least: number, most: number];

/** Bounds of an integer of 32 bits that provably does not wrap in any thread; undefined when nothing is known. */
export function rangeOf(e: Expr, { block, values }: Omit<AlignmentFacts, 'lanes'>): Range | undefined {
  let steps = 0;
  return of(e);

  function of(x: Expr): Range | undefined {
    if ((x.type !== 'i32' && x.type !== 'u32') || steps++ > MOST) return undefined;
    const [least, most] = x.type === 'u32' ? [0, 2 ** 32 - 1] : [-(2 ** 31), 2 ** 31 - 1];
    const range = own(x);
    return range !== undefined && range[0] >= least && range[1] <= most ? range : undefined;
  }

  function own(x: Expr): Range | undefined {
    switch (x.op) {
      case 'const':
        return [Number(x.value), Number(x.value)];
      case 'special': {
        if (x.name === 'laneId') return [0, WARP_SIZE - 1];
        const axis = ['threadIdx.x', 'threadIdx.y', 'threadIdx.z'].indexOf(x.name);
        // CUDA's limit for the extents of a block is 1024; other devices stay far below 2^16.
        return axis < 0 ? undefined : [0, (block?.[axis] ?? 2 ** 16) - 1];
      }
      case 'cast':
        return (x.to === 'i32' || x.to === 'u32') && isInt(x.a.type) ? of(x.a) : undefined;
      case 'var': {
        const ranges = values(x.var)?.map(of) ?? [undefined];
        const known = ranges.filter((r) => r !== undefined);
        if (known.length < ranges.length) return undefined;
        return [Math.min(...known.map(([least]) => least)), Math.max(...known.map(([, most]) => most))];
      }
      case 'binary':
        return ofBinary(x);
      default:
        return undefined;
    }
  }

  function ofBinary({ fn, a: left, b: right }: Expr & { op: 'binary' }): Range | undefined {
    const [a, b] = [of(left), of(right)];
    if (fn === 'and' && b !== undefined && b[0] >= 0) return [0, b[1]];
    if (a === undefined || b === undefined) return undefined;
    const natural = a[0] >= 0 && b[0] >= 0;
    switch (fn) {
      case 'add':
        return [a[0] + b[0], a[1] + b[1]];
      case 'sub':
        return [a[0] - b[1], a[1] - b[0]];
      case 'mul':
        return natural ? [a[0] * b[0], a[1] * b[1]] : undefined;
      case 'rem':
        return natural && b[0] > 0 ? [0, Math.min(a[1], b[1] - 1)] : undefined;
      case 'div':
      case 'floordiv':
      case 'shr':
        return natural ? [0, a[1]] : undefined;
      default:
        return undefined;
    }
  }
}
