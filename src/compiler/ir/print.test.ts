import { expect, test } from 'vitest';
import {
  add,
  and,
  assign,
  at,
  atomic,
  barrier,
  block,
  breakTo,
  call,
  cast,
  continueTo,
  f32,
  fma,
  i32,
  i64,
  ifElse,
  KernelBuilder,
  load,
  loop,
  lt,
  mul,
  neg,
  not,
  or,
  print,
  read,
  ret,
  select,
  special,
  store,
  sub,
  trap,
  u32,
  vote,
} from './builder.ts';
import { printExpr, printKernel, printStmt } from './print.ts';

const tid = special('threadIdx.x');

test('a kernel reads like its source', () => {
  const b = new KernelBuilder('tour');
  const x = b.global('f32', 'x');
  const n = b.value('i32', 'n');
  const s = b.shared('f32', 's', 64);
  const [i, acc, other] = [b.variable('i32', 'i'), b.variable('f32', 'acc'), b.variable('f32', 'acc')];
  const k = b.label();
  const l = b.label();
  const kernel = b.build(
    [
      assign(i, add(mul(special('blockIdx.x'), special('blockDim.x')), tid)),
      ifElse(lt(read(i), n), [ret()], [store(at(s, tid), f32(1.5))]),
      loop(
        k,
        [ifElse(not(lt(read(i), n)), [breakTo(k)]), continueTo(k)],
        [assign(acc, load(at(x, read(i), { checks: [{ index: read(i), extent: n, axis: 0 }] })))],
      ),
      barrier(),
      block(l, [assign(other, fma(read(acc), f32(-0), call('exp', read(acc)))), trap('no')], 'helper'),
      atomic('max', at(x, i32(0), { disp: -4 }), [read(other)], acc),
      vote('count', lt(tid, i32(2)), i),
      print(['i =', read(i)]),
    ],
    { checked: true },
  );
  expect(printKernel(kernel)).toMatchInlineSnapshot(`
    "kernel tour(x: ptr, n: i32) index32 checked {
      global x: f32[] at param 0
      shared s: f32[64]
      var i: i32
      var acc.1: f32
      var acc.2: f32
      i = blockIdx.x * blockDim.x + threadIdx.x
      if i < n {
        return
      } else {
        s[threadIdx.x] = 1.5f32
      }
      loop L0 {
        if !(i < n) {
          break L0
        }
        continue L0
      } update {
        acc.1 = x[i where i < n]
      }
      barrier
      block L1 inlined helper {
        acc.2 = fma(acc.1, -0f32, exp.f32(acc.1))
        trap "no"
      }
      acc.1 = atomic.max x[0 : f32 *4 -4], acc.2
      i = barrier.count threadIdx.x < 2
      print "i =", i
    }
    "
  `);
});

test('parentheses stand where the tree needs them', () => {
  const [a, b, c] = [i32(1), i32(2), i32(3)];
  expect(printExpr(sub(a, sub(b, c)))).toBe('1 - (2 - 3)');
  expect(printExpr(sub(sub(a, b), c))).toBe('1 - 2 - 3');
  expect(printExpr(mul(add(a, b), neg(add(b, c))))).toBe('(1 + 2) * -(2 + 3)');
  expect(printExpr(and(or(lt(a, b), lt(b, c)), not(lt(a, c))))).toBe('(1 < 2 | 2 < 3) & !(1 < 3)');
  expect(printExpr(select(lt(a, b), cast('u8', a), cast('i64', u32(7))))).toBe('select(1 < 2, u8(1), i64(7u32))');
  expect(printStmt(print([i64(5)]))).toBe('print 5i64');
});
