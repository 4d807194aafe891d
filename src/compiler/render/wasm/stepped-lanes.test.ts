/**
 * Lanes that are every other item of a row: which items are, and that they do what the items do.
 */
import { expect, it } from 'vitest';
import { disassemble } from '../../../driver/cpu/disassemble.ts';
import * as ir from '../../ir/builder.ts';
import { ELEM_SIZE, type Expr, type Kernel, type Stmt, type Var } from '../../ir/ops.ts';
import { check, runWasm } from './launch.testing.ts';

const { add, assign, i32, ifElse, lt, mul, read, store, sub } = ir;
const [COLUMNS, ROWS] = [600, 20];
type Elem = 'f32' | 'i32' | 'u32' | 'f64';

interface Parts {
  readonly b: ir.KernelBuilder;
  readonly x: Var;
  readonly y: Var;
  readonly colour: Expr;
  /** An element around the place of the item. */
  readonly u: (dx: number, dy: number) => Expr;
  readonly set: (value: Expr) => Stmt;
}

interface Options {
  readonly elem?: Elem;
  readonly step?: number;
  readonly checked?: boolean;
  /** What an item does; else it adds up its neighbours. */
  readonly then?: (parts: Parts) => readonly Stmt[];
  /** Asked beside the colour. */
  readonly when?: Expr;
  /** Added to the place in the row that is asked about. */
  readonly beyond?: Expr;
}

/** `if ((x + y) % step === colour) u[y][x] = …` of a matrix whose first place is not its own. */
function kernel({ elem = 'f32', step = 2, checked = true, then, when, beyond }: Options): Kernel {
  const b = new ir.KernelBuilder('stepped');
  const [u, colour, columns, size] = [
    b.global(elem, 'u'),
    b.value('i32', 'colour'),
    b.value('i32', 'w'),
    b.value('i32', 'n'),
  ];
  const [x, y] = [b.variable('i32', 'x'), b.variable('i32', 'y')];
  const mem = (dx: number, dy: number) => {
    const index = add(mul(add(read(y), i32(dy)), columns), add(read(x), i32(dx)));
    return ir.at(u, index, { checks: [{ index, extent: size, axis: 0 }] });
  };
  const parts: Parts = {
    b,
    x,
    y,
    colour,
    u: (dx, dy) => ir.load(mem(dx, dy)),
    set: (value) => store(mem(0, 0), value),
  };
  const { u: at, set } = parts;
  const sum = add(add(at(-1, 0), at(1, 0)), sub(at(0, -1), at(0, 1)));
  const place = (axis: 'x' | 'y'): Expr =>
    add(
      add(mul(ir.special(`blockIdx.${axis}`), ir.special(`blockDim.${axis}`)), ir.special(`threadIdx.${axis}`)),
      i32(1),
    );
  const asked = beyond === undefined ? add(read(x), read(y)) : add(add(read(x), read(y)), beyond);
  const isColour = ir.compare('eq', ir.binary('rem', asked, i32(step)), colour);
  return b.build(
    [
      assign(x, place('x')),
      assign(y, place('y')),
      ifElse(when === undefined ? isColour : ir.and(isColour, when), then?.(parts) ?? [set(sum)]),
    ],
    { checked },
  );
}

const image = (elem: Elem): Uint8Array => {
  const values = Array.from({ length: COLUMNS * ROWS }, (_, k) => (k * 7919) % 1000);
  if (elem === 'f32') return new Uint8Array(Float32Array.from(values, (v) => v / 7).buffer);
  return new Uint8Array((elem === 'f64' ? Float64Array.from(values, (v) => v / 7) : Int32Array.from(values)).buffer);
};

function run(
  k: Kernel,
  block: readonly [number, number, number],
  more: { elem?: Elem; colour?: number; n?: number; grid?: [number, number, number] } = {},
) {
  const { elem = 'f32', colour = 0, n = COLUMNS * ROWS, grid = [1, 1, 1] } = more;
  return check(k, { grid, block }, [0, colour, COLUMNS, n], image(elem), [{ at: 0, elem, length: COLUMNS * ROWS }]);
}

/** How many times two vectors are brought together of which every other element is wanted. */
function gathered(k: Kernel, width: number): number {
  const args = [0, 0, COLUMNS, COLUMNS * ROWS];
  const { bytes } = runWasm(k, { block: [width, 2, 1] }, args, new Uint8Array(ELEM_SIZE.f64 * COLUMNS * ROWS)).module;
  return disassemble(bytes).match(/i8x16.shuffle 0 1 2 3 8 9 10 11 20 21 22 23 28 29 30 31/g)?.length ?? 0;
}

it('are every second item that works on elements of four bytes near its own', () => {
  // Four loads, of four vectors of a row and of one of a row at an edge.
  for (const elem of ['f32', 'i32', 'u32'] as const) expect(gathered(kernel({ elem }), 32)).toBe(4 * (4 + 1));
  expect(gathered(kernel({ checked: false }), 32)).toBe(4 * 4);
  expect(gathered(kernel({ elem: 'f64' }), 32)).toBe(0);
  expect(gathered(kernel({ step: 4 }), 32)).toBe(0);
  expect(gathered(kernel({}), 36)).toBe(0);
  // Long rows are gone through in a loop, of no more vectors.
  expect(gathered(kernel({}), 128)).toBe(4 * (4 + 1));
  expect(gathered(kernel({}), 72)).toBe(4 * (3 + 1));
  const scattered = kernel({
    then: ({ u, set, x }) => [set(add(u(0, 0), ir.cast('f32', ir.binary('and', read(x), i32(5)))))],
  });
  expect(gathered(scattered, 32)).toBeGreaterThan(0);
});

it.each([8, 16, 24, 32, 40, 64, 72, 128, 256])('do what the items of rows of %d do', (width) => {
  for (const elem of ['f32', 'i32'] as const) {
    for (const checked of [true, false]) {
      const k = kernel({ elem, checked });
      for (const colour of [0, 1, 2, -1]) run(k, [width, 3, 1], { elem, colour, grid: [2, 3, 1] });
      if (checked) for (const n of [0, 1, 640, 3000]) run(k, [width, 3, 1], { elem, n, grid: [2, 3, 1] });
    }
  }
});

it('have variables of their own', () => {
  const bodies: ((p: Parts) => readonly Stmt[])[] = [
    // Assigned several times, by what depends on the place.
    ({ b, x, u, set }) => {
      const v = b.variable('f32', 'v');
      return [
        assign(v, add(u(-1, 0), u(1, 0))),
        ifElse(lt(read(x), i32(17)), [assign(v, mul(read(v), ir.f32(0.5)))], [assign(v, u(0, -1))]),
        set(add(read(v), ir.cast('f32', read(x)))),
      ];
    },
    // The place itself moves.
    ({ x, u, set, colour }) => [assign(x, add(read(x), mul(colour, i32(2)))), set(add(u(-1, 0), u(0, 1)))],
    // Read before it is assigned.
    ({ b, u, set }) => {
      const v = b.variable('f32', 'v');
      return [assign(v, add(read(v), u(1, 0))), set(read(v))];
    },
    // A guard that holds for some of the lanes.
    ({ x, u, set }) => [
      ifElse(ir.compare('ne', ir.binary('rem', read(x), i32(3)), i32(0)), [set(add(u(-1, 0), u(1, 0)))]),
    ],
  ];
  for (const then of bodies)
    for (const checked of [true, false])
      for (const colour of [0, 1])
        for (const width of [32, 40, 128]) run(kernel({ then, checked }), [width, 2, 1], { colour, grid: [2, 2, 1] });
});

it('are not those of the warp', () => {
  const lane = kernel({ elem: 'i32', then: ({ u, set }) => [set(add(u(0, 0), ir.special('laneId')))] });
  for (const width of [32, 64]) run(lane, [width, 2, 1], { elem: 'i32', grid: [2, 2, 1] });
});

/** Whether rows of several blocks are run as one: in a loop that ends where a number says. */
const isOne = (k: Kernel): boolean =>
  /i32.const 8\n *i32.add\n *local.tee \d+\n *local.get \d+\n *i32.lt_u/.test(
    disassemble(runWasm(k, { block: [16, 2, 1] }, [0, 0, COLUMNS, COLUMNS * ROWS], image('f32')).module.bytes),
  );

it('go on through rows of several blocks where nothing tells these apart but the number of the thread', () => {
  const block = ir.special('blockIdx.x');
  const thread = ir.special('threadIdx.x');
  const number = add(mul(block, ir.special('blockDim.x')), thread);
  const is = (e: Expr, value: number): Expr => ir.compare('eq', e, i32(value));
  const near = (u: Parts['u']): Expr => add(add(u(-1, 0), u(1, 0)), sub(u(0, -1), u(0, 1)));
  const those: [Options, boolean][] = [
    [{}, true],
    [{ when: lt(number, i32(20)) }, false],
    [{ when: is(ir.special('blockIdx.y'), 1) }, true],
    [{ when: is(ir.binary('and', block, i32(1)), 1) }, false],
    [{ then: ({ x, u, set }) => [set(add(near(u), ir.cast('f32', read(x))))] }, true],
    [{ then: ({ u, set }) => [set(add(near(u), ir.cast('f32', thread)))] }, false],
    [{ then: ({ u, set }) => [set(add(near(u), ir.cast('f32', block)))] }, false],
    [{ beyond: block }, false],
    [{ beyond: ir.special('blockIdx.y') }, true],
    // Numbers that pass through zero, and through the largest there is, in one of the blocks or between two.
    ...[-40, -24, -17, 2 ** 31 - 30, 2 ** 31 - 24, 2 ** 31 - 9].map((n): [Options, boolean] => [
      { beyond: i32(n) },
      true,
    ]),
  ];
  for (const [options, one] of those) {
    for (const checked of [true, false]) {
      const k = kernel({ ...options, checked });
      expect(isOne(k), `${those.findIndex(([o]) => o === options)}, ${checked}`).toBe(one);
      for (const width of [8, 16, 24])
        for (const colour of [0, 1, -1]) run(k, [width, 3, 1], { colour, grid: [5, 2, 1] });
    }
  }
});

it('store with what lies between them, where it has been loaded and nobody else is there', () => {
  const woven = (k: Kernel, concurrent: boolean) => {
    const args = [0, 0, COLUMNS, COLUMNS * ROWS];
    const { module } = runWasm(k, { block: [32, 2, 1], concurrent }, args, image('f32'));
    const whole = disassemble(module.bytes).includes('i8x16.shuffle 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27');
    expect(module.exclusive ?? false).toBe(whole);
    return whole;
  };
  const right = kernel({ then: ({ u, set }) => [set(add(u(0, 0), u(1, 0)))] });
  const left = kernel({ then: ({ u, set }) => [set(add(u(0, 0), u(-1, 0)))] });
  const earlier = kernel({
    then: ({ b, u, set }) => {
      const v = b.variable('f32', 'v');
      // What was loaded before another store may have changed in the meantime.
      return [assign(v, u(1, 0)), set(read(v)), set(add(u(0, 0), read(v)))];
    },
  });
  expect(woven(right, false)).toBe(true);
  expect(woven(right, true)).toBe(false);
  expect(woven(left, false)).toBe(false);
  for (const k of [right, left, earlier])
    for (const width of [8, 32]) for (const colour of [0, 1]) run(k, [width, 3, 1], { colour, grid: [4, 2, 1] });
});
