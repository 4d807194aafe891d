/**
 * What runs in the page: saxpy and products of matrices by Tsamba, jax-js and TypeGPU in turns, on the same numbers, results compared first; and what a frame of an animation costs the main thread.
 */
import * as jax from '@jax-js/jax';
import { cuda, type DeviceNDArray, f32, ndarray } from 'tsamba';
import { REGISTERS, registers, saxpy, tiled } from './own.ts';
import { typegpu } from './typegpu.js';

/** One side of a case: enqueues once, and says when all of it is done. */
interface Side {
  launch(): void;
  done(): Promise<unknown>;
  /** What the last launch gave. */
  result(): Promise<ArrayLike<number>>;
}

type Sides = Readonly<Record<string, Side>>;

export interface PageCase {
  /** Milliseconds a launch, of each round. */
  readonly times: Readonly<Record<string, readonly number[]>>;
  /** Those of them that the calls take of the main thread, before anybody waits. */
  readonly issue: Readonly<Record<string, readonly number[]>>;
  /** Launches a round. */
  readonly launches: Readonly<Record<string, number>>;
}

export interface PageOutput {
  readonly device: string;
  /** What the page sees of the adapter. */
  readonly adapter: Readonly<Record<string, unknown>>;
  readonly type: string;
  readonly cases: Readonly<Record<string, PageCase>>;
}

type Peers = ReturnType<typeof typegpu>;
type Buffer = DeviceNDArray['gpuBuffer'];

function numbers(count: number, step: number): Float32Array {
  const list = new Float32Array(count);
  for (let k = 0; k < count; k++) list[k] = ((k * step) % 17) / 16;
  return list;
}

/** Launches, each on its own arrays, that wait for each other by the device's queue. */
function ofQueue(launch: () => void, out: DeviceNDArray<f32>): Side {
  const done = (): Promise<void> => cuda.synchronizeAsync();
  const result = async (): Promise<ArrayLike<number>> =>
    ndarray((await out.copyToHostAsync()) as never).ravel().data as unknown as ArrayLike<number>;
  return { launch, done, result };
}

/** An expression of arrays. Results are kept until all are done: what is disposed of before may never be computed. They are waited for at once, which costs as little as waiting can. */
function ofJax(run: () => jax.numpy.Array): Side {
  const made: jax.numpy.Array[] = [];
  return {
    launch() {
      made.push(run());
    },
    async done() {
      await jax.blockUntilReady(made);
      for (const one of made.splice(0, made.length - 1)) one.dispose();
    },
    result: async () => (await made.at(-1)?.ref.data()) as Float32Array,
  };
}

/** An expression of its own last value, as the others compute in place: only the last one is waited for. */
function chainOfJax(first: jax.numpy.Array, next: (last: jax.numpy.Array) => jax.numpy.Array): Side {
  let last = first;
  return {
    launch() {
      last = next(last);
    },
    done: () => last.blockUntilReady(),
    result: () => last.ref.data() as Promise<Float32Array>,
  };
}

function saxpySides(peers: Peers, n: number): Sides {
  const [x, y] = [numbers(n, 3), numbers(n, 5)];
  const arrays = [0, 1].map(() => [cuda.toDevice(x), cuda.toDevice(y)] as const);
  const [[ownX, ownY], [theirX, theirY]] = arrays as [(typeof arrays)[0], (typeof arrays)[0]];
  const half = cuda.scalar(f32, 0.5);
  const theirs = peers.saxpy(theirX.gpuBuffer as Buffer, theirY.gpuBuffer as Buffer);
  const compiled = jax.jit((a: jax.numpy.Array, b: jax.numpy.Array) => a.mul(0.5).add(b));
  const [jaxX, jaxY] = [jax.numpy.array(x), jax.numpy.array(y)];
  return {
    tsamba: ofQueue(() => saxpy.launch({ threads: n }, half, ownX, ownY), ownY as DeviceNDArray<f32>),
    'jax-js': chainOfJax(jaxY, (last) => compiled(jaxX.ref, last)),
    TypeGPU: ofQueue(theirs, theirY as DeviceNDArray<f32>),
  };
}

/** Who multiplies matrices of Tsamba's. */
type Own = 'library' | 'registers' | 'tiled';

/** jax-js stands beside what has no shared memory, as its own has none, and TypeGPU's program beside all. */
async function matmulSides(peers: Peers, size: number, own: Own): Promise<Sides> {
  const [a, b] = [numbers(size * size, 3), numbers(size * size, 5)];
  const on = (data: Float32Array): DeviceNDArray<f32> =>
    cuda.toDevice(ndarray(data, { shape: [size, size] })) as DeviceNDArray<f32>;
  const [da, db, dc, de] = [on(a), on(b), on(new Float32Array(size * size)), on(new Float32Array(size * size))];
  const kernel = own === 'tiled' ? tiled : registers;
  const { block, tile } = own === 'tiled' ? ({ block: [16, 16], tile: [16, 16] } as const) : REGISTERS;
  const shape = { grid: [size / tile[0], size / tile[1]], block } as const;
  const launch =
    own === 'library' ? () => void cuda.matmul(da, db, { out: dc } as never) : () => kernel.launch(shape, da, db, dc);
  // Compiled by a promise, as pages do it.
  if (own === 'library') await cuda.matmul.async(da, db, { out: dc } as never);
  else await kernel.launchAsync(shape, da, db, dc);
  const compiled = jax.jit((p: jax.numpy.Array, q: jax.numpy.Array) => jax.numpy.matmul(p, q));
  const [ja, jb] = [a, b].map((data) => jax.numpy.array(data).reshape([size, size])) as [
    jax.numpy.Array,
    jax.numpy.Array,
  ];
  const theirs = peers.matmul(da.gpuBuffer as Buffer, db.gpuBuffer as Buffer, de.gpuBuffer as Buffer);
  return {
    tsamba: ofQueue(launch, dc),
    ...(own !== 'tiled' ? { 'jax-js': ofJax(() => compiled(ja.ref, jb.ref)) } : {}),
    TypeGPU: ofQueue(theirs, de),
  };
}

/** Rows of small matrices. */
const SMALL = 256;
/** Rounds before those that count. */
const WARM = 4;

/** Launches between two waits, at most. */
const MOST = 400;
/** On GPUs: rounds that a side has one after another, and the milliseconds before them in which it keeps the GPU busy. Drivers of graphics lower the clocks while the GPU has little to do. */
const TURN = 5;
const WARM_UP = 1000;

/** Launches until the sides agree, once; then each in turns. Throws where they do not. */
async function timed(name: string, sides: Sides, rounds: number, interval: number): Promise<PageCase> {
  const results: ArrayLike<number>[] = [];
  for (const side of Object.values(sides)) {
    side.launch();
    await side.done();
    results.push(await side.result());
  }
  const [first, ...others] = results as [ArrayLike<number>, ...ArrayLike<number>[]];
  for (const other of others) {
    for (let k = 0; k < first.length; k++) {
      const [p, q] = [first[k] as number, other[k] as number];
      if (!(Math.abs(p - q) <= 1e-4 * Math.max(1, Math.abs(p)))) throw new Error(`${name}: ${p} and ${q} at ${k}`);
    }
  }
  const issueOf = async (side: Side, launches: number): Promise<readonly [number, number]> => {
    const began = performance.now();
    for (let k = 0; k < launches; k++) side.launch();
    const issued = performance.now();
    await side.done();
    return [(performance.now() - began) / launches, (issued - began) / launches];
  };
  const one = async (side: Side, launches: number): Promise<number> => (await issueOf(side, launches))[0];
  const list = Object.entries(sides);
  const isGpu = cuda.currentDevice().type === 'gpu';
  const warmUp = async (side: Side, launches: number, milliseconds: number): Promise<number> => {
    const began = performance.now();
    let ms = await one(side, launches);
    while (performance.now() - began < milliseconds) ms = await one(side, launches);
    return ms;
  };
  const launches: Record<string, number> = {};
  for (const [name, side] of list) {
    const ms = await warmUp(side, 4, isGpu ? WARM_UP : 0);
    launches[name] = Math.max(1, Math.min(MOST, Math.round(interval / ms)));
  }
  const none = (): Record<string, number[]> => Object.fromEntries(list.map(([side]) => [side, []]));
  const [times, issue] = [none(), none()];
  const turn = isGpu ? TURN : 1;
  // What compiles kernels anew once they have been launched some times has done so before the rounds that count.
  for (let first = isGpu ? 0 : -WARM; first < rounds; first += turn) {
    for (let k = 0; k < list.length; k++) {
      const [name, side] = list[(k + Math.abs(first) / turn) % list.length] as (typeof list)[0];
      const calls = launches[name] as number;
      if (isGpu) await warmUp(side, calls, WARM_UP);
      for (let round = first; round < Math.min(first + turn, rounds); round++) {
        const [ms, issued] = await issueOf(side, calls);
        if (round < 0) continue;
        times[name]?.push(ms);
        issue[name]?.push(issued);
      }
    }
  }
  return { times, issue, launches };
}

/** Runs all; `n` elements of saxpy, matrices of `size`, `interval` milliseconds between two waits. */
export async function run(n: number, size: number, rounds: number, interval: number): Promise<PageOutput> {
  const [across] = REGISTERS.tile;
  if (size % across !== 0) throw new Error(`--size must be a multiple of ${across}`);
  await cuda.open('webgpu');
  await jax.init('webgpu');
  jax.defaultDevice('webgpu');
  const f = (count: number): DeviceNDArray<f32> => cuda.deviceArray(count, f32) as DeviceNDArray<f32>;
  await saxpy.compileAsync(cuda.scalar(f32, 1), f(1), f(1));
  const peers = typegpu(cuda.gpuDevice(), n, size);
  const cases: Record<string, PageCase> = {};
  cases[`saxpy ${n}`] = await timed('saxpy', saxpySides(peers, n), rounds, interval);
  const names = { library: 'by the library', registers: 'kernel in registers', tiled: 'tiled kernel' };
  for (const [own, name] of Object.entries(names)) {
    const sides = await matmulSides(peers, size, own as Own);
    cases[`matrix product ${size}, ${name}`] = await timed('matmul', sides, rounds, interval);
  }
  if (cuda.currentDevice().type === 'gpu') {
    // Small ones, which take as long as it takes to issue them.
    const small = typegpu(cuda.gpuDevice(), SMALL ** 2, SMALL);
    cases[`saxpy ${SMALL ** 2}`] = await timed('saxpy', saxpySides(small, SMALL ** 2), rounds, interval);
    const sides = await matmulSides(small, SMALL, 'library');
    cases[`matrix product ${SMALL}, ${names.library}`] = await timed('matmul', sides, rounds, interval);
  }
  const { name: device, type } = cuda.currentDevice();
  const { adapterInfo } = cuda.gpuDevice() as unknown as { readonly adapterInfo: PageOutput['adapter'] };
  const { vendor, architecture, description } = adapterInfo;
  return { device, type, adapter: { vendor, architecture, description }, cases };
}

Object.assign(globalThis, { benchmark: { run, cuda } });
