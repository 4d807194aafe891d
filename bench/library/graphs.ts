/**
 * The benchmark of graphs: 100 small kernels launched one by one and as one graph, on the current device. Bundled: `node bench-graphs.mjs`.
 *
 * Each kernel adds 1 to 1024 floats. *Issued* is the host's time of one launch of all, for each kernel; *done* the time from one end of many such
 * launches to the next, for each kernel. In a row each kernel comes after the last, as on a stream; on four streams four are independent.
 *
 *   --kernels 100  --rounds 9  --json FILE
 */
import { writeFileSync } from 'node:fs';
import { cuda, type f32, type Vec } from 'tsamba';
import { commandLine, machine } from '../../test/gpu/machine.ts';
import { readOptions } from '../options.ts';
import { median } from '../statistics.ts';

const args = process.argv.slice(2);
const given = readOptions('graphs', 'node bench-graphs.mjs');

const kernels = Number(given.value('kernels', '100'));
const rounds = Number(given.value('rounds', '9'));
const SIZE = 1024;
const STREAMS = 4;
/** Launches of all kernels in one measurement. */
const together = cuda.currentDevice().kind === 'nvidia' ? 50 : 10;

interface Row {
  readonly what: string;
  /** Microseconds for each kernel. */
  readonly issued: number;
  readonly done: number;
}

const increment = cuda.jit((x: Vec<f32>, by: number) => {
  const i = cuda.grid(1);
  if (i < x.length) x[i]! += by;
});

const arrays = Array.from({ length: STREAMS }, () => {
  const x = cuda.deviceArray(SIZE, 'float32');
  x.set(0);
  return x;
});
const streams = arrays.map(() => cuda.stream());
const [x0] = arrays as [(typeof arrays)[number]];

let by = 1;

function inRow(): void {
  for (let k = 0; k < kernels; k++) increment.launch({ grid: 4, block: 256 }, x0, by);
}

/** The streams begin and end together. */
function onStreams(): void {
  const [start, ...ends] = [cuda.event(), ...streams.map(() => cuda.event())] as const;
  start.record();
  for (const stream of streams) start.wait(stream);
  for (let k = 0; k < kernels; k++) {
    const s = k % STREAMS;
    increment.launch({ grid: 4, block: 256, stream: streams[s] }, arrays[s] as typeof x0, by);
  }
  streams.forEach((stream, s) => {
    ends[s]?.record(stream);
    ends[s]?.wait();
  });
  for (const event of [start, ...ends]) event.dispose();
}

function measure(what: string, run: () => void): Row {
  const issued: number[] = [];
  const done: number[] = [];
  for (let round = 0; round < rounds + 3; round++) {
    cuda.synchronize();
    const began = performance.now();
    for (let k = 0; k < together; k++) run();
    const enqueued = performance.now();
    cuda.synchronize();
    const ended = performance.now();
    if (round < 3) continue;
    issued.push(((enqueued - began) / together / kernels) * 1000);
    done.push(((ended - began) / together / kernels) * 1000);
  }
  const row = { what, issued: median(issued), done: median(done) };
  console.log(`${what.padEnd(28)} issued ${row.issued.toFixed(3)} µs, done ${row.done.toFixed(3)} µs a kernel`);
  return row;
}

function once(what: string, run: () => void): number {
  const times: number[] = [];
  for (let round = 0; round < rounds + 3; round++) {
    const began = performance.now();
    run();
    times.push(performance.now() - began);
  }
  const ms = median(times);
  console.log(`${what.padEnd(28)} ${(ms * 1000).toFixed(1)} µs`);
  return ms;
}

function check(what: string, got: number, expected: number): void {
  if (got !== expected) console.log(`WRONG: ${what} gives ${got}, not ${expected}`);
}

console.log(`${cuda.currentDevice().name}, ${kernels} kernels`);
const row = cuda.graph(inRow);
const wide = cuda.graph(onStreams);
console.log(`the device keeps ${row.kept} of ${row.size} and ${wide.kept} of ${wide.size}`);
row.launch();
wide.launch();
check('a graph in a row, and one on streams', x0.get(0), kernels + Math.ceil(kernels / STREAMS));

const rows = [
  measure('launches in a row', inRow),
  measure('a graph in a row', () => row.launch()),
  measure('launches on four streams', onStreams),
  measure('a graph on four streams', () => wide.launch()),
];
const recording = once('recording a graph', () => cuda.graph(inRow).dispose());
const updating = once('updating its arguments', () => {
  by = 3 - by;
  row.update();
});
x0.set(0);
by = 5;
row.update();
row.launch();
by = 7;
row.update();
row.launch();
check('an updated graph', x0.get(0), 12 * kernels);
const file = given.value('json', '');
if (file !== '') {
  const { name } = cuda.currentDevice();
  writeFileSync(
    file,
    `${JSON.stringify({ ...machine(), date: new Date().toISOString(), command: commandLine('bench-graphs', args), device: name, kernels, rows, recording, updating }, null, 2)}\n`,
  );
}
