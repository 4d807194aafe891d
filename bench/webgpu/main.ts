/**
 * The WebGPU benchmark, bundled into one file: `node bench-webgpu.mjs`, where the package `webgpu` is found. Processes one after another; in each,
 * Tsamba and WGSL by hand take turns on one `GPUDevice`. Where there is an NVIDIA GPU, the same kernels through PTX come in between.
 *
 *   --processes 3
 *   --rounds 15        intervals of each side in each process
 *   --scale 1          divides the extents, for small machines
 *   --cases a,b        only these kernels
 *   --json FILE
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { cuda } from 'tsamba';
import { commandLine, machine } from '../../test/gpu/machine.ts';
import { readOptions } from '../options.ts';
import { median } from '../statistics.ts';
import { HANDWRITTEN, WGSL_SPECS } from './handwritten.ts';
import { type CaseResult, type WorkerOutput, worker } from './worker.ts';

const args = process.argv.slice(2);
const asWorker = args[0] === '--worker';
const given = readOptions('webgpu', 'node bench-webgpu.mjs', asWorker ? [] : args);

const [cases, rounds, scale] = [
  given.value('cases', Object.keys(HANDWRITTEN).join()),
  given.value('rounds', '15'),
  given.value('scale', '1'),
];

function oneProcess(device: 'webgpu' | 'nvidia'): WorkerOutput {
  const text = execFileSync(process.execPath, [process.argv[1] ?? '', '--worker', device, cases, rounds, scale], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 2 ** 26,
    // By hand nobody checks bounds.
    env: { ...process.env, TSAMBA_BOUNDS_CHECK: '0' },
  });
  return JSON.parse(text.trim().split('\n').at(-1) ?? '') as WorkerOutput;
}

function hasNvidia(): boolean {
  try {
    cuda.selectDevice('nvidia');
    cuda.close();
    return true;
  } catch {
    return false;
  }
}

function main(): void {
  const processes = Number(given.value('processes', '3'));
  const nvidia = hasNvidia();
  const [web, ptx]: [WorkerOutput[], WorkerOutput[]] = [[], []];
  for (let k = 0; k < processes; k++) {
    console.error(`process ${k + 1}`);
    web.push(oneProcess('webgpu'));
    if (nvidia) ptx.push(oneProcess('nvidia'));
  }
  console.log(web[0]?.device);
  console.log('kernel                  Tsamba ms  by hand ms   ratio  PTX ms');
  const rows = cases.split(',').map((name) => {
    const all = web.flatMap(({ results }) => results[name] ?? []);
    const failed = web.flatMap(({ failed }) => failed[name] ?? []);
    const of = (list: readonly CaseResult[], side: 'tsamba' | 'byHand'): number => median(list.map((c) => c[side]));
    const row = {
      case: name,
      tsamba: of(all, 'tsamba'),
      byHand: of(all, 'byHand'),
      ratio: median(all.map((c) => c.tsamba / c.byHand)),
      ptx: nvidia
        ? of(
            ptx.flatMap(({ results }) => results[name] ?? []),
            'tsamba',
          )
        : undefined,
      wrong: [...all.flatMap((c) => c.wrong ?? []), ...failed],
    };
    const title = WGSL_SPECS.find((s) => s.name === name)?.title ?? name;
    console.log(
      `${title.padEnd(22)} ${row.tsamba.toFixed(4).padStart(10)} ${row.byHand.toFixed(4).padStart(11)} ${row.ratio.toFixed(3).padStart(7)} ${(row.ptx?.toFixed(4) ?? '–').padStart(7)}`,
    );
    for (const wrong of new Set(row.wrong)) console.log(`WRONG ${title}: ${wrong}`);
    if (row.wrong.length > 0) process.exitCode = 1;
    return row;
  });
  const ratios = rows.map(({ ratio }) => ratio);
  const geomean = Math.exp(ratios.reduce((sum, r) => sum + Math.log(r), 0) / ratios.length);
  console.log(`geometric mean ${geomean.toFixed(3)}, worst ${Math.max(...ratios).toFixed(3)}`);
  const calls = web[0]?.calls;
  for (const [name, us] of Object.entries(calls ?? {}))
    console.log(`${name.padEnd(40)} ${us.toFixed(1).padStart(8)} µs`);
  const file = given.value('json', '');
  if (file === '') return;
  const record = { ...machine(), date: new Date().toISOString(), command: commandLine('bench-webgpu', args) };
  writeFileSync(file, `${JSON.stringify({ ...record, device: web[0]?.device, geomean, rows, calls }, null, 2)}\n`);
}

if (asWorker) {
  const [, device, names = '', times, divisor] = args;
  console.log(
    JSON.stringify(
      await worker(device === 'nvidia' ? 'nvidia' : 'webgpu', names.split(','), Number(times), Number(divisor)),
    ),
  );
} else main();
