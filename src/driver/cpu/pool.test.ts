/** The thread pool with small hand-made modules: every block runs once, and failing workers never make the caller hang. */
import { execFileSync } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { FunctionBuilder } from '../../compiler/render/wasm/assembler.ts';
import type { WasmExports } from '../../compiler/render/wasm/module.ts';
import { BLOCK, count, handmade, RECORD, SCRATCH, spin } from './handmade.testing.ts';
import { DeviceMemory } from './memory.ts';
import { type Job, type ThreadFault, ThreadPool } from './pool.ts';
import { type WasmCode, WebAssembly } from './webassembly.ts';
import { WORKER_CODE } from './worker-code.ts';

function code(body: (f: FunctionBuilder) => void): WasmCode {
  return new WebAssembly.Module(handmade(body));
}

/** Counts the runs of each block in the array that the record's place stands for. */
function counting(f: FunctionBuilder): void {
  count(f, () => f.get(RECORD));
}

class Fixture {
  readonly memory = new DeviceMemory();
  readonly pool: ThreadPool;
  readonly scratch: number;
  readonly counts: number;
  constructor(threads: number) {
    this.pool = new ThreadPool(threads, this.memory.memory, false);
    this.scratch = this.memory.allocate(256 * threads);
    this.counts = this.memory.allocate(4 * 100_000);
    this.memory.bytes.fill(0, this.counts, this.counts + 400_000);
  }

  job(module: WasmCode, total: number): Job {
    const env = { memory: this.memory.memory, print: () => {} };
    const instance = new WebAssembly.Instance(module, { env, math: { atan2: Math.atan2 } });
    const { run } = instance.exports as unknown as WasmExports;
    const id = this.pool.register(module);
    return { module: id, total, record: this.counts, scratch: this.scratch, stride: 256, grain: 1, run };
  }

  /** How often each of the first `total` blocks has run. */
  seen(total: number): number[] {
    return [...new Int32Array(this.memory.memory.buffer, this.counts, total)];
  }
}

describe('ThreadPool', () => {
  const fixtures: Fixture[] = [];
  afterEach(() => {
    for (const fixture of fixtures.splice(0)) fixture.pool.stop();
  });
  function make(threads = 3): Fixture {
    const fixture = new Fixture(threads);
    fixtures.push(fixture);
    return fixture;
  }

  it('runs every block exactly once, with workers and before there are any', () => {
    const fixture = make();
    const job = fixture.job(code(counting), 1000);
    expect(fixture.pool.run(job)).toEqual([]);
    expect(fixture.seen(1001)).toEqual([...Array.from({ length: 1000 }, () => 1), 0]);
    expect(fixture.pool.awaitReady(2, 20_000)).toBe(2);
    for (let round = 2; round < 500; round++) {
      expect(fixture.pool.run({ ...job, total: 1 + (round % 1000) })).toEqual([]);
    }
    const seen = fixture.seen(1000);
    for (let block = 0; block < 1000; block++) {
      let runs = 1;
      for (let round = 2; round < 500; round++) if (block < 1 + (round % 1000)) runs++;
      expect(seen[block]).toBe(runs);
    }
  });

  it('shares the blocks out among all threads', () => {
    const fixture = make();
    // Each block writes the address of its thread's scratch.
    const job = fixture.job(
      code((f) => {
        spin(f, 1_000_000);
        f.get(RECORD, BLOCK);
        f.i32(4);
        f.op('i32.mul', 'i32.add');
        f.get(SCRATCH);
        f.memory('i32.store', 2, 0);
      }),
      48,
    );
    fixture.pool.awaitReady(2, 20_000);
    const { scratch } = fixture;
    const all = [scratch, scratch + 256, scratch + 512];
    const ran = new Set<number>();
    // A worker that the system does not run in time gets no block of a short job, so a busy machine needs several.
    for (let round = 0; round < 200 && ran.size < all.length; round++) {
      fixture.pool.run(job);
      for (const thread of fixture.seen(48)) ran.add(thread);
    }
    expect([...ran].sort((a, b) => a - b)).toEqual(all);
  });

  it('hands out every block once whatever the size of chunks', () => {
    const fixture = make();
    const job = fixture.job(
      code((f) => {
        spin(f, 20_000);
        counting(f);
      }),
      1,
    );
    fixture.pool.awaitReady(2, 20_000);
    const wanted = Array.from({ length: 300 }, () => 0);
    for (const grain of [1, 2, 7, 64, 1e9]) {
      for (const total of [1, 2, 3, 4, 5, 64, 299, 300]) {
        fixture.pool.run({ ...job, total, grain });
        for (let block = 0; block < total; block++) wanted[block] = (wanted[block] ?? 0) + 1;
      }
    }
    expect(fixture.seen(300)).toEqual(wanted);
  });

  it('has each thread begin with a part of the blocks that is always the same', () => {
    const fixture = make(2);
    // Each block notes its place in the order in which blocks are run; their number is behind the last one.
    const job = fixture.job(
      code((f) => {
        f.get(RECORD, BLOCK);
        f.i32(4);
        f.op('i32.mul', 'i32.add');
        f.get(RECORD);
        f.i32(1);
        f.memory('i32.atomic.rmw.add', 2, 4 * 48);
        f.memory('i32.store', 2, 0);
      }),
      48,
    );
    fixture.pool.awaitReady(1, 20_000);
    const order = new Int32Array(fixture.memory.memory.buffer, fixture.counts, 49);
    // The caller is kept in its first chunk, if it gets one, until the worker has run all others.
    const run: Job['run'] = (first, end, ...rest) => {
      const started = performance.now();
      while (Atomics.load(order, 48) < 48 - (end - first) && performance.now() - started < 20_000);
      return job.run(first, end, ...rest);
    };
    for (let round = 0; round < 10; round++) {
      order.fill(0);
      fixture.pool.run({ ...job, run });
      expect(order.indexOf(0)).toBe(24);
    }
  });

  it('runs all blocks before one that fails', () => {
    const fixture = make();
    // Block b fails where element b of the counts is set; the thread's scratch says which one it was.
    const failing = fixture.job(
      code((f) => {
        spin(f, 300);
        f.get(RECORD, BLOCK);
        f.i32(4);
        f.op('i32.mul', 'i32.add');
        f.memory('i32.load', 2, 0);
        f.if();
        f.get(SCRATCH, BLOCK);
        f.memory('i32.store', 2, 0);
        f.i32(7);
        f.op('return');
        f.end();
      }),
      600,
    );
    fixture.pool.awaitReady(2, 20_000);
    const marks = new Int32Array(fixture.memory.memory.buffer, fixture.counts, 600);
    for (let round = 0; round < 300; round++) {
      marks.fill(0);
      const lowest = (round * 7919) % 600;
      for (let block = lowest; block < 600; block += 1 + (round % 5)) marks[block] = 1;
      const faults = fixture.pool.run(failing);
      const found = faults.map(
        ({ thread }) => new Int32Array(fixture.memory.memory.buffer, fixture.scratch + 256 * thread)[0],
      );
      expect(Math.min(...found.map((block) => block ?? -1))).toBe(lowest);
    }
  });

  it('lets a worker that starts late help with a job under way', () => {
    const fixture = make(2);
    const job = fixture.job(
      code((f) => {
        spin(f, 20_000_000);
        f.get(RECORD, BLOCK);
        f.i32(4);
        f.op('i32.mul', 'i32.add');
        f.get(SCRATCH);
        f.memory('i32.store', 2, 0);
      }),
      64,
    );
    expect(fixture.pool.ready).toBe(0);
    fixture.pool.run(job);
    expect(fixture.seen(64)).toContain(fixture.scratch + 256);
  });

  it('reports what run returns, from any thread, and is usable afterwards', () => {
    const fixture = make();
    const failing = fixture.job(
      code((f) => {
        spin(f, 100_000);
        f.get(BLOCK);
        f.i32(24);
        f.op('i32.ge_u');
        f.if();
        f.i32(7);
        f.op('return');
        f.end();
      }),
      48,
    );
    fixture.pool.awaitReady(2, 20_000);
    for (let round = 0; round < 20; round++) {
      const faults = fixture.pool.run(failing);
      expect(faults.length).toBeGreaterThan(0);
      for (const fault of faults) expect(fault).toMatchObject({ site: 6, error: undefined });
    }
    expect(fixture.pool.run(fixture.job(code(counting), 100))).toEqual([]);
    expect(fixture.seen(100)).toEqual(Array.from({ length: 100 }, () => 1));
  });

  it('survives traps and exceptions in workers', () => {
    const fixture = make();
    fixture.pool.awaitReady(2, 20_000);
    const trap = fixture.job(
      code((f) => {
        spin(f, 1_000_000);
        f.get(SCRATCH);
        f.i32(fixture.scratch);
        f.op('i32.ne');
        f.if();
        f.op('unreachable');
        f.end();
      }),
      48,
    );
    let faults: ThreadFault[] = [];
    for (let round = 0; round < 100 && faults.length === 0; round++) faults = fixture.pool.run(trap);
    expect(faults[0]?.thread).toBeGreaterThan(0);
    expect(faults[0]?.error).toBe('RuntimeError: unreachable');
    // A module that no thread knows: instantiating it fails in the worker, and on the caller nothing does.
    const unknown = {
      ...fixture.job(
        code((f) => spin(f, 1_000_000)),
        48,
      ),
      module: 999,
    };
    faults = [];
    for (let round = 0; round < 100 && faults.length === 0; round++) faults = fixture.pool.run(unknown);
    expect(faults[0]?.error).toBe('Error: module 999 has not arrived');
    expect(fixture.pool.run(fixture.job(code(counting), 100))).toEqual([]);
  });

  it('goes on without workers that have been ended, and replaces them', async () => {
    const fixture = make();
    fixture.pool.awaitReady(2, 20_000);
    const job = fixture.job(code(counting), 1000);
    await Promise.all(fixture.pool.workers.map((worker) => worker.terminate()));
    expect(fixture.pool.run(job)).toEqual([]);
    expect(fixture.seen(1000)).toEqual(Array.from({ length: 1000 }, () => 1));
    expect(fixture.pool.awaitReady(2, 20_000)).toBe(2);
    expect(fixture.pool.run(job)).toEqual([]);
  });

  it('notices a worker that ends in the middle of a job', async () => {
    const fixture = make(2);
    fixture.pool.awaitReady(1, 20_000);
    // Only after the caller's event loop has turned does Node tell how a worker's loop is doing.
    const [worker] = fixture.pool.workers;
    // Node remembers that from the first time that it is asked.
    for (let turn = 0; turn < 20; turn++) {
      await setTimeout(5);
      expect(worker?.ended).toBe(false);
    }
    // The worker enters an endless loop; the caller's own share ends it.
    const endless = code((f) => {
      const loop = f.loop();
      f.br(loop);
      f.end();
    });
    const job = fixture.job(endless, 2);
    const run = (): number => {
      while (fixture.memory.bytes[fixture.scratch] === 0 && performance.now() < started + 500);
      void worker?.terminate();
      return 0;
    };
    const started = performance.now();
    expect(() => fixture.pool.run({ ...job, run })).toThrow(/worker thread of the CPU device ended/);
    expect(performance.now() - started).toBeLessThan(5000);
  });

  it('does not keep the process alive', () => {
    const code = `
      const { Worker, MessageChannel } = require('node:worker_threads');
      const { port1, port2 } = new MessageChannel();
      const control = new SharedArrayBuffer(8192);
      const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
      const code = ${JSON.stringify(WORKER_CODE)};
      const workerData = { control, memory, threads: 2, slot: 1, port: port2 };
      const worker = new Worker(code, { eval: true, workerData, transferList: [port2], execArgv: [], env: {} });
      worker.unref();
      port1.unref();
      const int = new Int32Array(control);
      Atomics.wait(int, 54, 0, 20000);
      console.log('ready', int[54]);
    `;
    const text = execFileSync(process.execPath, ['-e', code], { timeout: 20_000, encoding: 'utf8' });
    expect(text).toBe('ready 1\n');
  });
});
