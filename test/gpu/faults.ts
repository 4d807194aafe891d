/**
 * What goes wrong on a GPU, and what kernels leave behind: faults in checked kernels, printed values, errors that the device does
 * not survive, processes and threads that end with work in flight.
 */
import { isMainThread } from 'node:worker_threads';
import { cuda, DriverError, f32, i32, type Vec } from '../../src/index.ts';
import { cudaDevices } from '../../src/memory/devices.ts';
import { same } from '../../testsuite/assert.ts';
import { type ChildResult, errand, inChild, inWorker } from './errands.ts';
import { fails, type GpuModule } from './suite.ts';

const shift = cuda.jit(
  function shift(a: Vec<f32>, k: number) {
    const i = cuda.grid(1);
    a[i + k] = 1;
  },
  { boundsCheck: true },
);

const wild = cuda.jit(
  function wild(a: Vec<f32>, k: number) {
    const i = cuda.grid(1);
    a[i + k] = 1;
  },
  { boundsCheck: false },
);

const printing = cuda.jit((a: Vec<f32>, from: number) => {
  const t = cuda.threadIdx.x;
  if (t < 3) console.log('thread', t + i32(from), a[t], t === 1);
});

/** Busy for some milliseconds. */
const spin = cuda.jit((out: Vec<i32>, steps: number) => {
  let v = cuda.threadIdx.x;
  for (let i = 0; i < steps; i++) v = v * 1_664_525 + 1_013_904_223 + out[0];
  out[1 + cuda.threadIdx.x] = v;
});

function checked(): string {
  const a = cuda.toDevice(new Float32Array(64));
  shift.launch({ grid: 2, block: 32 }, a, 60);
  const error = fails(() => cuda.synchronize(), 'E_KERNEL_FAULT');
  same(
    /kernel shift\w*: index \d+ is out of range for a \(length 64\) at block \(\d,0,0\), thread/.test(error.message),
    true,
    error.message,
  );
  same(/--> .+:\d+:\d+/.test(error.message), true, 'a source position');
  same(error.message.includes('launched with grid [2, 1, 1], block [32, 1, 1]'), true, 'the shape');
  same(error.stack?.includes('checked') ?? false, true, `the stack is that of the launch: ${error.stack}`);
  // The device goes on, and the next launch of the same kernel is judged by itself.
  cuda.synchronize();
  shift.launch({ grid: 2, block: 32 }, a, 0);
  cuda.synchronize();
  same([...a.copyToHost()].join(''), '1'.repeat(64));
  for (let k = 0; k < 3; k++) shift.launch({ grid: 2, block: 32 }, a, 1000);
  fails(() => a.copyToHost(), 'E_KERNEL_FAULT');
  cuda.synchronize();
  a.dispose();
  return error.message.split('\n')[0] ?? '';
}

function onStreams(): void {
  const a = cuda.toDevice(new Float32Array(64));
  const [s, t] = [cuda.stream(), cuda.stream()];
  shift.launch({ grid: 2, block: 32, stream: s }, a, 1000);
  t.synchronize();
  fails(() => s.synchronize(), 'E_KERNEL_FAULT');
  s.synchronize();
  // A stream that waits for the failed work has failed too.
  shift.launch({ grid: 2, block: 32, stream: s }, a, 1000);
  const event = cuda.event();
  event.record(s);
  event.wait(t);
  fails(() => t.synchronize(), 'E_KERNEL_FAULT');
  cuda.synchronize();
  // What comes after a mark is none of the mark's faults.
  event.record(s);
  shift.launch({ grid: 2, block: 32, stream: s }, a, 1000);
  event.synchronize();
  fails(() => cuda.synchronize(), 'E_KERNEL_FAULT');
  for (const x of [s, t, a]) x.dispose();
}

/** Launches of one kernel that fail on several streams, with nobody looking in between: each stream tells of its own. */
function sameKernelOnStreams(): string {
  const streams = Array.from({ length: 8 }, () => cuda.stream());
  const arrays = streams.map(() => cuda.toDevice(new Float32Array(64)));
  for (let round = 0; round < 50; round++) {
    streams.forEach((stream, k) => shift.launch({ grid: 2, block: 32, stream }, arrays[k] as never, 1000 * (k + 1)));
    // All have run before the first is asked; the last one is asked first.
    while (!streams.every((stream) => stream.query()));
    for (let k = streams.length - 1; k >= 0; k--) {
      const error = fails(() => streams[k]?.synchronize(), 'E_KERNEL_FAULT');
      const index = Number(/index (\d+) is out of range/.exec(error.message)?.[1]);
      same(index >= 1000 * (k + 1) && index < 1000 * (k + 1) + 64, true, `stream ${k}: ${error.message}`);
    }
    cuda.synchronize();
  }
  for (const x of [...streams, ...arrays]) x.dispose();
  return `50 rounds of ${streams.length} streams`;
}

async function whileAwaiting(): Promise<void> {
  const a = cuda.toDevice(new Float32Array(64));
  const s = cuda.stream();
  shift.launch({ grid: 2, block: 32, stream: s }, a, 1000);
  const error: unknown = await s.done().then(
    () => undefined,
    (e: unknown) => e,
  );
  same(error instanceof DriverError ? error.code : error, 'E_KERNEL_FAULT');
  s.dispose();
  a.dispose();
}

/** More launches than are remembered one by one. */
function manyChecked(): void {
  const a = cuda.toDevice(new Float32Array(64));
  for (let k = 0; k < 5000; k++) shift.launch({ grid: 2, block: 32 }, a, k === 100 ? 1000 : 0);
  fails(() => cuda.synchronize(), 'E_KERNEL_FAULT');
  cuda.synchronize();
  a.dispose();
}

function captured(run: () => void): string[] {
  const lines: string[] = [];
  const { log } = console;
  console.log = (...args: unknown[]): void => void lines.push(args.join(' '));
  try {
    run();
  } finally {
    console.log = log;
  }
  return lines.sort();
}

function prints(): void {
  const a = cuda.toDevice(Float32Array.of(0.5, 1.5, 2.5));
  const lines = captured(() => {
    printing.launch({ grid: 1, block: 32 }, a, 0);
    cuda.synchronize();
  });
  same(lines.join('; '), 'thread 0 0.5 false; thread 1 1.5 true; thread 2 2.5 false');
  const s = cuda.stream();
  const again = captured(() => {
    printing.launch({ grid: 2, block: 32, stream: s }, a, 10);
    s.synchronize();
    cuda.synchronize();
  });
  same(again.length, 6, again.join('; '));
  s.dispose();
  a.dispose();
}

/** More than the buffer holds: what fits is printed, and how much did not. */
function printsTooMuch(): string {
  const shout = cuda.jit(() => {
    console.log('x', cuda.grid(1), cuda.blockIdx.x);
  });
  const lines = captured(() => {
    shout.launch({ grid: 400, block: 256 });
    cuda.synchronize();
  });
  same(lines.length > 20_000 && lines.length < 102_400, true, `${lines.length} lines`);
  const last = lines.find((line) => line.includes('did not fit'));
  same(last === undefined, false, 'a line that says so');
  return `${lines.length} lines`;
}

const LAUNCH = { grid: 2, block: 32 };

/** An error that the device does not survive: what is said, at once and ever after, and that the process can still end well. */
const sticky = errand('sticky', () => {
  const a = cuda.toDevice(new Float32Array(64));
  wild.launch(LAUNCH, a, 2 ** 29);
  for (const ask of [
    () => cuda.synchronize(),
    () => cuda.deviceArray(3, f32),
    () => wild.launch(LAUNCH, a, 0),
    () => a.copyToHost(),
  ]) {
    try {
      ask();
      console.log('nothing thrown');
    } catch (error) {
      console.log(error instanceof DriverError ? `${error.code} ${error.message.replaceAll('\n', ' ')}` : error);
    }
  }
  cuda.close();
  try {
    cuda.toDevice(new Float32Array(64));
    console.log('works again');
  } catch (error) {
    console.log(error instanceof DriverError ? `${error.code} ${error.message.replaceAll('\n', ' ')}` : error);
  }
  cuda.selectDevice('cpu');
  console.log(cuda.toDevice(Float32Array.of(4)).copyToHost()[0]);
});

function lost(): string {
  const { code, out, err } = inChild(sticky);
  const lines = out.trim().split('\n');
  same(code, 0, `${out}\n${err}`);
  same(lines.length, 6, out);
  for (const line of lines.slice(0, 5)) same(line.startsWith('E_ILLEGAL_ADDRESS'), true, line);
  for (const word of ['wild', 'grid [2, 1, 1]', 'child process', 'boundsCheck']) {
    same(lines[0]?.includes(word), true, `${word} in ${lines[0]}`);
  }
  same(lines[1]?.includes('wild'), true, lines[1]);
  same(lines[5], '4');
  return lines[1] ?? '';
}

const inFlight = errand('in flight', () => {
  const a = cuda.toDevice(new Int32Array(64));
  const s = cuda.stream();
  for (let k = 0; k < 20; k++) spin.launch({ grid: 1, block: 32, stream: s }, a, 3_000_000);
  a.copyToHost({ stream: s });
});

const inFlightExit = errand('in flight, process.exit', () => {
  const a = cuda.toDevice(new Int32Array(64));
  for (let k = 0; k < 20; k++) spin.launch({ grid: 1, block: 32 }, a, 3_000_000);
  process.exit(0);
});

const unobserved = errand('unobserved', () => {
  const a = cuda.toDevice(new Float32Array(64));
  printing.launch({ grid: 1, block: 32 }, a, 0);
  shift.launch(LAUNCH, a, 1000);
});

const sync = errand('TSAMBA_DEBUG=sync', () => {
  const a = cuda.toDevice(new Float32Array(64));
  try {
    shift.launch(LAUNCH, a, 1000);
    console.log('nothing thrown');
  } catch (error) {
    console.log(error instanceof DriverError ? error.code : error);
  }
});

function endsWell({ code, signal, err }: ChildResult, what: string): void {
  same(`${code} ${signal}`, '0 null', `${what}: ${err}`);
}

function endings(): void {
  endsWell(inChild(inFlight), 'with work in flight');
  endsWell(inChild(inFlightExit), 'process.exit with work in flight');
  const { code, out, err } = inChild(unobserved);
  same(code, 1, `exit code after a fault that nobody saw: ${out}${err}`);
  same(err.includes('index') && err.includes('nothing synchronised with it'), true, err);
  same(out.split('\n').filter((line) => line.startsWith('thread')).length, 3, `printed at the end: ${out}`);
  same(inChild(sync, { TSAMBA_DEBUG: 'sync' }).out.trim(), 'E_KERNEL_FAULT');
}

/** Compiles, launches and reads back, all at the same time as the others. */
const work = errand('work', () => {
  const n = 10_000;
  const a = cuda.toDevice(new Float32Array(n));
  const add = cuda.jit((y: Vec<f32>, k: number) => {
    const i = cuda.grid(1);
    if (i < y.length) y[i] += k * 0.5;
  });
  for (let k = 0; k < 1000; k++) add.launch({ threads: n }, a, 1);
  const sum = a.copyToHost().reduce((s, v) => s + v, 0);
  if (!isMainThread) cuda.close();
  return sum;
});

async function workers(): Promise<void> {
  const sums = await Promise.all([1, 2, 3, 4].map(() => inWorker(work)));
  same(sums.join(), new Array(4).fill(5_000_000).join());
  cuda.synchronize();
}

const crash = errand('four workers at once', async () => {
  const sums = await Promise.all([1, 2, 3, 4].map(() => inWorker(work)));
  console.log(sums.join());
});

const untidy = errand('untidy', () => {
  const kept = [1, 2, 3, 4].map(() => cuda.deviceArray(2 ** 26, f32));
  shift.launch(LAUNCH, kept[0], 0);
  return kept.length;
});

/** What a thread leaves on the device is given back when it ends. */
async function untidyWorkers(): Promise<void> {
  const free = (): number => cudaDevices.currentContext().driver.memoryInfo().free;
  cuda.synchronize();
  const before = free();
  same(await inWorker(untidy), 4);
  const missing = before - free();
  same(missing < 2 ** 26, true, `${missing} bytes are missing`);
}

/** The first use of the driver in a process, in four threads at the same time. */
function firstLaunches(): void {
  for (let round = 0; round < 2; round++) {
    const child = inChild(crash);
    endsWell(child, 'four workers');
    same(child.out.trim(), new Array(4).fill(5_000_000).join(), child.err);
  }
}

export const faultTests: GpuModule = {
  chapter: 'nvidia faults',
  tests: [
    { name: 'a checked kernel', run: checked },
    { name: 'streams and events', run: onStreams },
    { name: 'one kernel on many streams', run: sameKernelOnStreams },
    { name: 'await', run: whileAwaiting },
    { name: 'thousands of launches', run: manyChecked },
    { name: 'printing', run: prints },
    { name: 'printing too much', run: printsTooMuch },
    { name: 'a lost device', run: lost },
    { name: 'ends of processes', run: endings },
    { name: 'worker threads', run: workers },
    { name: 'worker threads that tidy nothing', run: untidyWorkers },
    { name: 'first launches in several threads', run: firstLaunches },
  ],
};
