import { describe, expect, it } from 'vitest';
import {
  add,
  and,
  assign,
  at,
  barrier,
  binary,
  block,
  bool,
  breakTo,
  cast,
  compare,
  ge,
  i32,
  ifElse,
  KernelBuilder,
  load,
  loop,
  lt,
  not,
  read,
  ret,
  special,
  store,
  trap,
  u32,
} from '../builder.ts';
import { interpret } from '../interpret.ts';
import type { Expr, Kernel, Stmt, ValueType, WarpOp } from '../ops.ts';
import { warpResult } from '../ops.ts';
import { verify } from '../verify.ts';
import { lowerReturns } from './returns.ts';
import { eachStmt } from './walk.ts';
import { withAllLanes } from './warps.testing.ts';
import { lowerWarps } from './warps.ts';

const THREADS = 80;
const tid = special('threadIdx.x');

/** A kernel over `out[thread]` whose body may exchange. */
function kernelOf(make: (b: KernelBuilder, out: (value: Expr) => Stmt, exchange: Exchange) => readonly Stmt[]): Kernel {
  const b = new KernelBuilder('warps');
  const array = b.global('i32', 'out');
  const out = (value: Expr): Stmt => store(at(array, tid), value.type === 'i32' ? value : cast('i32', value));
  const exchange: Exchange = (fn, args, mask = u32(0xffffffff)) => {
    const result = b.variable(warpResult(fn, args[0]?.type), '%r');
    return {
      stmt: { op: 'warp', fn, mask: fn === 'activeMask' ? undefined : mask, args, result, pos: POS },
      value: read(result),
    };
  };
  return b.build(make(b, out, exchange));
}

type Exchange = (fn: WarpOp, args: readonly Expr[], mask?: Expr) => { readonly stmt: Stmt; readonly value: Expr };
const POS = { source: { text: '', name: 'test' }, start: 0, end: 0 };

function run(kernel: Kernel, threads = THREADS, block: readonly [number, number, number] = [threads, 1, 1]): number[] {
  const memory = new Uint8Array(4 * threads);
  const { fault } = interpret(kernel, { grid: [1, 1, 1], block: [...block] }, [0], memory);
  expect(fault).toBeUndefined();
  return [...new Int32Array(memory.buffer)];
}

/** The kernel, its lowering, and that after return lowering give the same. */
function same(kernel: Kernel, threads = THREADS): number[] {
  verify(kernel);
  const expected = run(kernel, threads);
  const { kernel: lowered, problems } = lowerWarps(kernel);
  expect(problems).toEqual([]);
  if (lowered === undefined) throw new Error('nothing was lowered');
  verify(lowered);
  const flat = lowerReturns(lowered).kernel;
  verify(flat, 'returns');
  expect(run(flat, threads)).toEqual(expected);
  sameOnWarps(kernel);
  return expected;
}

/** The same on a device with warps, where exchanges to which whole warps come stay: their lanes are all there. Gives how many stay. */
function sameOnWarps(kernel: Kernel, block: readonly [number, number, number] = [96, 1, 1]): number {
  const threads = block[0] * block[1] * block[2];
  const { kernel: lowered } = lowerWarps(kernel, block);
  if (lowered === undefined) throw new Error('nothing was lowered');
  verify(lowered);
  const flat = lowerReturns(lowered).kernel;
  let kept = 0;
  eachStmt(flat.body, (s) => {
    if (s.op === 'warp') kept++;
  });
  expect(run(withAllLanes(flat), threads, block)).toEqual(run(kernel, threads, block));
  return kept;
}

const lanes = (value: (lane: number, thread: number) => number, threads = THREADS): number[] =>
  Array.from({ length: threads }, (_, t) => value(t % 32, t));

describe('exchanges of whole warps', () => {
  it('shuffle', () => {
    const of = (fn: WarpOp, by: Expr): number[] =>
      same(
        kernelOf((_b, out, exchange) => {
          const got = exchange(fn, [tid, by]);
          return [got.stmt, out(got.value)];
        }),
      );
    const start = (t: number): number => t - (t % 32);
    expect(of('shfl', i32(35))).toEqual(lanes((_l, t) => start(t) + 3));
    expect(of('shflUp', i32(2))).toEqual(lanes((l, t) => (l < 2 ? t : t - 2)));
    // The last warp has 16 threads: the value of a lane that is not there is the own one.
    expect(of('shflDown', i32(1))).toEqual(lanes((l, t) => (l === 31 || t === THREADS - 1 ? t : t + 1)));
    expect(of('shflXor', i32(1))).toEqual(lanes((_l, t) => t ^ 1));
  });

  it.each(['i32', 'u32', 'i64', 'u64', 'f32', 'f64'] as const)('carry %s', (type: ValueType) => {
    const got = same(
      kernelOf((_b, out, exchange) => {
        const v = exchange('shflXor', [cast(type, tid), i32(3)]);
        return [v.stmt, out(v.value)];
      }),
      64,
    );
    expect(got).toEqual(lanes((_l, t) => t ^ 3, 64));
  });

  it('vote and match', () => {
    const of = (fn: WarpOp, arg: readonly Expr[], mask?: Expr): number[] =>
      same(
        kernelOf((_b, out, exchange) => {
          const got = exchange(fn, arg, mask);
          return [got.stmt, out(got.value)];
        }),
        64,
      );
    const below = lt(tid, i32(40));
    expect(of('all', [below])).toEqual(lanes((_l, t) => (t < 32 ? 1 : 0), 64));
    expect(of('any', [below])).toEqual(lanes(() => 1, 64));
    expect(of('eq', [below])).toEqual(lanes((_l, t) => (t < 32 ? 1 : 0), 64));
    expect(of('ballot', [below])).toEqual(lanes((_l, t) => (t < 32 ? -1 : 0xff), 64));
    expect(of('matchAny', [and(tid, i32(1))])).toEqual(lanes((l) => (l % 2 === 0 ? 0x55555555 : 0xaaaaaaaa | 0), 64));
    expect(of('matchAll', [and(tid, i32(32))])).toEqual(lanes(() => -1, 64));
    expect(of('matchAll', [tid])).toEqual(lanes(() => 0, 64));
    expect(of('activeMask', [])).toEqual(lanes(() => -1, 64));
  });
});

describe('exchanges of some lanes', () => {
  it('in a branch of one warp, the usual end of a block’s reduction', () => {
    const got = same(
      kernelOf((b, out, exchange) => {
        const sum = b.variable('i32', 'sum');
        const parts = b.shared('i32', 'parts', 32);
        const reduce = (): Stmt[] =>
          [16, 8, 4, 2, 1].flatMap((step) => {
            const got = exchange('shflDown', [read(sum), i32(step)]);
            return [got.stmt, assign(sum, add(read(sum), got.value))];
          });
        const lane = and(tid, i32(31));
        const warp: Expr = { op: 'binary', type: 'i32', fn: 'shr', a: tid, b: i32(5) };
        return [
          assign(sum, i32(1)),
          ...reduce(),
          ifElse(compare('eq', lane, i32(0)), [store(at(parts, warp), read(sum))]),
          barrier(),
          ifElse(lt(tid, i32(32)), [
            assign(sum, i32(0)),
            ifElse(lt(tid, i32(2)), [assign(sum, load(at(parts, tid)))]),
            ...reduce(),
          ]),
          out(read(sum)),
        ];
      }),
      64,
    );
    expect(got[0]).toBe(64);
  });

  it('in both arms, after a return, and in a loop that all leave together', () => {
    same(
      kernelOf((b, out, exchange) => {
        const v = b.variable('i32', 'v');
        const k = b.variable('i32', 'k');
        const odd = compare('eq', and(tid, i32(1)), i32(1));
        const mask = exchange('activeMask', []);
        const one = exchange('shflXor', [read(v), i32(2)], u32(0xaaaaaaaa));
        const two = exchange('shflXor', [read(v), i32(4)], u32(0x55555555));
        const label = b.label();
        const again = exchange('shflUp', [read(v), i32(1)]);
        return [
          assign(v, tid),
          ifElse(odd, [one.stmt, assign(v, one.value)], [two.stmt, assign(v, two.value)]),
          ifElse(ge(tid, i32(64)), [ret()]),
          assign(k, i32(0)),
          loop(
            label,
            [
              ifElse(ge(read(k), i32(3)), [breakTo(label)]),
              again.stmt,
              assign(v, add(read(v), again.value)),
              mask.stmt,
              ifElse(compare('eq', mask.value, u32(0)), [assign(v, i32(-1))]),
            ],
            [assign(k, add(read(k), i32(1)))],
          ),
          out(read(v)),
        ];
      }),
    );
  });

  it('but not in a loop that they leave at different times', () => {
    const kernel = kernelOf((b, out, exchange) => {
      const k = b.variable('i32', 'k');
      const label = b.label();
      const any = exchange('any', [bool(true)]);
      return [
        assign(k, i32(0)),
        loop(
          label,
          [ifElse(ge(read(k), tid), [breakTo(label)]), any.stmt, out(read(k))],
          [assign(k, add(read(k), i32(1)))],
        ),
      ];
    });
    verify(kernel);
    expect(lowerWarps(kernel)).toMatchObject({ kernel: undefined, problems: [{ pos: POS }] });
  });
});

describe('where the device has warps', () => {
  type Make = Parameters<typeof kernelOf>[0];
  const [ODD, ALL] = [u32(0xaaaaaaaa), u32(0xffffffff)];
  const odd = compare('eq', and(tid, i32(1)), i32(1));
  const isFirst = compare('eq', binary('shr', tid, i32(5)), i32(0));
  const taking =
    (mask: Expr): Make =>
    (_b, out, exchange) => {
      const got = exchange('shflXor', [tid, i32(2)], mask);
      return [got.stmt, out(got.value)];
    };
  const one = taking(ALL);
  const within =
    (cond: Expr, mask: Expr): Make =>
    (...args) => [ifElse(cond, taking(mask)(...args))];
  const behind =
    (cond: Expr, stop: Stmt, mask: Expr): Make =>
    (...args) => [ifElse(cond, [stop]), ...taking(mask)(...args)];
  const left =
    (cond: Expr, mask: Expr): Make =>
    (b, ...args) => {
      const label = b.label();
      return [block(label, [ifElse(cond, [breakTo(label)]), ...taking(mask)(b, ...args)])];
    };
  const variable: Make = (b, ...args) => {
    const mask = b.variable('u32', 'mask');
    return [assign(mask, ALL), ...taking(read(mask))(b, ...args)];
  };

  it.each<[string, number, Make, (readonly [number, number, number])?]>([
    ['all come', 1, one],
    ['all come in rows that are no warps', 1, one, [16, 2, 2]],
    ['some warps come', 1, within(isFirst, ALL)],
    ['some warps have returned', 1, behind(isFirst, ret(), ALL)],
    ['some warps have gone on', 1, left(isFirst, ALL)],
    ['some lanes come', 0, within(odd, ODD)],
    ['some lanes come, and say all', 0, within(odd, ALL)],
    ['some lanes have returned', 0, behind(not(odd), ret(), ALL)],
    ['some lanes have gone on', 0, left(not(odd), ODD)],
    ['some lanes may stop', 0, behind(compare('eq', tid, i32(1000)), trap('never'), ALL)],
    ['nobody knows who is meant', 0, variable],
    ['the last warp is not whole', 0, one, [80, 1, 1]],
    ['some warps come in rows that are no warps', 0, within(isFirst, ALL), [16, 2, 2]],
  ])('exchanges stay where all lanes come: %s', (_, stay, make, shape = [96, 1, 1]) => {
    expect(sameOnWarps(kernelOf(make), shape)).toBe(stay);
  });

  it('stay beside those that go through memory', () => {
    const both = kernelOf((...args) => [
      ...one(...args),
      ...within(odd, ODD)(...args),
      ...within(isFirst, ALL)(...args),
    ]);
    expect(sameOnWarps(both)).toBe(2);
  });
});
