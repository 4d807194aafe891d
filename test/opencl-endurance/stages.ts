/**
 * A process that ends at a stage of what programs do with an OpenCL device, by coming to its end or by `process.exit()`.
 *
 *   node stages.mjs <stage> [exit], bundled
 */
import { Worker } from 'node:worker_threads';
import { openclProvider, openOpenCL } from '../../src/driver/opencl/index.ts';
import { loadOpenCL } from '../../src/driver/opencl/library.ts';
import { f32, roc, type Vec } from '../../src/index.ts';

const [stage, exit] = process.argv.slice(2);

const long = roc.jit((x: Vec<f32>, rounds: number) => {
  const i = roc.getGlobalId(0);
  let v = x[i];
  for (let k = 0; k < rounds; k++) v = v * f32(0.5) + f32(1);
  x[i] = v;
});
/** Half a second or so. */
const launchLong = (x: ReturnType<typeof memory>): void => long.launch({ grid: 64, block: 64 }, x, 100_000);
const memory = () => roc.toDevice(new Float32Array(4096));

const STAGES: Readonly<Record<string, () => unknown>> = {
  loaded: () => loadOpenCL(),
  probed: () => openclProvider.probe(),
  opened: () => openOpenCL(0),
  allocated: () => memory(),
  stream: () => roc.stream(),
  registered: () => roc.register(new Float32Array(64)),
  compiling: () => launchLong(memory()),
  'work in flight': () => {
    const x = memory();
    launchLong(x);
    roc.synchronize();
    for (let k = 0; k < 5; k++) launchLong(x);
  },
  'a copy in flight': () => {
    const stream = roc.stream();
    const x = memory();
    launchLong(x);
    x.copyToDevice(new Float32Array(4096), { stream });
  },
  waiting: () => {
    const stream = roc.stream();
    long.launch({ grid: 64, block: 64, stream }, memory(), 100_000);
    void stream.done();
  },
  closed: () => {
    launchLong(memory());
    roc.close();
  },
  'an error': () => {
    try {
      roc.toDevice(new Float32Array(4)).copyToDevice(new Float32Array(5));
    } catch {
      // That is what this stage is after.
    }
  },
  'in a worker': () => new Worker(new URL(import.meta.url), { argv: ['work in flight'] }),
};

const reach = STAGES[stage ?? ''];
if (reach === undefined) throw new Error(`there is no stage '${stage}': ${Object.keys(STAGES).join(', ')}`);
reach();
if (exit === 'exit') process.exit();
