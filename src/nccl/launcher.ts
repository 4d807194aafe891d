/**
 * Who this process is, as launchers say it: by `npx tsamba run`, torchrun and Kubernetes' operators (RANK, WORLD_SIZE, MASTER_ADDR, …), Slurm,
 * Open MPI, and what speaks PMI (MPICH, Intel MPI).
 */
import { type Environment, variable } from '../environment.ts';
import { TsambaTypeError } from '../errors.ts';

/** What a launcher says; nothing is invented. */
export interface LaunchedAs {
  /** The variables that were read, for messages. */
  readonly launcher: 'RANK' | 'SLURM_PROCID' | 'OMPI_COMM_WORLD_RANK' | 'PMI_RANK';
  readonly rank: number;
  readonly size: number;
  /** Among the processes of this host; 0 where nobody says. */
  readonly localRank: number;
  readonly host: string | undefined;
  readonly port: number | undefined;
}

interface Names {
  readonly launcher: LaunchedAs['launcher'];
  readonly size: string;
  readonly local: string;
  /** How many processes this host has. */
  readonly localSize: string;
}

const LAUNCHERS: readonly Names[] = [
  { launcher: 'RANK', size: 'WORLD_SIZE', local: 'LOCAL_RANK', localSize: 'LOCAL_WORLD_SIZE' },
  {
    launcher: 'OMPI_COMM_WORLD_RANK',
    size: 'OMPI_COMM_WORLD_SIZE',
    local: 'OMPI_COMM_WORLD_LOCAL_RANK',
    localSize: 'OMPI_COMM_WORLD_LOCAL_SIZE',
  },
  { launcher: 'SLURM_PROCID', size: 'SLURM_NTASKS', local: 'SLURM_LOCALID', localSize: 'SLURM_NTASKS_PER_NODE' },
  { launcher: 'PMI_RANK', size: 'PMI_SIZE', local: 'MPI_LOCALRANKID', localSize: 'MPI_LOCALNRANKS' },
];

/** The port where ranks meet unless something else is said. */
export const USUAL_PORT = 29_400;

/** What the launcher of this process says; undefined where none has started it. Throws TypeError for what makes no sense. */
export function launchedAs(env?: Environment): LaunchedAs | undefined {
  for (const names of LAUNCHERS) {
    const rank = wholeNumber(names.launcher, env);
    const size = wholeNumber(names.size, env);
    // Slurm sets both for the batch script too, which is one process whatever the job has.
    if (rank === undefined || size === undefined || isBatchScript(names, env)) continue;
    if (rank >= size) {
      throw new TsambaTypeError(
        'E_NCCL_ARGUMENT',
        `${names.launcher}=${rank} is not a rank: ${names.size}=${size}, and ranks start at 0`,
      );
    }
    const isOneHost = wholeNumber(names.localSize, env) === size;
    const localRank = wholeNumber(names.local, env) ?? 0;
    return { launcher: names.launcher, rank, size, localRank, host: hostOf(names, isOneHost, env), port: portOf(env) };
  }
  return undefined;
}

function isBatchScript({ launcher }: Names, env: Environment | undefined): boolean {
  return launcher === 'SLURM_PROCID' && given('SLURM_STEP_ID', env) === undefined;
}

function given(name: string, env: Environment | undefined): string | undefined {
  const text = env === undefined ? variable(name) : variable(name, env);
  return text === undefined || text.trim() === '' ? undefined : text.trim();
}

function wholeNumber(name: string, env: Environment | undefined): number | undefined {
  const text = given(name, env);
  if (text === undefined) return undefined;
  // Slurm writes 4(x2),3 for numbers of tasks on nodes.
  if (/^\d+$/.test(text)) return Number(text);
  if (name === 'SLURM_NTASKS_PER_NODE') return undefined;
  throw new TsambaTypeError('E_NCCL_ARGUMENT', `${name}=${text} is not a number`);
}

function hostOf({ launcher }: Names, isOneHost: boolean, env: Environment | undefined): string | undefined {
  const named = given('MASTER_ADDR', env);
  if (named !== undefined) return named;
  if (launcher === 'SLURM_PROCID') {
    const nodes = given('SLURM_STEP_NODELIST', env) ?? given('SLURM_JOB_NODELIST', env);
    if (nodes !== undefined && given('SLURM_STEP_NUM_NODES', env) !== '1') return firstHost(nodes);
    if (nodes !== undefined) return '127.0.0.1';
  }
  return isOneHost ? '127.0.0.1' : undefined;
}

/** `gpu07` of `gpu[07-12,20],other3`, as Slurm writes lists of hosts. */
export function firstHost(list: string): string {
  const [, prefix = '', inner, suffix = ''] = /^([^,[]*)(?:\[([^\]]*)\])?([^,[]*)/.exec(list) ?? [];
  const first = inner?.split(/[-,]/)[0] ?? '';
  return `${prefix}${first}${suffix}`;
}

function portOf(env: Environment | undefined): number | undefined {
  const own = wholeNumber('TSAMBA_NCCL_PORT', env);
  if (own !== undefined) return own;
  const master = wholeNumber('MASTER_PORT', env);
  if (master !== undefined) {
    // torchrun itself listens at its port.
    return given('TORCHELASTIC_RUN_ID', env) === undefined ? master : master + 1;
  }
  const job = wholeNumber('SLURM_JOB_ID', env);
  // Jobs of one host do not meet each other.
  return job === undefined ? undefined : 20_000 + (job % 10_000);
}
