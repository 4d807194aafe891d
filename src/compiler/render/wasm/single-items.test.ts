/**
 * Regions that one item of a row runs, as scalar code: they do the same as elsewhere, and accuse the same thread.
 */
import { describe, expect, it } from 'vitest';
import * as ir from '../../ir/builder.ts';
import type { Expr, Kernel, Stmt } from '../../ir/ops.ts';
import { check, runWasm } from './launch.testing.ts';

const { add, i32, ifElse, mul, read, special } = ir;
const t = special('threadIdx.x');

interface Parts {
  readonly b: ir.KernelBuilder;
  readonly x: ReturnType<ir.KernelBuilder['global']>;
  readonly out: ReturnType<ir.KernelBuilder['global']>;
  readonly s: ReturnType<ir.KernelBuilder['shared']>;
}

/** Elements go to shared memory, `one` does something with them, and all go out. */
function kernel(width: number, one: (parts: Parts) => readonly Stmt[]): Kernel {
  const b = new ir.KernelBuilder('one');
  const [x, out] = [b.global('i32', 'x'), b.global('i32', 'out')];
  const s = b.shared('i32', 's', width);
  return b.build(
    [
      ir.store(ir.at(s, t), ir.load(ir.at(x, t))),
      ir.barrier(),
      ...one({ b, x, out, s }),
      ir.barrier(),
      ir.store(ir.at(out, t), ir.load(ir.at(s, t))),
    ],
    { checked: true },
  );
}

function run(k: Kernel, width: number, more: readonly number[] = [], height = 1) {
  const image = new Uint8Array(8 * width);
  image.set(new Uint8Array(Int32Array.from({ length: width }, (_, i) => (i * i + 3) % 17).buffer));
  return check(k, { block: [width, height, 1] }, [0, 4 * width, ...more], image, [
    { at: 4 * width, elem: 'i32', length: width },
  ]);
}

/** Adds up elements one by one up to one that is 12, and puts the sum in the place of an element. */
const sumUp = ({ b, s }: Parts, width: number, into: Expr, within = width): readonly Stmt[] => {
  const [i, sum, label] = [b.variable('i32', 'i'), b.variable('i32', 'sum'), b.label()];
  const element = ir.load(ir.at(s, read(i), { checks: [{ index: read(i), extent: i32(within), axis: 0 }] }));
  return [
    ir.assign(i, i32(0)),
    ir.assign(sum, i32(0)),
    ir.loop(
      label,
      [
        ifElse(ir.ge(read(i), i32(width)), [ir.breakTo(label)]),
        ifElse(ir.eq(element, i32(12)), [ir.breakTo(label)]),
        ir.assign(sum, add(read(sum), element)),
      ],
      [ir.assign(i, add(read(i), i32(1)))],
    ),
    ir.store(ir.at(s, into), read(sum)),
  ];
};

describe('do the same', () => {
  it.each([8, 13, 32, 40])('in rows of %i', (width) => {
    for (const item of [0, 5, width - 1, width, -1]) {
      run(
        kernel(width, (p) => [ifElse(ir.eq(t, i32(item)), sumUp(p, width, t))]),
        width,
      );
      const other = kernel(width, (p) => [ifElse(ir.eq(i32(item), add(t, i32(2))), sumUp(p, width, t))]);
      run(other, width);
    }
  });

  it('where only the launch knows which item', () => {
    const k = kernel(24, (p) => {
      const which = p.b.value('i32', 'which');
      return [ifElse(ir.eq(t, which), sumUp(p, 24, t))];
    });
    for (const which of [0, 1, 7, 8, 23, 24, -1, 2 ** 31 - 1, -(2 ** 31)]) run(k, 24, [which]);
  });

  it('where it is a condition of the block that is one of equality', () => {
    const k = kernel(16, ({ b, s }) => {
      const which = b.value('i32', 'which');
      return [ifElse(ir.and(ir.eq(which, i32(3)), ir.lt(t, i32(5))), [ir.store(ir.at(s, t), mul(t, i32(7)))])];
    });
    for (const which of [3, 4]) run(k, 16, [which]);
  });

  it('where several items of a row are equal to it', () => {
    for (const [width, fn, by] of [
      [32, 'and', 7],
      [64, 'rem', 16],
    ] as const) {
      const k = kernel(width, (p) => {
        const cond = ir.and(ir.lt(t, i32(width - 3)), ir.eq(ir.binary(fn, t, i32(by)), i32(3)));
        return [ifElse(cond, sumUp(p, width, t))];
      });
      run(k, width);
    }
  });

  it('where only the launch knows what is equal to it', () => {
    const k = kernel(24, (p) => {
      const which = ir.select(ir.lt(p.b.value('i32', 'n'), i32(3)), t, add(t, i32(5)));
      return [ifElse(ir.and(ir.lt(t, i32(20)), ir.eq(which, i32(7))), sumUp(p, 24, t))];
    });
    for (const n of [2, 3]) run(k, 24, [n]);
  });

  it('with more that has to hold, and values of their own', () => {
    const k = kernel(16, (p) => {
      const own = p.b.variable('i32', 'own');
      const more = ir.compare('gt', ir.load(ir.at(p.s, i32(3))), read(own));
      return [ir.assign(own, mul(t, i32(3))), ifElse(ir.and(ir.eq(t, i32(2)), more), sumUp(p, 16, read(own)))];
    });
    run(k, 16);
  });

  it('with what items keep across barriers', () => {
    const k = kernel(16, (p) => {
      const kept = p.b.variable('i32', 'kept');
      return [
        ir.assign(kept, add(ir.load(ir.at(p.s, t)), i32(1))),
        ir.barrier(),
        ifElse(ir.eq(t, i32(9)), [ir.store(ir.at(p.s, i32(1)), read(kept)), ir.assign(kept, i32(77))]),
        ir.barrier(),
        ir.store(ir.at(p.s, t), read(kept)),
      ];
    });
    run(k, 16);
  });

  it('with atomic operations, in each row', () => {
    const k = kernel(16, ({ s }) => [
      ifElse(ir.eq(t, i32(4)), [ir.atomic('add', ir.at(s, i32(0)), [add(special('threadIdx.y'), i32(2))])]),
    ]);
    run(k, 16, [], 1);
    run(k, 16, [], 3);
  });
});

it('accuse the item itself', () => {
  for (const item of [0, 6, 9]) {
    const k = kernel(16, (p) => [ifElse(ir.eq(t, i32(item)), sumUp({ ...p }, 16, t, 2))]);
    expect(run(k, 16)?.thread).toBe(item);
  }
});

it('are scalar code', () => {
  // i32x4.extract_lane and i32x4.replace_lane: what gathers are made of.
  const lanes = [
    [0xfd, 0x1b],
    [0xfd, 0x1c],
  ];
  const k = kernel(16, (p) => [ifElse(ir.eq(t, i32(0)), sumUp(p, 16, t))]);
  const { bytes } = runWasm(k, { block: [16, 1, 1] }, [0, 64], new Uint8Array(128)).module;
  expect(lanes.some((code) => bytes.some((_, i) => code.every((byte, j) => bytes[i + j] === byte)))).toBe(false);
});
