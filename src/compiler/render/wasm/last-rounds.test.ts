/**
 * Loops over barriers whose stride halves: the last rounds written out, and exchanges within a vector as shuffles.
 */
import { describe, expect, it } from 'vitest';
import * as ir from '../../ir/builder.ts';
import { interpret } from '../../ir/interpret.ts';
import { ELEM_SIZE, type ElemType, type Expr, type Kernel, type Stmt, type Var } from '../../ir/ops.ts';
import { writeLastRounds } from '../../ir/passes/last-rounds.ts';
import { simplify } from '../../ir/passes/simplify.ts';
import { verify } from '../../ir/verify.ts';
import { check } from './launch.testing.ts';

const t = ir.special('threadIdx.x');
const WIDTH = 64;

interface Spelling {
  readonly elem?: ElemType & ('f32' | 'f64' | 'i32');
  readonly space?: 'shared' | 'global';
  readonly step?: (j: Expr) => Expr;
  readonly exit?: (j: Expr) => Expr;
  /** Another thread's number. */
  readonly other?: (j: Expr) => Expr;
  /** Whether all threads store, to the places of others. */
  readonly all?: boolean;
  readonly after?: (j: Var) => readonly Stmt[];
}

/** A round of a sorting network for each stride, from the one that the launch gives; the last stride is stored behind the elements. */
function network(options: Spelling = {}): Kernel {
  const { elem = 'f32', space = 'shared', all = false } = options;
  const { step = (j) => ir.binary('shr', j, ir.i32(1)), exit = (j) => ir.compare('le', j, ir.i32(0)) } = options;
  const { other = (j) => ir.binary('xor', t, j) } = options;
  const b = new ir.KernelBuilder('network');
  const x = b.global(elem, 'x');
  const last = b.global('i32', 'last');
  const start = b.value('i32', 'start');
  const s = space === 'shared' ? b.shared(elem, 's', WIDTH) : x;
  const [j, mine] = [b.variable('i32', 'j'), b.variable('i32', 'other')];
  const [p, q] = [b.variable(elem, 'p'), b.variable(elem, 'q')];
  const label = b.label();
  const partner = ir.read(mine);
  const swap = ir.ifElse(ir.lt(ir.read(q), ir.read(p)), [
    ir.store(ir.at(s, t), ir.read(q)),
    ir.store(ir.at(s, partner), ir.read(p)),
  ]);
  const both = [ir.assign(p, ir.load(ir.at(s, t))), ir.assign(q, ir.load(ir.at(s, partner)))];
  const round = all
    ? [...both, ir.barrier(), ir.store(ir.at(s, partner), ir.add(ir.read(p), ir.read(q)))]
    : [ir.ifElse(ir.lt(t, partner), [...both, swap])];
  return b.build(
    [
      ...(space === 'shared' ? [ir.store(ir.at(s, t), ir.load(ir.at(x, t)))] : []),
      ir.barrier(),
      ir.assign(j, start),
      ir.loop(
        label,
        [ir.ifElse(exit(ir.read(j)), [ir.breakTo(label)]), ir.assign(mine, other(ir.read(j))), ...round, ir.barrier()],
        [ir.assign(j, step(ir.read(j)))],
      ),
      ...(options.after?.(j) ?? []),
      ...(space === 'shared' ? [ir.store(ir.at(x, t), ir.load(ir.at(s, t)))] : []),
      ir.store(ir.at(last, ir.i32(0)), ir.read(j)),
    ],
    { checked: true },
  );
}

/** The kernel for a block, and what becomes of it. */
function rewritten(options: Spelling = {}): { readonly plain: Kernel; readonly done: Kernel } {
  const plain = simplify(network(options), { block: [WIDTH, 1, 1] });
  const done = writeLastRounds(plain);
  verify(done);
  return { plain, done };
}

const isRewritten = (options?: Spelling): boolean => {
  const { plain, done } = rewritten(options);
  return done !== plain;
};

describe('the last rounds', () => {
  it('are written out of loops whose stride halves, however that is spelled', () => {
    expect(isRewritten()).toBe(true);
    expect(isRewritten({ other: (j) => ir.binary('xor', j, t) })).toBe(true);
    expect(isRewritten({ exit: (j) => ir.lt(j, ir.i32(1)) })).toBe(true);
    expect(isRewritten({ exit: (j) => ir.eq(j, ir.i32(0)) })).toBe(true);
  });

  it('of no others', () => {
    expect(isRewritten({ step: (j) => ir.binary('shr', j, ir.i32(2)) })).toBe(false);
    expect(isRewritten({ step: (j) => ir.sub(j, ir.i32(1)) })).toBe(false);
    expect(isRewritten({ exit: (j) => ir.lt(j, ir.i32(2)) })).toBe(false);
    expect(isRewritten({ exit: (j) => ir.lt(j, t) })).toBe(false);
    expect(isRewritten({ other: (j) => ir.binary('and', ir.add(t, j), ir.i32(WIDTH - 1)) })).toBe(false);
  });

  const spellings: readonly (readonly [string, Spelling])[] = [
    ['f32', {}],
    ['f64', { elem: 'f64' }],
    ['i32', { elem: 'i32' }],
    ['global memory', { space: 'global' }],
    ['all threads', { all: true }],
    ['all threads, i32, global memory', { all: true, elem: 'i32', space: 'global' }],
    ['all threads, f64', { all: true, elem: 'f64' }],
  ];
  it.each(spellings)('do what they did, from any stride: %s', (_, options) => {
    const { elem = 'f32' } = options;
    const { plain, done } = rewritten(options);
    const bytes = ELEM_SIZE[elem] * WIDTH;
    const data = Array.from({ length: WIDTH }, (_, k) => (k * 37 + 11) % WIDTH);
    const arrays = { f32: Float32Array, f64: Float64Array, i32: Int32Array };
    const image = new Uint8Array(bytes + 16);
    image.set(new Uint8Array(arrays[elem].from(data).buffer));
    const where = [
      { at: 0, elem, length: WIDTH },
      { at: bytes, elem: 'i32', length: 1 },
    ] as const;
    for (const start of [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32]) {
      // Neighbours that are not there: no partner lies beyond the block.
      const args = [0, bytes, start] as const;
      check(done, { block: [WIDTH, 1, 1] }, args, image, where);
      const [before, after] = [image.slice(), image.slice()];
      interpret(plain, { grid: [1, 1, 1], block: [WIDTH, 1, 1] }, args, before);
      interpret(done, { grid: [1, 1, 1], block: [WIDTH, 1, 1] }, args, after);
      expect(after, `from ${start}`).toEqual(before);
    }
  });

  it.each([1, 2, 3, 4, 5, 7, 8, 11])('exchange by any constant: t ^ %d', (by) => {
    for (const options of [{ all: true }, {}, { all: true, elem: 'i32', space: 'global' }] as const) {
      const kernel = network({ ...options, other: () => ir.binary('xor', t, ir.i32(by)) });
      const data = Array.from({ length: WIDTH }, (_, k) => (k * 29 + 5) % WIDTH);
      const values = 'elem' in options ? Int32Array.from(data) : Float32Array.from(data);
      const image = new Uint8Array(4 * WIDTH + 16);
      image.set(new Uint8Array(values.buffer));
      check(kernel, { block: [WIDTH, 1, 1] }, [0, 4 * WIDTH, 2], image, [
        { at: 0, elem: 'elem' in options ? 'i32' : 'f32', length: WIDTH },
      ]);
    }
  });

  it('leave apart what does not lie side by side', () => {
    for (const index of [ir.mul(t, ir.i32(2)), ir.sub(ir.i32(127), ir.mul(t, ir.i32(2))), ir.sub(ir.i32(63), t)]) {
      const b = new ir.KernelBuilder('apart');
      const x = b.global('i32', 'x');
      const kernel = b.build([ir.store(ir.at(x, index), ir.add(t, ir.i32(7)))]);
      check(kernel, { block: [WIDTH, 1, 1] }, [0], new Uint8Array(1024), [{ at: 0, elem: 'i32', length: 2 * WIDTH }]);
    }
  });
});
