/** What the simulator finds, in which words; and that its text stands on the lines of the author's file. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { describe, expect, it, vi } from 'vitest';
import {
  add,
  assign,
  at,
  atomic,
  barrier,
  binary,
  block,
  breakTo,
  cast,
  compare,
  constant,
  continueTo,
  eq,
  f32,
  i32,
  ifElse,
  KernelBuilder,
  load,
  loop,
  lt,
  mul,
  ne,
  param,
  print,
  read,
  ret,
  special,
  store,
  trap,
  unary,
  vote,
} from '../../compiler/ir/builder.ts';
import type { ArraySym, Expr, Kernel, MemRef, Stmt } from '../../compiler/ir/ops.ts';
import type { Pos, SourceText } from '../../compiler/source.ts';
import { compileFor } from '../../compiler/testing.ts';
import type { Dim3 } from '../driver.ts';
import { simulatorProvider } from './index.ts';

const tid = special('threadIdx.x');

interface Run {
  /** The fault's message, without the line that repeats the launch. */
  readonly fault: string | undefined;
  /** The first array afterwards, as i32. */
  readonly out: number[];
}

/** Runs a kernel whose parameters are one array of `length` i32 and then `values`. */
function run(kernel: Kernel, block: number, options: { grid?: number; length?: number; values?: number[] } = {}): Run {
  const { grid = 1, length = 16, values = [] } = options;
  const device = simulatorProvider.open(0);
  const pointer = Number(device.allocate(4 * length));
  device.copyToDevice(pointer, new Uint8Array(4 * length));
  const shape = { grid: [grid, 1, 1] as Dim3, block: [block, 1, 1] as Dim3, sharedBytes: 0 };
  device.load({ kernel }).launch(shape, [pointer, ...values], undefined);
  let fault: string | undefined;
  try {
    device.synchronize();
  } catch (error) {
    fault = (error as Error).message.replace(/\n {2}launched with .*$/, '');
  }
  const out = new Int32Array(length);
  device.copyToHost(new Uint8Array(out.buffer), pointer);
  return { fault, out: [...out] };
}

/** A position on a line of a made-up file (1-based). */
function on(source: SourceText, line: number): Pos {
  const start = source.text.split('\n', line - 1).join('\n').length + 1;
  return { source, start: line === 1 ? 0 : start, end: start + 1 };
}

const SOURCE: SourceText = { text: '\n'.repeat(60), name: 'kern' };

function element(array: ArraySym, index: Expr, line = 1): MemRef {
  return { ...at(array, index), pos: on(SOURCE, line) };
}

describe('the simulator reports', () => {
  it('indices that leave their axis, with array, index, length, line, block and thread', () => {
    const b = new KernelBuilder('saxpy');
    const y = b.global('i32', 'y');
    const n = b.value('i32', 'n');
    const mem = { ...element(y, tid, 12), checks: [{ index: tid, extent: n, axis: 0 }] };
    const kernel = b.build([store(mem, i32(1), on(SOURCE, 12))], { checked: true });
    const { fault, out } = run(kernel, 8, { values: [5] });
    expect(fault).toBe(
      'kernel saxpy: index 5 is out of range for y (length 5) at block (0,0,0), thread (5,0,0)\n  --> kern:12:1',
    );
    expect(out.slice(0, 8)).toEqual([1, 1, 1, 1, 1, 0, 0, 0]);
    expect(run({ ...kernel, checked: false }, 8, { values: [5] }).fault).toBeUndefined();
  });

  it('accesses outside the allocation even where no check was asked for', () => {
    const b = new KernelBuilder('wild');
    const y = b.global('i32', 'y');
    const kernel = b.build([store(element(y, add(tid, i32(14)), 3), i32(1))]);
    expect(run(kernel, 4).fault).toBe(
      'kernel wild: element 16 of y is outside the allocation behind it at block (0,0,0), thread (2,0,0)\n  --> kern:3:1',
    );
  });

  it('races of two threads on shared memory, with both lines', () => {
    const b = new KernelBuilder('k');
    const y = b.global('i32', 'y');
    const s = b.shared('i32', 's', 8);
    const left = binary('and', add(tid, i32(7)), i32(7));
    const body = (sync: Stmt[]): Kernel => {
      const write = store(element(s, tid, 20), tid, on(SOURCE, 20));
      const readBack = store(element(y, tid, 21), load(element(s, left, 21)), on(SOURCE, 21));
      return b.build([write, ...sync, readBack]);
    };
    const { fault } = run(body([]), 8);
    expect(fault).toMatch(
      /^kernel k: reads s\[7\], shared memory that no thread of the block has written, at block \(0,0,0\), thread \(0,0,0\)/,
    );
    expect(run(body([barrier(on(SOURCE, 20))]), 8)).toEqual({
      fault: undefined,
      out: [7, 0, 1, 2, 3, 4, 5, 6, 0, 0, 0, 0, 0, 0, 0, 0],
    });
    const same = b.build([store(element(s, i32(3), 20), tid), barrier()]);
    expect(run(same, 8).fault).toBe(
      'kernel k: race: writes s[3], which thread (0,0,0) wrote (kern:20:1) with no barrier in between, at block (0,0,0), ' +
        'thread (1,0,0)\n  --> kern:20:1\n  help: put a barrier between the two (cuda.syncThreads, roc.barrier), or use atomics',
    );
  });

  it('races on global memory within a block, but not between blocks or phases, nor among atomics', () => {
    const b = new KernelBuilder('k');
    const y = b.global('i32', 'y');
    const first = element(y, i32(0));
    expect(run(b.build([store(first, i32(1))]), 1, { grid: 4 }).fault).toBeUndefined();
    expect(run(b.build([store(first, i32(1))]), 2).fault).toMatch(/race: writes y\[0\]/);
    const increment = atomic('add', first, [i32(1)]);
    expect(run(b.build([increment]), 8, { grid: 2 })).toMatchObject({ fault: undefined, out: { 0: 16 } });
    expect(run(b.build([increment, ifElse(eq(tid, i32(1)), [store(first, i32(1))])]), 2).fault).toMatch(
      /race: writes y\[0\], which other threads updated/,
    );
    const turns = ifElse(eq(tid, i32(1)), [store(first, i32(1))]);
    expect(run(b.build([increment, barrier(), turns]), 2).fault).toBeUndefined();
    const mine = store(element(y, tid), add(load(element(y, tid)), i32(1)));
    expect(run(b.build([mine, mine]), 8).fault).toBeUndefined();
    const reads = store(element(y, add(tid, i32(1))), load(element(y, i32(0))));
    expect(run(b.build([reads]), 8).fault).toBeUndefined();
  });

  it('reads of local memory that the thread has not written', () => {
    const b = new KernelBuilder('k');
    const y = b.global('i32', 'y');
    const own = b.local('i32', 'own', 4);
    const write = store(element(own, i32(1)), tid);
    const read1 = store(element(y, tid), load(element(own, i32(1), 7)));
    const read2 = store(element(y, tid), load(element(own, i32(2), 8)));
    expect(run(b.build([write, barrier(), read1]), 4).out.slice(0, 4)).toEqual([0, 1, 2, 3]);
    expect(run(b.build([ifElse(eq(tid, i32(0)), [write]), barrier(), read1]), 4).fault).toMatch(
      /reads own\[1\], local memory that this thread has not written/,
    );
    expect(run(b.build([write, read2]), 4).fault).toContain('reads own[2]');
    expect(run(b.build([store(element(own, i32(4)), tid)]), 4).fault).toContain(
      'element 4 of own is outside its 16 bytes',
    );
  });

  it('threads that do not meet at one barrier', () => {
    const b = new KernelBuilder('k');
    b.global('i32', 'y');
    const some = b.build([ifElse(lt(tid, i32(3)), [barrier(on(SOURCE, 12))])]);
    expect(run(some, 8).fault).toBe(
      'kernel k: divergent barrier: 3 threads wait at the barrier of kern:12:1, 5 have ended without it; the first one ' +
        'waiting is at block (0,0,0), thread (0,0,0)\n  --> kern:12:1',
    );
    const two = b.build([ifElse(lt(tid, i32(3)), [barrier(on(SOURCE, 12))], [barrier(on(SOURCE, 14))])]);
    expect(run(two, 4).fault).toContain(
      '3 threads wait at the barrier of kern:12:1, 1 thread waits at the barrier of kern:14:1',
    );
  });

  it('nothing when threads return before a barrier, which then counts the others alone', () => {
    const b = new KernelBuilder('k');
    const y = b.global('i32', 'y');
    const n = b.variable('i32', 'n');
    const kernel = (kind: 'count' | 'and' | 'or', pred: Expr): Kernel =>
      b.build([ifElse(lt(tid, i32(3)), [ret()]), vote(kind, pred, n), store(element(y, tid), read(n))]);
    const results = (kind: 'count' | 'and' | 'or', pred: Expr): number[] => run(kernel(kind, pred), 8).out.slice(2, 5);
    expect(results('count', ne(tid, i32(5)))).toEqual([0, 4, 4]);
    expect(results('and', ne(tid, i32(0)))).toEqual([0, 1, 1]);
    expect(results('and', ne(tid, i32(5)))).toEqual([0, 0, 0]);
    expect(results('or', eq(tid, i32(5)))).toEqual([0, 1, 1]);
    expect(results('or', eq(tid, i32(0)))).toEqual([0, 0, 0]);
  });

  it('values given to uniform() that differ', () => {
    const b = new KernelBuilder('k');
    const y = b.global('i32', 'y');
    const check = (e: Expr): Kernel => b.build([store(element(y, tid), unary('uniform', e, on(SOURCE, 9)))]);
    expect(run(check(special('blockDim.x')), 4).out.slice(0, 4)).toEqual([4, 4, 4, 4]);
    expect(run(check(mul(tid, i32(2))), 4).fault).toMatch(
      /argument of uniform\(\) is 2 here but 0 in another thread of the block, at block \(0,0,0\), thread \(1,0,0\)\n {2}--> kern:9:1/,
    );
  });

  it('traps, values that do not fit and negative exponents', () => {
    const b = new KernelBuilder('k');
    const y = b.global('i32', 'y');
    expect(run(b.build([ifElse(eq(tid, i32(2)), [trap('boom', on(SOURCE, 4))])]), 4).fault).toBe(
      'kernel k: boom at block (0,0,0), thread (2,0,0)\n  --> kern:4:1',
    );
    const wide = mul(cast('i64', tid), constant('i64', 2n ** 31n));
    const narrow: Expr = { op: 'cast', type: 'i32', to: 'i32', a: wide, checked: true, pos: on(SOURCE, 5) };
    expect(run(b.build([store(element(y, tid), narrow)], { checked: true }), 2).fault).toMatch(
      /the value 2147483648 does not fit its 32-bit type at block/,
    );
    const power = binary('ipow', i32(2), mul(tid, i32(-1)), on(SOURCE, 6));
    expect(run(b.build([store(element(y, tid), power)], { checked: true }), 2).fault).toMatch(/negative exponent -1 /);
    expect(run(b.build([store(element(y, tid), power)]), 2).out.slice(0, 2)).toEqual([1, 0]);
  });

  it('threads that wait for what will never happen, and lets those go on that wait for each other', () => {
    const b = new KernelBuilder('lock');
    const y = b.global('i32', 'y');
    const old = b.variable('i32', 'old');
    const l = b.label();
    const flag = element(y, i32(0));
    const take = atomic('cas', flag, [i32(0), i32(1)], old);
    const spin = loop(l, [take, ifElse(eq(read(old), i32(0)), [breakTo(l)])], [], on(SOURCE, 30));
    const release = atomic('exch', flag, [i32(0)]);
    expect(run(b.build([spin, atomic('add', element(y, i32(1)), [i32(1)]), release]), 8).out.slice(0, 2)).toEqual([
      0, 8,
    ]);
    const forgotten = run(b.build([spin]), 4).fault;
    expect(forgotten).toMatch(/^kernel lock: deadlock: 3 threads loop for something that no thread will change; /);
    expect(forgotten).toContain('thread (1,0,0)\n  --> kern:30:1\n  help: blocks run one after another here');
    // Thread 0 sets the flag only behind the barrier that the others do not reach.
    const behind = b.build([
      ifElse(ne(tid, i32(0)), [
        loop(l, [atomic('add', flag, [i32(0)], old), ifElse(eq(read(old), i32(1)), [breakTo(l)])], [], on(SOURCE, 31)),
      ]),
      barrier(),
      atomic('exch', flag, [i32(1)]),
    ]);
    expect(run(behind, 4).fault).toContain(
      '3 threads loop for something that no thread will change, and 1 thread waits at a barrier',
    );
    // Passing a token on: each thread waits for the one after it.
    const token = loop(l, [atomic('add', flag, [i32(0)], old), ifElse(eq(add(read(old), tid), i32(7)), [breakTo(l)])]);
    expect(run(b.build([token, atomic('add', flag, [i32(1)])]), 8).out[0]).toBe(8);
  });

  it('access to freed memory', () => {
    const device = simulatorProvider.open(0);
    const b = new KernelBuilder('late');
    const y = b.global('i32', 'y');
    const executable = device.load({ kernel: b.build([store(element(y, tid), i32(1))]) });
    const pointer = device.allocate(16);
    device.free(pointer);
    executable.launch({ grid: [1, 1, 1], block: [1, 1, 1], sharedBytes: 0 }, [pointer], undefined);
    expect(() => device.synchronize()).toThrow(/element 0 of y is outside the allocation behind it/);
    expect(() => device.copyToHost(new Uint8Array(16), pointer)).toThrow(/are not one allocation of this device/);
  });
});

describe('simulated kernels', () => {
  it('print natively', () => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => {});
    const b = new KernelBuilder('k');
    b.global('i32', 'y');
    run(b.build([print(['thread', tid, cast('i64', tid), lt(tid, i32(1)), f32(0.5)])]), 2);
    expect(log.mock.calls).toEqual([
      ['thread', 0, 0n, true, 0.5],
      ['thread', 1, 1n, false, 0.5],
    ]);
    log.mockRestore();
  });

  it('run a hundred thousand threads in well under a second', () => {
    const b = new KernelBuilder('k');
    const y = b.global('i32', 'y');
    const i = b.variable('i32', 'i');
    const place = add(mul(special('blockIdx.x'), special('blockDim.x')), tid);
    const kernel = b.build([assign(i, place), store(element(y, read(i)), add(load(element(y, read(i))), read(i)))]);
    const started = performance.now();
    const { out } = run(kernel, 250, { grid: 400, length: 100_000 });
    expect(out[99_999]).toBe(99_999);
    expect(performance.now() - started).toBeLessThan(3000);
  });

  it('take all forms of loops, with names that JavaScript does not allow', () => {
    const b = new KernelBuilder('class');
    const y = b.global('i32', 'y');
    const [i, j] = [b.variable('i32', 'i'), b.variable('i32', 'i')];
    const [outer, inner] = [b.label(), b.label()];
    const sum = b.variable('i32', 'let');
    const bump = (v: typeof i): Stmt => assign(v, add(read(v), i32(1)));
    const kernel = b.build([
      loop(
        outer,
        [
          ifElse(compare('ge', read(i), i32(10)), [breakTo(outer)]),
          ifElse(eq(read(i), i32(3)), [continueTo(outer)]),
          assign(j, i32(0)),
          loop(
            inner,
            [ifElse(compare('ge', read(j), read(i)), [continueTo(outer)]), assign(sum, add(read(sum), i32(1)))],
            [bump(j)],
          ),
        ],
        // An update that is no expression stands at the end of the body.
        [ifElse(constant('bool', true), [bump(i)])],
      ),
      store(element(y, i32(0)), read(sum)),
    ]);
    expect(run(kernel, 1).out[0]).toBe(42);
  });
});

const FILE = 'file:///home/author/kern.ts';

/** A kernel with a device function of the same file, as the front end would make it. */
function located(): Kernel {
  const text = [
    '(y, n) => {',
    '  const i = threadIdx.x;',
    '',
    '  if (i < n) {',
    '    y[i] = twice(i);',
    '  }',
    '}',
  ].join('\n');
  const source: SourceText = { text, name: 'kern', script: { url: FILE, line: 10, column: 14 } };
  const helper: SourceText = {
    text: 'function twice(v) {\n  const w = v * 2;\n  return w;\n}',
    name: 'twice',
    script: { url: FILE, line: 2, column: 0 },
  };
  const b = new KernelBuilder('kern');
  const y = b.global('i32', 'y');
  const n = b.value('i32', 'n');
  const [i, v, w, result] = ['i', 'v', 'w', '%twice'].map((name) => b.variable('i32', name)) as [
    ReturnType<typeof b.variable>,
    ReturnType<typeof b.variable>,
    ReturnType<typeof b.variable>,
    ReturnType<typeof b.variable>,
  ];
  const l = b.label();
  const call = on(source, 5);
  const inHelper = (line: number): Pos => ({ ...on(helper, line), caller: call });
  const inlined = block(
    l,
    [
      assign(v, read(i), call),
      assign(w, mul(read(v), i32(2)), inHelper(2)),
      assign(result, read(w), inHelper(3)),
      breakTo(l, inHelper(3)),
    ],
    'twice',
    call,
  );
  return b.build(
    [
      assign(i, tid, on(source, 2)),
      ifElse(lt(read(i), n), [inlined, store({ ...at(y, read(i)), pos: call }, read(result), call)], [], on(source, 4)),
    ],
    { pos: on(source, 1), checked: true },
  );
}

describe('the text of a simulated kernel', () => {
  it('has every statement on its line, device functions on theirs', () => {
    const device = simulatorProvider.open(0);
    const text = device.load({ kernel: located() }).inspect('js');
    expect(text).toMatchInlineSnapshot(`
      "// file:///home/author/kern.ts:11
      return function kern(threadIdx, blockIdx) { let i = 0, $twice = 0;
      i = threadIdx.x;

      if ((i < n)) {
      [$twice] = $f[1](threadIdx, blockIdx, i, $twice); y.set(0, i * 4, $twice); } }

      // file:///home/author/kern.ts:3
      return function twice(threadIdx, blockIdx, i, $twice) { let v = 0, w = 0; L0: { v = i;
      w = (Math.imul(v, 2) | 0);
      $twice = w; break L0; } return [$twice]; }"
    `);
    expect(run(located(), 4, { values: [3] }).out.slice(0, 4)).toEqual([0, 2, 4, 0]);
  });

  it('follows the author’s file through transpilers', () => {
    function kernel(y: Int32Array): void {
      let sum = 0;

      for (let i = 0; i < y.length; i++) {
        sum += i;
      }
      y[0] = sum;
    }
    const { kernel: compiled } = compileFor(kernel as (...args: never[]) => unknown, [new Int32Array(4)]);
    const text = simulatorProvider.open(0).load({ kernel: compiled }).inspect('js') ?? '';
    const [head = '', ...lines] = text.split('\n');
    const file = readFileSync(fileURLToPath(import.meta.url), 'utf8').split('\n');
    const first = file.indexOf('    function kernel(y: Int32Array): void {');
    expect(head).toBe(`// ${import.meta.url}:${first + 1}`);
    expect(lines[1]).toBe('sum = 0;');
    expect(lines[3]).toMatch(/^i = 0; L\d: for/);
    expect(lines[4]).toMatch(/^sum = \(sum \+ i \| 0\);/);
    expect(lines[6]).toMatch(/y\.set\(.*, sum\); \}$/);
  });

  it('stops at breakpoints set on the author’s file, with the locals in sight', async () => {
    // Line 13 (0-based) is `if (i < n)`, line 3 is inside the device function.
    const code = `
      const { Session } = require('node:inspector');
      const { parentPort } = require('node:worker_threads');
      const session = new Session();
      session.connectToMainThread();
      // A session does not keep its thread alive.
      setInterval(() => {}, 1000);
      const post = (method, params) => new Promise((resolve, reject) =>
        session.post(method, params, (error, result) => error ? reject(error) : resolve(result)));
      const stops = [];
      session.on('Debugger.paused', async ({ params }) => {
        const frame = params.callFrames[0];
        const scope = frame.scopeChain.find((s) => s.type === 'local');
        const { result } = await post('Runtime.getProperties', { objectId: scope.object.objectId });
        const locals = Object.fromEntries(result.map((p) => [p.name, p.value.value]));
        stops.push({ where: frame.functionName, line: frame.location.lineNumber, locals });
        await post('Debugger.resume');
      });
      (async () => {
        await post('Debugger.enable');
        for (const lineNumber of [13, 3]) {
          await post('Debugger.setBreakpointByUrl', { url: ${JSON.stringify(FILE)}, lineNumber });
        }
        parentPort.postMessage('ready');
        parentPort.once('message', async () => {
          await post('Debugger.disable');
          session.disconnect();
          parentPort.postMessage(stops);
        });
      })();`;
    const worker = new Worker(code, { eval: true });
    const message = (): Promise<unknown> => new Promise((resolve) => worker.once('message', resolve));
    expect(await message()).toBe('ready');
    const { out } = run(located(), 2, { values: [5] });
    worker.postMessage('done');
    const stops = (await message()) as { where: string; line: number; locals: Record<string, unknown> }[];
    await worker.terminate();
    expect(out.slice(0, 2)).toEqual([0, 2]);
    expect(stops.map(({ where, line }) => `${where} ${line}`)).toEqual(['kern 13', 'twice 3', 'kern 13', 'twice 3']);
    expect(stops[2]?.locals).toMatchObject({ i: 1 });
    expect(stops[3]?.locals).toMatchObject({ v: 1 });
  });
});

it('param expressions read what the launch was given', () => {
  const b = new KernelBuilder('k');
  const y = b.global('i32', 'y');
  b.value('u32', 'n');
  const kernel = b.build([store(element(y, tid), cast('i32', param('u32', 1)))]);
  expect(run(kernel, 1, { values: [2 ** 32 - 1] }).out[0]).toBe(-1);
});
