/**
 * Every call of a communicator, checked by each rank against what it must receive: the same program on every transport and any number of ranks, one process or worker for each.
 */
import {
  bf16,
  c64,
  cuda,
  type DeviceNDArray,
  type DType,
  f16,
  f32,
  f64,
  i8,
  i16,
  i32,
  i64,
  ndarray,
  struct,
  u8,
  u32,
  u64,
} from '../../src/index.ts';
import { type Communicator, histogram, nccl, type ReduceOp, reduce, shard, sort } from '../../src/nccl/index.ts';

type Values = readonly (number | bigint)[];

const NUMBERS: Readonly<Record<string, DType>> = { i8, u8, i32, u32, i64, u64, f16, bf16, f32, f64 };
const OPS: readonly ReduceOp[] = ['sum', 'prod', 'min', 'max', 'avg'];

/** What rank `rank` contributes: small whole numbers, which every type holds, and no order of sums or products changes. */
const given = (rank: number, length: number): number[] =>
  Array.from({ length }, (_, k) => ((k * 7 + rank * 5) % 4) + (k % 2));

function folded(op: ReduceOp, values: readonly number[], isInteger: boolean): number {
  switch (op) {
    case 'sum':
      return values.reduce((a, b) => a + b);
    case 'prod':
      return values.reduce((a, b) => a * b);
    case 'min':
      return Math.min(...values);
    case 'max':
      return Math.max(...values);
    default: {
      const mean = values.reduce((a, b) => a + b) / values.length;
      return isInteger ? Math.trunc(mean) : mean;
    }
  }
}

const made = (values: Values, dtype: DType): DeviceNDArray =>
  cuda.toDevice(ndarray(values as number[], { dtype })) as unknown as DeviceNDArray;

async function read(array: DeviceNDArray): Promise<number[]> {
  const host = (await array.copyToHostAsync()) as Iterable<number | bigint> & { toArray?(): unknown[] };
  const list = host.toArray === undefined ? Array.from(host) : (host.toArray().flat(8) as (number | bigint)[]);
  return list.map(Number);
}

/** What went wrong, a line each, and how much was compared. */
export class Findings {
  readonly lines: string[] = [];
  checks = 0;

  equal(what: string, actual: readonly unknown[], expected: readonly unknown[]): void {
    this.checks++;
    const [a, b] = [JSON.stringify(actual), JSON.stringify(expected)];
    if (a !== b) this.lines.push(`${what}: ${a.slice(0, 200)} instead of ${b.slice(0, 200)}`);
  }
}

/** All-reduce, reduce and reduce-scatter by every operator and type, in place and not. */
async function combinations(comm: Communicator, found: Findings): Promise<void> {
  const { rank, size } = comm;
  const length = 12 * size;
  const parts = Array.from({ length: size }, (_, r) => given(r, length));
  for (const [name, dtype] of Object.entries(NUMBERS))
    for (const op of OPS) {
      const isInteger = /^[iu]/.test(name);
      const all = Array.from({ length }, (_, k) =>
        folded(
          op,
          parts.map((part) => part[k] as number),
          isInteger,
        ),
      );
      // A mean that bf16 or f16 does not hold is rounded, by whom it may.
      if (op === 'avg' && !isInteger && (size & (size - 1)) !== 0) continue;
      const what = `${op} of ${name}`;
      const own = parts[rank] as number[];
      const mine = made(own, dtype);
      const apart = made(own, dtype);
      await comm.allReduce(mine, apart, { op });
      found.equal(`allReduce ${what}`, await read(apart), all);
      found.equal(`allReduce ${what}, what was sent`, await read(mine), own);
      await comm.allReduce(mine, { op });
      found.equal(`allReduce ${what} in place`, await read(mine), all);
      const root = size - 1;
      const rooted = made(own, dtype);
      await comm.reduce(rooted, { op, root });
      found.equal(`reduce ${what}`, await read(rooted), rank === root ? all : own);
      const part = made(new Array(12).fill(0), dtype);
      await comm.reduceScatter(made(own, dtype), part, { op });
      found.equal(`reduceScatter ${what}`, await read(part), all.slice(12 * rank, 12 * (rank + 1)));
    }
}

/** What only moves: every type, structs and complex numbers too. */
async function moves(comm: Communicator, found: Findings): Promise<void> {
  const { rank, size } = comm;
  const ranks = Array.from({ length: size }, (_, r) => r);
  for (const [name, dtype] of Object.entries({ ...NUMBERS, i16 })) {
    const own = made([10 * rank, 10 * rank + 1], dtype);
    const everything = ranks.flatMap((r) => [10 * r, 10 * r + 1]);
    const zeros = (): DeviceNDArray => made(new Array(2 * size).fill(0), dtype);
    const gathered = await comm.allGather(own, zeros());
    found.equal(`allGather ${name}`, await read(gathered), everything);
    const turned = await comm.allToAll(gathered, zeros());
    found.equal(
      `allToAll ${name}`,
      await read(turned),
      ranks.flatMap(() => [10 * rank, 10 * rank + 1]),
    );
    const rooted = zeros();
    await comm.gather(own, rank === 0 ? rooted : undefined);
    found.equal(`gather ${name}`, await read(rooted), rank === 0 ? everything : new Array(2 * size).fill(0));
    const share = await comm.scatter(rank === 0 ? rooted : undefined, made([0, 0], dtype));
    found.equal(`scatter ${name}`, await read(share), [10 * rank, 10 * rank + 1]);
    await comm.broadcast(own, { root: size - 1 });
    found.equal(`broadcast ${name}`, await read(own), [10 * (size - 1), 10 * (size - 1) + 1]);
    const from = made([rank, 7], dtype);
    const to = made([0, 0], dtype);
    await nccl.group(() => Promise.all([comm.send(from, (rank + 1) % size), comm.recv(to, (rank + size - 1) % size)]));
    found.equal(`a ring of ${name}`, await read(to), [(rank + size - 1) % size, 7]);
  }
  const Particle = struct({ x: f64, k: i32 }, { align: true });
  const particles = cuda.deviceArray(3, Particle);
  particles.set({ x: rank + 0.5, k: rank });
  await comm.broadcast(particles as never, { root: size - 1 });
  found.equal('broadcast of structs', [JSON.stringify(particles.get(1))], [`{"x":${size - 0.5},"k":${size - 1}}`]);
  const z = cuda.deviceArray(2, c64);
  z.set({ re: rank + 1, im: -1 } as never);
  await comm.allReduce(z as never);
  const sum = (size * (size + 1)) / 2;
  found.equal('sums of complex numbers', [JSON.stringify(z.get(1))], [JSON.stringify({ re: sum, im: -size })]);
}

/** Streams, views with gaps, parts of a communicator, arrays over ranks, and primitives on them. */
async function structures(comm: Communicator, found: Findings): Promise<void> {
  const { rank, size } = comm;
  const ranks = Array.from({ length: size }, (_, r) => r);
  const stream = cuda.stream();
  const fill = cuda.jit((a: Float32Array, value: number) => {
    const k = cuda.grid(1);
    if (k < a.length) a[k] = value;
  });
  const n = 1 << 20;
  const big = cuda.deviceArray(n, f32, { stream });
  for (let round = 0; round < 5; round++) {
    fill.launch({ threads: n, stream }, big as never, rank + round);
    await comm.allReduce(big, { stream });
    await comm.allReduce(big, { stream, op: 'max' });
  }
  await stream.done();
  const expected = ranks.reduce((total, r) => total + r + 4, 0);
  const values = (await big.copyToHostAsync()) as Float32Array;
  found.equal('kernels and sums on a stream', [values.every((value) => value === expected)], [true]);
  const square = cuda.toDevice(
    ndarray(
      Float32Array.from({ length: 12 }, (_, k) => k + rank),
      { shape: [3, 4] },
    ),
  );
  await comm.allReduce(square.T as never);
  found.equal(
    'a turned view',
    await read(square as never),
    Array.from({ length: 12 }, (_, k) => k * size + (size * (size - 1)) / 2),
  );
  await comm.allReduce(square.slice(':', 1) as never, { op: 'max' });
  const part = await comm.split({ color: rank % 2, key: size - rank });
  const one = cuda.toDevice(Int32Array.of(1 + rank));
  await part?.allReduce(one);
  const same = ranks.filter((r) => r % 2 === rank % 2);
  found.equal(
    'a part',
    [part?.size, ...(await read(one as never))],
    [same.length, same.reduce((a, r) => a + 1 + r, 0)],
  );
  await part?.dispose();
  await comm.barrier();
  await halos(comm, found);
  const random = Float32Array.from({ length: 1000 + 37 * rank }, (_, k) => Math.fround(Math.sin(k * (rank + 3)) * 100));
  const all = ranks
    .flatMap((r) => Array.from({ length: 1000 + 37 * r }, (_, k) => Math.fround(Math.sin(k * (r + 3)) * 100)))
    .sort((a, b) => a - b);
  const sorted = await read((await sort(comm, cuda.toDevice(random) as never)) as never);
  const lengths = cuda.deviceArray(size, i32);
  await comm.allGather(cuda.toDevice(Int32Array.of(sorted.length)), lengths);
  const before = (await read(lengths as never)).slice(0, rank).reduce((a, b) => a + b, 0);
  found.equal('sort', sorted, all.slice(before, before + sorted.length));
  found.equal('reduce', [Number(await reduce(comm, cuda.toDevice(random) as never, 'max'))], [all.at(-1)]);
  const counts = await histogram(comm, cuda.toDevice(random) as never, 4, { range: [-100, 100] });
  const bins = [0, 0, 0, 0];
  for (const x of all) bins[Math.min(Math.floor((x + 100) / 50), 3)]!++;
  found.equal('histogram', await read(counts as never), bins);
  stream.dispose();
}

async function halos(comm: Communicator, found: Findings): Promise<void> {
  const { rank, size } = comm;
  const whole = ndarray(
    Float32Array.from({ length: 8 * size * 3 }, (_, k) => k),
    { shape: [8 * size, 3] },
  );
  const mine = shard<number>(comm, whole, { halo: 2 });
  mine.own().set(rank);
  await mine.exchange();
  const rows = (r: number, count: number): number[] => new Array(3 * count).fill(r);
  const expected = [
    ...(rank === 0 ? [] : rows(rank - 1, 2)),
    ...rows(rank, 8),
    ...(rank === size - 1 ? [] : rows(rank + 1, 2)),
  ];
  found.equal('halos', await read(mine.local as never), expected);
  const gathered = await mine.gatherTo(0);
  if (gathered !== undefined)
    found.equal(
      'the whole again',
      await read(gathered as never),
      Array.from({ length: size }, (_, r) => rows(r, 8)).flat(),
    );
}

/** All of it. */
export async function collectives(comm: Communicator): Promise<Findings> {
  const found = new Findings();
  await combinations(comm, found);
  await moves(comm, found);
  await structures(comm, found);
  return found;
}
