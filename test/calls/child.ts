/**
 * Makes a range of the calls in a process of its own, so that a crash or a hang is seen and attributed: `child.ts <first> <step> <end> <progress file>`.
 * The number of the call in progress stands in the file; findings go to standard output, a line of JSON each.
 */
import { openSync, writeSync } from 'node:fs';
import { allCalls, describeCall, makeCall, prepareWorld } from './calls.ts';

const [first, step, end] = process.argv.slice(2, 5).map(Number) as [number, number, number];
const progress = openSync(process.argv[5] as string, 'r+');
const cell = Buffer.alloc(8);

function report(finding: object): void {
  writeSync(1, `${JSON.stringify(finding)}\n`);
}

let current = first;
let made = 0;
process.on('unhandledRejection', (error) => {
  report({ call: current, name: 'a promise that nobody waits for', what: String(error).slice(0, 300) });
});
// What calls print is not what this is about.
for (const method of ['log', 'warn', 'error', 'info', 'debug'] as const) console[method] = () => {};
process.removeAllListeners('warning');

const world = await prepareWorld();
const calls = allCalls();
for (; current < Math.min(end, calls.length); current += step) {
  cell.writeDoubleLE(current);
  writeSync(progress, cell, 0, 8, 0);
  const call = calls[current];
  if (call === undefined) break;
  const what = await makeCall(call, world);
  made++;
  if (what !== undefined) report({ call: current, name: describeCall(call), what });
}
report({ made });
cell.writeDoubleLE(-1);
writeSync(progress, cell, 0, 8, 0);
process.exit(0);
