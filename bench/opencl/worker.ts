/**
 * One process of the OpenCL benchmark: each case on Tsamba and by hand, on the same device, results compared, then timed in turns; and
 * what issuing a launch costs. JSON on the last line.
 */
import { cuda, f32, ndarray, type Vec } from 'tsamba';
import type { OpenCLDriver } from '../../src/driver/opencl/device.ts';
import { openOpenCL } from '../../src/driver/opencl/index.ts';
import { Context } from '../../src/memory/context.ts';
import { cudaDevices } from '../../src/memory/devices.ts';
import { type Contestant, SETUPS } from '../nvidia/cases.ts';
import { disagreement, SPECS } from '../nvidia/spec.ts';
import { median } from '../statistics.ts';
import { HANDWRITTEN } from './handwritten.ts';
import { prepare, type RawLaunch } from './raw.ts';

/** Sizes for CPU devices: what takes some milliseconds. */
const CPU_SCALES: Readonly<Record<string, number>> = {
  saxpy: 16,
  matmul: 8,
  transpose: 4,
  stencil: 4,
  reduce: 16,
  histogram: 16,
  mandelbrot: 8,
  nbody: 16,
  blackscholes: 16,
};
/** Milliseconds of an interval, about. */
const INTERVAL = 20;
const SAMPLES = 256;

export interface CaseResult {
  /** Milliseconds a launch, medians over the rounds. */
  readonly tsamba: number;
  readonly raw: number;
  /** The shortest intervals: what is left when other work on the machine disturbed the rest. */
  readonly shortest: { readonly tsamba: number; readonly raw: number };
  readonly scale: number;
  readonly wrong: string | undefined;
}

/** Microseconds to issue a launch of three arrays and a number. */
export interface Issue {
  readonly launch: number;
  readonly configured: number;
  readonly enqueue: number;
  readonly enqueueAndFlush: number;
}

export interface WorkerOutput {
  readonly device: string;
  readonly driver: string | undefined;
  readonly hardware: string;
  readonly cases: Readonly<Record<string, CaseResult>>;
  readonly issue: Issue;
}

/** Sum and samples of each output. */
function check(outputs: Contestant['outputs']): number[] {
  return outputs.flatMap((output) => {
    const host = ndarray(output.copyToHost() as Float32Array).ravel().data as ArrayLike<number>;
    let sum = 0;
    for (let k = 0; k < host.length; k++) sum += host[k] ?? 0;
    return [
      sum,
      ...Array.from({ length: SAMPLES }, (_, j) => host[(Math.imul(j, 2654435761) >>> 0) % host.length] ?? 0),
    ];
  });
}

function timed(launch: () => void, launches: number): number {
  const began = performance.now();
  for (let k = 0; k < launches; k++) launch();
  cuda.synchronize();
  return (performance.now() - began) / launches;
}

function runCase(driver: OpenCLDriver, name: string, rounds: number): CaseResult {
  const spec = SPECS.find((s) => s.name === name);
  const [setUp, byHand] = [SETUPS[name], HANDWRITTEN[name]];
  if (spec === undefined || setUp === undefined || byHand === undefined) throw new Error(`there is no case ${name}`);
  const scale = driver.device.listed.hardware === 'cpu' ? (CPU_SCALES[name] ?? 1) : 1;
  const [own, other] = [setUp(scale), setUp(scale)];
  const pointersOf = (side: Contestant): number[] =>
    side.arrays.map((a) => (a as unknown as { pointer: number }).pointer);
  own.launch();
  prepare(driver, byHand, pointersOf(other), scale).enqueue();
  cuda.synchronize();
  const wrong = disagreement(spec, check(own.outputs), check(other.outputs));
  // Timed on the same arrays, so that where they lie in memory makes no difference.
  const sides: readonly [() => void, () => void] = [
    own.launch,
    prepare(driver, byHand, pointersOf(own), scale).enqueue,
  ];
  const launches = Math.max(1, Math.min(200, Math.round(INTERVAL / timed(own.launch, 3))));
  const times: [number[], number[]] = [[], []];
  for (let round = -2; round < rounds; round++) {
    for (const side of round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      const ms = timed(sides[side], launches);
      if (round >= 0) times[side].push(ms);
    }
  }
  for (const array of [...own.arrays, ...other.arrays]) array.dispose();
  return {
    tsamba: median(times[0]),
    raw: median(times[1]),
    shortest: { tsamba: Math.min(...times[0]), raw: Math.min(...times[1]) },
    scale,
    wrong,
  };
}

const BATCHES = 40;
const BATCH = 250;
const WARM = 20;

/** A batch at a time in turns; the queue is drained between them. */
function issue(driver: OpenCLDriver): Issue {
  const nothing = cuda.jit((a: Vec<f32>, b: Vec<f32>, c: Vec<f32>, k: number) => {
    if (f32(k) > 1e30) a[0] = b[0] + c[0];
  });
  const arrays = [cuda.deviceArray(1024, f32), cuda.deviceArray(1024, f32), cuda.deviceArray(1024, f32)] as const;
  const [a, b, c] = arrays;
  const configured = nothing.configure(1, 32);
  const raw: RawLaunch = prepare(
    driver,
    {
      text: 'kernel void k(global float *a, global float *b, global float *c, float k) { if (k > 1e30f) a[0] = b[0] + c[0]; }',
      shape: () => ({ grid: [1, 1], block: [32, 1] }),
      rest: () => [{ type: 'float', value: 3 }],
    },
    arrays.map((array) => array.pointer),
    1,
  );
  const runs: Readonly<Record<keyof Issue, () => void>> = {
    launch: () => nothing.launch({ grid: 1, block: 32 }, a, b, c, 3),
    configured: () => configured(a, b, c, 3),
    enqueue: () => raw.enqueue(),
    enqueueAndFlush: () => {
      raw.enqueue();
      raw.flush();
    },
  };
  const times: Record<string, number[]> = {};
  for (let batch = -WARM; batch < BATCHES; batch++) {
    for (const [name, run] of Object.entries(runs)) {
      const began = performance.now();
      for (let k = 0; k < BATCH; k++) run();
      const us = ((performance.now() - began) / BATCH) * 1000;
      cuda.synchronize();
      times[name] ??= [];
      if (batch >= 0) times[name].push(us);
    }
  }
  return Object.fromEntries(Object.entries(times).map(([name, list]) => [name, median(list)])) as unknown as Issue;
}

/** Says on standard error what is done, and how long it took. */
function reported<R>(name: string, run: () => R): R {
  const began = performance.now();
  const result = run();
  console.error(`  ${name.padEnd(12)} ${((performance.now() - began) / 1000).toFixed(1).padStart(5)} s`);
  return result;
}

export function worker(cases: readonly string[], rounds: number): WorkerOutput {
  const driver = openOpenCL(0);
  const context = new Context(driver);
  cudaDevices.enter(context);
  const results = Object.fromEntries(cases.map((name) => [name, reported(name, () => runCase(driver, name, rounds))]));
  const output = {
    device: driver.info.name,
    driver: driver.info.driverVersion,
    hardware: driver.device.listed.hardware,
    cases: results,
    issue: reported('issue', () => issue(driver)),
  };
  context.close();
  return output;
}
