/**
 * Collectives timed beside each other, and the table of them.
 */
import { DeviceNDArray as DeviceArray } from '../../src/array/device-array.ts';
import { type DeviceNDArray, f32 } from '../../src/index.ts';
import type { Communicator } from '../../src/nccl/index.ts';
import { median } from '../statistics.ts';
import type { Sum } from './raw.ts';

/** One line of the table: microseconds of a call, issued and done, the median, and the bandwidth of the bus as nccl-tests have it. */
export interface Row {
  readonly bytes: number;
  readonly tsamba: number;
  readonly raw: number | undefined;
  readonly busGBs: number;
}

/** Who takes part in this process. */
export interface Parties {
  readonly comms: readonly Communicator[];
  /** All ranks, here and elsewhere. */
  readonly ranks: number;
  /** Waits for what was enqueued. */
  readonly finish: () => void;
  readonly ours: (arrays: readonly DeviceNDArray<number, number>[]) => Promise<unknown>;
  readonly raw: Sum | undefined;
  readonly rounds: number;
}

/** Calls that are issued before anybody waits, as in nccl-tests. */
const AT_ONCE = 20;

type Issue = () => Promise<unknown> | undefined;

/** Medians of what each side takes, in turns: what the machine does meanwhile falls on both. */
async function timed(sides: readonly Issue[], bytes: number, { finish, rounds, raw }: Parties): Promise<number[]> {
  const times = sides.map((): number[] => []);
  const repeats = raw === undefined ? 1 : AT_ONCE;
  // So many that the engine has compiled what issues a call.
  const before = raw === undefined || bytes > 2 ** 24 ? 3 : 300;
  for (let round = 0; round < rounds + before; round++)
    for (const [side, issue] of sides.entries()) {
      const began = performance.now();
      for (let k = 0; k < repeats; k++) await issue();
      finish();
      if (round >= before) times[side]?.push(((performance.now() - began) * 1000) / repeats);
    }
  return times.map(median);
}

async function rowOf(bytes: number, parties: Parties): Promise<Row> {
  const { comms, ranks, ours, raw } = parties;
  const arrays = comms.map(({ context }) => {
    const array = new DeviceArray<number, number>([bytes / 4], null, f32, { gpuData: context });
    array.set(0);
    return array;
  });
  const sides: Issue[] = [() => ours(arrays)];
  if (raw !== undefined) sides.push(() => raw(arrays));
  const [tsamba = 0, theirs] = await timed(sides, bytes, parties);
  for (const array of arrays) array.dispose();
  return { bytes, tsamba, raw: theirs, busGBs: (bytes / tsamba / 1000) * ((2 * (ranks - 1)) / ranks) };
}

const figure = (value: number | undefined): string => (value === undefined ? '—' : value.toFixed(1));

/** Times all lengths; says each. */
export async function table(lengths: readonly number[], parties: Parties, say: (line: string) => void): Promise<Row[]> {
  const rows: Row[] = [];
  for (const bytes of lengths) {
    const row = await rowOf(bytes, parties);
    rows.push(row);
    say(`${bytes} bytes: ${figure(row.tsamba)} µs, NCCL's own calls ${figure(row.raw)} µs, ${figure(row.busGBs)} GB/s`);
  }
  return rows;
}

/** From latency to bandwidth. */
export const LENGTHS: readonly number[] = [4, 2 ** 10, 2 ** 16, 2 ** 20, 2 ** 24, 2 ** 28];
