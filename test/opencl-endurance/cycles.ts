/**
 * A process that does one thing very often on the OpenCL device, and prints by how much it grew meanwhile, as JSON: bytes of the
 * process, and bytes of allocations that are left.
 *
 *   node --expose-gc cycles.mjs <launches | registrations> <times>, bundled
 */
import { type f32, roc, type Vec } from '../../src/index.ts';

const [what, times = '1000'] = process.argv.slice(2);
const add = roc.jit((x: Vec<f32>, y: Vec<f32>, k: number) => {
  const i = roc.getGlobalId(0);
  if (i < x.length) y[i] += k * x[i];
});

/** Work that leaves nothing, so many times. */
type Work = (times: number) => Promise<void>;

/**
 * Engines keep what weak references were asked for until the program comes to its event loop, as programs that run long do; and
 * garbage, until there is more of it.
 */
async function rest(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 1));
  globalThis.gc?.();
}

function launches(): Work {
  const [x, y] = [roc.toDevice(new Float32Array(64).fill(1)), roc.toDevice(new Float32Array(64))];
  let sum = 0;
  return async (n) => {
    for (let k = 0; k < n; k++) {
      add.launch({ grid: 2, block: 32 }, x, y, k % 2 === 0 ? 1 : 2);
      sum += k % 2 === 0 ? 1 : 2;
      // Floats count exactly up to 2^24.
      if (k % 1000 !== 999) continue;
      roc.synchronize();
      await rest();
    }
    const left = y.copyToHost() as Float32Array;
    if (left.some((v) => v !== sum)) throw new Error(`${left[0]} instead of ${sum}`);
  };
}

function registrations(): Work {
  const [x, y] = [new Float32Array(64).fill(1), new Float32Array(64)];
  let sum = 0;
  return async (n) => {
    for (let k = 0; k < n; k++) {
      roc.register(x, y);
      if (k % 10 === 0) {
        add.launch({ grid: 2, block: 32 }, x, y, 1);
        sum++;
      }
      roc.deregister(x, y);
      if (k % 1000 === 999) await rest();
    }
    roc.synchronize();
    if (y.some((v) => v !== sum)) throw new Error(`${y[0]} instead of ${sum}`);
  };
}

if (what !== 'launches' && what !== 'registrations') throw new Error(`'${what}' cannot be done often`);
const work = { launches, registrations }[what]();
const count = Number(times);
const bytes = (): number => process.memoryUsage().rss;
const live = (): number => roc.memoryStats().live;
await work(Math.ceil(count / 2));
await rest();
const before = { bytes: bytes(), live: live() };
await work(count);
await rest();
process.stdout.write(JSON.stringify({ grown: bytes() - before.bytes, live: live() - before.live }));
