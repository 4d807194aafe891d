/**
 * The benchmark of the memory model, as one file: `node bench-memory.mjs`. On the current device (TSAMBA_DEVICE).
 *
 *   --json FILE   keeps the figures
 */
import { writeFileSync } from 'node:fs';
import { cuda } from 'tsamba';
import { commandLine, machine } from '../../test/gpu/machine.ts';
import { readOptions } from '../options.ts';
import { chains, elements, rowCopies, views } from './costs.ts';

const args = process.argv.slice(2);
const file = readOptions('memory', 'node bench-memory.mjs').value('json', '');
const { name, kind } = cuda.currentDevice();
const about = machine();
console.log(`${name}; Node ${about.node}, commit ${about.commit}`);

/** Microseconds, each with what it must stay below, if anything. */
function calls(us: Readonly<Record<string, number>>, most: number): void {
  for (const [call, value] of Object.entries(us)) {
    console.log(`${call.padEnd(24)} ${value.toFixed(2).padStart(7)} µs${value < most ? '' : `  NOT below ${most}`}`);
  }
}

const record: Record<string, unknown> = {
  date: new Date().toISOString(),
  ...about,
  device: name,
  command: commandLine('bench-memory', args),
};
const ofViews = views();
calls(ofViews, 2);
const ofElements = elements();
calls(ofElements, 12);
record['µs'] = { ...ofViews, ...ofElements };

const all = chains();
record['chains'] = all;
for (const { bytes, kernels, smart, manual, smartMs, manualMs, ratio } of all) {
  console.log(
    `${kernels} kernels on ${bytes / 1024} KiB: SmartArray ${smartMs.toFixed(3)} ms, by hand ${manualMs.toFixed(3)}, ratio ${ratio.toFixed(3)}; ` +
      `copies and bytes [${smart}] and [${manual}]`,
  );
}

// Where the device has memory of its own.
if (kind === 'nvidia') {
  const rows = rowCopies();
  record['rows'] = rows;
  for (const { what, rowBytes, strided, contiguous } of rows) {
    console.log(
      `${what.padEnd(20)} of ${String(rowBytes).padStart(6)} bytes: ${strided.toFixed(1).padStart(6)} GB/s, one block ${contiguous.toFixed(1)}, ratio ${(strided / contiguous).toFixed(2)}`,
    );
  }
}
if (file !== '') writeFileSync(file, `${JSON.stringify(record)}\n`);
