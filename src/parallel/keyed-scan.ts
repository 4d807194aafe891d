/**
 * Scans that begin anew at some elements: what is scanned is a value and whether it begins a segment.
 */
import type { DeviceNDArray } from '../array/device-array.ts';
import { deviceFunction } from '../compiler/intrinsics.ts';
import { type DType, i32, spellDType, struct } from '../dtype/index.ts';
import type { Packed } from './accesses.ts';
import type { Input, Read } from './input.ts';
import { type Key, remember } from './memo.ts';
import type { Operator, Value } from './operator.ts';
import type { Scan } from './scan-kernels.ts';
import { combining, packedIn, readingIn } from './scan-plain.ts';
import type { Scanned } from './scanning.ts';
import { type ValueWords, valueWords } from './value-words.ts';

type Op = (a: Value, b: Value) => Value;
type Captured = Readonly<Record<string, unknown>>;
const device = <C, F extends (...args: never[]) => unknown>(factory: (captures: C) => F, captures: C): F =>
  deviceFunction(factory as (captures: Captured) => F, captures as Captured);

/** What is scanned. */
interface Headed {
  readonly head: number;
  readonly value: Value;
}

/** What says where segments begin. */
export interface Heads {
  readonly argument: unknown;
  /** Whether element `i` begins one. */
  readonly isHead: Read;
  /** The same of the elements of a vector. */
  readonly packed?: Pick<Packed, 'count' | 'load'> | undefined;
}

/** How a scan with segments goes. */
export interface Manner {
  /** What comes first in each segment, as kernels take it; undefined for nothing. */
  readonly init: unknown;
  readonly isExclusive: boolean;
}

/** The scan of the elements of each segment. */
export function keyedScan(operator: Operator, heads: Heads, input: Input, out: DeviceNDArray, manner: Manner): Scanned {
  const { init, isExclusive } = manner;
  const value = headedWords(operator.type);
  const op = combining(operator);
  const part = valueWords(operator.type);
  const read = readingIn(operator, input.read);
  const keys: readonly Key[] = ['keyed', op, operator.name, isExclusive, init !== undefined];
  const functions = remember(['keyed', op, spellDType(operator.type), heads.isHead, read], () => ({
    op: headedOp(op, part),
    read: headedRead(heads.isHead, read),
  }));
  const emit = remember(['keyed emit', op, operator.name, init !== undefined, isExclusive], () =>
    emitOf(op, operator, init !== undefined, isExclusive),
  );
  const argument = [heads.argument, input.argument];
  const packed = packedHeads(heads, packedIn(operator, input));
  return { keys, value, ...functions, name: operator.name, argument, packed, out, emit, init };
}

/** Vectors of what is scanned, where heads and values have equally many elements in one. */
function packedHeads({ packed: heads }: Heads, values: Heads['packed']): Heads['packed'] {
  if (heads === undefined || values === undefined || heads.count !== values.count) return undefined;
  return remember(['packed heads', heads.load, values.load], () => {
    const captures = { heads: heads.load as unknown as Flags, values: values.load };
    const load = device(
      ({ heads, values }: typeof captures) =>
        ([of, x]: readonly [Value, Value], i: number) => {
          const flags = heads(of, i);
          return values(x as never, i).map((value, k) => ({ head: flags[k] === true ? 1 : 0, value }));
        },
      captures,
    ) as unknown as Packed['load'];
    return { count: values.count, load };
  });
}

type Flags = (argument: Value, i: number) => readonly boolean[];

function headedWords(type: DType): ValueWords {
  const fields = { head: i32, value: type };
  const headed = remember(['headed', spellDType(type)], () =>
    struct(fields as never, { align: true }),
  ) as unknown as DType;
  return remember(['headed words', spellDType(type)], () => valueWords(headed));
}

function headedOp(op: Op, { pick }: ValueWords): Op {
  const captures = { op, pick };
  return device(
    ({ op, pick }: typeof captures) =>
      (a: Headed, b: Headed) => ({
        head: a.head | b.head,
        value: pick(b.head !== 0, b.value, op(a.value, b.value)),
      }),
    captures,
  ) as unknown as Op;
}

function headedRead(isHead: Read, read: Read): Read {
  const captures = { isHead, read };
  return device(
    ({ isHead, read }: typeof captures) =>
      ([heads, x]: readonly [Value, Value], i: number) => ({ head: isHead(heads, i) ? 1 : 0, value: read(x, i) }),
    captures,
  ) as unknown as Read;
}

function emitOf(op: Op, { cast }: Operator, hasInit: boolean, isExclusive: boolean): Scan['emit'] {
  const captures = { op, cast, hasInit };
  if (!isExclusive) {
    return device(
      ({ op, cast, hasInit }: typeof captures) =>
        (_before: Headed, _has: boolean, after: Headed, _own: Headed, init: Value) =>
          hasInit ? op(cast(init), after.value) : after.value,
      captures,
    ) as unknown as Scan['emit'];
  }
  return device(
    ({ op, cast }: typeof captures) =>
      (before: Headed, has: boolean, _after: Headed, own: Headed, init: Value) => {
        const first = cast(init);
        return own.head === 0 && has ? op(first, before.value) : first;
      },
    captures,
  ) as unknown as Scan['emit'];
}
