/**
 * `node tools/first-kernel.mjs LIBRARY`: runs a kernel as programs do at first, and prints which functions of the library that
 * called: their names by chunk, as JSON.
 */
import { Session } from 'node:inspector/promises';
import { pathToFileURL } from 'node:url';

const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

const { cuda } = await import(pathToFileURL(process.argv[2]).href);
const x = Float32Array.of(1, 2, 3, 4);
const saxpy = cuda.jit((a, x, y) => {
  const i = cuda.grid(1);
  if (i < y.length) y[i] = a * x[i] + y[i];
});
const y = cuda.toDevice(x);
saxpy.launch({ grid: 1, block: 32 }, 2, cuda.InOut(x), y);
if (y.copyToHost()[3] !== 12) throw new Error('the first kernel is wrong');

const { result } = await session.post('Profiler.takePreciseCoverage');
const called = {};
for (const { url, functions } of result) {
  // What comes behind the name is a hash of eight characters, `-` among them.
  const [, chunk] = /\/chunks\/(.+)-.{8}\.js$/.exec(url) ?? [];
  if (chunk === undefined) continue;
  called[chunk] ??= [];
  called[chunk].push(...functions.filter(({ ranges: [{ count }] }) => count > 0).map((f) => f.functionName));
}
if (!Object.values(called).some((names) => names.includes('compileKernel')))
  throw new Error(`no compiler in the chunks ${Object.keys(called)}`);
console.log(JSON.stringify(called));
