/**
 * Grid-stride loops of neighbouring blocks together: which are, that all of them then do what they do alone, and whose fault comes first.
 */
import { describe, expect, it } from 'vitest';
import * as ir from '../../ir/builder.ts';
import type { Expr, Kernel, Stmt, ValueType, Var } from '../../ir/ops.ts';
import { check } from './launch.testing.ts';
import { renderWasm } from './render.ts';

const t = ir.special('threadIdx.x');
const block = ir.special('blockIdx.x');
/** Elements of the array that is read; what is written comes behind them. */
const ROOM = 6000;

interface Parts {
  readonly b: ir.KernelBuilder;
  readonly i: Var;
  readonly sum: Var;
  readonly element: Expr;
}

interface Spelling {
  readonly width: number;
  readonly elem?: 'f32' | 'f64';
  readonly start?: Expr;
  /** In front of the loop. */
  readonly before?: (b: ir.KernelBuilder) => readonly Stmt[];
  readonly body?: (p: Parts) => readonly Stmt[];
  /** The last block that may store; those behind it fail. */
  readonly stores?: number;
}

/** The sum of a grid-stride loop in each thread, then those of a block by way of shared memory. */
function sums({ width, elem = 'f32', start, before, body, stores }: Spelling): Kernel {
  const b = new ir.KernelBuilder('neighbours');
  const type: ValueType = elem;
  const x = b.global(elem, 'x');
  const out = b.global(elem, 'out');
  const n = b.value('i32', 'n');
  const part = b.shared(elem, 'part', width);
  const [i, sum, half] = [b.variable('i32', 'i'), b.variable(type, 'sum'), b.variable('i32', 'half')];
  const [label, tree] = [b.label(), b.label()];
  const own = ir.add(ir.mul(block, ir.i32(width)), t);
  const element = ir.load(ir.at(x, ir.read(i), { checks: [{ index: ir.read(i), extent: n, axis: 0 }] }));
  const adding = [ir.assign(sum, ir.add(ir.read(sum), element))];
  const most = ir.i32(stores === undefined ? ROOM : (stores + 1) * width);
  return b.build(
    [
      ...(before?.(b) ?? []),
      ir.assign(sum, ir.cast(type, own)),
      ir.assign(i, start ?? own),
      ir.loop(
        label,
        [ir.ifElse(ir.ge(ir.read(i), n), [ir.breakTo(label)]), ...(body?.({ b, i, sum, element }) ?? adding)],
        [ir.assign(i, ir.add(ir.read(i), ir.mul(ir.special('gridDim.x'), ir.i32(width))))],
      ),
      ir.store(ir.at(part, t), ir.read(sum)),
      ir.barrier(),
      ir.assign(half, ir.i32(width / 2)),
      ir.loop(
        tree,
        [
          ir.ifElse(ir.compare('le', ir.read(half), ir.i32(0)), [ir.breakTo(tree)]),
          ir.ifElse(ir.lt(t, ir.read(half)), [
            ir.store(ir.at(part, t), ir.add(ir.load(ir.at(part, t)), ir.load(ir.at(part, ir.add(t, ir.read(half)))))),
          ]),
          ir.barrier(),
        ],
        [ir.assign(half, ir.binary('shr', ir.read(half), ir.i32(1)))],
      ),
      ir.store(
        ir.at(out, own, { checks: [{ index: own, extent: most, axis: 0 }] }),
        ir.add(ir.read(sum), ir.load(ir.at(part, ir.i32(0)))),
      ),
    ],
    { checked: true },
  );
}

const scratch = (k: Kernel, width: number, more: object = {}): number =>
  renderWasm(k, { block: [width, 1, 1], lanes: 4, concurrent: false, memory64: false, ...more }).scratchBytes;

/** How many blocks go together, by the scratch memory that they take. */
function together(spelling: Spelling): number {
  const k = sums(spelling);
  const alone = scratch(k, spelling.width, { quick: true });
  return Math.floor(scratch(k, spelling.width) / alone);
}

function run(spelling: Spelling, n: number, grid: number): ReturnType<typeof check> {
  const { width, elem = 'f32' } = spelling;
  const all = elem === 'f32' ? new Float32Array(ROOM + grid * width) : new Float64Array(ROOM + grid * width);
  for (let k = 0; k < ROOM; k++) all[k] = Math.fround(1 / (k + 3));
  const at = all.BYTES_PER_ELEMENT * ROOM;
  const image = new Uint8Array(all.buffer);
  return check(sums(spelling), { grid: [grid, 1, 1], block: [width, 1, 1] }, [0, at, n], image, [
    { at, elem, length: grid * width },
  ]);
}

describe('blocks that go together', () => {
  it('read 128 KB or less in a round, and keep no more', () => {
    expect(together({ width: 256 })).toBe(64);
    expect(together({ width: 256, elem: 'f64' })).toBe(32);
    expect(together({ width: 512, elem: 'f64' })).toBe(16);
    expect(together({ width: 512 })).toBe(32);
    // A block with so much shared memory goes alone.
    expect(together({ width: 1024, elem: 'f64' })).toBe(1);
    // Bytes of what is kept: that of three sums of neighbours is more than the second cache is to have.
    const more: Spelling['body'] = ({ b, sum, element }) => {
      const others = [b.variable('f64', 'product'), b.variable('f64', 'most')];
      return [sum, ...others].map((v) => ir.assign(v, ir.add(ir.read(v), element)));
    };
    expect(together({ width: 256, elem: 'f64', body: more })).toBe(16);
  });

  it('lie side by side', () => {
    const far = (start: Expr): number => together({ width: 256, start });
    expect(far(ir.add(ir.mul(ir.i32(256), block), t))).toBe(64);
    expect(far(ir.add(t, ir.add(ir.mul(block, ir.i32(256)), ir.i32(3))))).toBe(64);
    expect(far(ir.add(ir.mul(block, ir.i32(512)), t))).toBe(1);
    expect(far(t)).toBe(1);
    expect(far(ir.add(ir.mul(ir.add(block, ir.i32(1)), ir.i32(256)), t))).toBe(1);
  });

  it('have no effect ahead of the rounds, and cannot fail there', () => {
    const ahead = (before: Spelling['before']): number => together({ width: 256, ...(before && { before }) });
    const table = (b: ir.KernelBuilder) => b.global('i32', 'table');
    const v = (b: ir.KernelBuilder): Var => b.variable('i32', 'v');
    expect(ahead((b) => [ir.assign(v(b), ir.load(ir.at(table(b), block)))])).toBe(64);
    expect(ahead((b) => [ir.store(ir.at(table(b), block), ir.i32(1))])).toBe(1);
    const checks = [{ index: block, extent: ir.i32(5), axis: 0 }];
    expect(ahead((b) => [ir.assign(v(b), ir.load(ir.at(table(b), block, { checks })))])).toBe(1);
    expect(ahead((b) => [ir.assign(v(b), ir.load(ir.at(b.shared('i32', 's', 4), ir.i32(0))))])).toBe(1);
  });
});

describe('neighbouring blocks', () => {
  // The first groups have one, four and sixteen blocks, of which few are left over.
  it.each([1, 2, 3, 5, 8, 13, 16, 21, 38, 85, 103])('add the same in the same order, %d of them', (grid) => {
    for (const width of [64, 128]) {
      const round = grid * width;
      const ends = [0, 1, width - 1, round, 4 * round - 1, 4 * round, 4 * round + width + 1, 9 * round - 5];
      for (const n of ends) if (n <= ROOM) run({ width }, n, grid);
    }
    run({ width: 64, elem: 'f64' }, 5000, grid);
    run({ width: 64, start: ir.add(ir.add(ir.mul(block, ir.i32(64)), t), ir.i32(70)) }, 5000, grid);
  });

  it('keep their own variables, those of the block as well', () => {
    const before: Spelling['before'] = (b) => {
      const scale = b.variable('f32', 'scale');
      return [ir.assign(scale, ir.cast('f32', ir.add(block, ir.i32(2))))];
    };
    const scaled: Spelling = {
      width: 64,
      before,
      body: ({ b, sum, element }) => {
        const scale = b.vars.find((v) => v.name === 'scale');
        const factor = scale === undefined ? ir.f32(0) : ir.read(scale);
        const more = ir.ifElse(ir.compare('gt', element, ir.f32(0.01)), [
          ir.assign(sum, ir.add(ir.read(sum), ir.mul(element, factor))),
        ]);
        return [more, ir.assign(sum, ir.mul(ir.read(sum), ir.f32(1.001)))];
      },
    };
    for (const n of [1000, 4096, 5999]) for (const grid of [3, 7, 15]) run(scaled, n, grid);
  });

  it('fail in their order: the first block that does is told', () => {
    for (const stores of [0, 1, 2, 4, 5, 11]) {
      expect(run({ width: 64, stores }, 5000, 13)).toMatchObject({ block: stores + 1, thread: 0 });
    }
  });
});
