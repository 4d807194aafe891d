/**
 * For tests: random loops along rows, and whether four rounds at a time do what the rounds do one by one, wherever arrays lie, and up to where checks fail.
 */
import { expect } from 'vitest';
import * as ir from '../../ir/builder.ts';
import { interpret } from '../../ir/interpret.ts';
import type { Check, Expr, Kernel, Stmt, Var } from '../../ir/ops.ts';
import { simplify } from '../../ir/passes/simplify.ts';
import { someStmt } from '../../ir/passes/walk.ts';
import { verify } from '../../ir/verify.ts';
import { elements, runWasm } from './launch.testing.ts';
import { Random } from './programs.testing.ts';
import { rowsInFours } from './row-fours.ts';

const { add, assign, f32, i32, mul, read } = ir;
const WORDS = 4096;
const BLOCK = [16, 1, 1] as const;
/** A thread that runs alone. */
const LAST = 12;
const VARIANT = { block: BLOCK, lanes: 4, concurrent: false, memory64: false } as const;

interface Arrays {
  /** Parameters in order: bases of a, b and c, the rows' lengths of each in memory, rounds, extents along both axes, threads that do something. */
  readonly a: readonly number[];
  readonly rowLengths: readonly number[];
  readonly rounds: number;
  readonly rows: number;
  readonly columns: readonly number[];
  readonly total: number;
  readonly least?: number;
}

/** A kernel whose threads go along a row each. */
function randomKernel(r: Random, checked: boolean): Kernel {
  const b = new ir.KernelBuilder('rows');
  const arrays = ['a', 'b', 'c'].map((name) => b.global('f32', name));
  const lengths = arrays.map((a) => b.value('i32', `${a.name}.shape[1]`));
  const rows = arrays.map((a) => b.value('i32', `${a.name}.shape[0]`));
  const [n, total, start, least] = ['n', 'total', 'start', 'least'].map((name) => b.value('i32', name)) as [
    Expr,
    Expr,
    Expr,
    Expr,
  ];
  const steady = b.global('f32', 'd');
  const steadyLength = b.value('i32', 'd.shape[0]');
  const [row, k] = [b.variable('i32', 'row'), b.variable('i32', 'k')];
  const sums = [b.variable('f32', 's'), b.variable('f32', 'q')];
  const [t, i] = [b.variable('f32', 't'), b.variable('i32', 'i')];
  const label = b.label();
  const fixed = r.chance(0.4) ? r.below(3) : undefined;
  const place = (which: number, ahead: Expr): [Expr, { checks?: readonly Check[] }] => {
    const [y, x] = [read(row), ahead];
    const length = lengths[which] as Expr;
    const checks: readonly Check[] = [
      { index: y, extent: rows[which] as Expr, axis: 0 },
      { index: x, extent: length, axis: 1 },
    ];
    return [add(mul(y, length), x), checked ? { checks } : {}];
  };
  const ahead = (): Expr => (r.chance(0.7) ? read(k) : add(read(k), i32(r.below(3))));
  const at = (which: number, x = ahead()) => {
    const [index, checks] = place(which, x);
    return ir.at(arrays[which] as never, index, checks);
  };
  const load = (): Expr => {
    // What all threads read alike, and what lies in a row.
    if (checked && r.chance(0.15))
      return ir.load(ir.at(steady, read(k), { checks: [{ index: read(k), extent: steadyLength, axis: 0 }] }));
    return ir.load(at(fixed !== undefined && r.chance(0.7) ? fixed : r.below(3)));
  };
  const value = (depth = 2): Expr => {
    if (depth > 0 && r.chance(0.6))
      return ir.binary(r.pick(['add', 'sub', 'mul', 'max'] as const), value(depth - 1), value(depth - 1));
    if (r.chance(0.5)) return load();
    return r.pick([read(sums[0] as Var), read(sums[1] as Var), read(t), f32(0.5), ir.cast('f32', read(k))]);
  };
  const statement = (): readonly Stmt[] => {
    const kind = r.below(6);
    if (kind < 2) return [assign(r.pick(sums), value())];
    if (kind === 2) return [assign(t, value())];
    if (kind === 3) return [ir.ifElse(ir.lt(read(t), f32(2)), [assign(r.pick(sums), add(read(t), f32(1)))])];
    const which = fixed ?? r.below(3);
    if (kind === 4 || checked) return [ir.store(at(which), value())];
    // The index in a variable.
    const [index] = place(which, read(k));
    const own = ir.at(arrays[which] as never, read(i), {});
    return [assign(i, index), ir.store(own, mul(ir.load(own), value(1)))];
  };
  // Some rounds store twice, and nothing else.
  const stores = (): readonly Stmt[] =>
    [0, 1].map((which) => ir.store(at(which, read(k)), which === 0 ? f32(3) : ir.cast('f32', read(k))));
  const body = r.chance(0.1) ? stores() : Array.from({ length: 1 + r.below(4) }, statement).flat();
  const from = r.chance(0.8) ? i32(r.below(3)) : start;
  const kernel = b.build(
    [
      assign(row, add(mul(ir.special('blockIdx.x'), i32(BLOCK[0])), ir.special('threadIdx.x'))),
      ir.ifElse(ir.or(ir.ge(read(row), total), ir.lt(read(row), least)), [ir.ret()]),
      assign(sums[0] as Var, f32(0.25)),
      assign(sums[1] as Var, f32(1)),
      assign(t, f32(0)),
      assign(i, i32(0)),
      assign(k, from),
      ir.loop(
        label,
        [ir.ifElse(ir.lt(read(k), n), [], [ir.breakTo(label)]), ...body],
        [assign(k, add(read(k), i32(1)))],
      ),
      ir.store(ir.at(arrays[2] as never, add(i32(1500), read(row)), {}), add(read(sums[0] as Var), read(t))),
    ],
    { checked },
  );
  // Extents are those of arrays, by their paths.
  const params = kernel.params.map((p) => {
    const [, name, axis] = /^(\w)\.shape\[(\d)\]$/.exec(p.name) ?? [];
    const base = kernel.params.find((x) => x.name === name)?.origin;
    return base?.kind === 'base'
      ? { ...p, origin: { kind: 'extent' as const, path: base.path, axis: Number(axis) } }
      : p;
  });
  return { ...kernel, params };
}

const IMAGE = new Uint8Array(Float32Array.from({ length: WORDS }, (_, i) => ((i * 7919) & 1023) / 64 - 8).buffer);

/** Runs both and compares; whether something failed. */
function compare(kernel: Kernel, args: readonly number[], grid: number): boolean {
  const before = simplify(kernel, { block: BLOCK });
  const fours = changed(kernel);
  const expected = IMAGE.slice();
  const shape = { grid: [grid, 1, 1], block: BLOCK } as const;
  const { fault } = interpret(before, shape, args, expected);
  const got = runWasm(fours, { ...shape, lanes: 4 }, args, IMAGE);
  expect(got.fault && { thread: got.fault.thread, block: got.fault.block }).toEqual(
    fault && { thread: fault.thread, block: fault.block },
  );
  // What it says is what is said of the rounds one by one.
  if (fault !== undefined) {
    const { fault: said } = runWasm(before, { ...shape, lanes: 4 }, args, IMAGE);
    const words = (x: typeof said) => [x?.site.array?.name, x?.site.axis, x?.thread, x?.index, x?.extent];
    expect(words(got.fault)).toEqual(words(said));
  }
  if (fault !== undefined) return true;
  if (got.memory.every((byte, k) => byte === expected[k])) return false;
  // NaN is NaN.
  const all = { at: 0, elem: 'f32', length: WORDS } as const;
  const [x, y] = [elements(got.memory, all), elements(expected, all)];
  const at = x.findIndex((text, k) => text !== y[k]);
  if (at >= 0) expect(`${at}: ${x[at]}, ${args}`).toBe(`${at}: ${y[at]}, ${args}`);
  return false;
}

const known = new WeakMap<Kernel, Kernel>();
function changed(kernel: Kernel): Kernel {
  const before = simplify(kernel, { block: BLOCK });
  const fours = known.get(kernel) ?? simplify(rowsInFours(before, VARIANT), { block: BLOCK });
  verify(fours);
  known.set(kernel, fours);
  return fours;
}

/** Whether a kernel has loops that go on by four. */
function hasFours(kernel: Kernel): boolean {
  let found = false;
  someStmt(changed(kernel).body, (s) => {
    const [step] = s.op === 'loop' ? s.update : [];
    found ||=
      step?.op === 'assign' && step.value.op === 'binary' && step.value.b.op === 'const' && step.value.b.value === 4;
    return false;
  });
  return found;
}

function argsOf({ a, rowLengths, rounds, rows, total, least = 0 }: Omit<Arrays, 'columns'>): number[] {
  return [...a.map((x) => 4 * x), ...rowLengths, rows, rows, rows, rounds, total, 1, least, 4 * 3600, 64];
}

/** Runs a random kernel with arrays that lie in several ways; whether its rounds go on by four. */
export function checkRounds(seed: number, checked: boolean): boolean {
  const r = new Random(seed * 2 + (checked ? 1 : 0));
  const kernel = randomKernel(r, checked);
  if (!hasFours(kernel)) return false;
  for (let trial = 0; trial < 4; trial++) {
    const rounds = r.pick([0, 1, 3, 4, 5, 7, 8, 11, 16, 21]);
    const length = rounds + 3 + r.below(6);
    // Apart; the same memory; one behind or ahead of the other by a few elements, within what is a thread's own.
    const apart = r.pick(['apart', 'same', 'near'] as const);
    const near = () => (apart === 'near' ? 500 + r.below(9) - 4 : 500);
    const a = apart === 'apart' ? [0, 1000, 2000] : [near(), near(), near()];
    const total = r.pick([16, 16, 16, 13]);
    const wide = apart === 'apart' ? length : length + 8;
    compare(kernel, argsOf({ a, rowLengths: a.map(() => wide), rounds, rows: 16, total }), 1);
    // A thread alone may reach into other rows, and rows of several lengths may meet where it is.
    const rowLengths = a.map(() => wide - r.below(3));
    const met = rowLengths.map((x) => 400 + (wide - x) * LAST + (apart === 'near' ? r.below(9) - 4 : 0));
    const where = apart === 'apart' ? a : met;
    compare(kernel, argsOf({ a: where, rowLengths, rounds, rows: 16, total: LAST + 1, least: LAST }), 1);
  }
  return true;
}

/** Runs a random kernel where rows end too early; how often something failed. */
export function checkFaults(seed: number): number {
  let failed = 0;
  const r = new Random(seed);
  const kernel = randomKernel(r, true);
  if (!hasFours(kernel)) return 0;
  for (const rounds of [5, 8])
    for (const short of [1, 2, 4, 5]) {
      // Rows that end before the rounds do, or fewer rows than threads.
      const length = rounds + (short < 4 ? -short : 4);
      const args = argsOf({
        a: [0, 1000, 2000],
        rowLengths: [length, length + r.below(2), length],
        rounds,
        rows: short < 4 ? 16 : 9,
        total: 16,
      });
      if (compare(kernel, args, 1)) failed++;
    }
  return failed;
}
