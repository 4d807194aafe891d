/**
 * Grid-stride loops as full rounds and a rest: which are split, how many lanes they get, and that they then do the same.
 */
import { describe, expect, it } from 'vitest';
import * as ir from '../../ir/builder.ts';
import type { ArraySym, Expr, Kernel, Stmt, Var } from '../../ir/ops.ts';
import { splitFullRounds } from '../../ir/passes/full-rounds.ts';
import { verify } from '../../ir/verify.ts';
import { check } from './launch.testing.ts';
import { Random } from './programs.testing.ts';
import { renderWasm } from './render.ts';

const t = ir.special('threadIdx.x');
const F32X4_ADD = [0xfd, 0xe4, 0x01];

interface Parts {
  readonly b: ir.KernelBuilder;
  readonly x: ArraySym;
  readonly i: Var;
  readonly sum: Var;
  readonly label: number;
}

interface Spelling {
  readonly width: number;
  readonly start?: (first: Expr, b: ir.KernelBuilder) => { before: readonly Stmt[]; start: Expr };
  readonly step?: Expr;
  readonly exit?: (i: Expr, n: Expr) => Expr;
  /** The step at the end of the body, as in a `while` loop. */
  readonly inBody?: boolean;
  readonly body?: (p: Parts) => readonly Stmt[];
}

/** `sum = 1; for (i = grid(1); i < n; i += gridSize(1)) body; out[k] = sum`, over f32 at 0; out comes behind them. */
function gridStride(options: Spelling): Kernel {
  const { width, inBody = false, exit = ir.ge } = options;
  const b = new ir.KernelBuilder('strides');
  const x = b.global('f32', 'x');
  const out = b.global('f32', 'out');
  const n = b.value('i32', 'n');
  const [i, sum] = [b.variable('i32', 'i'), b.variable('f32', 'sum')];
  const label = b.label();
  const first = ir.add(ir.mul(ir.special('blockIdx.x'), ir.i32(width)), t);
  const { before, start } = options.start?.(first, b) ?? { before: [], start: first };
  const step = ir.assign(i, ir.add(ir.read(i), options.step ?? ir.mul(ir.special('gridDim.x'), ir.i32(width))));
  const element = ir.load(ir.at(x, ir.read(i), { checks: [{ index: ir.read(i), extent: n, axis: 0 }] }));
  const adding = [ir.assign(sum, ir.add(ir.read(sum), element))];
  const body = [
    ir.ifElse(exit(ir.read(i), n), [ir.breakTo(label)]),
    ...(options.body?.({ b, x, i, sum, label }) ?? adding),
  ];
  return b.build(
    [
      ...before,
      ir.assign(sum, ir.f32(1)),
      ir.assign(i, start),
      ir.loop(label, inBody ? [...body, step] : body, inBody ? [] : [step]),
      ir.store(ir.at(out, first), ir.read(sum)),
    ],
    { checked: true },
  );
}

const splits = (k: Kernel, width: number): number => {
  const { kernel, loops } = splitFullRounds(k, width);
  verify(kernel);
  expect(kernel === k).toBe(loops.length === 0);
  return loops.length;
};

describe('loops that are split', () => {
  it('begin at the thread of the row and step alike: for, while, a start in a variable', () => {
    expect(splits(gridStride({ width: 64 }), 64)).toBe(1);
    expect(splits(gridStride({ width: 64, inBody: true }), 64)).toBe(1);
    expect(splits(gridStride({ width: 64, step: ir.i32(64) }), 64)).toBe(1);
    const held: Spelling['start'] = (first, b) => {
      const v = b.variable('i32', 'first');
      return { before: [ir.assign(v, first)], start: ir.read(v) };
    };
    expect(splits(gridStride({ width: 64, start: held }), 64)).toBe(1);
  });

  it('no others: other starts and steps, ends that the item finds itself, breaks', () => {
    expect(splits(gridStride({ width: 64, step: t }), 64)).toBe(0);
    expect(splits(gridStride({ width: 64, step: ir.i32(-64) }), 64)).toBe(0);
    const scaled: Spelling['start'] = (first) => ({ before: [], start: ir.mul(first, ir.i32(2)) });
    expect(splits(gridStride({ width: 64, start: scaled }), 64)).toBe(0);
    expect(splits(gridStride({ width: 64, exit: (i, n) => ir.ge(i, ir.sub(n, t)) }), 64)).toBe(0);
    expect(splits(gridStride({ width: 64, exit: (i, n) => ir.lt(n, i) }), 64)).toBe(0);
    const leaving = ({ label, sum, x, i }: Parts): readonly Stmt[] => [
      ir.ifElse(ir.lt(ir.load(ir.at(x, ir.read(i))), ir.f32(0)), [ir.breakTo(label)]),
      ir.assign(sum, ir.add(ir.read(sum), ir.f32(1))),
    ];
    expect(splits(gridStride({ width: 64, body: leaving }), 64)).toBe(0);
  });

  it('have as many lanes as registers hold what they carry', () => {
    const adds = (width: number, more: Partial<Spelling> = {}): number => {
      const { bytes } = renderWasm(gridStride({ width, ...more }), {
        block: [width, 1, 1],
        lanes: 4,
        concurrent: false,
        memory64: false,
      });
      let found = 0;
      for (let k = 0; k < bytes.length; k++) if (F32X4_ADD.every((b, j) => bytes[k + j] === b)) found++;
      return found;
    };
    // Once in the full rounds, once in the rest.
    const step = ir.i32(256);
    // That in code for blocks inside, vectors inside and all others, where rows are long.
    expect(adds(256, { step })).toBe(3 * 2 * 16);
    expect(adds(96, { step })).toBe(2 * 8);
    // And four rounds of a whole row, eight lanes at a time; those once more for neighbouring blocks in turns.
    expect(adds(256)).toBe((4 + 4 + 2) * 2);
  });

  it('are gone through several at a time where rounds are far apart and only read', () => {
    const several = (options: Omit<Spelling, 'width'>): number =>
      splitFullRounds(gridStride({ width: 64, ...options }), 64, true).together.size;
    expect(several({})).toBe(1);
    expect(several({ step: ir.i32(64) })).toBe(0);
    expect(several({ body: ({ x, i }) => [ir.store(ir.at(x, ir.read(i)), ir.f32(1))] })).toBe(0);
    const last = ({ b, x, i }: Parts): readonly Stmt[] => [
      ir.assign(b.variable('f32', 'v'), ir.load(ir.at(x, ir.read(i)))),
    ];
    expect(several({ body: last })).toBe(0);
  });
});

describe('full rounds and the rest', () => {
  const LENGTHS = [-3, 0, 1, 63, 64, 65, 127, 128, 129, 255, 256, 257, 300, 511, 640];
  const ROOM = 640;
  const image = (): Uint8Array => {
    const all = new Float32Array(ROOM + 1024);
    for (let k = 0; k < ROOM; k++) all[k] = Math.fround(1 / (k + 3));
    return new Uint8Array(all.buffer);
  };
  const run = (k: Kernel, width: number, n: number, grid: number): void => {
    check(k, { grid: [grid, 1, 1], block: [width, 1, 1] }, [0, 4 * ROOM, n], image(), [
      { at: 4 * ROOM, elem: 'f32', length: width * grid },
    ]);
  };

  it.each([16, 64, 96, 128, 50])('add the same in the same order, in blocks of %d', (width) => {
    for (const n of LENGTHS) run(gridStride({ width }), width, n, 2);
    run(gridStride({ width, inBody: true }), width, 333, 3);
    run(gridStride({ width, start: (first) => ({ before: [], start: ir.sub(first, ir.i32(0)) }) }), width, 333, 3);
  });

  it('hand on what rounds leave to the next, though nobody reads it afterwards', () => {
    const counting: Spelling['body'] = ({ b, x, i }) => {
      const own = b.variable('f32', 'own');
      return [
        ir.assign(own, ir.add(ir.read(own), ir.f32(1))),
        ir.store(ir.at(x, ir.read(i)), ir.add(ir.load(ir.at(x, ir.read(i))), ir.read(own))),
      ];
    };
    for (const n of [200, 256, 300]) {
      const kernel = gridStride({ width: 32, body: counting });
      check(kernel, { block: [32, 1, 1] }, [0, 4 * ROOM, n], image(), [{ at: 0, elem: 'f32', length: ROOM }]);
    }
  });

  it('end next to the largest integer', () => {
    const step = ir.i32(2 ** 30 - 32);
    const body = ({ sum, x }: Parts): readonly Stmt[] => [ir.assign(sum, ir.add(ir.read(sum), ir.load(ir.at(x, t))))];
    for (const n of [2 ** 31 - 64, 2 ** 31 - 70]) run(gridStride({ width: 64, step, body }), 64, n, 1);
  });

  it('go on by any step that the launch gives, and end where the elements do', () => {
    const steps = (room: number): Kernel => {
      const b = new ir.KernelBuilder('steps');
      const x = b.global('f32', 'x');
      const out = b.global('f32', 'out');
      const [n, step, start] = [b.value('i32', 'n'), b.value('i32', 'step'), b.value('i32', 'start')];
      const [i, sum] = [b.variable('i32', 'i'), b.variable('f32', 'sum')];
      const label = b.label();
      const checks = [{ index: ir.read(i), extent: ir.i32(room), axis: 0 }];
      return b.build(
        [
          ir.assign(i, ir.add(start, t)),
          ir.loop(
            label,
            [
              ir.ifElse(ir.ge(ir.read(i), n), [ir.breakTo(label)]),
              ir.assign(sum, ir.add(ir.read(sum), ir.load(ir.at(x, ir.read(i), { checks })))),
            ],
            [ir.assign(i, ir.add(ir.read(i), step))],
          ),
          ir.store(ir.at(out, t), ir.read(sum)),
        ],
        { checked: true },
      );
    };
    const where = [{ at: 4 * ROOM, elem: 'f32', length: 64 }] as const;
    const launch = (room: number, args: readonly [number, number, number]): void => {
      check(steps(room), { block: [64, 1, 1] }, [0, 4 * ROOM, ...args], image(), where);
    };
    for (const args of [
      [640, 64, 0],
      [512, 64, 0],
      [640, 60, 0],
      [640, 100, 0],
      [300, 50, -3],
      [640, -8, 104],
      [640, 64, 511],
      [2 ** 31 - 1, 2 ** 30, 0],
    ] as const) {
      launch(ROOM, args);
      launch(300, args);
    }
  });

  it('report the element of the very thread, also beyond the 32nd lane', () => {
    const reach = (thread: number): Kernel =>
      gridStride({
        width: 64,
        body: ({ x, i, sum }) => {
          const at = ir.select(ir.eq(ir.read(i), ir.i32(thread)), ir.i32(ROOM + thread), ir.read(i));
          const e = ir.load(ir.at(x, at, { checks: [{ index: at, extent: ir.i32(ROOM), axis: 0 }] }));
          return [ir.assign(sum, ir.add(ir.read(sum), e))];
        },
      });
    for (const thread of [0, 31, 32, 63, 64, 190]) run(reach(thread), 64, 200, 1);
  });

  it('are counted by votes in all lanes', () => {
    const b = new ir.KernelBuilder('votes');
    const x = b.global('i32', 'x');
    const n = b.value('i32', 'n');
    const [i, sum] = [b.variable('i32', 'i'), b.variable('i32', 'sum')];
    const votes = (['count', 'and', 'or'] as const).map((fn) => [fn, b.variable('i32', fn)] as const);
    const label = b.label();
    const kernel = b.build([
      ir.assign(i, t),
      ir.loop(
        label,
        [
          ir.ifElse(ir.ge(ir.read(i), n), [ir.breakTo(label)]),
          ir.assign(sum, ir.add(ir.read(sum), ir.load(ir.at(x, ir.read(i))))),
        ],
        [ir.assign(i, ir.add(ir.read(i), ir.i32(64)))],
      ),
      ...votes.map(([fn, v]) => ir.vote(fn, ir.lt(ir.i32(fn === 'and' ? -1 : 90), ir.read(sum)), v)),
      ...votes.map(([, v], k) => ir.store(ir.at(x, ir.add(ir.i32(256 + 64 * k), t)), ir.read(v))),
    ]);
    const words = Int32Array.from({ length: 512 }, (_, k) => (k === 50 ? 99 : k % 3));
    for (const n of [10, 49, 51, 256])
      check(kernel, { block: [64, 1, 1] }, [0, n], new Uint8Array(words.slice().buffer), [
        { at: 0, elem: 'i32', length: 512 },
      ]);
  });

  it('do what random bodies say, with guards, continues and stores', () => {
    let split = 0;
    for (let seed = 1; seed <= 60; seed++) {
      const r = new Random(seed);
      const width = r.pick([32, 64, 128, 24]);
      const inBody = r.chance(0.3);
      const random = gridStride({
        width,
        inBody,
        body: ({ b, x, i, sum, label }) => {
          const v = b.variable('f32', 'v');
          const element = ir.load(ir.at(x, ir.read(i)));
          const value = (): Expr =>
            r.pick([ir.read(v), ir.read(sum), element, ir.f32(r.below(5)), ir.cast('f32', ir.read(i))]);
          const small = (): Expr => ir.lt(value(), ir.f32(r.pick([0.01, 0.1, 3, 70])));
          const join = (): Expr => ir.binary(r.pick(['add', 'mul', 'max']), value(), value());
          return [
            ...(r.chance(0.7) ? [ir.assign(v, join())] : []),
            ...(!inBody && r.chance(0.3) ? [ir.ifElse(small(), [ir.continueTo(label)])] : []),
            ir.ifElse(small(), [ir.assign(sum, join())], r.chance(0.5) ? [ir.assign(v, value())] : []),
            ...(r.chance(0.3) ? [ir.store(ir.at(x, ir.read(i)), value())] : []),
            ir.assign(sum, ir.add(ir.read(sum), value())),
          ];
        },
      });
      split += splits(random, width);
      run(random, width, r.pick(LENGTHS), 1 + r.below(3));
    }
    // Some neither read nor write memory.
    expect(split).toBeGreaterThan(50);
  });
});
