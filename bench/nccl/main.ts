/**
 * All-reduce on all GPUs of this host, by one process and by a process for each GPU: by `tsamba/nccl`, and by NCCL's own calls on the same communicators' kind in the same run; then
 * the programs of examples/several-gpus on one GPU and on all. Bundled: `node bench-nccl.mjs`.
 *
 *   --rounds 20          --json FILE          --no-programs
 *   --transport reference --ranks 2           tries the program itself, where there is no GPU: no figures
 */
import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cuda } from '../../src/index.ts';
import { nccl } from '../../src/nccl/index.ts';
import { loadNccl } from '../../src/nccl/native/library.ts';
import { Stream } from '../../src/stream/stream.ts';
import { commandLine, machine } from '../../test/gpu/machine.ts';
import { readOptions } from '../options.ts';
import { sumOfAll } from './raw.ts';
import { LENGTHS, type Row, table } from './timed.ts';

const given = readOptions('nccl', 'node bench-nccl.mjs');

const rounds = Number(given.value('rounds', '20'));
const onReference = given.value('transport', 'nccl') === 'reference';
const comms = onReference
  ? nccl.initAll({ transport: 'reference', size: Number(given.value('ranks', '2')) })
  : nccl.initAll();
const ranks = comms.length;
const streams = comms.map(({ context }) => new Stream(context, 'created'));
const folder = fileURLToPath(new URL('.', import.meta.url));
const bundled = existsSync(join(folder, 'tsamba.mjs'));

console.log(
  `all-reduce of f32 in place, ${ranks} ranks, ${onReference ? 'reference transport: no figures' : cuda.currentDevice().name}, one process`,
);
const oneProcess = await table(
  onReference ? [4, 2 ** 16] : LENGTHS,
  {
    comms,
    ranks,
    finish: () => (onReference ? comms.map(({ context }) => context) : streams).forEach((one) => one.synchronize()),
    ours: (arrays) =>
      nccl.group(() =>
        Promise.all(comms.map((comm, k) => comm.allReduce(arrays[k] as (typeof arrays)[0], { stream: streams[k] }))),
      ),
    raw: onReference ? undefined : sumOfAll(comms, streams),
    rounds,
  },
  console.log,
);
const version = onReference ? undefined : loadNccl().version;
await Promise.all(comms.map((comm) => comm.dispose()));

/** A bundled program on so many GPUs: what it prints. */
function program(
  name: string,
  size: number,
  args: readonly string[],
): { readonly text: string; readonly seconds: number } {
  const began = performance.now();
  const how = onReference ? ['--transport', 'reference'] : [];
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [join(folder, 'tsamba.mjs'), 'run', '--gpus', String(size), ...how, join(folder, `${name}.mjs`), ...args],
    { encoding: 'utf8', env: { TSAMBA_WARN_LOW_OCCUPANCY: '0', ...process.env } },
  );
  return { seconds: (performance.now() - began) / 1000, text: `${stdout}${stderr}`.trim() };
}

/** The same with a process for each GPU. */
function betweenProcesses(): readonly Row[] {
  if (!bundled || onReference) return [];
  const { text } = program('ranks', ranks, [String(rounds)]);
  const [, json] = /rows (\[.*\])/.exec(text) ?? [];
  if (json === undefined) throw new Error(text);
  const rows = JSON.parse(json) as readonly Row[];
  console.log('a process for each GPU');
  for (const { bytes, tsamba, raw = 0, busGBs } of rows)
    console.log(
      `${bytes} bytes: ${tsamba.toFixed(1)} µs, NCCL's own calls ${raw.toFixed(1)} µs, ${busGBs.toFixed(1)} GB/s`,
    );
  return rows;
}

const processes = betweenProcesses();

/** What a program says of its speed, in billions a second of what it counts. */
const speedOf = (text: string): number => Number(/([\d.]+) billion/.exec(text)?.[1] ?? Number.NaN);

const programs: Record<string, readonly { readonly ranks: number; readonly speed: number; readonly text: string }[]> =
  {};
if (bundled && !given.has('no-programs')) {
  const sizes: readonly (readonly [string, readonly string[]])[] = onReference
    ? [['heat', ['64', '4']]]
    : [
        ['heat', ['16384', '1000']],
        ['k-means', ['1000000000', '100']],
        ['pi', [String(2 ** 38)]],
      ];
  for (const [name, args] of sizes) {
    const runs = [1, ranks].map((size) => ({ ranks: size, ...program(name, size, args) }));
    programs[name] = runs.map((run) => ({ ...run, speed: speedOf(run.text) }));
    for (const run of runs) console.log(`${name}, ${run.ranks} ranks, ${run.seconds.toFixed(1)} s in all\n${run.text}`);
    const [one, all] = programs[name] ?? [];
    console.log(`${name}: ${((all?.speed ?? 0) / (one?.speed ?? 1)).toFixed(2)} times as fast on ${ranks}`);
  }
}
const file = given.value('json', '');
const about = {
  ...machine(),
  date: new Date().toISOString(),
  command: commandLine('bench-nccl', process.argv.slice(2)),
  nccl: version,
  ranks,
  onReference,
};
if (file !== '') writeFileSync(file, `${JSON.stringify({ ...about, oneProcess, processes, programs }, null, 1)}\n`);
