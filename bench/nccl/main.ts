/**
 * All-reduce on all GPUs of this host, in one process: by `tsamba/nccl`, and by NCCL's own calls on the same communicators' kind in the same run; then the programs of
 * examples/several-gpus on one GPU and on all, in a process each. Bundled: `node bench-nccl.mjs`.
 *
 *   --rounds 20          --json FILE          --no-programs
 *   --transport reference --ranks 2           tries the program itself, where there is no GPU: no figures
 */
import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DeviceNDArray as DeviceArray } from '../../src/array/device-array.ts';
import { loadFfi } from '../../src/ffi/koffi.ts';
import { cuda, type DeviceNDArray, f32, type Stream } from '../../src/index.ts';
import { type Communicator, nccl } from '../../src/nccl/index.ts';
import { loadNccl } from '../../src/nccl/native/library.ts';
import { Stream as DeviceStream } from '../../src/stream/stream.ts';
import { readOptions } from '../options.ts';

const given = readOptions('nccl', 'node bench-nccl.mjs');

const rounds = Number(given.value('rounds', '20'));
const onReference = given.value('transport', 'nccl') === 'reference';
const comms = onReference
  ? nccl.initAll({ transport: 'reference', size: Number(given.value('ranks', '2')) })
  : nccl.initAll();
const streams = comms.map(({ context }) => new DeviceStream(context, 'created'));

/** One line of the table: microseconds of a call from its issue until it is done, the median, and the bandwidth of the bus as nccl-tests have it. */
interface Row {
  readonly bytes: number;
  readonly tsamba: number;
  readonly raw: number | undefined;
  readonly busGBs: number;
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;

type Issue = () => Promise<unknown> | undefined;

/** Medians of what each side takes, in turns: what the machine does meanwhile falls on both. */
async function timed(sides: readonly Issue[], bytes: number, repeats: number): Promise<number[]> {
  const times = sides.map((): number[] => []);
  // So many that the engine has compiled what issues a call.
  const before = onReference || repeats * bytes > 2 ** 30 ? 3 : 200;
  for (let round = 0; round < rounds + before; round++)
    for (const [side, issue] of sides.entries()) {
      const began = performance.now();
      for (let k = 0; k < repeats; k++) await issue();
      if (onReference) for (const { context } of comms) context.synchronize();
      else for (const stream of streams) stream.synchronize();
      if (round >= before) times[side]?.push(((performance.now() - began) * 1000) / repeats);
    }
  return times.map(median);
}

type Sum = (arrays: readonly DeviceNDArray<number, number>[]) => undefined;

/** NCCL by its own functions, on communicators of their own. */
function rawSum(): Sum | undefined {
  if (onReference) return undefined;
  const library = loadNccl();
  const { ffi } = loadFfi();
  if (ffi === undefined) return undefined;
  const handles = new BigUint64Array(16);
  void handles.buffer;
  const devices = new Int32Array(32).map((_, k) => comms[k]?.context.info.index ?? 0);
  void devices.buffer;
  comms[0]?.context.memoryInfo();
  library.ncclCommInitAll(ffi.address(handles), comms.length, ffi.address(devices));
  return (arrays) => {
    library.ncclGroupStart();
    for (const [k, array] of arrays.entries()) {
      const { pointer } = array;
      library.ncclAllReduce(
        pointer,
        pointer,
        array.size,
        7,
        0,
        Number(handles[k]),
        (streams[k] as Stream).pointer ?? 0n,
      );
    }
    library.ncclGroupEnd();
    return undefined;
  };
}

async function rowOf(bytes: number, raw: Sum | undefined): Promise<Row> {
  const arrays = comms.map(({ context }) => {
    const array = new DeviceArray<number, number>([bytes / 4], null, f32, { gpuData: context });
    array.set(0);
    return array;
  });
  const repeats = onReference ? 1 : 20;
  const ours = (): Promise<unknown> =>
    nccl.group(() =>
      Promise.all(
        comms.map((comm: Communicator, k) => comm.allReduce(arrays[k] as DeviceNDArray, { stream: streams[k] })),
      ),
    );
  const [tsamba = 0, theirs] = await timed(raw === undefined ? [ours] : [ours, () => raw(arrays)], bytes, repeats);
  for (const array of arrays) array.dispose();
  const busGBs = (bytes / tsamba / 1000) * ((2 * (comms.length - 1)) / comms.length);
  return { bytes, tsamba, raw: theirs, busGBs };
}

function figure(value: number | undefined): string {
  return value === undefined ? '—' : value.toFixed(1);
}

const raw = rawSum();
const rows: Row[] = [];
console.log(
  `all-reduce of f32 in place, ${comms.length} ranks, ${onReference ? 'reference transport: no figures' : cuda.currentDevice().name}`,
);
for (const bytes of onReference ? [4, 2 ** 16] : [4, 2 ** 10, 2 ** 16, 2 ** 20, 2 ** 24, 2 ** 28]) {
  const row = await rowOf(bytes, raw);
  rows.push(row);
  console.log(
    `${bytes} bytes: ${figure(row.tsamba)} µs, NCCL's own calls ${figure(row.raw)} µs, ${figure(row.busGBs)} GB/s`,
  );
}
await Promise.all(comms.map((comm) => comm.dispose()));

/** A program of the examples on so many GPUs: what it says of its speed, and what it computes. */
function program(
  name: string,
  ranks: number,
  given: readonly string[],
): { readonly seconds: number; readonly text: string } {
  const folder = fileURLToPath(new URL('.', import.meta.url));
  const began = performance.now();
  const how = onReference ? ['--transport', 'reference'] : [];
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [join(folder, 'tsamba.mjs'), 'run', '--gpus', String(ranks), ...how, join(folder, `${name}.mjs`), ...given],
    { encoding: 'utf8', env: { TSAMBA_WARN_LOW_OCCUPANCY: '0', ...process.env } },
  );
  return { seconds: (performance.now() - began) / 1000, text: `${stdout}${stderr}`.trim() };
}

const programs: Record<string, readonly { readonly ranks: number; readonly seconds: number; readonly text: string }[]> =
  {};
const bundled = existsSync(join(fileURLToPath(new URL('.', import.meta.url)), 'tsamba.mjs'));
if (bundled && !given.has('no-programs')) {
  const sizes: readonly (readonly [string, readonly string[]])[] = onReference
    ? [['heat', ['64', '4']]]
    : [
        ['heat', ['16384', '1000']],
        ['k-means', ['1000000000', '100']],
        ['pi', [String(2 ** 38)]],
      ];
  for (const [name, given] of sizes) {
    programs[name] = [1, comms.length].map((ranks) => ({ ranks, ...program(name, ranks, given) }));
    for (const { ranks, seconds, text } of programs[name] ?? [])
      console.log(`${name}, ${ranks} ranks, ${seconds.toFixed(1)} s in all\n${text}`);
  }
}
const file = given.value('json', '');
if (file !== '') writeFileSync(file, JSON.stringify({ ranks: comms.length, onReference, rows, programs }, null, 1));
