/** Where the statements of an expanded call go, and what stays a call. */
import { describe, expect, it } from 'vitest';
import { MATH_FNS, mapKernel } from '../../math/testing.ts';
import {
  add,
  assign,
  at,
  breakTo,
  call,
  f32,
  i32,
  ifElse,
  KernelBuilder,
  load,
  loop,
  lt,
  mul,
  read,
  special,
  store,
  unary,
} from '../builder.ts';
import { interpret } from '../interpret.ts';
import type { Kernel, Stmt } from '../ops.ts';
import { printKernel } from '../print.ts';
import { verify } from '../verify.ts';
import { expandMath } from './expand-math.ts';
import { eachStmt, someExpr, stmtExprs } from './walk.ts';

/** The calls that are left. */
function calls(kernel: Kernel): string[] {
  const found: string[] = [];
  eachStmt(kernel.body, (s) => {
    for (const e of stmtExprs(s))
      someExpr(e, (x) => {
        if (x.op === 'call') found.push(`${x.fn} ${x.type}`);
        return false;
      });
  });
  return found;
}

function run(kernel: Kernel, values: readonly number[]): Float32Array {
  const memory = new Float32Array(values);
  const result = interpret(
    kernel,
    { grid: [1, 1, 1], block: [1, 1, 1] },
    kernel.params.map(() => 0),
    new Uint8Array(memory.buffer),
  );
  expect(result.fault).toBeUndefined();
  return memory;
}

describe('expandMath', () => {
  it('computes a call right before the statement that uses it', () => {
    const b = new KernelBuilder('k');
    const a = b.global('f32', 'a');
    const kernel = expandMath(b.build([store(at(a, i32(1)), call('exp', load(at(a, i32(0)))))]));
    expect(calls(kernel)).toEqual([]);
    expect(kernel.body.map((s) => s.op).slice(-3)).toEqual(['assign', 'if', 'store']);
    expect(kernel.vars.every((v) => v.name === '%exp')).toBe(true);
    expect(run(kernel, [1, 0])[1]).toBeCloseTo(Math.E, 6);
  });

  it('expands calls inside calls, inner first', () => {
    const b = new KernelBuilder('k');
    const a = b.global('f32', 'a');
    const x = load(at(a, i32(0)));
    const nested = call('hypot', call('sin', x), call('cos', call('exp', mul(x, f32(0.5)))));
    const kernel = expandMath(b.build([store(at(a, i32(1)), add(nested, call('log', f32(2))))]));
    expect(calls(kernel)).toEqual([]);
    const want = Math.hypot(Math.sin(3), Math.cos(Math.exp(1.5))) + Math.LN2;
    expect(run(kernel, [3, 0])[1]).toBeCloseTo(want, 5);
  });

  it('keeps what a loop repeats inside the loop, its update too', () => {
    const b = new KernelBuilder('k');
    const a = b.global('f32', 'a');
    const x = b.variable('f32', 'x');
    const n = b.variable('i32', 'n');
    const label = b.label();
    const body: Stmt[] = [
      ifElse(lt(call('exp', read(x)), f32(20)), [], [breakTo(label)]),
      assign(n, add(read(n), i32(1))),
    ];
    const kernel = expandMath(
      b.build([
        assign(x, load(at(a, i32(0)))),
        loop(label, body, [assign(x, call('expm1', read(x)))]),
        store(at(a, i32(1)), { op: 'cast', type: 'f32', to: 'f32', a: read(n) }),
        store(at(a, i32(2)), read(x)),
      ]),
    );
    expect(calls(kernel)).toEqual([]);
    let steps = 0;
    let value = 0.5;
    for (; Math.exp(value) < 20; steps++) value = Math.expm1(value);
    const memory = run(kernel, [0.5, 0, 0]);
    expect(memory[1]).toBe(steps);
    expect(memory[2]).toBeCloseTo(value, 3);
  });

  it('expands a call once when an index and the check of it share it', () => {
    const b = new KernelBuilder('k');
    const a = b.global('f32', 'a');
    const index = { op: 'cast', type: 'i32', to: 'i32', a: call('exp2', load(at(a, i32(0)))) } as const;
    const checks = [{ index, extent: i32(4), axis: 0 }];
    const kernel = b.build([store(at(a, index, { checks }), f32(7))], { checked: true });
    const once = expandMath(b.build([store(at(a, index), f32(7))]));
    const shared = expandMath(kernel);
    expect(shared.vars).toHaveLength(once.vars.length);
    expect(run(shared, [1, 0, 0, 0])[2]).toBe(7);
  });

  it('leaves a kernel without calls alone, and calls that are not asked for', () => {
    const b = new KernelBuilder('k');
    const a = b.global('f32', 'a');
    const none = b.build([store(at(a, special('threadIdx.x')), f32(1))]);
    expect(expandMath(none)).toBe(none);
    const exp = b.build([store(at(a, i32(0)), call('exp', f32(1)))]);
    expect(expandMath(exp, { f32: false, f64: 'import' })).toBe(exp);
  });

  it('leaves f64 to the host, or only what a body is not good for', () => {
    const b = new KernelBuilder('k');
    const a = b.global('f64', 'a');
    const kernel = (fn: 'exp' | 'atan') => b.build([store(at(a, i32(0)), call(fn, load(at(a, i32(1)))))]);
    expect(calls(expandMath(kernel('exp'), { f32: true, f64: 'import' }))).toEqual(['exp f64']);
    const expanded = expandMath(kernel('exp'));
    expect(calls(expanded)).toEqual(['exp f64']);
    const rare = expanded.body.find((s) => s.op === 'if');
    expect(calls({ ...expanded, body: rare?.op === 'if' ? rare.then : [] })).toEqual(['exp f64']);
    expect(calls(expandMath(kernel('atan')))).toEqual(['atan f64']);
  });

  it('expands every function of both types for GPUs, but the reciprocal square root that the hardware has', () => {
    for (const type of ['f32', 'f64'] as const) {
      for (const fn of MATH_FNS) {
        const left = calls(expandMath(mapKernel(fn, { type }), { target: 'gpu' }));
        expect(left).toEqual(fn === 'rsqrt' && type === 'f32' ? ['rsqrt f32'] : []);
      }
    }
  });

  it('gives the kernel the tables of its functions, each once', () => {
    const b = new KernelBuilder('k');
    const a = b.global('f64', 'a');
    const x = load(at(a, i32(0)));
    const kernel = expandMath(b.build([store(at(a, i32(1)), add(call('sin', x), call('tan', x)))]), { target: 'gpu' });
    expect(kernel.arrays.map((array) => array.name)).toEqual(['a', '%twoOverPi']);
    expect(() => verify(kernel)).not.toThrow();
  });

  it('approximates f32 with fastMath: functions, quotients and square roots', () => {
    const b = new KernelBuilder('k');
    const a = b.global('f32', 'a');
    const x = load(at(a, i32(0)));
    const quotient = { op: 'binary', type: 'f32', fn: 'div', a: call('exp', x), b: unary('sqrt', x) } as const;
    const kernel = b.build([store(at(a, i32(1)), quotient)], { fastMath: true });
    const text = printKernel(expandMath(kernel, { target: 'gpu' }));
    expect(text).toMatch(/divApprox/);
    expect(text).toMatch(/exp2Approx/);
    expect(text).toMatch(/sqrtApprox/);
    expect(printKernel(expandMath(kernel))).not.toMatch(/Approx/);
  });
});
