/**
 * All-reduce with a process for each GPU: what `main.ts` starts as often as there are GPUs. Rank 0 prints the rows, as JSON.
 */
import { cuda, u8 } from '../../src/index.ts';
import { nccl } from '../../src/nccl/index.ts';
import { ID_BYTES } from '../../src/nccl/native/library.ts';
import { sumOfRank } from './raw.ts';
import { LENGTHS, table } from './timed.ts';

const [rounds = '20'] = process.argv.slice(2);
const comm = await nccl.init();
const stream = cuda.stream();
const raw = await sumOfRank(comm, cuda.deviceArray(ID_BYTES, u8), stream);
const rows = await table(
  LENGTHS,
  {
    comms: [comm],
    ranks: comm.size,
    finish: () => stream.synchronize(),
    ours: ([array]) => comm.allReduce(array as NonNullable<typeof array>, { stream }),
    raw,
    rounds: Number(rounds),
  },
  () => undefined,
);
if (comm.rank === 0) console.log(`rows ${JSON.stringify(rows)}`);
await comm.barrier();
// The communicator of NCCL's own calls is nobody's: the process ends with it.
process.exit(0);
