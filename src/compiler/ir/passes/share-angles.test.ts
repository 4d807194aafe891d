/** Sine and cosine of one angle are computed together, with the bits that each has by itself, and only where they are of one angle. */
import { describe, expect, it } from 'vitest';
import { add, assign, at, atomic, call, i32, KernelBuilder, load, mul, read, special, store } from '../builder.ts';
import { interpret } from '../interpret.ts';
import type { Expr, Kernel } from '../ops.ts';
import { verify } from '../verify.ts';
import { type ExpandMathOptions, expandMath } from './expand-math.ts';
import { shareAngles } from './share-angles.ts';
import { eachStmt, someExpr, stmtExprs } from './walk.ts';

const ANGLES = [
  ...[
    0,
    -0,
    0.5,
    -0.5,
    1.5707963,
    Math.fround(Math.PI),
    -2.25,
    100.25,
    5999,
    6001,
    -7000.5,
    105614,
    105616,
    1e9,
    -3e12,
    1e30,
    2 ** -140,
  ],
  ...[Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
];

function kernelOf(type: 'f32' | 'f64', first: (x: Expr) => Expr, second: (x: Expr) => Expr): Kernel {
  const b = new KernelBuilder('k');
  const [x, y] = [b.global(type, 'x'), b.global(type, 'y')];
  const k = special('threadIdx.x');
  const [s, c] = [b.variable(type, 's'), b.variable(type, 'c')];
  const angle = load(at(x, k));
  return b.build([
    assign(s, first(angle)),
    assign(c, second(angle)),
    store(at(y, mul(k, i32(2))), read(s)),
    store(at(y, add(mul(k, i32(2)), i32(1))), read(c)),
  ]);
}

function run(kernel: Kernel, type: 'f32' | 'f64'): readonly number[] {
  const Data = type === 'f32' ? Float32Array : Float64Array;
  const n = ANGLES.length;
  const memory = new Data(3 * n);
  memory.set(ANGLES);
  const size = Data.BYTES_PER_ELEMENT;
  const launch = { grid: [1, 1, 1], block: [n, 1, 1] } as const;
  const result = interpret(kernel, launch, [0, n * size], new Uint8Array(memory.buffer));
  expect(result.fault).toBeUndefined();
  return Array.from(memory.subarray(n));
}

/** Operations that a kernel has of a kind. */
function count(kernel: Kernel, test: (e: Expr) => boolean): number {
  let n = 0;
  const visit = (e: Expr): boolean => {
    if (test(e)) n++;
    return false;
  };
  eachStmt(kernel.body, (s) => {
    for (const e of stmtExprs(s)) someExpr(e, visit);
  });
  return n;
}

const TABLES: readonly (readonly [string, 'f32' | 'f64', ExpandMathOptions])[] = [
  ['CPU, f32', 'f32', { f32: true, f64: 'import' }],
  ['CPU, f64', 'f64', { f32: true, f64: 'vectors' }],
  ['GPU, f32', 'f32', { target: 'gpu' }],
  ['GPU, f64', 'f64', { target: 'gpu' }],
];

const isQuotient = (e: Expr): boolean => e.op === 'const' && e.value === 2 / Math.PI;
const isCut = (e: Expr): boolean => e.op === 'binary' && (e.fn === 'shl' || e.fn === 'shr');

describe('sine and cosine of one angle', () => {
  it.each(TABLES)('share their reduction, and keep their bits: %s', (_, type, options) => {
    const shared = expandMath(
      kernelOf(
        type,
        (x) => call('sin', x),
        (x) => call('cos', x),
      ),
      options,
    );
    verify(shared);
    const alone = (fn: 'sin' | 'cos'): Kernel =>
      expandMath(
        kernelOf(
          type,
          (x) => call(fn, x),
          (x) => x,
        ),
        options,
      );
    const [sine, cosine] = [alone('sin'), alone('cos')];
    const [both, sines, cosines] = [run(shared, type), run(sine, type), run(cosine, type)];
    for (const [k, angle] of ANGLES.entries()) {
      expect(both[2 * k], `sin ${angle}`).toBe(sines[2 * k]);
      expect(both[2 * k + 1], `cos ${angle}`).toBe(cosines[2 * k]);
    }
    // The shifts of the long reduction are there once, or the quotient where the host has that.
    if (options.target === 'gpu' || type === 'f32') expect(count(shared, isCut)).toBeLessThan(count(sine, isCut) * 1.2);
    else expect(count(shared, isQuotient)).toBe(1);
  });

  it('in either order, and inside other expressions', () => {
    const kernel = kernelOf(
      'f32',
      (x) => add(call('cos', mul(x, x)), x),
      (x) => mul(call('sin', mul(x, x)), x),
    );
    const joined = shareAngles(kernel, () => true);
    verify(joined);
    expect(joined).not.toBe(kernel);
    expect(run(joined, 'f32')).toEqual(run(kernel, 'f32'));
  });

  it('not of different angles, of one that changes between, or of types that are not shared', () => {
    const other = kernelOf(
      'f32',
      (x) => call('sin', x),
      (x) => call('cos', mul(x, x)),
    );
    expect(shareAngles(other, () => true)).toBe(other);
    const pair = kernelOf(
      'f64',
      (x) => call('sin', x),
      (x) => call('cos', x),
    );
    expect(shareAngles(pair, (type) => type === 'f32')).toBe(pair);

    const b = new KernelBuilder('k');
    const [x, y] = [b.global('f32', 'x'), b.global('f32', 'y')];
    const [v, s] = [b.variable('f32', 'v'), b.variable('f32', 's')];
    const changing = b.build([
      assign(v, load(at(x, i32(0)))),
      assign(s, call('sin', read(v))),
      assign(v, add(read(v), read(s))),
      store(at(y, i32(0)), call('cos', read(v))),
    ]);
    expect(shareAngles(changing, () => true)).toBe(changing);
    const written = b.build([
      assign(s, call('sin', load(at(x, i32(0))))),
      atomic('exch', at(x, i32(0)), [read(s)]),
      store(at(y, i32(0)), call('cos', load(at(x, i32(0))))),
    ]);
    expect(shareAngles(written, () => true)).toBe(written);
  });
});
