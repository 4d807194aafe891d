/**
 * `tsamba run`: starts a program as many times as there are GPUs, tells each process who it is, prefixes what they print, and ends all of them
 * when one fails.
 */
import { TsambaTypeError } from '../errors.ts';
import { nodeModule } from '../host/index.ts';
import { probe } from '../memory/providers.ts';
import { type Command, helpOf } from './command-line.ts';
import { programCommand } from './program.ts';
import { Ranks } from './ranks.ts';

export const RUN_USAGE =
  '[--gpus n] [--nodes n --rank k --address host:port] [--transport nccl|reference] program [arguments]';

/** What the command line says. */
export interface RunOptions {
  /** Processes of this host. */
  readonly gpus: number;
  readonly nodes: number;
  /** The number of this host. */
  readonly node: number;
  readonly address: string | undefined;
  readonly transport: 'nccl' | 'reference' | undefined;
  readonly program: string;
  readonly args: readonly string[];
}

const NAMES = ['gpus', 'nodes', 'rank', 'address', 'transport'] as const;

/** Reads a command line. Throws TypeError that says what is wrong with it. */
export function parseRun(args: readonly string[], gpusHere: () => number): RunOptions {
  const given: Partial<Record<(typeof NAMES)[number], string>> = {};
  let at = 0;
  for (; at < args.length && args[at]?.startsWith('--'); at++) {
    const [, key = '', inline] = /^--([^=]*)(?:=(.*))?$/.exec(args[at] ?? '') ?? [];
    const name = NAMES.find((known) => known === key);
    if (name === undefined) throw wrong(`there is no option --${key}; tsamba run ${RUN_USAGE}`);
    given[name] = inline ?? args[++at] ?? '';
  }
  const [program, ...rest] = args.slice(at);
  if (program === undefined) throw wrong(`which program? tsamba run ${RUN_USAGE}`);
  const { transport, address } = given;
  if (transport !== undefined && transport !== 'nccl' && transport !== 'reference') {
    throw wrong(`--transport is nccl or reference, got ${transport}`);
  }
  const nodes = count('nodes', given.nodes ?? '1', 1);
  const node = count('rank', given.rank ?? '0', 0);
  if (node >= nodes) throw wrong(`--rank is the number of this host, from 0 to ${nodes - 1}, got ${node}`);
  if (nodes > 1 && address === undefined)
    throw wrong('several hosts need --address host:port, where rank 0 is reached');
  const gpus = given.gpus === undefined ? gpusHere() : count('gpus', given.gpus, 1);
  return { gpus, nodes, node, address, transport, program, args: rest };
}

function count(name: string, text: string, least: number): number {
  if (/^\d+$/.test(text) && Number(text) >= least) return Number(text);
  throw wrong(`--${name} must be an integer of at least ${least}, got ${text === '' ? 'nothing' : text}`);
}

function wrong(message: string): TsambaTypeError {
  return new TsambaTypeError('E_OPTION', message);
}

/** What each process is told: what launchers say, and where its GPU is. */
export function environmentOf(
  { gpus, nodes, node, transport }: RunOptions,
  local: number,
  meeting: { readonly host: string; readonly port: number; readonly token: string },
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string | undefined> {
  const chosen = transport ?? env['TSAMBA_NCCL_TRANSPORT'];
  const visible = env['CUDA_VISIBLE_DEVICES']?.split(',').filter((name) => name.trim() !== '');
  return {
    ...env,
    RANK: String(node * gpus + local),
    WORLD_SIZE: String(nodes * gpus),
    LOCAL_RANK: String(local),
    LOCAL_WORLD_SIZE: String(gpus),
    MASTER_ADDR: meeting.host,
    MASTER_PORT: String(meeting.port),
    TSAMBA_NCCL_TOKEN: meeting.token,
    ...(chosen === undefined ? {} : { TSAMBA_NCCL_TRANSPORT: chosen }),
    // Each process sees its own GPU alone; without GPUs there is nothing to share out.
    ...(chosen === 'reference' ? {} : { CUDA_VISIBLE_DEVICES: visible?.[local] ?? String(local) }),
  };
}

/** The command. Resolves to its exit code: that of the process that failed first. */
export async function run(args: readonly string[]): Promise<number> {
  const options = parseRun(args, () => Math.max(probe('nvidia').count, 1));
  const command = programCommand(options.program);
  const meeting = { ...(await placeOf(options)), token: tokenOf(options) };
  const ranks = new Ranks();
  for (let local = 0; local < options.gpus; local++) {
    const rank = options.node * options.gpus + local;
    ranks.start(rank, [...command, ...options.args], environmentOf(options, local, meeting, process.env));
  }
  return ranks.ended;
}

function tokenOf({ nodes }: RunOptions): string {
  const given = process.env['TSAMBA_NCCL_TOKEN'] ?? '';
  if (given !== '') return given;
  if (nodes === 1) return nodeModule('node:crypto').randomBytes(16).toString('hex');
  throw wrong(
    'processes of several hosts need the same secret: set TSAMBA_NCCL_TOKEN on all of them, to the output of openssl rand -hex 16',
  );
}

async function placeOf({ address }: RunOptions): Promise<{ readonly host: string; readonly port: number }> {
  if (address !== undefined) {
    const [, host = '', port = ''] = /^\[?([^\]]*?)\]?:(\d+)$/.exec(address) ?? [];
    if (host === '' || Number(port) < 1 || Number(port) > 65_535) throw wrong(`--address is host:port, got ${address}`);
    return { host, port: Number(port) };
  }
  // A port that is free now; nobody else is told of it.
  const server = nodeModule('node:net').createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { readonly port: number };
  await new Promise((resolve) => server.close(resolve));
  return { host: '127.0.0.1', port };
}

const SUMMARY = 'starts a program once for each GPU, as ranks of tsamba/nccl';

export const runCommand: Command = {
  usage: RUN_USAGE,
  summary: SUMMARY,
  help: helpOf(
    `tsamba run ${RUN_USAGE}`,
    SUMMARY,
    {
      gpus: { value: 'n', help: 'processes on this host; default: one for each GPU' },
      nodes: { value: 'n', help: 'how many hosts take part' },
      rank: { value: 'k', help: 'the number of this host, from 0' },
      address: { value: 'host:port', help: 'where rank 0 can be reached' },
      transport: { value: 'nccl|reference', help: 'how ranks exchange data' },
    },
    'Arguments after the program are passed on to it. Exit code: that of the process that failed first, otherwise 0.',
  ),
  run,
};
