/**
 * The OpenCL benchmark, bundled into one file: `node bench-opencl.mjs`, on the device that OpenCL lists first (see
 * TSAMBA_OPENCL_DEVICE). Processes one after another; in each, Tsamba and kernels by hand take turns.
 *
 *   --processes 5      3 for GPUs, which take longer to be given their data
 *   --rounds 15        intervals of each side in each process
 *   --cases a,b        only these kernels
 *   --json FILE
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { commandLine, machine } from '../../test/gpu/machine.ts';
import { SPECS } from '../nvidia/spec.ts';
import { readOptions } from '../options.ts';
import { median } from '../statistics.ts';
import { HANDWRITTEN } from './handwritten.ts';
import { type Issue, type WorkerOutput, worker } from './worker.ts';

const args = process.argv.slice(2);

const given = readOptions('opencl', 'node bench-opencl.mjs', args.includes('--worker') ? [] : args);

function oneProcess(number: string, cases: string, rounds: string): WorkerOutput {
  console.error(`process ${number}`);
  const text = execFileSync(process.execPath, [process.argv[1] ?? '', '--worker', cases, rounds], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 2 ** 26,
    // By hand nobody checks bounds.
    env: { ...process.env, TSAMBA_BOUNDS_CHECK: '0' },
  });
  return JSON.parse(text.trim().split('\n').at(-1) ?? '') as WorkerOutput;
}

function table(names: readonly string[], outputs: readonly WorkerOutput[]): readonly object[] {
  console.log('kernel                   scale  Tsamba ms  by hand ms   ratio  worst  of shortest');
  return names.map((name) => {
    const all = outputs.flatMap((o) => o.cases[name] ?? []);
    const ratios = all.map((c) => c.tsamba / c.raw);
    const row = {
      case: name,
      scale: all[0]?.scale,
      tsamba: median(all.map((c) => c.tsamba)),
      raw: median(all.map((c) => c.raw)),
      ratio: median(ratios),
      worst: Math.max(...ratios),
      ofShortest: Math.min(...all.map((c) => c.shortest.tsamba)) / Math.min(...all.map((c) => c.shortest.raw)),
      wrong: all.flatMap((c) => c.wrong ?? []),
    };
    const title = SPECS.find((s) => s.name === name)?.title ?? name;
    console.log(
      `${title.padEnd(24)} ${`1/${row.scale}`.padStart(5)} ${row.tsamba.toFixed(4).padStart(10)} ${row.raw.toFixed(4).padStart(11)} ${row.ratio.toFixed(3).padStart(7)} ${row.worst.toFixed(3).padStart(6)} ${row.ofShortest.toFixed(3).padStart(12)}`,
    );
    for (const wrong of row.wrong) console.log(`WRONG ${title}: ${wrong}`);
    if (row.wrong.length > 0) process.exitCode = 1;
    return row;
  });
}

function issueTable(outputs: readonly WorkerOutput[]): object {
  const of = (key: keyof Issue): number => median(outputs.map((o) => o.issue[key]));
  const above = median(outputs.map((o) => o.issue.launch - o.issue.enqueueAndFlush));
  const [launch, configured, enqueue, flushed] = [of('launch'), of('configured'), of('enqueue'), of('enqueueAndFlush')];
  console.log(
    `launch, 3 arrays and a number, issue: .launch ${launch.toFixed(2)} µs, configured ${configured.toFixed(2)}; clEnqueueNDRangeKernel ${enqueue.toFixed(2)}, with clFlush ${flushed.toFixed(2)} (${above.toFixed(2)} more)`,
  );
  return { launch, configured, enqueue, enqueueAndFlush: flushed, above };
}

function main(): void {
  if (args[0] === '--worker') {
    console.log(JSON.stringify(worker((args[1] ?? '').split(','), Number(args[2]))));
    return;
  }
  const began = performance.now();
  const cases = given.value('cases', Object.keys(HANDWRITTEN).join());
  const rounds = given.value('rounds', '15');
  const outputs = [oneProcess('1', cases, rounds)];
  const processes = Number(given.value('processes', outputs[0]?.hardware === 'cpu' ? '5' : '3'));
  while (outputs.length < processes) outputs.push(oneProcess(`${outputs.length + 1} of ${processes}`, cases, rounds));
  const { device, driver } = outputs[0] ?? {};
  const about = machine();
  console.log(`${device}, ${driver}; Node ${about.node}, commit ${about.commit}`);
  const record = {
    date: new Date().toISOString(),
    ...about,
    device,
    openclDriver: driver,
    command: commandLine('bench-opencl', args),
    kernels: table(cases.split(','), outputs),
    issue: issueTable(outputs),
    processes: outputs,
    seconds: Math.round((performance.now() - began) / 1000),
  };
  console.log(`${record.seconds} s`);
  const file = given.value('json', '');
  if (file !== '') writeFileSync(file, `${JSON.stringify(record)}\n`);
}

main();
