/**
 * What a program can do while a kernel of the CPU device runs: timers fire beside an awaited launch, SIGINT handlers run also during
 * one that blocks, and the process ends when it is told to. Programs of their own, on one thread and on two.
 */
import { spawn } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { isThorough } from '../../src/required.testing.ts';
import { bundled, runText } from '../support/program.ts';

const PRELUDE = `
import { cuda, i32 } from ${JSON.stringify(bundled('src/index.ts')('index.ts'))};
const endless = cuda.jit((y) => {
  const i = cuda.grid(1);
  while (i < y.length && y[i] >= 0) y[i] = (y[i] + 1) & 1023;
});
const spin = cuda.jit((v, rounds) => {
  const k = cuda.grid(1);
  let x = i32(k);
  for (let i = 0; i < rounds; i++) x = ((x * 1103515245 + 12345) >> 3) ^ i;
  if (k < v.length) v[k] = x;
});
const y = cuda.toDevice(new Int32Array(64));
`;

interface Ended {
  readonly out: string;
  /** Milliseconds from the signal to what was printed next. */
  readonly answered: number;
  readonly code: number | null;
  readonly signal: string | null;
}

/** Runs a program; sends SIGINT `after` milliseconds after it has printed something. */
function run(program: string, threads: number, after?: number): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, runText(PRELUDE + program), {
      env: { ...process.env, TSAMBA_DEVICE: 'cpu', TSAMBA_CPU_THREADS: String(threads) },
    });
    let out = '';
    let sent = after === undefined;
    let [sentAt, answered] = [0, 0];
    const onText = (text: Buffer): void => {
      out += text.toString();
      if (sentAt > 0 && answered === 0) answered = performance.now() - sentAt;
      if (sent) return;
      sent = true;
      setTimeout(() => {
        sentAt = performance.now();
        child.kill('SIGINT');
      }, after);
    };
    child.stdout.on('data', onText);
    child.stderr.on('data', onText);
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`the program hangs, and has printed: ${out}`));
    }, 60_000);
    child.on('exit', (code, signal) => {
      clearTimeout(timer);
      resolve({ out, answered, code, signal });
    });
  });
}

/** One thread is much like two, and each of these programs takes seconds, in which it mostly waits. */
const THREADS = isThorough() ? [1, 2] : [2];

describe.each(THREADS)('with %i threads', (threads) => {
  it('keeps timers firing while an awaited kernel runs', async () => {
    const { out, code } = await run(
      `
      await spin.launchAsync({ threads: 64 }, y, 1);
      let last = performance.now();
      let [beats, worst] = [0, 0];
      const heart = setInterval(() => {
        const now = performance.now();
        worst = Math.max(worst, now - last);
        last = now;
        beats++;
      }, 5);
      const began = performance.now();
      await spin.launchAsync({ threads: 64, block: 32 }, y, 2 ** 25);
      clearInterval(heart);
      const took = performance.now() - began;
      console.log(JSON.stringify({ took, beats, worst }));
    `,
      threads,
    );
    expect(code, out).toBe(0);
    const { took, beats, worst } = JSON.parse(out) as Record<string, number> as {
      took: number;
      beats: number;
      worst: number;
    };
    expect(took).toBeGreaterThan(200);
    // The machine may be busy; a loop that stands still would beat once.
    expect(beats).toBeGreaterThan(took / 50);
    expect(worst).toBeLessThan(Math.max(150, took / 3));
  });

  it('runs SIGINT handlers within a second while a launch blocks', async () => {
    const { out, answered, code } = await run(
      `
      process.on('SIGINT', () => {
        console.log('handled');
        process.exit(7);
      });
      console.log('launching');
      endless.launch({ threads: 64 }, y);
    `,
      threads,
      1000,
    );
    expect({ out, code }).toEqual({ out: 'launching\nhandled\n', code: 7 });
    expect(answered).toBeLessThan(1000);
  });

  // Where the machine is busy, the thread that launches may get no processor in those 2 ms: hence it may try again.
  it('hears signals that come at the beginning of a launch', { retry: 5 }, async () => {
    // A thread that is told of each launch sends the signal within 2 ms. Some may come before the launch waits.
    const { out, signal } = await run(
      `
      import { Worker } from 'node:worker_threads';
      const turn = new Int32Array(new SharedArrayBuffer(4));
      const sender = new Worker(\`
        import('node:worker_threads').then(({ workerData: { turn, pid } }) => {
        for (let k = 0; ; k++) {
          Atomics.wait(turn, 0, k);
          const until = performance.now() + 0.6 + 0.1 * (k % 12);
          while (performance.now() < until);
          process.kill(pid, 'SIGINT');
        }
        });\`, { eval: true, workerData: { turn, pid: process.pid } });
      let heard = 0;
      let inside = false;
      process.on('SIGINT', () => { if (inside) heard++; });
      const launch = () => { try { endless.launch({ threads: 64, timeout: 150 }, y); } catch {} };
      launch();
      for (let k = 1; k <= 24; k++) {
        inside = true;
        Atomics.store(turn, 0, k);
        Atomics.notify(turn, 0);
        launch();
        inside = false;
        await new Promise((resolve) => setImmediate(resolve));
      }
      console.log('heard ' + heard);
      await sender.terminate();
      process.exit(0);
    `,
      threads,
    );
    // While Node hands the signal from one listener to another it ends the process, which is prompt as well.
    if (signal !== 'SIGINT') expect(Number(/heard (\d+)/.exec(out)?.[1]), out).toBeGreaterThanOrEqual(12);
  });

  it('goes on with the kernel when the handler returns', async () => {
    const { out, signal } = await run(
      `
      let [at, began] = [0, 0];
      process.on('SIGINT', () => { at = performance.now(); });
      spin.launch({ threads: 64, block: 32 }, y, 1);
      for (let rounds = 2 ** 22; at === 0 && rounds < 2 ** 31; rounds *= 2) {
        console.log('launching');
        began = performance.now();
        spin.launch({ threads: 64, block: 32 }, y, rounds);
      }
      console.log(at > began && at < performance.now() ? 'within' : 'outside');
      let x = 5;
      spin.launch({ threads: 64 }, y, 3);
      for (let i = 0; i < 3; i++) x = (((Math.imul(x, 1103515245) + 12345) | 0) >> 3) ^ i;
      console.log(y.get(5) === x);
    `,
      threads,
      1500,
    );
    // While Node hands the signal from one listener to another it ends the process: the program's luck, not the kernel's.
    if (signal !== 'SIGINT') expect(out).toMatch(/\nwithin\ntrue\n$/);
  });

  it('ends the kernel with what a handler throws, and goes on', async () => {
    const { out, code } = await run(
      `
      process.once('SIGINT', () => { throw new Error('enough'); });
      console.log('launching');
      try {
        endless.launch({ threads: 64 }, y);
      } catch (error) {
        console.log(error.message);
      }
      y.set(-1);
      endless.launch({ threads: 64, timeout: 20000 }, y);
      console.log(y.get(0));
    `,
      threads,
      1000,
    );
    expect({ out, code }).toEqual({ out: 'launching\nenough\n-1\n', code: 0 });
  });

  it('runs SIGINT handlers while a copy waits for an awaited kernel, and beside one', async () => {
    const { out, code } = await run(
      `
      let handled = 0;
      process.on('SIGINT', () => { handled++; });
      const controller = new AbortController();
      console.log('launching');
      const pending = endless.launchAsync({ threads: 64, timeout: 3000 }, y).catch((error) => error.code);
      try {
        y.copyToHost();
      } catch (error) {
        console.log(error.code, handled);
      }
      console.log(await pending);
      y.set(1);
      const other = endless.launchAsync({ threads: 64, signal: controller.signal }, y).catch((error) => error.code);
      setTimeout(() => process.kill(process.pid, 'SIGINT'), 100);
      process.once('SIGINT', () => controller.abort());
      console.log(await other, handled);
    `,
      threads,
      1000,
    );
    expect({ out, code }).toEqual({ out: 'launching\nE_TIMEOUT 1\nE_TIMEOUT\nE_ABORTED 2\n', code: 0 });
  });

  it('ends by SIGINT where nobody handles it', async () => {
    const { out, signal, code } = await run(
      `console.log('launching'); endless.launch({ threads: 64 }, y);`,
      threads,
      1000,
    );
    expect({ out, ended: signal ?? code }).toEqual({ out: 'launching\n', ended: 'SIGINT' });
  });

  it('stays alive until the promise is settled, and no longer', async () => {
    const { out, code } = await run(
      `
      void spin.launchAsync({ threads: 64, block: 32 }, y, 2 ** 24).then(() => console.log('done'));
      console.log('launched');
    `,
      threads,
    );
    expect({ out, code }).toEqual({ out: 'launched\ndone\n', code: 0 });
  });

  it('exits with a kernel in flight when it is told to', async () => {
    const { out, code } = await run(
      `
      void endless.launchAsync({ threads: 64 }, y);
      setTimeout(() => process.exit(3), 200);
      console.log('launched');
    `,
      threads,
    );
    expect({ out, code }).toEqual({ out: 'launched\n', code: 3 });
  });

  it('says what went wrong when nobody handles the promise', async () => {
    const { out, code } = await run('void endless.launchAsync({ threads: 64, timeout: 100 }, y);', threads);
    expect(code).toBe(1);
    expect(out.match(/kernel endless was stopped/g)).toHaveLength(1);
  });
});
