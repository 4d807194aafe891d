/**
 * Counters of a block that are kept in registers: they come to the same, and what must be in memory is.
 */
import { expect, it } from 'vitest';
import * as ir from '../../ir/builder.ts';
import type { ArraySym, AtomicOp, Expr, Kernel, Stmt } from '../../ir/ops.ts';
import { check, runWasm } from './launch.testing.ts';
import { Random } from './programs.testing.ts';

const { add, i32, ifElse, read } = ir;
const t = ir.special('threadIdx.x');
const item = (width: number): Expr => add(t, ir.mul(ir.special('threadIdx.y'), i32(width)));

const LENGTH = 6;
const THREADS = 256;
const FNS: readonly AtomicOp[] = ['add', 'add', 'sub', 'and', 'or', 'xor', 'min', 'max'];

interface Parts {
  readonly b: ir.KernelBuilder;
  readonly s: ArraySym;
  readonly x: Expr;
  readonly out: ArraySym;
}

/** Fills six counters, runs `work` for each item, and stores the counters. */
function kernel(elem: 'i32' | 'u32', width: number, work: (p: Parts) => readonly Stmt[]): Kernel {
  const b = new ir.KernelBuilder('counts');
  const [x, out] = [b.global(elem, 'x'), b.global(elem, 'out')];
  const s = b.shared(elem, 's', LENGTH);
  const body = work({ b, s, x: ir.load(ir.at(x, item(width))), out });
  const few = ir.lt(item(width), i32(LENGTH));
  return b.build(
    [
      ifElse(few, [ir.store(ir.at(s, item(width)), ir.load(ir.at(x, item(width))))]),
      ir.barrier(),
      ...body,
      ir.barrier(),
      ifElse(few, [ir.store(ir.at(out, item(width)), ir.load(ir.at(s, item(width))))]),
    ],
    { checked: true },
  );
}

const place = (k: number): { checks: { index: Expr; extent: Expr; axis: number }[] } => ({
  checks: [{ index: i32(k), extent: i32(LENGTH), axis: 0 }],
});

const IMAGE = new Uint8Array(
  Int32Array.from({ length: 4 * THREADS }, (_, i) => Math.imul(i, 2654435761) >> (i % 3 === 0 ? 3 : 27)).buffer,
);
const run = (k: Kernel, width: number, height: number): void => {
  check(k, { block: [width, height, 1] }, [0, 4 * THREADS], IMAGE, [
    { at: 4 * THREADS, elem: 'i32', length: 2 * THREADS },
  ]);
};

it('come to the same', () => {
  for (let seed = 1; seed <= 60; seed++) {
    const r = new Random(seed);
    const elem = r.pick(['i32', 'u32'] as const);
    const [width, height] = r.pick([
      [64, 1],
      [256, 1],
      [100, 1],
      [39, 1],
      [32, 4],
      [16, 8],
      [20, 3],
    ] as const);
    const k = kernel(elem, width, ({ b, s, x, out }) => {
      const value = (): Expr =>
        r.pick([ir.constant(elem, 1), ir.constant(elem, 5), x, ir.binary('xor', x, ir.constant(elem, 77))]);
      // Operations of two kinds would leave something else in another order.
      const elsewhere = r.chance(0.2);
      const fns = Array.from({ length: 4 }, (_, k) => (elsewhere && k < 2 ? 'add' : r.pick(FNS)));
      const atomic = (): Stmt => {
        const at = r.below(4);
        const fn = fns[at] === 'add' && r.chance(0.2) ? 'sub' : (fns[at] as AtomicOp);
        return ir.atomic(fn, ir.at(s, i32(at), place(at)), [value()]);
      };
      const cond = (): Expr =>
        r.pick([
          ir.lt(x, ir.constant(elem, 9)),
          ir.ne(ir.binary('and', x, ir.constant(elem, 3)), ir.constant(elem, 0)),
          ir.ge(t, i32(r.below(width))),
          ir.eq(t, i32(3)),
        ]);
      const stmt = (): Stmt => {
        const some = Array.from({ length: 1 + r.below(2) }, atomic);
        if (r.chance(0.6)) return ifElse(cond(), some, r.chance(0.3) ? [atomic()] : []);
        if (r.chance(0.4)) {
          const [label, i] = [b.label(), b.variable('i32', 'i')];
          const end = ifElse(ir.ge(read(i), r.pick([i32(3), ir.binary('and', t, i32(3))])), [ir.breakTo(label)]);
          return ir.block(b.label(), [
            ir.assign(i, i32(0)),
            ir.loop(label, [end, ...some], [ir.assign(i, add(read(i), i32(1)))]),
          ]);
        }
        return atomic();
      };
      const more: Stmt[] = r.chance(0.2) ? [ir.store(ir.at(out, add(item(width), i32(THREADS))), x)] : [];
      // Some counters are used otherwise.
      if (elsewhere) more.push(ir.atomic('add', ir.at(s, ir.binary('and', t, i32(1))), [x]));
      return [...Array.from({ length: 1 + r.below(3) }, stmt), ...more];
    });
    run(k, width, height);
  }
});

it('are in registers, and only they', () => {
  const isKept = (work: (p: Parts) => readonly Stmt[]): boolean => {
    const { bytes } = runWasm(kernel('i32', 64, work), { block: [64, 1, 1] }, [0, 4 * THREADS], IMAGE).module;
    // i32x4.neg: what is -1 in lanes that count.
    return bytes.some((_, k) => bytes[k] === 0xfd && bytes[k + 1] === 0xa1 && bytes[k + 2] === 0x01);
  };
  const counts =
    (at: Expr, more: (p: Parts) => readonly Stmt[] = () => []) =>
    (p: Parts): readonly Stmt[] => [
      ifElse(ir.lt(p.x, i32(4)), [ir.atomic('add', ir.at(p.s, at), [i32(1)])]),
      ...more(p),
    ];
  expect(isKept(counts(i32(0)))).toBe(true);
  expect(isKept(counts(ir.special('blockIdx.x')))).toBe(false);
  expect(isKept(counts(i32(0), ({ s, out }) => [ir.store(ir.at(out, t), ir.load(ir.at(s, i32(0))))]))).toBe(false);
  expect(isKept(counts(i32(0), ({ s, x }) => [ir.store(ir.at(s, i32(3)), x)]))).toBe(false);
});

it('are read and stored where they are', () => {
  const one = (s: ArraySym, at: number): Stmt => ir.atomic('add', ir.at(s, i32(at), place(at)), [i32(1)]);
  const works: ((p: Parts) => readonly Stmt[])[] = [
    // An item that reads what it alone changes.
    ({ s, out, x }) => [
      ifElse(ir.eq(t, i32(5)), [
        one(s, 2),
        ir.store(ir.at(out, add(t, i32(THREADS))), add(x, ir.load(ir.at(s, i32(2))))),
      ]),
    ],
    ({ s }) => [ifElse(ir.eq(t, i32(5)), [one(s, 2), ir.store(ir.at(s, i32(2)), i32(-1))])],
    ({ b, s, out }) => {
      const old = b.variable('i32', 'old');
      return [
        ifElse(ir.eq(t, i32(5)), [
          one(s, 2),
          ir.atomic('add', ir.at(s, i32(2)), [i32(3)], old),
          ir.store(ir.at(out, i32(THREADS)), read(old)),
        ]),
      ];
    },
    // What comes last stays.
    ({ s, x }) => [ifElse(ir.eq(t, i32(5)), [ir.atomic('exch', ir.at(s, i32(2)), [x])])],
    // Two operations on one element.
    ({ s, x }) => [ifElse(ir.eq(t, i32(5)), [one(s, 2), ir.atomic('min', ir.at(s, i32(2)), [x]), one(s, 2)])],
  ];
  for (const work of works) run(kernel('i32', 64, work), 64, 1);
});

it('are there, or the kernel fails as before', () => {
  const k = kernel('i32', 64, ({ s, x }) => [
    ifElse(ir.lt(x, i32(4)), [ir.atomic('add', ir.at(s, i32(LENGTH - 1), place(LENGTH)), [i32(1)])]),
  ]);
  expect(check(k, { block: [64, 1, 1] }, [0, 4 * THREADS], IMAGE, [])?.kind).toBe('bounds');
});
