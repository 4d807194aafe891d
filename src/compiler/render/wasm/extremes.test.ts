/**
 * The larger and the smaller of two values, chosen by a comparison: bit for bit what the comparison says, NaN and zeros included, without a branch.
 */
import { describe, expect, it } from 'vitest';
import * as ir from '../../ir/builder.ts';
import type { Expr, Kernel, Stmt, ValueType } from '../../ir/ops.ts';
import { chooseExtremes } from '../../ir/passes/extremes.ts';
import { printKernel } from '../../ir/print.ts';
import { verify } from '../../ir/verify.ts';
import { check, runWasm } from './launch.testing.ts';

const VALUES = [1, -1, 0, -0, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 3.5];
const PAIRS = VALUES.flatMap((a) => VALUES.map((b) => [a, b] as const));
const N = PAIRS.length;
const t = ir.special('threadIdx.x');
const FNS = ['lt', 'le', 'gt', 'ge'] as const;

type Elem = 'f32' | 'f64' | 'i32' | 'u32';

/** Makes what `body` does with m = x[t] and v = y[t]; stores m. */
function kernel(elem: Elem, body: (m: Expr, v: Expr, set: (value: Expr) => Stmt) => Stmt): Kernel {
  const b = new ir.KernelBuilder('extremes');
  const [x, y, out] = [b.global(elem, 'x'), b.global(elem, 'y'), b.global(elem, 'out')];
  const [m, v] = [b.variable(elem as ValueType, 'm'), b.variable(elem as ValueType, 'v')];
  const set = (value: Expr): Stmt => ir.assign(m, value);
  return b.build([
    ir.assign(m, ir.load(ir.at(x, t))),
    ir.assign(v, ir.load(ir.at(y, t))),
    body(ir.read(m), ir.read(v), set),
    ir.store(ir.at(out, t), ir.read(m)),
  ]);
}

function image(elem: Elem): Uint8Array {
  const make = { f32: Float32Array, f64: Float64Array, i32: Int32Array, u32: Uint32Array }[elem];
  const all = [...PAIRS.map(([a]) => a), ...PAIRS.map(([, b]) => b), ...PAIRS.map(() => 0)];
  return new Uint8Array(make.from(all).buffer);
}

function run(elem: Elem, k: Kernel): void {
  const bytes = elem === 'f64' ? 8 : 4;
  const args = [0, N * bytes, 2 * N * bytes];
  check(k, { block: [N, 1, 1] }, args, image(elem), [{ at: 2 * N * bytes, elem, length: N }]);
}

const branchless = (k: Kernel): boolean => {
  const after = chooseExtremes(k);
  verify(after);
  return !printKernel(after).includes('if ');
};

describe.each(['f32', 'f64', 'i32', 'u32'] as const)('extremes of %s', (elem) => {
  it.each(FNS)('are those that %s says, in branches', (fn) => {
    for (const swapped of [false, true]) {
      const k = kernel(elem, (m, v, set) => ir.ifElse(swapped ? ir.compare(fn, m, v) : ir.compare(fn, v, m), [set(v)]));
      expect(branchless(k)).toBe(true);
      run(elem, k);
    }
  });

  it.each(FNS)('are those that %s says, in choices', (fn) => {
    for (const swapped of [false, true])
      run(
        elem,
        kernel(elem, (m, v, set) => set(ir.select(ir.compare(fn, m, v), swapped ? v : m, swapped ? m : v))),
      );
  });
});

it('is one instruction for floats', () => {
  const k = kernel('f32', (m, v, set) => ir.ifElse(ir.compare('gt', v, m), [set(v)]));
  const { module } = runWasm(k, { block: [N, 1, 1] }, [0, 4 * N, 8 * N], image('f32'));
  // f32x4.pmax, and no bitselect.
  const text = Buffer.from(module.bytes).toString('hex');
  expect(text).toContain('fdeb01');
  expect(text).not.toContain('fd52');
});

it('leaves branches that do something else', () => {
  const otherwise = kernel('f32', (m, v, set) => ir.ifElse(ir.compare('gt', v, m), [set(ir.add(v, m))]));
  expect(branchless(otherwise)).toBe(false);
  run('f32', otherwise);
  const equal = kernel('f32', (m, v, set) => ir.ifElse(ir.compare('eq', v, m), [set(v)]));
  expect(branchless(equal)).toBe(false);
  const both = kernel('f32', (m, v, set) => ir.ifElse(ir.compare('gt', v, m), [set(v)], [set(ir.f32(1))]));
  expect(branchless(both)).toBe(false);
  run('f32', both);
});
