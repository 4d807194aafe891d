/**
 * One rank of the tests between processes: sums, makes every call there is, or sums until it is told to stop and says what went wrong.
 */
import { pathToFileURL } from 'node:url';
import { cuda } from '../../src/index.ts';
import { CommunicatorError, nccl } from '../../src/nccl/index.ts';
import { collectives } from './collectives.ts';

/** What `mode` asks for. On the reference transport ranks compute on the CPU device. */
export async function rank(mode: string, transport: 'nccl' | 'reference'): Promise<void> {
  if (transport === 'reference') cuda.selectDevice('cpu');
  const comm = await nccl.init({ transport, timeout: 20_000 });
  const x = cuda.toDevice(Float64Array.of(comm.rank + 1, 0.1 * (comm.rank + 1)));
  await comm.allReduce(x);
  console.log(`rank ${comm.rank} of ${comm.size}: ${x.copyToHost().join(' ')}`);
  if (mode === 'sum') return comm.dispose();
  if (mode === 'all') {
    const { lines, checks } = await collectives(comm);
    console.log([...lines, `${checks} checks, ${lines.length} failed`].join('\n'));
    if (lines.length > 0) process.exitCode = 1;
    return comm.dispose();
  }
  try {
    // Rank 1 stops taking part, and is killed where it stands.
    if (comm.rank === 1) await new Promise(() => setInterval(() => undefined, 1000));
    for (;;) {
      await comm.allReduce(x, { op: 'max' });
      await comm.barrier();
    }
  } catch (error) {
    if (!(error instanceof CommunicatorError)) throw error;
    console.log(`${error.code} ${error.rank}`);
    process.exitCode = 3;
  }
}

const [, script = '', mode = 'sum'] = process.argv;
if (import.meta.url === pathToFileURL(script).href && script.endsWith('rank.mjs')) await rank(mode, 'reference');
