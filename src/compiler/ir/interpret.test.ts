import { expect, test } from 'vitest';
import {
  add,
  at,
  atomic,
  barrier,
  cast,
  i32,
  ifElse,
  KernelBuilder,
  load,
  lt,
  not,
  print,
  read,
  ret,
  special,
  store,
  trap,
  vote,
} from './builder.ts';
import { interpret } from './interpret.ts';

const tid = special('threadIdx.x');

test('saxpy over a grid, with a guard', () => {
  const b = new KernelBuilder('saxpy');
  const x = b.global('f32', 'x');
  const y = b.global('f32', 'y');
  const n = b.value('i32', 'n');
  const i = b.variable('i32', 'i');
  const kernel = b.build([
    {
      op: 'assign',
      var: i,
      value: add({ op: 'binary', type: 'i32', fn: 'mul', a: special('blockIdx.x'), b: special('blockDim.x') }, tid),
      pos: { source: { text: '', name: '' }, start: 0, end: 0 },
    },
    ifElse(lt(read(i), n), [store(at(y, read(i)), add(load(at(x, read(i))), load(at(y, read(i)))))]),
  ]);
  const memory = new Uint8Array(80);
  const f = new Float32Array(memory.buffer);
  f.set([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  f.fill(0.5, 10);
  const { fault } = interpret(kernel, { grid: [3, 1, 1], block: [4, 1, 1] }, [0, 40, 9], memory);
  expect(fault).toBeUndefined();
  expect([...f.subarray(10)]).toEqual([1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5, 0.5]);
});

test('threads meet at barriers, in any order; returned threads take no part', () => {
  const b = new KernelBuilder('rotate');
  const out = b.global('i32', 'out');
  const s = b.shared('i32', 's', 4);
  const count = b.variable('i32', 'count');
  const kernel = b.build([
    ifElse(not(lt(tid, i32(3))), [ret()]),
    store(at(s, tid), tid),
    vote('count', lt(tid, i32(2)), count),
    store(
      at(out, tid),
      add(load(at(s, { op: 'binary', type: 'i32', fn: 'rem', a: add(tid, i32(1)), b: i32(3) })), read(count)),
    ),
    barrier(),
    atomic('add', at(out, i32(3)), [tid]),
  ]);
  for (const order of [(n: number) => [...Array(n).keys()], (n: number) => [...Array(n).keys()].reverse()]) {
    const memory = new Uint8Array(16);
    expect(interpret(kernel, { grid: [1, 1, 1], block: [4, 1, 1] }, [0], memory, { order }).fault).toBeUndefined();
    expect([...new Int32Array(memory.buffer)]).toEqual([3, 4, 2, 3]);
  }
});

test('faults name the thread: bounds, traps, divergent barriers, assertions, endless loops', () => {
  const b = new KernelBuilder('faulty');
  const a = b.global('i32', 'a');
  const launch = { grid: [1, 1, 1], block: [4, 1, 1] } as const;
  const fault = (body: Parameters<typeof b.build>[0]) => {
    const result = interpret(b.build(body, { checked: true }), launch, [0], new Uint8Array(16), { maxSteps: 100 });
    return result.fault && `${result.fault.kind} ${result.fault.thread}: ${result.fault.message}`;
  };
  const checks = [{ index: add(tid, i32(2)), extent: i32(4), axis: 0 }];
  expect(fault([store(at(a, add(tid, i32(2)), { checks }), tid)])).toBe(
    "bounds 2: index 4 out of range for axis 0 of 'a' (extent 4)",
  );
  expect(fault([store(at(a, i32(4)), tid)])).toMatch(/^memory 0/);
  expect(fault([ifElse(lt(i32(0), tid), [trap('odd')])])).toBe('trap 1: odd');
  expect(fault([ifElse(lt(tid, i32(2)), [barrier()], [barrier()])])).toMatch(/^barrier 2/);
  expect(fault([print([{ op: 'unary', type: 'i32', fn: 'uniform', a: tid }])])).toMatch(/^uniform 1/);
  expect(fault([{ op: 'loop', label: 0, body: [], update: [], pos: b.build([]).pos }])).toMatch(/^steps 0/);
  expect(fault([print(['x', cast('f32', tid)])])).toBeUndefined();
});
