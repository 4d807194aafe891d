/**
 * Chapter: launches that are awaited, and launches with a limit of time.
 *
 * What takes long is made to: a loop is given more rounds until the device needs longer than it may.
 */
import { cuda, DriverError, type f32, type i32, roc, type Vec } from '../src/index.ts';
import { rejects, same, sameElements } from './assert.ts';
import { blocking, type ConformanceTest, chapter, waiting } from './suite.ts';
import { launch, read, settled } from './waiting.ts';

/** A kernel that adds one to each element, as often as it is told. */
function makeCount() {
  return cuda.jit(function count(v: Vec<f32>, times: number) {
    const k = cuda.grid(1);
    if (k < v.length) {
      for (let i = 0; i < times; i++) v[k] += 1;
    }
  });
}

/** A kernel whose rounds follow one another, so that no device does many at a time. */
function makeSpin() {
  return cuda.jit(
    (v: Vec<i32>, rounds: i32) => {
      const k = cuda.grid(1);
      let x = k;
      for (let i = 0; i < rounds; i++) x = ((x * 1103515245 + 12345) >> 3) ^ i;
      if (k < v.length) v[k] = x;
    },
    { name: 'spin' },
  );
}

/** A kernel that fails. */
function makeFail() {
  return cuda.jit(
    function fail(v: Vec<f32>) {
      if (v[0] >= 0) throw new Error('on purpose');
      v[1] = 1;
    },
    { debug: true },
  );
}

/** Launches with ever more rounds until one takes too long; the error. */
function runOutOfTime(launch: (rounds: number) => void): DriverError {
  for (let rounds = 1000; rounds < 2 ** 31; rounds *= 2) {
    try {
      launch(rounds);
    } catch (error) {
      if (error instanceof DriverError) return error;
      throw error;
    }
  }
  throw new Error('no launch ran out of time');
}

export const asynchronous: readonly ConformanceTest[] = chapter('asynchronous launches and timeouts', {
  'launchAsync resolves when the kernel is done': waiting(async () => {
    using a = cuda.toDevice(Float32Array.of(1, 2, 3));
    const promise = makeCount().launchAsync({ threads: 3 }, a, 4);
    same(promise instanceof Promise, true);
    same(await promise, undefined);
    sameElements(await read(a), [5, 6, 7]);
  }),
  'launchAsync in the forms of a launch: grid and block, a stream, no threads at all': waiting(async () => {
    using a = cuda.toDevice(new Float32Array(100));
    using stream = cuda.stream();
    const count = makeCount();
    await count.launchAsync({ grid: [2, 1], block: 50 }, a, 1);
    await count.launchAsync({ threads: 100, block: 32, stream }, a, 1);
    await count.launchAsync({ threads: 0 }, a, 1);
    sameElements(await read(a), new Float32Array(100).fill(2));
  }),
  'launchAsync fills host arrays by the time that it resolves': waiting(async () => {
    const x = new Float32Array(50);
    const count = makeCount();
    // The second one begins with what the first one leaves.
    await Promise.all([
      count.launchAsync({ threads: 50 }, cuda.InOut(x), 3),
      count.launchAsync({ threads: 50 }, cuda.InOut(x), 4),
    ]);
    sameElements(x, new Float32Array(50).fill(7));
    using stream = cuda.stream();
    await count.launchAsync({ threads: 50, stream }, cuda.InOut(x), 1);
    sameElements(x, new Float32Array(50).fill(8));
  }),
  'what follows on the stream, or without one, comes after it': waiting(async () => {
    const count = makeCount();
    using stream = cuda.stream();
    using a = cuda.toDevice(Float32Array.of(0));
    for (const options of [{ threads: 1, stream }, { threads: 1 }]) {
      a.set(0);
      const first = count.launchAsync(options, a, 1000);
      await launch(count, options, a, 1);
      const second = count.launchAsync(options, a, 1000);
      sameElements(await read(a), [2001]);
      await Promise.all([first, second]);
      sameElements(await read(a), [2001]);
    }
  }),
  'streams that wait for an event wait for a launch that is awaited': waiting(async () => {
    const count = makeCount();
    using first = cuda.stream();
    using second = cuda.stream();
    using mark = cuda.event();
    using a = cuda.toDevice(Float32Array.of(0));
    const pending = count.launchAsync({ threads: 1, stream: first }, a, 10_000);
    mark.record(first);
    mark.wait(second);
    const host = await a.copyToHostAsync({ stream: second });
    sameElements(host, [10_000]);
    same(mark.query(), true);
    same(first.query(), true);
    await pending;
  }),
  'arrays may be disposed while an awaited launch uses them': waiting(async () => {
    const count = makeCount();
    const a = cuda.toDevice(new Float32Array(1000));
    await count.compileAsync(a, 500);
    const pending = count.launchAsync({ threads: 1000 }, a, 500);
    a.dispose();
    using b = cuda.toDevice(new Float32Array(1000));
    await pending;
    sameElements(await read(b), new Float32Array(1000));
  }),
  'onProgress is told of the end, and of nothing beyond it': waiting(async () => {
    using a = cuda.toDevice(new Float32Array(4096));
    const told: [number, number][] = [];
    await makeCount().launchAsync(
      { grid: 64, block: 64, onProgress: (done, total) => told.push([done, total]) },
      a,
      1000,
    );
    sameElements(told.at(-1) ?? [], [64, 64]);
    let before = 0;
    for (const [done, total] of told) {
      same(total, 64);
      same(done > before && done <= 64, true, `progress from ${before} to ${done}`);
      before = done;
    }
  }),
  'launchAsync rejects with the fault of its kernel, once': waiting(async () => {
    using a = cuda.toDevice(Float32Array.of(0, 0));
    const count = makeCount();
    await rejects(() => makeFail().launchAsync({ threads: 1 }, a), /on purpose/);
    await count.launchAsync({ threads: 2 }, a, 1);
    await settled();
    sameElements(await read(a), [1, 1]);
  }),
  'launchAsync rejects arguments and options that do not fit': waiting(async () => {
    const count = makeCount();
    using a = cuda.toDevice(Float32Array.of(0));
    await rejects(() => count.launchAsync({ threads: -1 }, a, 1), /at least 0/, 'E_LAUNCH_DIMS');
    const loose = count as unknown as { launchAsync(...args: unknown[]): Promise<void> };
    await rejects(() => loose.launchAsync({ threads: 1 }, a), /takes 2 arguments/, 'E_ARGUMENT_COUNT');
    await rejects(
      () => loose.launchAsync({ threads: 1, onProgress: 5 }, a, 1),
      /onProgress must be/,
      'E_LAUNCH_OPTION',
    );
    await rejects(() => loose.launchAsync({ threads: 1, signal: 5 }, a, 1), /signal must be/, 'E_LAUNCH_OPTION');
    await rejects(
      () => loose.launchAsync({ threads: 1, onprogress: 5 }, a, 1),
      /did you mean 'onProgress'/,
      'E_OPTION',
    );
    await rejects(
      () => launch(count, { threads: 1, onProgress: () => {} } as never, a, 1),
      /no option 'onProgress'/,
      'E_OPTION',
    );
    sameElements(await read(a), [0]);
  }),
  'a signal that was aborted before keeps the kernel from running': waiting(async () => {
    using a = cuda.toDevice(Float32Array.of(0));
    const signal = AbortSignal.abort('not now');
    const error: unknown = await makeCount()
      .launchAsync({ threads: 1, signal }, a, 1)
      .catch((e: unknown) => e);
    same(error instanceof DriverError && error.code, 'E_ABORTED');
    same((error as Error).cause, 'not now');
    sameElements(await read(a), [0]);
  }),
  'a signal aborted after the end does nothing': waiting(async () => {
    const controller = new AbortController();
    using a = cuda.toDevice(Float32Array.of(0));
    await makeCount().launchAsync({ threads: 1, signal: controller.signal }, a, 1);
    controller.abort();
    await settled();
    sameElements(await read(a), [1]);
  }),
  'compileAsync compiles and runs nothing': waiting(async () => {
    const count = makeCount();
    using a = cuda.toDevice(Float32Array.of(0));
    await count.compileAsync(a, 1);
    same(count.stats.misses, 1);
    await count.launchAsync({ threads: 1 }, a, 1);
    same(count.stats.misses, 1);
    sameElements(await read(a), [1]);
    const broken = cuda.jit(function broken(v: Vec<f32>) {
      (v as unknown as { nothing(): void }).nothing();
    });
    await rejects(() => broken.compileAsync(a), /nothing/);
  }),
  'a launch with time enough is an ordinary one': blocking(async () => {
    const a = cuda.toDevice(Float32Array.of(0, 0));
    await launch(makeCount(), { threads: 2, timeout: 60_000 }, a, 5);
    sameElements(await read(a), [5, 5]);
    const host = new Float32Array(2);
    await launch(makeCount(), { threads: 2, timeout: 60_000 }, cuda.InOut(host), 5);
    sameElements(host, [5, 5]);
    await launch(makeFail(), { threads: 1, timeout: 60_000 }, a);
    await rejects(() => settled(), /on purpose/);
  }),
  'timeout is a whole number of milliseconds above 0': async () => {
    const a = cuda.toDevice(Float32Array.of(0));
    const count = makeCount();
    for (const timeout of [0, -1, 2 ** 31])
      await rejects(() => launch(count, { threads: 1, timeout }, a, 1), /timeout/);
    for (const timeout of ['5', 1.5, Number.NaN, Number.POSITIVE_INFINITY, {}]) {
      await rejects(
        () => launch(count, { threads: 1, timeout: timeout as number }, a, 1),
        /whole number/,
        'E_LAUNCH_DIMS',
      );
    }
    sameElements(await read(a), [0]);
  },
  'a kernel that takes too long ends the launch with E_TIMEOUT, and the device goes on': blocking(async () => {
    const spin = makeSpin();
    const v = cuda.deviceArray(256, 'int32');
    await launch(spin, { threads: 256 }, v, 1);
    const error = runOutOfTime((rounds) => spin.launch({ threads: 256, block: 64, timeout: 5 }, v, rounds));
    same(error.code, 'E_TIMEOUT');
    same(
      /kernel spin .*5 ms .*\n {2}launched with grid \[4, 1, 1\], block \[64, 1, 1\]/.test(error.message),
      true,
      error.message,
    );
    same(error.launch, 'spin with grid [4, 1, 1], block [64, 1, 1]');
    // A device that cannot stop a kernel says so, and waits here.
    await settled();
    const a = cuda.toDevice(new Float32Array(1000));
    await launch(makeCount(), { threads: 1000 }, a, 3);
    sameElements(await read(a), new Float32Array(1000).fill(3));
  }),
  'an awaited kernel that takes too long rejects with E_TIMEOUT': waiting(async () => {
    const spin = makeSpin();
    using v = cuda.deviceArray(256, 'int32');
    await spin.launchAsync({ threads: 256 }, v, 1);
    let error: unknown;
    for (let rounds = 1000; rounds < 2 ** 31 && error === undefined; rounds *= 2) {
      await spin.launchAsync({ threads: 256, block: 64, timeout: 5 }, v, rounds).catch((e: unknown) => {
        error = e;
      });
    }
    same(error instanceof DriverError && error.code, 'E_TIMEOUT');
    await settled();
    using a = cuda.toDevice(new Float32Array(10));
    await makeCount().launchAsync({ threads: 10 }, a, 3);
    sameElements(await read(a), new Float32Array(10).fill(3));
  }),
  'roc: launchAsync, compileAsync and timeout': waiting(async () => {
    const add = roc.jit(function add(v: Vec<f32>, x: number) {
      const k = roc.getGlobalId(0);
      if (k < v.length) v[k] += x;
    });
    using a = roc.toDevice(Float32Array.of(1, 2));
    await add.compileAsync(a, 1);
    await add.launchAsync({ threads: 2, block: 2 }, a, 1);
    await launch(add, { threads: 2, block: 2, timeout: 60_000 }, a, 1);
    sameElements(await read(a), [3, 4]);
    const host = new Float32Array(2);
    await add.launchAsync({ threads: 2, block: 2 }, host, 1);
    sameElements(host, [1, 1]);
  }),
});
