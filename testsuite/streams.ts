/**
 * Chapter: streams and events: order, waiting, callbacks, time.
 */
import { cuda, type f32, type Stream, type Vec } from '../src/index.ts';
import { rejects, same, sameElements, throws } from './assert.ts';
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

export const streams: readonly ConformanceTest[] = chapter('streams and events', {
  'synchronize waits for all work': async () => {
    const stream = cuda.stream();
    const count = makeCount();
    const a = cuda.toDevice(Float32Array.of(0, 0), { stream });
    for (let i = 0; i < 10; i++) await launch(count, { threads: 2, block: 2, stream }, a, 100);
    const host = new Float32Array(2);
    await read(a, host, { stream });
    await settled(stream);
    sameElements(host, [1000, 1000]);
    same(stream.query(), true, 'query after synchronize');
  },
  'copyToHost without a stream has arrived on return': async () => {
    const stream = cuda.stream();
    const a = cuda.toDevice(Float32Array.of(1, 2), { stream });
    await launch(makeCount(), { threads: 2, block: 2, stream }, a, 1);
    sameElements(await read(a), [2, 3]);
  },
  'an array’s own stream and bind': async () => {
    const stream = cuda.stream();
    const a = cuda.deviceArray(2, 'float32', { stream });
    same(a.stream, stream);
    same(a.slice('1:').stream, stream);
    same(a.bind().stream, undefined);
    const b = cuda.deviceArray(2, 'float32').bind(stream);
    same(b.stream, stream);
    b.set(3);
    sameElements(await read(b), [3, 3]);
  },
  'autoSynchronize as an object': blocking(async () => {
    const stream = cuda.stream();
    const a = cuda.toDevice(Float32Array.of(0));
    const host = new Float32Array(1);
    const guard = stream.autoSynchronize();
    same(guard.stream, stream);
    await launch(makeCount(), { threads: 1, block: 1, stream }, a, 5);
    await read(a, host, { stream });
    guard[Symbol.dispose]();
    sameElements(host, [5]);
    guard.dispose();
  }),
  'autoSynchronize around a body': blocking(() => {
    const stream = cuda.stream();
    const a = cuda.toDevice(Float32Array.of(0));
    const host = new Float32Array(1);
    const result = stream.autoSynchronize((s) => {
      same(s, stream);
      makeCount().launch({ threads: 1, block: 1, stream: s }, a, 7);
      a.copyToHost(host, { stream: s });
      return 'done';
    });
    same(result, 'done');
    sameElements(host, [7]);
  }),
  'autoSynchronize around a body that throws synchronises and throws': blocking(() => {
    const stream = cuda.stream();
    const a = cuda.toDevice(Float32Array.of(0));
    const host = new Float32Array(1);
    throws(
      () =>
        stream.autoSynchronize(() => {
          makeCount().launch({ threads: 1, block: 1, stream }, a, 3);
          a.copyToHost(host, { stream });
          throw new Error('midway');
        }),
      /midway/,
    );
    sameElements(host, [3]);
  }),
  'autoSynchronize around async bodies': waiting(async () => {
    const stream = cuda.stream();
    const a = cuda.toDevice(Float32Array.of(0));
    const host = new Float32Array(1);
    const result = await stream.autoSynchronize(async () => {
      await launch(makeCount(), { threads: 1, block: 1, stream }, a, 2);
      await Promise.resolve();
      await read(a, host, { stream });
      return 11;
    });
    same(result, 11);
    sameElements(host, [2]);
    await rejects(
      () =>
        stream.autoSynchronize(async () => {
          await Promise.resolve();
          throw new Error('midway');
        }),
      /midway/,
    );
    stream.dispose();
  }),
  'autoSynchronize throws what failed on the stream': blocking(async () => {
    const stream = cuda.stream();
    const a = cuda.toDevice(Float32Array.of(0, 0));
    throws(
      () => stream.autoSynchronize(() => makeFail().launch({ threads: 1, block: 1, stream }, a)),
      /on purpose/,
      'E_KERNEL_FAULT',
    );
    await settled(stream);
  }),
  'done() resolves with the stream': waiting(async () => {
    const stream = cuda.stream();
    const a = cuda.toDevice(Float32Array.of(0));
    const host = new Float32Array(1);
    await launch(makeCount(), { threads: 1, block: 1, stream }, a, 9);
    await read(a, host, { stream });
    same(await stream.done(), stream);
    sameElements(host, [9]);
    stream.dispose();
  }),
  'done() rejects with what failed': waiting(async () => {
    const stream = cuda.stream();
    const a = cuda.toDevice(Float32Array.of(0, 0));
    await launch(makeFail(), { threads: 1, block: 1, stream }, a);
    await rejects(() => stream.done(), /on purpose/, 'E_KERNEL_FAULT');
    await settled(stream);
    stream.dispose();
  }),
  'callbacks come in order, with stream, status and argument, never inside addCallback': waiting(async () => {
    const stream = cuda.stream();
    const a = cuda.toDevice(Float32Array.of(0));
    const calls: [Stream, number, unknown][] = [];
    const note = (s: Stream, status: number, arg: unknown) => {
      calls.push([s, status, arg]);
    };
    for (let i = 0; i < 5; i++) {
      await launch(makeCount(), { threads: 1, block: 1, stream }, a, 1);
      const before = calls.length;
      stream.addCallback(note, i);
      same(calls.length, before, 'calls inside addCallback');
    }
    stream.addCallback(note);
    await new Promise<void>((resolve) => {
      stream.addCallback(() => resolve());
    });
    sameElements(
      calls.map(([, , arg]) => arg),
      [0, 1, 2, 3, 4, undefined],
    );
    same(
      calls.every(([s, status]) => s === stream && status === 0),
      true,
      'stream and status',
    );
    stream.dispose();
  }),
  'a callback learns that the work failed': waiting(async () => {
    const stream = cuda.stream();
    const a = cuda.toDevice(Float32Array.of(0, 0));
    await launch(makeFail(), { threads: 1, block: 1, stream }, a);
    const status = await new Promise<number>((resolve) => {
      stream.addCallback((_, s) => resolve(s));
    });
    same(status !== 0, true, 'the status says so');
    await rejects(() => settled(), /on purpose/, 'E_KERNEL_FAULT');
    await settled();
    stream.dispose();
  }),
  'default streams': async () => {
    for (const stream of [cuda.defaultStream(), cuda.legacyDefaultStream(), cuda.perThreadDefaultStream()]) {
      const a = cuda.toDevice(Float32Array.of(1), { stream });
      await launch(makeCount(), { threads: 1, block: 1, stream }, a, 1);
      await settled(stream);
      sameElements(await read(a), [2]);
      stream.dispose();
      await settled(stream);
    }
  },
  'streams after dispose': async () => {
    const stream = cuda.stream();
    const a = cuda.toDevice(Float32Array.of(0));
    await launch(makeCount(), { threads: 1, block: 1, stream }, a, 4);
    stream.dispose();
    stream.dispose();
    same(stream.disposed, true);
    await settled();
    sameElements(await read(a), [4]);
    await rejects(() => settled(stream), /this stream was disposed at .+:\d+/);
    await rejects(() => launch(makeCount(), { threads: 1, block: 1, stream }, a, 1), /this stream was disposed/);
    throws(() => cuda.toDevice(new Float32Array(1), { stream }), /this stream was disposed/);
  },
  'what is no stream': () => {
    const toDevice = cuda.toDevice as unknown as (a: Float32Array, options: object) => unknown;
    throws(
      () => toDevice(new Float32Array(1), { stream: 5 }),
      /stream must be a Stream or 0, got the number 5/,
      'E_STREAM',
    );
    throws(() => cuda.externalStream(1.5), /integer/, 'E_STREAM');
    throws(() => cuda.stream().addCallback(3 as never), /addCallback needs a function, got number/, 'E_CALLBACK');
  },
  'events are reached when the work before them is done': async () => {
    const stream = cuda.stream();
    const a = cuda.toDevice(Float32Array.of(0));
    const event = cuda.event();
    await launch(makeCount(), { threads: 1, block: 1, stream }, a, 10);
    event.record(stream);
    await settled(event);
    same(event.query(), true);
    sameElements(await read(a), [10]);
    event.dispose();
  },
  'another stream waits for an event': async () => {
    const [s, t] = [cuda.stream(), cuda.stream()];
    const a = cuda.toDevice(Float32Array.of(1));
    const scale = cuda.jit((v: Vec<f32>) => {
      v[0] *= 10;
    });
    const event = cuda.event({ timing: false });
    await launch(makeCount(), { threads: 1, block: 1, stream: s }, a, 4);
    event.record(s);
    event.wait(t);
    await launch(scale, { threads: 1, block: 1, stream: t }, a);
    await settled(t);
    sameElements(await read(a), [50]);
  },
  'elapsedTime is milliseconds between events': async () => {
    const [start, end] = [cuda.event(), cuda.event()];
    const a = cuda.toDevice(new Float32Array(64));
    start.record();
    await launch(makeCount(), { threads: 64, block: 64 }, a, 1000);
    end.record();
    await settled(end);
    const milliseconds = start.elapsedTime(end);
    same(milliseconds >= 0 && milliseconds < 60000, true, `${milliseconds} ms make sense`);
    same(start.elapsedTime(start), 0);
  },
  'elapsedTime of events without time': async () => {
    const [a, b, c] = [cuda.event(), cuda.event({ timing: false }), cuda.event()];
    a.record();
    b.record();
    await settled();
    throws(() => a.elapsedTime(c), /the end event was not recorded/, 'E_EVENT');
    throws(() => c.elapsedTime(a), /the start event was not recorded/, 'E_EVENT');
    throws(() => a.elapsedTime(b), /timing: false/, 'E_EVENT');
    throws(() => a.elapsedTime(undefined as never), /elapsedTime needs the event/, 'E_EVENT');
  },
  'events after dispose': () => {
    const event = cuda.event();
    event.dispose();
    event.dispose();
    throws(() => event.record(), /this event was disposed at .+:\d+/);
    throws(() => event.query(), /this event was disposed/);
  },
});
