/**
 * Variables of f64 that hold integers of 32 bits: which are i32 afterwards, and that nothing else changes.
 */
import { describe, expect, it } from 'vitest';
import * as ir from '../builder.ts';
import { interpret } from '../interpret.ts';
import type { Expr, Kernel, Stmt, Var } from '../ops.ts';
import { keepIntegers } from './keep-integers.ts';
import { simplify } from './simplify.ts';

const { add, assign, cast, i32, ifElse, read } = ir;
const SIZE = 64;

/** `to[t] = …` of what `body` makes of v, and of the thread's own element. */
function kernel(type: 'f32' | 'f64', body: (v: Var, own: Expr, store: (e: Expr) => Stmt) => readonly Stmt[]): Kernel {
  const b = new ir.KernelBuilder('integers');
  const [from, to] = [b.global('i32', 'from'), b.global('f64', 'to')];
  const t = ir.special('threadIdx.x');
  return b.build(body(b.variable(type, 'v'), ir.load(ir.at(from, t)), (e) => ir.store(ir.at(to, t), e)));
}

const typesOf = ({ vars }: Kernel): readonly string[] => vars.map((v) => v.type);

/** The elements afterwards. */
function run(k: Kernel): readonly number[] {
  const memory = new Uint8Array(12 * SIZE);
  const edges = [0, 1, -1, 2 ** 24 + 1, 2 ** 31 - 1, -(2 ** 31)];
  new Int32Array(memory.buffer, 0, SIZE).forEach((_, i, a) => {
    a[i] = edges[i % edges.length] as number;
  });
  const { fault } = interpret(k, { grid: [1, 1, 1], block: [SIZE, 1, 1] }, [0, 4 * SIZE], memory);
  expect(fault).toBeUndefined();
  return [...new Float64Array(memory.buffer, 4 * SIZE, SIZE)];
}

describe('f64', () => {
  it.each<[string, Parameters<typeof kernel>[1]]>([
    [
      'is i32 where it is asked for i32',
      (v, own, store) => [assign(v, cast('f64', own)), store(cast('f64', add(cast('i32', read(v)), i32(1))))],
    ],
    [
      'is i32 where it is asked for f64 as well',
      (v, own, store) => [
        assign(v, cast('f64', own)),
        ifElse(ir.lt(own, i32(0)), [assign(v, cast('f64', add(own, i32(3))))]),
        store(add(read(v), cast('f64', cast('i32', read(v))))),
      ],
    ],
  ])('%s', (_, body) => {
    const before = kernel('f64', body);
    const after = keepIntegers(before);
    expect(typesOf(simplify(after))).toEqual(['i32']);
    expect(run(after)).toEqual(run(before));
  });
});

describe('stays', () => {
  it.each<[string, 'f32' | 'f64', Parameters<typeof kernel>[1]]>([
    [
      'f32, which rounds',
      'f32',
      (v, own, store) => [assign(v, cast('f32', own)), store(cast('f64', cast('i32', read(v))))],
    ],
    ['what nobody asks for an integer', 'f64', (v, own, store) => [assign(v, cast('f64', own)), store(read(v))]],
    [
      'what is given a fraction somewhere',
      'f64',
      (v, own, store) => [
        assign(v, cast('f64', own)),
        ifElse(ir.lt(own, i32(0)), [assign(v, ir.constant('f64', 0.5))]),
        store(add(read(v), cast('f64', cast('i32', read(v))))),
      ],
    ],
    [
      'what has no value on some ways',
      'f64',
      (v, own, store) => [
        ifElse(ir.lt(own, i32(0)), [assign(v, cast('f64', own))]),
        store(add(read(v), cast('f64', cast('i32', read(v))))),
      ],
    ],
    [
      'what is given u32',
      'f64',
      (v, own, store) => [assign(v, cast('f64', ir.bitcast('u32', own))), store(cast('f64', cast('i32', read(v))))],
    ],
  ])('%s', (_, type, body) => {
    const before = kernel(type, body);
    expect(keepIntegers(before)).toBe(before);
  });
});
