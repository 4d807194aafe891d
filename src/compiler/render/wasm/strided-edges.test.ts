/**
 * Updates of every so many elements of a field, by several blocks, of which those at an edge run the vectors that are at none item by item, and the
 * others under masks: at all edges, with fields that end anywhere in a block.
 */
import { describe, expect, it } from 'vitest';
import { disassemble } from '../../../driver/cpu/disassemble.ts';
import * as ir from '../../ir/builder.ts';
import type { Expr, Kernel } from '../../ir/ops.ts';
import { check, runWasm } from './launch.testing.ts';
import { Random } from './programs.testing.ts';

const { add, i32, mul, read, sub } = ir;
const special = ir.special;
const ROOM = 8192;

interface Form {
  /** Every so many elements of a row. */
  readonly step: number;
  readonly masked: boolean;
  /** Whether a diagonal is taken: which elements of a row depends on the row. */
  readonly diagonal: boolean;
  /** Elements that are left out at each edge; none: checks may fail there. */
  readonly margin: number;
  readonly checked: boolean;
}

/** `if (margin <= x < width - margin && … && (x + y + rest) % step === 0) u[y][x] = u[y][x - 1] + u[y][x + 1] + u[y - 1][x] + u[y + 1][x] + x`. */
function kernel({ step, masked, diagonal, margin, checked }: Form, block: readonly [number, number]): Kernel {
  const b = new ir.KernelBuilder('edges');
  const u = b.global('i32', 'u');
  const [width, height, rest] = [b.value('i32', 'width'), b.value('i32', 'height'), b.value('i32', 'rest')];
  const [x, y] = [b.variable('i32', 'x'), b.variable('i32', 'y')];
  const at = (dx: number, dy: number) => {
    const [column, row] = [add(read(x), i32(dx)), add(read(y), i32(dy))];
    const checks = [
      { index: row, extent: height, axis: 0 },
      { index: column, extent: width, axis: 1 },
    ];
    return ir.at(u, add(mul(row, width), column), { checks });
  };
  const place = diagonal ? add(add(read(x), read(y)), rest) : add(read(x), rest);
  const remainder = masked ? ir.and(place, i32(step - 1)) : ir.binary('rem', place, i32(step));
  const inside = [
    ir.ge(read(x), i32(margin)),
    ir.lt(read(x), sub(width, i32(margin))),
    ir.ge(read(y), i32(margin)),
    ir.lt(read(y), sub(height, i32(margin))),
    ir.compare('eq', remainder, i32(0)),
  ].reduce((a: Expr, c: Expr): Expr => ir.and(a, c));
  const around = [at(-1, 0), at(1, 0), at(0, -1), at(0, 1)].map((mem) => ir.load(mem));
  const sum = around.reduce((a: Expr, c: Expr): Expr => add(a, c), read(x));
  return b.build(
    [
      ir.assign(x, add(mul(special('blockIdx.x'), i32(block[0])), special('threadIdx.x'))),
      ir.assign(y, add(mul(special('blockIdx.y'), i32(block[1])), special('threadIdx.y'))),
      ir.ifElse(inside, [ir.store(at(0, 0), sum)]),
    ],
    { checked },
  );
}

const IMAGE = new Uint8Array(Int32Array.from({ length: ROOM }, (_, i) => (i * 7919) >> 3).buffer);
const BLOCKS = [
  [32, 2],
  [16, 4],
  [64, 1],
  [40, 2],
  [24, 3],
] as const;

function run(form: Form, block: readonly [number, number], field: readonly [number, number], rest: number) {
  const [width, height] = field;
  const grid = [Math.ceil(width / block[0]), Math.ceil(height / block[1]), 1] as const;
  const args = [0, width, height, rest];
  const region = { at: 0, elem: 'i32', length: ROOM } as const;
  return check(kernel(form, block), { grid, block: [...block, 1] }, args, IMAGE, [region]);
}

const HALF: Form = { step: 2, masked: false, diagonal: true, margin: 1, checked: true };

describe('vectors of rows at an edge', () => {
  const stores = (form: Form): number => {
    const { module } = runWasm(kernel(form, [32, 2]), { block: [32, 2, 1] }, [0, 32, 2, 0], IMAGE);
    return disassemble(module.bytes).match(/i32\.store /g)?.length ?? 0;
  };

  it('are run item by item where they are at none, beside whole rows of blocks that are at none', () => {
    // 2 and 1 of these are what such a vector has; the rest is in the code of whole rows, and for faults. Every second item is a lane.
    expect([4, 8].map((step) => stores({ ...HALF, step }))).toEqual([15 + 2, 11 + 1]);
    // Vectors of 8 do not begin with the same remainder of 3.
    expect(stores({ ...HALF, step: 3 })).toBe(18);
  });
});

describe.each(BLOCKS)('blocks of %d × %d', (...block) => {
  it.each([2, 4, 8])('update every %d elements up to all edges', (step) => {
    for (const [w, h] of [
      [2, 2],
      [1, 0],
      [0, 2],
    ] as const) {
      for (const [dx, dy] of [
        [0, 0],
        [1, 0],
        [-1, 1],
        [9, -1],
      ] as const) {
        const field = [w * block[0] + dx, h * block[1] + dy + 2] as const;
        if (field[0] < 1) continue;
        for (const masked of [false, true]) {
          expect(run({ ...HALF, step, masked }, block, field, masked ? step - 1 : 0)).toBeUndefined();
        }
      }
    }
  });
});

it('do the same whatever they leave out, and fail alike', () => {
  const r = new Random(3);
  let faults = 0;
  for (let k = 0; k < 100; k++) {
    const form: Form = {
      step: r.pick([2, 2, 4, 8]),
      masked: r.chance(0.5),
      diagonal: r.chance(0.7),
      // The first check that fails in a vector is told, which the first item that fails need not come to: none fails, or the field is one row.
      margin: r.pick([1, 1, 2, 5, 9]),
      checked: r.chance(0.7),
    };
    const block = r.pick(BLOCKS);
    const field = [1 + r.below(3 * block[0]), 1 + r.below(5 * block[1])] as const;
    if (run(form, block, field, r.pick([0, 1, 3, -1, -40, 2 ** 31 - 70])) !== undefined) faults++;
  }
  expect(faults).toBe(0);
});
