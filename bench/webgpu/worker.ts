/**
 * One process of the WebGPU benchmark: each case on Tsamba and by hand, on the same device, results compared, then timed in turns; and what calls
 * cost. Through PTX only Tsamba's side.
 */
import { cuda, f32, ndarray, type Vec } from 'tsamba';
import { SETUPS } from '../nvidia/cases.ts';
import type { Contestant } from '../nvidia/contestant.ts';
import { disagreement } from '../nvidia/spec.ts';
import { median } from '../statistics.ts';
import { HANDWRITTEN, WGSL_SPECS } from './handwritten.ts';
import { prepare } from './raw.ts';

/** Milliseconds of an interval, about: a wait at its end costs some tens of microseconds. */
const INTERVAL = 30;
const SAMPLES = 256;
/** Milliseconds without a faster interval after which clocks are taken to be up, and after which nobody waits for them any more. */
const STEADY = 1500;
const MOST_WARMING = 6000;

export interface CaseResult {
  /** Milliseconds a launch, medians over the rounds; by hand nothing through PTX. */
  readonly tsamba: number;
  readonly byHand: number;
  readonly wrong: string | undefined;
}

export interface WorkerOutput {
  readonly device: string;
  readonly results: Readonly<Record<string, CaseResult>>;
  readonly failed: Readonly<Record<string, string>>;
  /** Microseconds. */
  readonly calls: Readonly<Record<string, number>>;
}

/** Sum and samples of each output. */
async function check(outputs: Contestant['outputs']): Promise<number[]> {
  const numbers: number[] = [];
  for (const output of outputs) {
    const read = await (output as unknown as { copyToHostAsync(): Promise<Float32Array> }).copyToHostAsync();
    const host = ndarray(read).ravel().data as ArrayLike<number>;
    let sum = 0;
    for (let k = 0; k < host.length; k++) sum += host[k] ?? 0;
    numbers.push(sum);
    for (let j = 0; j < SAMPLES; j++) numbers.push(host[(Math.imul(j, 2654435761) >>> 0) % host.length] ?? 0);
  }
  return numbers;
}

interface Side {
  launch(): void;
  /** What has been launched is sent to the device, and done. */
  done(): Promise<void>;
}

async function timed({ launch, done }: Side, launches: number): Promise<number> {
  const began = performance.now();
  for (let k = 0; k < launches; k++) launch();
  await done();
  return (performance.now() - began) / launches;
}

/**
 * Keeps the device busy until its clocks are up: drivers of graphics lower them while the host prepares data, and a third of the clock is a third of the memory's
 * speed too. Up they are when no interval was faster than an earlier one for a while.
 */
async function warmUp(sides: readonly Side[]): Promise<void> {
  const began = performance.now();
  let [best, at] = [Number.POSITIVE_INFINITY, began];
  for (;;) {
    for (const side of sides) for (let k = 0; k < 8; k++) await timed(side, 4);
    const ms = await timed(sides[0] as Side, 4);
    const now = performance.now();
    if (ms < 0.97 * best) [best, at] = [ms, now];
    if (now - at > STEADY || now - began > MOST_WARMING) return;
  }
}

async function runCase(name: string, rounds: number, scale: number, byHand: boolean): Promise<CaseResult> {
  const spec = WGSL_SPECS.find((s) => s.name === name);
  const [setUp, text] = [SETUPS[name], HANDWRITTEN[name]];
  if (spec === undefined || setUp === undefined || text === undefined) throw new Error(`there is no case ${name}`);
  const [own, other] = [setUp(scale), setUp(scale)];
  const done = (): Promise<void> => cuda.synchronizeAsync();
  await own.compile?.();
  own.launch();
  await done();
  const sides: Side[] = [{ launch: own.launch, done }];
  let wrong: string | undefined;
  if (byHand) {
    const first = await prepare(text, other.arrays, scale);
    first.launch();
    await first.done();
    wrong = disagreement(spec, await check(own.outputs), await check(other.outputs));
    // Timed on the same arrays, so that where they lie in memory makes no difference.
    sides.push(await prepare(text, own.arrays, scale));
  }
  await warmUp(sides);
  const launches = Math.max(1, Math.min(200, Math.round(INTERVAL / (await timed(sides[0] as Side, 20)))));
  const times: number[][] = sides.map(() => []);
  for (let round = -2; round < rounds; round++) {
    const order = sides.map((_, k) => (round % 2 === 0 ? k : sides.length - 1 - k));
    for (const k of order) {
      const ms = await timed(sides[k] as Side, launches);
      if (round >= 0) times[k]?.push(ms);
    }
  }
  for (const array of [...own.arrays, ...other.arrays]) array.dispose();
  return { tsamba: median(times[0] ?? []), byHand: median(times[1] ?? []), wrong };
}

/** Microseconds to issue a launch of three arrays and a number, to launch and wait, and to read four bytes. */
async function calls(): Promise<Record<string, number>> {
  const nothing = cuda.jit((a: Vec<f32>, b: Vec<f32>, c: Vec<f32>, k: number) => {
    if (f32(k) > 1e30) a[0] = b[0] + c[0];
  });
  const [a, b, c] = [cuda.deviceArray(1024, f32), cuda.deviceArray(1024, f32), cuda.deviceArray(1024, f32)];
  const three = cuda.scalar(f32, 3);
  await nothing.compileAsync(a, b, c, three);
  const launch = (): void => nothing.launch({ grid: 1, block: 32 }, a, b, c, three);
  const [issue, wait, read]: [number[], number[], number[]] = [[], [], []];
  for (let round = -10; round < 40; round++) {
    let began = performance.now();
    for (let k = 0; k < 100; k++) launch();
    const issued = (performance.now() - began) / 100;
    await cuda.synchronizeAsync();
    began = performance.now();
    launch();
    await cuda.synchronizeAsync();
    const waited = performance.now() - began;
    began = performance.now();
    await a.getAsync(0);
    const got = performance.now() - began;
    if (round < 0) continue;
    issue.push(issued);
    wait.push(waited);
    read.push(got);
  }
  const us = (list: readonly number[]): number => median(list) * 1000;
  return { 'issue of a launch': us(issue), 'launch and wait': us(wait), 'read of 4 bytes': us(read) };
}

export async function worker(
  device: 'webgpu' | 'nvidia',
  cases: readonly string[],
  rounds: number,
  scale: number,
): Promise<WorkerOutput> {
  if (device === 'webgpu') await cuda.open('webgpu');
  else cuda.selectDevice('nvidia');
  const results: Record<string, CaseResult> = {};
  const failed: Record<string, string> = {};
  for (const name of cases) {
    const began = performance.now();
    try {
      results[name] = await runCase(name, rounds, scale, device === 'webgpu');
    } catch (error) {
      failed[name] = error instanceof Error ? error.message : String(error);
    }
    console.error(`  ${device} ${name.padEnd(12)} ${((performance.now() - began) / 1000).toFixed(1).padStart(5)} s`);
  }
  return { device: cuda.currentDevice().name, results, failed, calls: await calls() };
}
