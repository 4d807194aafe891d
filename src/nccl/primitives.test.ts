import { expect, it } from 'vitest';
import { cuda } from '../index.ts';
import type { Communicator } from './communicator.ts';
import { histogram, nccl, reduce, sort } from './index.ts';

it('sorts, reduces and counts over ranks, some of which have nothing', { timeout: 300_000 }, async () => {
  cuda.selectDevice('cpu');
  const comms = nccl.initAll({ transport: 'reference', size: 3 });
  const lengths = [50, 0, 130];
  const parts = lengths.map((length, rank) =>
    Int32Array.from({ length }, (_, k) => ((k * 7919 + rank * 13) % 200) - 100),
  );
  const everything = parts.flatMap((part) => [...part]);
  const sorted = await Promise.all(
    comms.map(async (comm, rank) =>
      Array.from((await sort(comm, cuda.toDevice(parts[rank] as Int32Array))).copyToHost() as Int32Array),
    ),
  );
  expect(sorted.flat()).toEqual([...everything].sort((a, b) => a - b));
  for (const part of sorted) expect(part.length).toBeGreaterThan(20);
  const [left, right] = nccl.initAll({ transport: 'reference', size: 2 }) as [Communicator, Communicator];
  const found = await Promise.all(
    [left, right].map(async (comm, k) => {
      const x = cuda.toDevice(parts[2 * k] as Int32Array);
      const counts = Array.from((await histogram(comm, x, 4, { range: [-100, 100] })).copyToHost() as Int32Array);
      return [await reduce(comm, x, 'sum'), await reduce(comm, x, 'min'), counts];
    }),
  );
  const bins = [-100, -50, 0, 50].map((low) => everything.filter((v) => v >= low && v < low + 50).length);
  const expected = [everything.reduce((a, b) => a + b), Math.min(...everything), bins];
  expect(found).toEqual([expected, expected]);
});
