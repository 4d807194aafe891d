/**
 * Chapter: graphs, `cuda.graph` and `roc.graph`: work that is recorded once and launched many times.
 *
 * Kernels are compiled before a body is recorded, so that devices that compile through promises alone can record it.
 */
import {
  cuda,
  type DeviceNDArray,
  type f32,
  i32,
  ndarray,
  roc,
  struct,
  TsambaTypeError,
  type Vec,
} from '../src/index.ts';
import { rejects, same, sameElements, throws } from './assert.ts';
import { blocking, type ConformanceTest, chapter, waiting } from './suite.ts';
import { element, read, settled } from './waiting.ts';

type Floats = DeviceNDArray<f32, 1>;

const THREE = { threads: 3, block: 32 };

/** What the recorded kernels do: `x = x * k + c`. */
const makeStep = () =>
  cuda.jit((x: Vec<f32>, k: number, c: number) => {
    const i = cuda.grid(1);
    if (i < x.length) x[i] = x[i]! * k + c;
  });

const makeCopy = () =>
  cuda.jit((to: Vec<f32>, from: Vec<f32>) => {
    const i = cuda.grid(1);
    if (i < to.length) to[i] = from[i]!;
  });

const floats = (...values: number[]): Floats => cuda.toDevice(Float32Array.from(values)) as Floats;

/** A kernel that is compiled for an array and two numbers. */
async function step(x: Floats): Promise<ReturnType<typeof makeStep>> {
  const kernel = makeStep();
  await kernel.compileAsync(x, 1.5, 1.5);
  return kernel;
}

export const graphs: readonly ConformanceTest[] = chapter('graphs', {
  'work runs when a graph is launched, in order, each time': async () => {
    const x = floats(1, 2, 3);
    const kernel = await step(x);
    const g = cuda.graph(() => {
      kernel.launch(THREE, x, 2.5, 0.5);
      kernel.launch(THREE, x, 2, -1);
    });
    same(g.size, 2);
    await settled();
    sameElements(await read(x), [1, 2, 3], 'recorded and not done');
    g.launch();
    sameElements(await read(x), [5, 10, 15]);
    g.launch();
    g.launch();
    sameElements(await read(x), [125, 250, 375]);
  },

  'on a stream, in order with what else is there': waiting(async () => {
    const x = floats(1, 2, 3);
    const kernel = await step(x);
    const stream = cuda.stream();
    const g = cuda.graph(() => kernel.launch(THREE, x, 2, 1));
    kernel.launch({ ...THREE, stream }, x, 10, 0);
    g.launch({ stream });
    kernel.launch({ ...THREE, stream }, x, 10, 0);
    g.launch({ stream });
    await settled(stream);
    sameElements(await read(x), [421, 821, 1221]);
    for (const owned of [g, x, stream]) owned.dispose();
  }),

  'copies, fills and elements that are set': async () => {
    const [x, y] = [floats(1, 2, 3, 4), floats(0, 0, 0, 0)];
    const table = cuda.deviceArray([4, 4], 'float32');
    table.set(0);
    const g = cuda.graph(() => {
      y.copyToDevice(x);
      y.set(9, 1);
      table.slice([], 2).set(y);
      table.slice(1).set(5);
      x.set(7);
      // The two overlap.
      y.slice([1, 4]).set(y.slice([0, 3]));
    });
    g.launch();
    sameElements(await read(y), [1, 1, 9, 3]);
    sameElements(await read(table), [0, 0, 1, 0, 5, 5, 5, 5, 0, 0, 3, 0, 0, 0, 4, 0]);
    g.launch();
    sameElements(await read(y), [7, 7, 9, 7]);
  },

  'host arrays that are copied to the device are read by each launch': async () => {
    const host = Float32Array.of(1, 2, 3);
    const [x, y] = [floats(0, 0, 0), floats(0, 0, 0)];
    const copy = makeCopy();
    await copy.compileAsync(x, y);
    const g = cuda.graph(() => {
      x.copyToDevice(host);
      copy.launch(THREE, y, x);
    });
    g.launch();
    sameElements(await read(y), [1, 2, 3]);
    host.set([4, 5, 6]);
    g.launch();
    sameElements(await read(y), [4, 5, 6]);
  },

  'copies to host arrays on a stream are made by each launch': blocking(() => {
    const host = new Float32Array(3);
    const x = floats(1, 2, 3);
    const kernel = makeStep();
    const stream = cuda.stream();
    const g = cuda.graph(() => {
      kernel.launch({ ...THREE, stream }, x, 2, 0);
      x.copyToHost(host, { stream });
    });
    sameElements(host, [0, 0, 0]);
    g.launch({ stream });
    stream.synchronize();
    sameElements(host, [2, 4, 6]);
    g.launch({ stream });
    stream.synchronize();
    sameElements(host, [4, 8, 12]);
  }),

  'what the body made and returned is the result, new after each launch': async () => {
    const add = cuda.vectorize((a: number, b: number) => a + b);
    const sum = cuda.reduce((a, b) => a + b);
    const x = floats(1, 2, 3);
    const kernel = await step(x);
    (await add.async(x, x)).dispose();
    await sum.async(x as never, { res: floats(0) as never });
    const g = cuda.graph(() => {
      const y = add(x, x) as unknown as Floats;
      const total = cuda.deviceArray(1, 'float32');
      sum(y as never, { res: total as never });
      kernel.launch(THREE, x, 1, 1);
      return { y, total };
    });
    g.launch();
    sameElements(await read(g.result.y), [2, 4, 6]);
    same(await element(g.result.total, 0), 12);
    g.launch();
    sameElements(await read(g.result.y), [4, 6, 8]);
    same(await element(g.result.total, 0), 18);
  },

  'reductions in several launches, with temporaries that the graph keeps': async () => {
    const sum = cuda.reduce((a, b) => a + b);
    const x = cuda.toDevice(Int32Array.from({ length: 20_000 }, (_, k) => k % 7));
    const totals = [cuda.deviceArray(1, 'int32'), cuda.deviceArray(1, 'int32')] as const;
    await sum.async(x, { res: totals[0] });
    const g = cuda.graph(() => {
      for (const res of totals) sum(x, { res });
    });
    const expected = Array.from({ length: 20_000 }, (_, k) => k % 7).reduce((a, b) => a + b);
    for (let round = 0; round < 3; round++) {
      for (const total of totals) total.set(0);
      // Memory that is not kept would be given to these.
      const other = Array.from({ length: 4 }, () => cuda.toDevice(new Int32Array(4096).fill(-1)));
      g.launch();
      for (const total of totals) same(await element(total, 0), expected, `round ${round}`);
      for (const array of other) array.dispose();
    }
  },

  'streams and events order work within a graph': waiting(async () => {
    const [x, y] = [floats(1, 2, 3), floats(0, 0, 0)];
    const [kernel, copy] = [await step(x), makeCopy()];
    await copy.compileAsync(y, x);
    const [a, b] = [cuda.stream(), cuda.stream()];
    const [first, second] = [cuda.event(), cuda.event()];
    const g = cuda.graph(() => {
      kernel.launch({ ...THREE, stream: a }, x, 3, 0);
      first.record(a);
      first.wait(b);
      copy.launch({ ...THREE, stream: b }, y, x);
      kernel.launch({ ...THREE, stream: b }, y, 1, 1);
      second.record(b);
      second.wait(a);
      kernel.launch({ ...THREE, stream: a }, x, 0, 5);
      // The default stream comes after both.
      kernel.launch(THREE, y, 2, 0);
    });
    // Their streams are not needed any more.
    for (const owned of [a, b, first, second]) owned.dispose();
    g.launch();
    sameElements(await read(y), [8, 14, 20]);
    sameElements(await read(x), [5, 5, 5]);
    g.launch();
    sameElements(await read(y), [32, 32, 32]);
    for (const owned of [g, x, y]) owned.dispose();
  }),

  'arguments are updated by recording anew; what has been launched keeps its own': async () => {
    const [x, y] = [floats(0, 0, 0), floats(100, 100, 100)];
    const kernel = await step(x);
    let target = x;
    let by = 1;
    const g = cuda.graph(() => {
      for (let k = 0; k < 4; k++) kernel.launch(THREE, target, 2, by);
      return by;
    });
    g.launch();
    by = 10;
    g.update();
    same(g.result, 10);
    g.launch();
    sameElements(await read(x), [15 * 16 + 150, 390, 390]);
    target = y;
    by = 0;
    g.update();
    g.launch();
    sameElements(await read(y), [1600, 1600, 1600]);
    sameElements(await read(x), [390, 390, 390]);
    // Another form: one launch instead of four.
    g.update(() => {
      kernel.launch({ threads: 5, block: 64 }, y, 0, 4);
      return 4;
    });
    same(g.size, 1);
    g.launch();
    sameElements(await read(y), [4, 4, 4]);
  },

  'an update that fails leaves the graph as it was': async () => {
    const x = floats(1, 2, 3);
    const kernel = await step(x);
    const g = cuda.graph(() => kernel.launch(THREE, x, 2, 0));
    throws(
      () =>
        g.update(() => {
          kernel.launch(THREE, x, 0, 0);
          throw new Error('midway');
        }),
      /midway/,
    );
    g.launch();
    sameElements(await read(x), [2, 4, 6]);
  },

  'a graph within a graph': async () => {
    const x = floats(1, 2, 3);
    const kernel = await step(x);
    const inner = cuda.graph(() => {
      kernel.launch(THREE, x, 2, 0);
      kernel.launch(THREE, x, 1, 1);
    });
    const outer = cuda.graph(() => {
      inner.launch();
      kernel.launch(THREE, x, 10, 0);
      inner.launch();
    });
    same(outer.size, 5);
    inner.dispose();
    outer.launch();
    sameElements(await read(x), [61, 101, 141]);
  },

  'a graph keeps alive what it uses, and gives it back': waiting(async () => {
    const kernel = makeStep();
    const y = floats(0, 0, 0);
    const copy = makeCopy();
    await settled();
    const { live } = cuda.memoryStats();
    const x = floats(1, 2, 3);
    await kernel.compileAsync(x, 1.5, 1.5);
    await copy.compileAsync(y, x);
    const g = cuda.graph(() => {
      kernel.launch(THREE, x, 2, 0);
      copy.launch(THREE, y, x);
    });
    x.dispose();
    // Its kernels too.
    kernel.recompile();
    const others = Array.from({ length: 8 }, () => floats(-1, -1, -1));
    g.launch();
    g.launch();
    g.dispose();
    g.dispose();
    sameElements(await read(y), [4, 8, 12]);
    for (const array of others) array.dispose();
    same(cuda.memoryStats().live, live, 'bytes that are live');
    throws(() => g.launch(), /this graph was disposed/, 'E_DISPOSED');
    throws(() => g.update(), /this graph was disposed/, 'E_DISPOSED');
    y.dispose();
  }),

  'disposed while it runs': waiting(async () => {
    const x = floats(1, 1, 1);
    const kernel = await step(x);
    const stream = cuda.stream();
    const g = cuda.graph(() => {
      for (let k = 0; k < 60; k++) kernel.launch(THREE, x, 1, 1);
    });
    for (let k = 0; k < 5; k++) g.launch({ stream });
    g.dispose();
    await settled(stream);
    sameElements(await read(x), [301, 301, 301]);
    for (const owned of [x, stream]) owned.dispose();
  }),

  'structs, tuples and captured arrays': async () => {
    const P = struct({ a: i32, b: i32 });
    const records = cuda.toDevice(ndarray([{ a: 1, b: 2 }], { dtype: P }));
    const captured = cuda.toDevice(Int32Array.of(10));
    const kernel = cuda.jit((p: Vec<{ a: number; b: number }>, [k, more]: readonly [number, Vec<i32>]) => {
      if (cuda.grid(1) === 0) p[0]!.a += k * (captured as unknown as Vec<i32>)[0]! + more[0]!;
    });
    const more = cuda.toDevice(Int32Array.of(1000));
    const args = [records as never, [3, more] as never] as const;
    await kernel.compileAsync(...args);
    const g = cuda.graph(() => kernel.launch({ grid: 1, block: 1 }, ...args));
    more.dispose();
    g.launch();
    g.launch();
    same(((await element(records as never, 0)) as unknown as { a: number }).a, 2061);
  },

  'faults are told as those of launches': waiting(async () => {
    const x = floats(1, 2, 3);
    const kernel = await step(x);
    const fails = cuda.jit(
      (x: Vec<f32>) => {
        if (x[0]! > 5) throw new Error('on purpose');
      },
      { debug: true, name: 'fails' },
    );
    await fails.compileAsync(x);
    const g = cuda.graph(() => {
      kernel.launch(THREE, x, 3, 0);
      fails.launch({ grid: 1, block: 1 }, x);
      kernel.launch(THREE, x, 1, 1);
    });
    const stream = cuda.stream();
    g.launch({ stream });
    await settled(stream);
    g.launch({ stream });
    await rejects(() => settled(stream), /on purpose/, 'E_KERNEL_FAULT');
    sameElements(await read(x), [13, 22, 31]);
    for (const owned of [g, x, stream]) owned.dispose();
  }),

  'what is printed comes with each launch': waiting(async () => {
    const lines: string[] = [];
    const { log } = console;
    const x = cuda.toDevice(Int32Array.of(7));
    const prints = cuda.jit((x: Vec<i32>) => {
      console.log('value', x[0]!);
      x[0]! += 1;
    });
    await prints.compileAsync(x);
    const g = cuda.graph(() => prints.launch({ grid: 1, block: 1 }, x));
    console.log = (...values: unknown[]) => void lines.push(values.join(' '));
    try {
      g.launch();
      await settled();
      g.launch();
      await settled();
    } finally {
      console.log = log;
    }
    sameElements(lines, ['value 7', 'value 8']);
    for (const owned of [g, x]) owned.dispose();
  }),

  'what waits is refused while recording, also where the error is caught, and the stream goes on': waiting(async () => {
    const x = floats(1, 2, 3);
    const kernel = await step(x);
    const [stream, event, before] = [cuda.stream(), cuda.event(), cuda.event()];
    before.record();
    const refused: readonly (readonly [string, () => unknown])[] = [
      ['synchronize()', () => cuda.synchronize()],
      ['stream.synchronize()', () => stream.synchronize()],
      ['stream.query()', () => stream.query()],
      ['stream.addCallback()', () => stream.addCallback(() => undefined)],
      ['event.synchronize()', () => event.synchronize()],
      ['event.query()', () => event.query()],
      ['event.elapsedTime()', () => event.elapsedTime(before)],
      ['event.wait()', () => before.wait(stream)],
      ['graph()', () => cuda.graph(() => undefined)],
      ['a host array', () => kernel.launch(THREE, new Float32Array(3) as never, 1, 1)],
      ['its timeout', () => kernel.launch({ ...THREE, timeout: 1000 }, x, 1, 1)],
    ];
    for (const [what, call] of refused) {
      const part = new RegExp(what.replace(/[().]/g, '\\$&'));
      throws(() => cuda.graph(call), part, 'E_GRAPH');
      throws(
        () =>
          cuda.graph(() => {
            try {
              call();
            } catch {
              // As a library may.
            }
          }),
        part,
        'E_GRAPH',
      );
    }
    // Nothing of it was done or is left over.
    kernel.launch({ ...THREE, stream }, x, 2, 0);
    await settled(stream);
    sameElements(await read(x), [2, 4, 6]);
    for (const owned of [x, stream, event, before]) owned.dispose();
  }),

  'what reads is refused while recording': blocking(() => {
    const x = floats(1, 2, 3);
    const sum = cuda.reduce((a, b) => a + b);
    const calls: readonly (() => unknown)[] = [() => x.copyToHost(), () => x.get(0), () => sum(x as never)];
    for (const call of calls) {
      throws(() => cuda.graph(call), /cannot be part of a graph/, 'E_GRAPH');
    }
    sameElements(x.copyToHost(), [1, 2, 3]);
  }),

  'promises are refused while recording': async () => {
    const x = floats(1, 2, 3);
    const kernel = await step(x);
    let promise: Promise<unknown> = Promise.resolve();
    const calls = [
      () => kernel.launchAsync(THREE, x, 1, 1),
      () => cuda.stream().done(),
      () => x.copyToHostAsync(),
      () => cuda.event().done(),
    ];
    for (const call of calls) {
      throws(
        () =>
          cuda.graph(() => {
            promise = call();
          }),
        /cannot be part of a graph/,
        'E_GRAPH',
      );
      await rejects(() => promise, /cannot be part of a graph/, 'E_GRAPH');
    }
    throws(() => cuda.graph(async () => undefined), /returned a promise/, 'E_GRAPH');
    sameElements(await read(x), [1, 2, 3]);
  },

  'a body that throws leaves nothing behind': async () => {
    const x = floats(1, 2, 3);
    const kernel = await step(x);
    throws(
      () =>
        cuda.graph(() => {
          kernel.launch(THREE, x, 0, 0);
          throw new Error('midway');
        }),
      /midway/,
    );
    kernel.launch(THREE, x, 2, 0);
    sameElements(await read(x), [2, 4, 6]);
    throws(() => cuda.graph(5 as never), /graph takes a function/, 'E_GRAPH');
    const g = cuda.graph(() => undefined);
    same(g.size, 0);
    g.launch();
    throws(() => g.launch({ streem: 1 } as never), /has no option/);
    throws(() => g.launch(5 as never), /options as an object/);
    same(
      g.update(() => undefined),
      undefined,
    );
    try {
      Object.assign(g, { size: 5 });
      throw new Error('assigned');
    } catch (error) {
      same(error instanceof TsambaTypeError, true);
    }
  },

  'many kernels, launched many times': async () => {
    const x = cuda.toDevice(new Int32Array(1000));
    const add = cuda.jit((x: Vec<i32>, by: number) => {
      const i = cuda.grid(1);
      if (i < x.length) x[i]! += by;
    });
    await add.compileAsync(x, 1);
    const g = cuda.graph(() => {
      for (let k = 0; k < 100; k++) add.launch({ threads: 1000 }, x, k);
    });
    for (let round = 0; round < 20; round++) g.launch();
    sameElements(await read(x), new Array<number>(1000).fill(20 * 4950));
  },

  'roc.graph': async () => {
    const x = roc.toDevice(Int32Array.of(1, 2, 3));
    const add = roc.jit((x: Vec<i32>, by: number) => {
      x[roc.getGlobalId(0)]! += by;
    });
    await add.compileAsync(x as never, 1);
    let by = 5;
    const g = roc.graph(() => add.launch({ grid: 1, block: 3 }, x as never, by));
    g.launch();
    by = 7;
    g.update();
    g.launch();
    sameElements(await read(x), [13, 14, 15]);
  },
});
