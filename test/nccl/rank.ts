/**
 * One rank of the tests between processes: sums until it is told to stop, and says what went wrong.
 */
import { cuda } from '../../src/index.ts';
import { CommunicatorError, nccl } from '../../src/nccl/index.ts';

const [mode = 'sum'] = process.argv.slice(2);
cuda.selectDevice('cpu');
const comm = await nccl.init({ transport: 'reference', timeout: 20_000 });
const x = cuda.toDevice(Float64Array.of(comm.rank + 1, 0.1 * (comm.rank + 1)));
await comm.allReduce(x);
console.log(`rank ${comm.rank} of ${comm.size}: ${x.copyToHost().join(' ')}`);
if (mode === 'sum') {
  await comm.dispose();
} else {
  try {
    // Rank 1 stops taking part, and is killed where it stands.
    if (comm.rank === 1) await new Promise(() => setInterval(() => undefined, 1000));
    for (;;) await comm.allReduce(x, { op: 'max' });
  } catch (error) {
    if (!(error instanceof CommunicatorError)) throw error;
    console.log(`${error.code} ${error.rank}`);
    process.exitCode = 3;
  }
}
