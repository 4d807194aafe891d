/**
 * Chapter: communicators of `tsamba/nccl`, on the reference transport: several ranks in one thread, on whatever device is current.
 */
import { bf16, cuda, f32, i32, type NDArray, ndarray, u8 } from '../src/index.ts';
import { type Communicator, CommunicatorError, nccl, type ReduceOp, shard } from '../src/nccl/index.ts';
import { rejects, same, sameElements } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { read } from './waiting.ts';

const reference = (size: number, timeout?: number): readonly Communicator[] =>
  nccl.initAll({ transport: 'reference', size, timeout });

/** What every rank does, at the same time. */
const each = <R>(
  comms: readonly Communicator[],
  body: (comm: Communicator, rank: number) => Promise<R>,
): Promise<R[]> => Promise.all(comms.map((comm) => body(comm, comm.rank)));

const FOLDS: Readonly<Record<ReduceOp, (values: readonly number[]) => number>> = {
  sum: (values) => values.reduce((a, b) => a + b),
  prod: (values) => values.reduce((a, b) => a * b),
  min: (values) => Math.min(...values),
  max: (values) => Math.max(...values),
  avg: (values) => (values.reduce((a, b) => a + b) / values.length) | 0,
};
const OPS = Object.keys(FOLDS) as ReduceOp[];

/** What rank `rank` contributes: small whole numbers, which every type holds and no order of sums changes. */
const given = (rank: number, length: number): number[] =>
  Array.from({ length }, (_, k) => ((k * 7 + rank * 5) % 11) + (k % 2 === 0 ? 1 : -4));

const lost = (code: string, rank: number) => (error: unknown) =>
  error instanceof CommunicatorError && error.code === code && error.rank === rank;

/** Nested arrays are the same. */
const equal = (actual: unknown, expected: unknown): void => same(JSON.stringify(actual), JSON.stringify(expected));

async function fails(promise: Promise<unknown>, test: (error: unknown) => boolean, what: string): Promise<void> {
  const outcome = await promise.then(
    () => 'resolved',
    (error: unknown) => (test(error) ? what : String(error)),
  );
  same(outcome, what);
}

export const communicators: readonly ConformanceTest[] = chapter('communicators', {
  'all-reduce by every operator, of 1, 2 and 3 ranks': async () => {
    for (const size of [1, 2, 3]) {
      const comms = reference(size);
      for (const op of OPS) {
        const parts = comms.map(({ rank }) => given(rank, 40));
        const arrays = parts.map((part) => cuda.toDevice(Int32Array.from(part)));
        await each(comms, (comm, rank) => comm.allReduce(arrays[rank] as (typeof arrays)[0], { op }));
        const expected = parts[0]?.map((_, k) => FOLDS[op](parts.map((part) => part[k] as number))) ?? [];
        for (const array of arrays) sameElements(await read(array), Int32Array.from(expected));
      }
    }
  },
  'all-reduce rounds and wraps as its type does': async () => {
    const comms = reference(3);
    const bytes = comms.map(() => cuda.toDevice(Uint8Array.of(100, 200)));
    const halves = comms.map(() => cuda.toDevice(ndarray([256.0, 1], { dtype: bf16 })));
    const bigs = comms.map(({ rank }) => cuda.toDevice(BigInt64Array.of(2n ** 62n, BigInt(rank))));
    const floats = comms.map(({ rank }) => cuda.toDevice(Float32Array.of(rank === 0 ? 2 ** 24 : 1)));
    await each(comms, async (comm, rank) => {
      await comm.allReduce(bytes[rank] as (typeof bytes)[0]);
      await comm.allReduce(halves[rank] as (typeof halves)[0]);
      await comm.allReduce(bigs[rank] as (typeof bigs)[0]);
      await comm.allReduce(floats[rank] as (typeof floats)[0]);
    });
    sameElements(await read(bytes[2] as (typeof bytes)[0]), [44, 88]);
    equal((await read(halves[1] as (typeof halves)[0])).toArray(), [768, 3]);
    sameElements(await read(bigs[0] as (typeof bigs)[0]), [-(2n ** 62n), 3n]);
    // In the order of ranks each 1 is lost.
    sameElements(await read(floats[1] as (typeof floats)[0]), [2 ** 24]);
  },
  'gathers, scatters and exchanges': async () => {
    const comms = reference(3);
    const results = await each(comms, async (comm, rank) => {
      const own = cuda.toDevice(Int32Array.of(10 * rank, 10 * rank + 1));
      const all = await comm.allGather(own, cuda.deviceArray(6, i32));
      const turned = await comm.allToAll(all, cuda.deviceArray(6, i32));
      const part = await comm.reduceScatter(all, cuda.deviceArray(2, i32));
      const rooted = cuda.deviceArray(6, i32);
      await comm.gather(own, rank === 1 ? rooted : undefined, { root: 1 });
      const share = await comm.scatter(rank === 1 ? rooted : undefined, cuda.deviceArray(2, i32), { root: 1 });
      const total = await comm.reduce(own, cuda.toDevice(Int32Array.of(-1, -1)), { root: 2, op: 'max' });
      const told = cuda.toDevice(Int32Array.of(rank));
      await comm.broadcast(told, { root: 2 });
      return Promise.all([all, turned, part, share, total, told].map(async (array) => Array.from(await read(array))));
    });
    const all = [0, 1, 10, 11, 20, 21];
    equal(results, [
      [all, [0, 1, 0, 1, 0, 1], [0, 3], [0, 1], [0, 1], [2]],
      [all, [10, 11, 10, 11, 10, 11], [30, 33], [10, 11], [10, 11], [2]],
      [all, [20, 21, 20, 21, 20, 21], [60, 63], [20, 21], [20, 21], [2]],
    ]);
  },
  'views with gaps are packed': async () => {
    const comms = reference(2);
    const arrays = comms.map(() => cuda.toDevice(ndarray(Float32Array.of(1, 2, 3, 4, 5, 6), { shape: [2, 3] })).T);
    const squares = comms.map(({ rank }) => {
      const square = cuda.deviceArray([3, 3], f32);
      square.set(rank);
      return square;
    });
    await each(comms, async (comm, rank) => {
      await comm.allReduce(arrays[rank] as (typeof arrays)[0]);
      // The last column of one is the first of the other.
      const square = squares[rank] as (typeof squares)[0];
      await comm.group(() =>
        Promise.all([
          comm.send(square.slice(':', 1), 1 - rank),
          comm.recv(square.slice(':', rank === 0 ? 2 : 0), 1 - rank),
        ]),
      );
    });
    equal((await read(arrays[1] as (typeof arrays)[0])).toArray(), [
      [2, 8],
      [4, 10],
      [6, 12],
    ]);
    equal(
      (await read(squares[0] as (typeof squares)[0])).toArray(),
      Array.from({ length: 3 }, () => [0, 0, 1]),
    );
    equal(
      (await read(squares[1] as (typeof squares)[0])).toArray(),
      Array.from({ length: 3 }, () => [0, 1, 1]),
    );
  },
  'a ring of sends, on streams': async () => {
    const comms = reference(3);
    const got = await each(comms, async (comm, rank) => {
      const stream = cuda.stream();
      const from = cuda.toDevice(Uint8Array.of(rank, 7), { stream });
      const to = cuda.deviceArray(2, u8, { stream });
      for (let k = 0; k < 2; k++) {
        await nccl.group(() =>
          Promise.all([comm.send(from, (rank + 1) % 3, { stream }), comm.recv(to, (rank + 2) % 3, { stream })]),
        );
        from.copyToDevice(to, { stream });
      }
      await comm.barrier();
      const [first] = await from.copyToHostAsync({ stream });
      return first;
    });
    equal(got, [1, 2, 0]);
  },
  'parts of a communicator': async () => {
    const comms = reference(3);
    const sums = await each(comms, async (comm, rank) => {
      const part = await comm.split({ color: rank === 1 ? undefined : 4, key: 9 - rank });
      if (part === undefined) return 'none';
      const x = cuda.toDevice(Int32Array.of(1 + rank));
      await part.allReduce(x);
      const [sum] = await read(x);
      return `${part.rank} of ${part.size}: ${sum}`;
    });
    equal(sums, ['1 of 2: 4', 'none', '0 of 2: 4']);
  },
  'arrays over ranks: parts, halos along any axis, and the whole again': async () => {
    const numbers = Int32Array.from({ length: 35 }, (_, k) => k);
    const grid = ndarray(numbers, { shape: [7, 5] });
    for (const [axis, periodic] of [
      [0, false],
      [1, true],
    ] as const) {
      const comms = reference(2);
      const edges = await each(comms, async (comm, rank) => {
        const part = shard<number>(comm, grid, { axis, halo: 1, periodic });
        const own = part.own();
        own.copyToDevice(ndarray(new Int32Array(own.size).fill(100 * rank), { shape: own.shape }));
        await part.exchange();
        const local = (await read(part.local)) as NDArray;
        const whole = await part.gatherTo(1);
        const all = whole === undefined ? 'none' : ((await read(whole)) as NDArray).toArray();
        return [part.start, part.stop, part.before, part.behind, local.toArray(), all];
      });
      const at = axis === 0 ? 4 : 3;
      const filled = Array.from({ length: 7 }, (_, i) =>
        Array.from({ length: 5 }, (_, j) => ((axis === 0 ? i : j) < at ? 0 : 100)),
      );
      const row = (...values: number[]): number[] => values;
      const ring = (own: number, other: number, count: number): number[][] =>
        Array.from({ length: 7 }, () => row(other, ...Array.from({ length: count }, () => own), other));
      const rows = (value: number, count: number): number[][] =>
        Array.from({ length: count }, () => row(value, value, value, value, value));
      equal(
        edges,
        axis === 0
          ? [
              [0, 4, 0, 1, [...rows(0, 4), ...rows(100, 1)], 'none'],
              [4, 7, 1, 0, [...rows(0, 1), ...rows(100, 3)], filled],
            ]
          : [
              [0, 3, 1, 1, ring(0, 100, 3), 'none'],
              [3, 5, 1, 1, ring(100, 0, 2), filled],
            ],
      );
    }
  },
  'what does not fit is refused before anything is sent': async () => {
    const [comm] = reference(1) as [Communicator];
    const x = cuda.toDevice(Int16Array.of(1, 2));
    await rejects(() => comm.allReduce(x), /no integers of 16 bits/, 'E_NCCL_DTYPE');
    await rejects(() => comm.allReduce(cuda.deviceArray(2, i32), cuda.deviceArray(3, i32)), /2 are needed/);
    await rejects(() => comm.allReduce(cuda.deviceArray(2, i32), cuda.deviceArray(2, f32)), /same dtype/);
    await rejects(() => comm.broadcast(x, { root: 1 }), /a rank from 0 to 0/);
    await rejects(() => comm.broadcast(new Float32Array(2) as never), /cuda\.toDevice/);
    await rejects(() => comm.allReduce(cuda.deviceArray(2, i32), { op: 'mean' as never }), /'avg'/);
  },
  'ranks that call other things, or nothing, are named on every rank': async () => {
    const different = reference(3);
    const x = different.map(() => cuda.toDevice(Int32Array.of(1)));
    await each(different, (comm, rank) => {
      const array = x[rank] as (typeof x)[0];
      const call = rank === 2 ? comm.allReduce(array, { op: 'max' }) : comm.allReduce(array);
      const code = rank === 0 ? 'E_NCCL_MISMATCH' : 'E_NCCL_ABORTED';
      return fails(call, lost(code, rank === 0 ? 2 : 0), code);
    });
    const late = reference(2, 30);
    await fails(late[0]?.barrier() ?? Promise.resolve(), lost('E_NCCL_TIMEOUT', 1), 'late');
    await fails(late[1]?.barrier() ?? Promise.resolve(), lost('E_NCCL_ABORTED', 0), 'told');
    const aborted = reference(2);
    const waits = fails(aborted[0]?.barrier() ?? Promise.resolve(), lost('E_NCCL_ABORTED', 1), 'aborted');
    aborted[1]?.abort('enough');
    await waits;
    const left = reference(2);
    await left[1]?.dispose();
    await fails(left[0]?.barrier() ?? Promise.resolve(), lost('E_NCCL_LOST', 1), 'left');
  },
});
