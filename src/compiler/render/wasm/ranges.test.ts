/**
 * Checks that need not be made: which are found, and that none is that can fail.
 */
import { describe, expect, it } from 'vitest';
import * as ir from '../../ir/builder.ts';
import type { Expr, Stmt } from '../../ir/ops.ts';
import { provenChecks } from './ranges.ts';

const { add, mul, special, i32, read } = ir;

/** How many of the checks of a kernel over `s[256]` and `x[n]` are proven. */
function proven(make: (b: ir.KernelBuilder, s: (index: Expr) => Expr, x: (index: Expr) => Expr) => Stmt[]): number {
  const b = new ir.KernelBuilder('ranges');
  const shared = b.shared('i32', 's', 256);
  const global = b.global('u8', 'x');
  const n = b.value('i32', 'n');
  const s = (index: Expr): Expr => ir.load(ir.at(shared, index, { checks: [{ index, extent: i32(256), axis: 0 }] }));
  const x = (index: Expr): Expr => ir.load(ir.at(global, index, { checks: [{ index, extent: n, axis: 0 }] }));
  return provenChecks(b.build(make(b, s, x), { checked: true }), [16, 16, 1]).size;
}

/** `for (k = from; k < to; k += step) body(k)`. */
function counting(b: ir.KernelBuilder, from: Expr, to: Expr, step: number, body: (k: Expr) => Stmt[]): Stmt[] {
  const k = b.variable('i32', 'k');
  const label = b.label();
  const next = ir.assign(k, add(read(k), i32(step)));
  return [
    ir.assign(k, from),
    ir.loop(label, [ir.when(ir.ge(read(k), to), [ir.leave(label)]), ...body(read(k))], [next]),
  ];
}

const use = (b: ir.KernelBuilder, value: Expr): Stmt => ir.assign(b.variable('i32', 'v'), value);

describe('proven', () => {
  it.each<[string, Parameters<typeof proven>[0]]>([
    ['thread indices', (b, s) => [use(b, s(add(mul(special('threadIdx.y'), i32(16)), special('threadIdx.x'))))]],
    ['masks and remainders', (b, s) => [use(b, s(ir.and(special('blockIdx.x'), i32(255))))]],
    ['bytes', (b, s, x) => [use(b, s(ir.load({ ...(x(i32(0)) as Expr & { op: 'load' }).mem, checks: [] })))]],
    ['a counter', (b, s) => counting(b, i32(0), i32(256), 1, (k) => [use(b, s(k))])],
    ['a counter in steps', (b, s) => counting(b, special('threadIdx.x'), i32(256), 16, (k) => [use(b, s(k))])],
    [
      'a row of a tile',
      (b, s) => counting(b, i32(0), i32(16), 1, (k) => [use(b, s(add(mul(k, i32(16)), special('threadIdx.x'))))]),
    ],
  ])('%s', (_, make) => expect(proven(make)).toBe(1));
});

describe('not proven', () => {
  it.each<[string, Parameters<typeof proven>[0]]>([
    [
      'one too far',
      (b, s) => [use(b, s(add(mul(special('threadIdx.y'), i32(16)), add(special('threadIdx.x'), i32(1)))))],
    ],
    ['negative', (b, s) => [use(b, s(ir.sub(special('threadIdx.x'), i32(1))))]],
    ['block indices', (b, s) => [use(b, s(special('blockIdx.x')))]],
    ['an extent that is not known', (b, _, x) => [use(b, x(i32(0)))]],
    ['what may wrap', (b, s) => [use(b, s(ir.and(mul(add(special('threadIdx.x'), i32(2 ** 30)), i32(4)), i32(-1))))]],
    ['a counter past its loop', (b, s) => counting(b, i32(0), i32(257), 1, (k) => [use(b, s(k))])],
    [
      'a counter after its loop',
      (b, s) => {
        let counter = i32(0);
        const loop = counting(b, i32(0), i32(256), 1, (k) => {
          counter = k;
          return [];
        });
        return [...loop, use(b, s(counter))];
      },
    ],
    [
      'a counter that the body changes',
      (b, s) => {
        const k = b.variable('i32', 'k');
        const label = b.label();
        const body = [ir.when(ir.ge(read(k), i32(256)), [ir.leave(label)]), ir.assign(k, i32(300)), use(b, s(read(k)))];
        return [ir.loop(label, body, [ir.assign(k, add(read(k), i32(1)))])];
      },
    ],
    ['a counter downwards', (b, s) => counting(b, i32(0), i32(256), -1, (k) => [use(b, s(k))])],
  ])('%s', (_, make) => expect(proven(make)).toBe(0));
});
