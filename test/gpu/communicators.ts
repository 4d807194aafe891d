/**
 * NCCL on all GPUs of this host: every call between processes, in one process and between workers; ranks that are killed or never come.
 */

import { cuda, f32 } from '../../src/index.ts';
import { CommunicatorError, nccl } from '../../src/nccl/index.ts';
import { same } from '../../testsuite/assert.ts';
import { rank } from '../nccl/rank.ts';
import { freePort } from '../support/free-port.ts';
import { type Child, runTask, startTask } from './child.ts';
import { errand, inWorker } from './errands.ts';
import { type GpuModule, skip } from './suite.ts';

await runTask({
  'nccl: all': () => rank('all', 'nccl'),
  'nccl: until killed': () => rank('until killed', 'nccl'),
  'nccl: late': late,
});

/** A rank whose partner never calls. */
async function late(): Promise<void> {
  const comm = await nccl.init({ timeout: 1500 });
  const x = cuda.toDevice(Float32Array.of(1));
  await comm.allReduce(x);
  await comm.barrier();
  console.log(`rank ${comm.rank} is here`);
  if (comm.rank === 1) await new Promise((resolve) => setTimeout(resolve, 6000));
  const outcome = await comm
    .allReduce(x)
    .then(() => comm.barrier())
    .then(
      () => 'no error',
      (error: unknown) => (error instanceof CommunicatorError ? `${error.code} ${error.rank}` : String(error)),
    );
  console.log(outcome);
}

/** A rank in a worker thread: the id has come with the environment. */
const worker = errand('a rank in a worker', async () => {
  const { TSAMBA_TEST_RANK = '', TSAMBA_TEST_SIZE = '', TSAMBA_TEST_ID = '' } = process.env;
  const comm = await nccl.init({ rank: Number(TSAMBA_TEST_RANK), size: Number(TSAMBA_TEST_SIZE), id: TSAMBA_TEST_ID });
  const x = cuda.toDevice(Float32Array.of(comm.rank + 1, 2));
  await comm.allReduce(x);
  const values = Array.from(await x.copyToHostAsync());
  await comm.dispose();
  return values;
});

function gpus(): number {
  if (cuda.gpus.length < 2) skip('there is one GPU');
  return cuda.gpus.length;
}

async function start(task: string, size: number): Promise<readonly Child[]> {
  const port = await freePort();
  return Array.from({ length: size }, (_, k) =>
    startTask(task, {
      RANK: String(k),
      LOCAL_RANK: String(k),
      WORLD_SIZE: String(size),
      MASTER_ADDR: '127.0.0.1',
      MASTER_PORT: String(port),
      TSAMBA_NCCL_TOKEN: 'secret',
    }),
  );
}

/** All lines that a process prints until one fits. */
async function until(child: Child, fits: (line: string) => boolean): Promise<readonly string[]> {
  const lines: string[] = [];
  for (;;) {
    const line = await child.line();
    lines.push(line);
    if (fits(line)) return lines;
  }
}

const freeMemory = (): number[] =>
  cuda.gpus.map((gpu) => gpu.activate(() => Number(cuda.currentContext().memoryInfo().free)));

async function inOneProcess(): Promise<string> {
  const size = gpus();
  // The first communicators load NCCL's kernels, which stay.
  await sumsAndRings(size);
  const before = freeMemory();
  await sumsAndRings(size);
  await sumsAndRings(size);
  const kept = Math.max(...freeMemory().map((free, k) => (before[k] as number) - free)) / 2 ** 20;
  if (kept > 32) throw new Error(`two rounds of communicators kept ${kept} MiB of a GPU`);
  return `two rounds of communicators kept ${kept.toFixed(0)} MiB`;
}

async function sumsAndRings(size: number): Promise<void> {
  const comms = nccl.initAll();
  same(comms.length, size);
  const arrays = comms.map((comm) =>
    (cuda.gpus[comm.rank] as (typeof cuda.gpus)[number]).activate(() =>
      cuda.toDevice(Float32Array.of(comm.rank + 1, 10 * comm.rank)),
    ),
  );
  for (let round = 0; round < 3; round++) {
    await nccl.group(() => Promise.all(comms.map((comm, k) => comm.allReduce(arrays[k] as (typeof arrays)[0]))));
  }
  const total = (first: number): number => first * size ** 2;
  for (const array of arrays) {
    const [a, b] = array.copyToHost();
    same(a, total((size * (size + 1)) / 2));
    same(b, total(5 * size * (size - 1)));
    array.dispose();
  }
  // In a ring, each with its neighbour.
  const rings = cuda.gpus.map((gpu, k) =>
    gpu.activate(() => [cuda.toDevice(Float32Array.of(k)), cuda.deviceArray(1, f32)] as const),
  );
  await nccl.group(() =>
    Promise.all(
      comms.flatMap((comm, k) => [
        comm.send(rings[k]?.[0] as never, (k + 1) % size),
        comm.recv(rings[k]?.[1] as never, (k + size - 1) % size),
      ]),
    ),
  );
  rings.forEach(([from, to], k) => {
    same(to.copyToHost()[0], (k + size - 1) % size);
    from.dispose();
    to.dispose();
  });
  await Promise.all(comms.map((comm) => comm.dispose()));
}

async function betweenProcesses(): Promise<string> {
  const children = await start('nccl: all', gpus());
  const texts = await Promise.all(
    children.map(async (child) => (await until(child, (line) => / checks, /.test(line))).slice(1)),
  );
  for (const lines of texts) same(lines.at(-1)?.endsWith(' 0 failed'), true, lines.join('\n'));
  await Promise.all(children.map(({ ended }) => ended));
  return texts[0]?.at(-1) ?? '';
}

async function killed(): Promise<string> {
  const children = await start('nccl: until killed', gpus());
  await Promise.all(children.map((child) => until(child, (line) => line.startsWith('rank '))));
  await new Promise((resolve) => setTimeout(resolve, 500));
  const began = performance.now();
  children[1]?.kill('SIGKILL');
  for (const [k, child] of children.entries()) {
    if (k === 1) continue;
    same(await child.line(), 'E_NCCL_LOST 1');
  }
  const took = performance.now() - began;
  await Promise.all(children.map(({ ended }) => ended));
  return `told after ${took.toFixed(0)} ms, and ended after ${(performance.now() - began).toFixed(0)} ms`;
}

async function kept(): Promise<string> {
  const children = await start('nccl: late', gpus());
  const outcomes = await Promise.all(
    children.map(async (child) => (await until(child, (line) => /E_|error/.test(line))).at(-1)),
  );
  same(outcomes[0], 'E_NCCL_TIMEOUT 0');
  await Promise.all(children.map(({ ended }) => ended));
  return outcomes.join(', ');
}

async function inWorkers(): Promise<void> {
  const size = gpus();
  const id = nccl.uniqueId();
  const results = await Promise.all(
    Array.from({ length: size }, (_, k) =>
      inWorker(worker, {
        TSAMBA_TEST_RANK: String(k),
        TSAMBA_TEST_SIZE: String(size),
        TSAMBA_TEST_ID: id,
      }),
    ),
  );
  for (const result of results) same(JSON.stringify(result), JSON.stringify([(size * (size + 1)) / 2, 2 * size]));
}

export const communicatorTests: GpuModule = {
  chapter: 'nvidia communicators',
  tests: [
    { name: 'all GPUs in one process', run: inOneProcess },
    { name: 'every call, operator and type, in a process for each GPU', run: betweenProcesses, seconds: 120 },
    { name: 'a rank in a worker for each GPU', run: inWorkers },
    { name: 'a rank that is killed in a collective is named by the others, which end', run: killed },
    { name: 'a rank that does not call is not waited for longer than the time-out', run: kept },
  ],
};
