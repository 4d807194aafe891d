/**
 * A pool of worker threads: each takes a job when it is done with the last, and has a device of its own: on several GPUs one each, else the CPU device on one thread.
 *
 *     npx tsx examples/apps/worker-pool.ts [jobs] [paths] [workers]
 */
import { availableParallelism } from 'node:os';
import { isMainThread, parentPort, threadId, Worker } from 'node:worker_threads';
import { cuda, type f64, type Vec } from '../../src/index.ts';

/** An option to be priced: a right to buy at `strike` in a year. */
interface Job {
  readonly strike: number;
  readonly paths: number;
}

interface Priced {
  readonly job: Job;
  readonly price: number;
  readonly worker: number;
}

const payoffs = cuda.jit((sums: Vec<f64>, strike: number, paths: number) => {
  const stride = cuda.gridSize(1);
  let own = 0;
  for (let path = cuda.grid(1); path < paths; path += stride) {
    const [a, b] = cuda.random.philox([7, 0], [path, 0, 0, 0]);
    const normal = Math.sqrt(-2 * Math.log((a + 0.5) / 2 ** 32)) * Math.cos((2 * Math.PI * b) / 2 ** 32);
    own += Math.max(0, 100 * Math.exp(0.05 - 0.02 + 0.2 * normal) - strike);
  }
  sums[cuda.grid(1)] = own;
});

/** What a worker runs: this file, which tsx has to read for it while it is TypeScript. */
const PROGRAM = import.meta.url.endsWith('.ts')
  ? `import('tsx/esm/api').then(({ register }) => (register(), import(${JSON.stringify(import.meta.url)})))`
  : `import(${JSON.stringify(import.meta.url)})`;

/** In a worker: prices what comes. */
async function price({ strike, paths }: Job): Promise<number> {
  using sums = cuda.deviceArray(1024, 'float64');
  await payoffs.launchAsync({ grid: 8, block: 128 }, sums, strike, paths);
  const parts = (await sums.copyToHostAsync()) as Float64Array;
  return (Math.exp(-0.05) * parts.reduce((a, b) => a + b)) / paths;
}

function work(): void {
  const { gpus } = cuda;
  if (gpus.length > 1) cuda.selectDevice(threadId % gpus.length);
  parentPort?.on('message', async (job: Job) => {
    const priced: Priced = { job, price: await price(job), worker: threadId };
    parentPort?.postMessage(priced);
  });
}

/** Gives the jobs to workers, the next to whoever is free; resolves with all results, in the order of the jobs. */
function inPool(jobs: readonly Job[], workers: number): Promise<readonly Priced[]> {
  const results = new Map<Job, Priced>();
  const waiting = [...jobs];
  return new Promise((resolve, reject) => {
    const pool = Array.from({ length: Math.min(workers, jobs.length) }, () => {
      const worker = new Worker(PROGRAM, {
        eval: true,
        // The workers are what computes at the same time.
        env: { TSAMBA_CPU_THREADS: '1', ...process.env },
      });
      let current: Job | undefined;
      const next = (): void => {
        current = waiting.shift();
        if (current !== undefined) worker.postMessage(current);
      };
      worker.on('message', (priced: Priced) => {
        // Messages are copies: the job is known here.
        if (current !== undefined) results.set(current, priced);
        next();
        if (results.size < jobs.length) return;
        for (const one of pool) void one.terminate();
        resolve(jobs.map((job) => results.get(job) as Priced));
      });
      worker.once('error', reject);
      next();
      return worker;
    });
  });
}

if (isMainThread) {
  const [count = 12, paths = 1_000_000, workers = availableParallelism()] = process.argv.slice(2).map(Number);
  const jobs = Array.from({ length: count }, (_, k) => ({ strike: 80 + (40 * k) / Math.max(count - 1, 1), paths }));
  const began = performance.now();
  const results = await inPool(jobs, workers);
  const seconds = (performance.now() - began) / 1000;
  for (const { job, price: value } of results) console.log(`strike ${job.strike.toFixed(2)}: ${value.toFixed(3)}`);
  const busy = new Set(results.map(({ worker }) => worker)).size;
  console.log(`${count} jobs by ${busy} workers in ${seconds.toFixed(2)} s`);
} else work();
