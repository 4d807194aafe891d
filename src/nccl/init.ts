/**
 * How communicators come about: `nccl.init` for one rank a process or worker, `nccl.initAll` for all of them in this thread.
 */
import { variable } from '../environment.ts';
import { NotSupportedError, TsambaRangeError, TsambaTypeError } from '../errors.ts';
import type { Context } from '../memory/context.ts';
import { cudaDevices } from '../memory/devices.ts';
import { probe } from '../memory/providers.ts';
import { readOptions } from '../options.ts';
import { show } from '../show.ts';
import { Communicator } from './communicator.ts';
import { launchedAs, USUAL_PORT } from './launcher.ts';
import { meet } from './links/hub.ts';
import { type Link, localLinks } from './links/link.ts';
import { initAllNative, initNative, uniqueId } from './native/init.ts';
import { ReferenceTransport } from './reference/transport.ts';
import type { TransportName } from './transport.ts';

/** Options of `nccl.init`; missing ones are read from the launcher's environment. */
export interface InitOptions {
  /** The number of this process, from 0. Default: the launcher's (`RANK`, Slurm's, Open MPI's), else 0. */
  readonly rank?: number | undefined;
  /** The number of processes. Default: the launcher's (`WORLD_SIZE`, …), else 1. */
  readonly size?: number | undefined;
  /** Where rank 0 listens and the others meet it: `host:port`. Default: `MASTER_ADDR` and `MASTER_PORT`, else this host alone. */
  readonly address?: string | undefined;
  /** A secret that all ranks share; required if `address` can be reached from other hosts. Default: `TSAMBA_NCCL_TOKEN`. */
  readonly token?: string | undefined;
  /** The result of `nccl.uniqueId()` on one rank, which the program has distributed to all others: ranks then need not meet. */
  readonly id?: string | undefined;
  /** Default: `TSAMBA_NCCL_TRANSPORT`, else `'nccl'`. */
  readonly transport?: TransportName | undefined;
  /** Which NVIDIA GPU to use. Default: the only one that the process sees, or the one numbered by its rank on this host. */
  readonly device?: number | undefined;
  /** Milliseconds that other ranks may keep this one waiting, at the meeting and in a call. Default: `TSAMBA_NCCL_TIMEOUT`, else 600 000. */
  readonly timeout?: number | undefined;
}

/** Options of `nccl.initAll`. */
export interface InitAllOptions {
  /** `'nccl'` or `'reference'`. Default: `TSAMBA_NCCL_TRANSPORT`, otherwise NCCL. */
  readonly transport?: TransportName | undefined;
  /** With the reference transport, the number of ranks on the current device; otherwise the number of GPUs, from the first on. */
  readonly size?: number | undefined;
  /** Milliseconds that other ranks may keep one waiting. Default: `TSAMBA_NCCL_TIMEOUT`, otherwise 600 000. */
  readonly timeout?: number | undefined;
}

const USUAL_TIMEOUT = 600_000;

/** `nccl.init`. */
export async function init(options?: InitOptions): Promise<Communicator> {
  const own = readOptions<InitOptions>('nccl.init', options, [
    'rank',
    'size',
    'address',
    'token',
    'id',
    'transport',
    'device',
    'timeout',
  ]);
  const launched = own.rank === undefined || own.size === undefined ? launchedAs() : undefined;
  const size = wholeNumber('size', own.size ?? launched?.size ?? 1, 1, 65_535);
  const rank = wholeNumber('rank', own.rank ?? launched?.rank ?? 0, 0, size - 1);
  const transport = transportOf(own.transport);
  const timeout = timeoutOf(own.timeout);
  if (own.id !== undefined) {
    if (transport !== 'nccl') {
      throw new TsambaTypeError(
        'E_NCCL_ARGUMENT',
        "nccl.init: an id is NCCL's; ranks of the reference transport meet at an address",
      );
    }
    const context = gpuOf(own.device, launched?.localRank ?? rank);
    return new Communicator(initNative({ rank, size, id: own.id, link: undefined, timeout, context }), context);
  }
  const context = transport === 'nccl' ? gpuOf(own.device, launched?.localRank ?? rank) : cudaDevices.currentContext();
  const link = await linkOf(rank, size, own, launched, timeout);
  if (transport === 'reference') return new Communicator(new ReferenceTransport(link, timeout), context);
  const id = await exchangedId(link, timeout);
  return new Communicator(initNative({ rank, size, id, link, timeout, context }), context);
}

/** `nccl.initAll`. */
export function initAll(options?: InitAllOptions): readonly Communicator[] {
  const own = readOptions<InitAllOptions>('nccl.initAll', options, ['transport', 'size', 'timeout']);
  const timeout = timeoutOf(own.timeout);
  if (transportOf(own.transport) === 'reference') {
    const size = wholeNumber('size', own.size ?? 1, 1, 1024);
    const context = cudaDevices.currentContext();
    return localLinks(size).map((link) => new Communicator(new ReferenceTransport(link, timeout), context));
  }
  const gpus = probe('nvidia');
  if (gpus.count === 0) throw noGpu(gpus.reason);
  const size = wholeNumber('size', own.size ?? gpus.count, 1, gpus.count);
  const contexts = Array.from({ length: size }, (_, index) => contextOf(index));
  contextOf(0);
  return initAllNative(contexts, timeout).map(
    (transport, rank) => new Communicator(transport, contexts[rank] as Context),
  );
}

function linkOf(
  rank: number,
  size: number,
  own: InitOptions,
  launched: ReturnType<typeof launchedAs>,
  timeout: number,
): Promise<Link> {
  if (size === 1) return Promise.resolve(localLinks(1)[0] as Link);
  const { host, port } = addressOf(own.address, launched ?? launchedAs());
  const token = own.token ?? variable('TSAMBA_NCCL_TOKEN') ?? '';
  return meet({ rank, size, host, port, token, timeout });
}

function addressOf(
  given: string | undefined,
  launched: ReturnType<typeof launchedAs>,
): { readonly host: string; readonly port: number } {
  if (given === undefined) {
    if (launched !== undefined && launched.host === undefined) {
      throw new TsambaTypeError(
        'E_NCCL_ARGUMENT',
        `nccl.init: ${launched.launcher} identifies this process, but does not say where the ranks meet: set MASTER_ADDR to the host of rank 0`,
      );
    }
    return { host: launched?.host ?? '127.0.0.1', port: launched?.port ?? USUAL_PORT };
  }
  const [, host = '', port = ''] = /^\[?([^\]]*?)\]?:(\d+)$/.exec(given) ?? [];
  if (host !== '' && Number(port) > 0 && Number(port) < 65_536) return { host, port: Number(port) };
  throw new TsambaTypeError('E_NCCL_ARGUMENT', `nccl.init: address is host:port, got ${show(given)}`);
}

async function exchangedId(link: Link, timeout: number): Promise<string> {
  if (link.rank !== 0) {
    const { payload } = await link.take(0, '!id', 'nccl.init', timeout);
    return new TextDecoder().decode(payload);
  }
  const id = uniqueId();
  for (let to = 1; to < link.size; to++) link.post(to, '!id', 'nccl.init', new TextEncoder().encode(id));
  return id;
}

function transportOf(given: unknown): TransportName {
  const name = given ?? variable('TSAMBA_NCCL_TRANSPORT') ?? 'nccl';
  if (name === 'nccl' || name === 'reference') return name;
  throw new TsambaTypeError('E_NCCL_ARGUMENT', `the transport is 'nccl' or 'reference', got ${show(name)}`);
}

function timeoutOf(given: unknown): number {
  const text = variable('TSAMBA_NCCL_TIMEOUT');
  const value = given ?? (text === undefined || text === '' ? USUAL_TIMEOUT : Number(text));
  return wholeNumber('timeout', value, 1, 2 ** 31 - 1);
}

function wholeNumber(name: string, value: unknown, least: number, most: number): number {
  if (Number.isInteger(value) && (value as number) >= least && (value as number) <= most) return value as number;
  throw new TsambaRangeError(
    'E_NCCL_ARGUMENT',
    `${name} must be an integer from ${least} to ${most}, got ${show(value)}`,
  );
}

/** The GPU of this process: the only one that it sees, else the one with its number on this host. It becomes the current device. */
function gpuOf(device: number | undefined, localRank: number): Context {
  const { count, reason } = probe('nvidia');
  if (count === 0) throw noGpu(reason);
  const index = device ?? (count === 1 ? 0 : localRank);
  if (device === undefined && index >= count) {
    throw new NotSupportedError(
      'E_NO_GPU',
      `rank ${localRank} of this host has no GPU of its own: the process sees ${count}; start as many processes as there are GPUs`,
    );
  }
  return contextOf(index);
}

function contextOf(index: number): Context {
  cudaDevices.select(index, undefined);
  return cudaDevices.currentContext();
}

function noGpu(reason: string | undefined): NotSupportedError {
  return new NotSupportedError(
    'E_NO_GPU',
    `NCCL needs NVIDIA GPUs (${reason ?? 'none was found'}); without one, transport: 'reference' or TSAMBA_NCCL_TRANSPORT=reference runs the ` +
      'same program between processes on any device, slowly',
  );
}
