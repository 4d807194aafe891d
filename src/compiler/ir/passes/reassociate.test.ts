import { expect, it } from 'vitest';
import {
  add,
  assign,
  at,
  breakTo,
  ge,
  i32,
  ifElse,
  KernelBuilder,
  load,
  loop,
  lt,
  mul,
  param,
  read,
  special,
  store,
} from '../builder.ts';
import type { Stmt } from '../ops.ts';
import { printStmt } from '../print.ts';
import { dropChecks, joinGuards } from './guards.ts';
import { reassociate } from './reassociate.ts';
import { unroll } from './unroll.ts';

const b = new KernelBuilder('k');
const [x, y] = [b.global('i32', 'x'), b.global('i32', 'y')];
const n = b.value('i32', 'n');
const [i, k, label] = [b.variable('i32', 'i'), b.variable('i32', 'k'), b.label()];
const t = special('threadIdx.x');

/** for (k = 0; k < rounds; k++) body */
function counting(rounds: number, body: Stmt): Stmt[] {
  return [
    assign(k, i32(0)),
    loop(label, [ifElse(ge(read(k), i32(rounds)), [breakTo(label)]), body], [assign(k, add(read(k), i32(1)))]),
  ];
}

const text = (stmts: readonly Stmt[]): string => stmts.map((s) => printStmt(s)).join('\n');

it('sums begin with what a loop leaves unchanged', () => {
  const index = add(mul(read(i), param('i32', 2)), add(read(k), t));
  const kernel = b.build(counting(100, store(at(x, index), add(read(k), i32(1)))));
  expect(text(reassociate(kernel).body)).toContain('x[i * param2 + threadIdx.x + k] = k + 1');
});

it('guards within guards are one, unless the inner one reads memory', () => {
  const set = store(at(x, t), n);
  const cheap = b.build([ifElse(lt(t, n), [ifElse(ge(t, i32(3)), [set])])]);
  expect(text(joinGuards(cheap).body)).toMatch(/^if threadIdx.x < param2 & threadIdx.x >= 3 \{/);
  const dear = b.build([ifElse(lt(t, n), [ifElse(ge(load(at(y, t)), i32(3)), [set])])]);
  expect(joinGuards(dear).body).toEqual(dear.body);
});

it('unchecked kernels have no checks', () => {
  const mem = at(x, t, { checks: [{ index: t, extent: n, axis: 0 }] });
  const body = [store(mem, load(mem))];
  expect(JSON.stringify(dropChecks(b.build(body)).body)).not.toContain('"extent"');
  const checked = b.build(body, { checked: true });
  expect(dropChecks(checked)).toBe(checked);
});

it('loops that are too long to unroll do several rounds in one', () => {
  const options = {
    rounds: 8,
    nodes: 400,
    plainLoads: 100,
    barriers: true,
    elements: false,
    factor: 4,
    nests: true,
    stages: 0,
  };
  const done = text(unroll(b.build(counting(64, store(at(x, read(k)), read(k)))), options).body);
  // Of bodies as short as this one, twice as many.
  expect(done).toContain('x[k + 7] = k + 7');
  expect(done).toContain('k = k + 8');
  const odd = b.build(counting(63, store(at(x, read(k)), read(k))));
  expect(unroll(odd, options)).toBe(odd);
});
