/**
 * Lanes that exchange values: random programs, on blocks whose warps are vectors and on others, and the code of what is common.
 */
import { describe, it } from 'vitest';
import * as ir from '../../ir/builder.ts';
import type { Expr, Stmt, ValueType, Var, WarpOp } from '../../ir/ops.ts';
import { warpResult } from '../../ir/ops.ts';
import { lowerWarps } from '../../ir/passes/warps.ts';
import { check } from './launch.testing.ts';
import { INPUT, Programmer, ROW, type Scope } from './programs.testing.ts';

const FULL = ir.u32(0xffffffff);
const lane = ir.special('laneId');

function exchange(fn: WarpOp, mask: Expr | undefined, args: readonly Expr[], result: Var): Stmt {
  return { op: 'warp', fn, mask, args, result, pos: ir.NOWHERE };
}

/** Random programs whose lanes exchange values wherever they know who is there. */
class WarpProgrammer extends Programmer {
  /** What all exchanges of a thread gave it. */
  readonly #sum = this.b.variable('i32', 'sum');

  override statement(scope: Scope): Stmt[] {
    const { r } = this;
    const mask = scope.parallel && scope.labels.length === 0 ? FULL : scope.mask;
    if (mask === undefined || r.chance(0.5)) return super.statement({ ...scope, mask: undefined });
    if (scope.depth >= 3 || r.chance(0.6))
      return r.chance(0.3) ? this.ladder(mask) : r.chance(0.2) ? this.sides() : this.exchange(mask);
    return r.chance(0.5) ? this.branch(scope, mask) : r.chance(0.4) ? this.group(mask) : this.rounds(scope, mask);
  }

  exchange(mask: Expr): Stmt[] {
    const { r } = this;
    const shuffles = ['shfl', 'shflUp', 'shflDown', 'shflXor'] as const;
    const fn = r.pick([
      ...shuffles,
      ...shuffles,
      'all',
      'any',
      'eq',
      'ballot',
      'matchAny',
      'matchAll',
      'sync',
    ] as const);
    const shuffle = shuffles.some((name) => name === fn);
    const types = Object.keys(this.vars) as ValueType[];
    const type = shuffle
      ? r.pick(types.filter((t) => t !== 'bool'))
      : fn.startsWith('match')
        ? r.pick(types.filter((t) => t === 'i32' || t === 'u32' || t === 'i64'))
        : 'bool';
    // A variable of its own may be the same for the whole warp.
    const result = r.chance(0.4)
      ? this.b.variable(warpResult(fn, type), 'got')
      : r.pick(this.vars[warpResult(fn, type)] ?? []);
    if (fn === 'sync') return [{ op: 'warp', fn, mask, args: [], pos: ir.NOWHERE }];
    const value = this.expr(type, 2, r.chance(0.1));
    const own = type === 'bool' || r.chance(0.3) ? value : ir.add(value, ir.cast(type, ir.mul(this.gid, ir.i32(3))));
    return [exchange(fn, mask, [own, ...(shuffle ? [this.lane()] : [])], result), ...this.note(result)];
  }

  /** Adds a value to what ends up in the last column. */
  note(v: Var): Stmt[] {
    const value = ir.read(v);
    const bits =
      v.type === 'f32'
        ? ir.select(ir.unary('isNaN', value), ir.i32(1), ir.bitcast('i32', value))
        : ir.cast('i32', value);
    return [
      ir.assign(this.#sum, ir.add(ir.mul(ir.read(this.#sum), ir.i32(31)), bits)),
      this.store(ROW - 1, ir.read(this.#sum)),
    ];
  }

  /** What a shuffle goes by: known while the code is written, the same for all, or anything. */
  lane(): Expr {
    const { r } = this;
    const n = ir.i32(r.below(40) - 4);
    return r.pick<() => Expr>([
      () => n,
      () => n,
      () => this.n,
      () => ir.binary(r.pick(['add', 'xor', 'and', 'sub'] as const), lane, n),
      () => ir.binary('xor', ir.and(ir.special('threadIdx.x'), ir.i32(31)), n),
      () =>
        ir.binary(
          r.pick(['shr', 'floordiv', 'div'] as const),
          ir.special('threadIdx.x'),
          ir.i32(r.pick([4, 5, 16, 32])),
        ),
      () => ir.and(ir.add(ir.special('threadIdx.x'), ir.mul(this.n, ir.i32(r.pick([3, 32])))), ir.i32(31)),
      () => this.expr('i32', 1),
    ])();
  }

  /** A reduction or a prefix sum, in a loop. */
  ladder(mask: Expr): Stmt[] {
    const { r } = this;
    const type = r.pick((Object.keys(this.vars) as ValueType[]).filter((t) => t !== 'bool'));
    const v = r.pick(this.vars[type] ?? []);
    const other = this.b.variable(type, 'other');
    const d = this.b.variable('i32', 'd');
    const fn = r.pick(['shflUp', 'shflDown', 'shflXor'] as const);
    const step = ir.assign(
      v,
      ir.binary(
        r.pick(['add', 'max', 'min', 'mul'] as const),
        ...r.pick([[ir.read(v), ir.read(other)] as const, [ir.read(other), ir.read(v)] as const]),
      ),
    );
    const guarded = fn === 'shflUp' && r.chance(0.8) ? ir.ifElse(ir.ge(lane, ir.read(d)), [step]) : step;
    const label = this.b.label();
    const up = r.chance(0.5);
    const over = up ? ir.ge(ir.read(d), ir.i32(r.pick([32, 8]))) : ir.lt(ir.read(d), ir.i32(1));
    const next = ir.binary(up ? 'shl' : 'shr', ir.read(d), ir.i32(1));
    const whole = ir.loop(
      label,
      [ir.ifElse(over, [ir.breakTo(label)]), exchange(fn, mask, [ir.read(v), ir.read(d)], other), guarded],
      [ir.assign(d, next)],
    );
    const first = r.chance(0.5) ? [] : [ir.ifElse(ir.eq(lane, ir.i32(r.below(32))), [this.assign(), this.assign()])];
    const start =
      type === 'f32' || type === 'f64'
        ? ir.add(ir.read(v), ir.cast(type, this.gid))
        : ir.binary('xor', ir.read(v), ir.cast(type, this.gid));
    return [ir.assign(v, start), ir.assign(d, ir.i32(up ? 1 : 16)), whole, ...this.note(v), ...first];
  }

  /** A branch that some lanes take, who tell each other beforehand. */
  branch(scope: Scope, mask: Expr): Stmt[] {
    const cond = this.b.variable('bool', 'taken');
    const [yes, no] = [this.b.variable('u32', 'yes'), this.b.variable('u32', 'no')];
    const within = (m: Var): Scope => ({ depth: scope.depth + 1, labels: [], parallel: false, mask: ir.read(m) });
    const test = this.r.chance(0.4) ? this.laneTest() : this.expr('bool', 2);
    return [
      ir.assign(cond, test),
      exchange('ballot', mask, [ir.read(cond)], yes),
      exchange('ballot', mask, [ir.not(ir.read(cond))], no),
      ir.ifElse(ir.read(cond), this.settled(within(yes), 3), this.r.chance(0.5) ? this.settled(within(no), 2) : []),
    ];
  }

  /** What lanes assign that are known to go one way or the other. */
  sides(): Stmt[] {
    const { r } = this;
    const type = r.pick((Object.keys(this.vars) as ValueType[]).filter((t) => t !== 'bool'));
    const v = r.pick(this.vars[type] ?? []);
    const own = ir.add(ir.read(v), ir.cast(type, this.gid));
    const other = r.chance(0.6) ? [ir.assign(v, ir.sub(ir.read(v), ir.constant(type, 3)))] : [];
    return [ir.ifElse(this.laneTest(), [ir.assign(v, own)], other), ...this.note(v)];
  }

  laneTest(): Expr {
    const { r } = this;
    return ir.compare(r.pick(['lt', 'ge', 'eq', 'ne'] as const), lane, ir.i32(r.below(33)));
  }

  /** Lanes with the same value, by themselves. */
  group(mask: Expr): Stmt[] {
    const same = this.b.variable('u32', 'same');
    return [
      exchange('matchAny', mask, [ir.and(this.expr('i32', 1), ir.i32(3))], same),
      ...this.exchange(ir.read(same)),
    ];
  }

  /** A loop that lanes leave at different times, if that can be had. */
  rounds(scope: Scope, mask: Expr): Stmt[] {
    if ((this.options.width ?? 0) % 32 !== 0) return this.exchange(mask);
    const label = this.b.label();
    const [k, left] = [this.b.variable('i32', 'k'), this.b.variable('u32', 'left')];
    const trips = this.b.variable('i32', 'trips');
    const inside: Scope = { depth: scope.depth + 1, labels: [], parallel: false, mask: ir.read(left) };
    const goesOn = ir.lt(ir.read(k), ir.read(trips));
    return [
      ir.assign(k, ir.i32(0)),
      ir.assign(left, mask),
      ir.assign(trips, ir.and(this.expr('i32', 1), ir.i32(3))),
      ir.loop(
        label,
        [
          exchange('ballot', ir.read(left), [goesOn], left),
          ir.ifElse(ir.not(goesOn), [ir.breakTo(label)]),
          ...this.settled(inside, 3),
        ],
        [ir.assign(k, ir.add(ir.read(k), ir.i32(1)))],
      ),
    ];
  }
}

const BLOCKS = [
  [32, 1, 1],
  [64, 1, 1],
  [80, 1, 1],
  [20, 1, 1],
  [8, 1, 1],
  [12, 1, 1],
  [32, 3, 1],
  [64, 2, 1],
  [16, 4, 1],
] as const;

const FIRST = Number(process.env.WASM_SEED ?? 1);
const COUNT = Number(process.env.WASM_PROGRAMS ?? 60);

function runProgram(seed: number, barriers: boolean, wide: boolean): void {
  const block = BLOCKS[seed % BLOCKS.length] ?? [32, 1, 1];
  const threads = block[0] * block[1] * block[2];
  const kernel = new WarpProgrammer(seed, { barriers, wide, threads, width: block[0] }).kernel();
  // A loop out of which threads return at different times cannot be lowered where warps are not vectors.
  if (block[0] % 32 !== 0 && block[1] > 1 && lowerWarps(kernel).kernel === undefined) return;
  const words = 2 * threads * ROW;
  const image = new Uint8Array(4 * (words + INPUT));
  const view = new Int32Array(image.buffer);
  for (let i = 0; i < INPUT; i++) view[words + i] = Math.imul(i + seed, 2654435761) >> (i % 29);
  check(kernel, { grid: [2, 1, 1], block, lanes: 4 }, [0, 4 * words, 7, INPUT, words], image, [
    { at: 0, elem: 'i32', length: words },
  ]);
}

describe.each([
  ['without barriers', false, false],
  ['without barriers, 64-bit values', false, true],
  ['with barriers', true, false],
  ['with barriers, 64-bit values', true, true],
] as const)('random programs that exchange %s', (_, barriers, wide) => {
  for (let chunk = 0; chunk < COUNT; chunk += 30) {
    it(`${FIRST + chunk} and on`, () => {
      for (let seed = FIRST + chunk; seed < FIRST + Math.min(chunk + 30, COUNT); seed++)
        runProgram(seed, barriers, wide);
    });
  }
});

it('who asks a lane that has returned keeps its own value', () => {
  const b = new ir.KernelBuilder('returned');
  const out = b.global('i32', 'out');
  const got = b.variable('i32', 'got');
  const t = ir.special('threadIdx.x');
  const kernel = b.build([
    ir.ifElse(ir.lt(t, ir.i32(5)), [ir.ret()]),
    exchange('shfl', FULL, [ir.mul(t, ir.i32(7)), ir.i32(3)], got),
    ir.store(ir.at(out, t), ir.read(got)),
  ]);
  check(kernel, { block: [64, 1, 1], lanes: 4 }, [0], new Uint8Array(256), [{ at: 0, elem: 'i32', length: 64 }]);
});

it('lanes that match are compared with one that takes part', () => {
  const b = new ir.KernelBuilder('matching');
  const out = b.global('u32', 'out');
  const [value, taken] = [b.variable('i32', 'value'), b.variable('bool', 'taken')];
  const [mask, same] = [b.variable('u32', 'mask'), b.variable('u32', 'same')];
  const kernel = b.build([
    ir.assign(taken, ir.and(ir.ge(lane, ir.i32(5)), ir.lt(lane, ir.i32(9)))),
    ir.assign(value, ir.select(ir.read(taken), ir.i32(-7), lane)),
    exchange('ballot', FULL, [ir.read(taken)], mask),
    ir.ifElse(ir.read(taken), [
      exchange('matchAll', ir.read(mask), [ir.read(value)], same),
      ir.store(ir.at(out, ir.special('threadIdx.x')), ir.read(same)),
    ]),
  ]);
  check(kernel, { block: [64, 1, 1], lanes: 4 }, [0], new Uint8Array(256), [{ at: 0, elem: 'u32', length: 64 }]);
});
