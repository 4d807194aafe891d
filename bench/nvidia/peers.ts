/**
 * The processes of the NVIDIA benchmark: Tsamba's own workers and the peers, which are compiled where they run. A peer that the
 * machine cannot run is left out, and it is said why.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SideOutput } from './spec.ts';

export type Side = 'tsamba' | 'cuda' | 'numba';

const here = fileURLToPath(new URL('.', import.meta.url));
const PEERS = [join(here, 'peers'), join(here, '../peers')].find((path) => existsSync(path)) ?? 'peers';

export class Peers {
  readonly #folder = mkdtempSync(join(tmpdir(), 'tsamba-bench-'));
  /** The sides that this machine can run. */
  readonly sides: Side[] = ['tsamba'];
  readonly missing: string[] = [];

  constructor(wanted: readonly Side[]) {
    if (wanted.includes('cuda')) {
      this.#try('cuda', 'nvcc', [
        '-O3',
        '-arch=native',
        '-o',
        join(this.#folder, 'cases'),
        join(PEERS, 'cuda/cases.cu'),
      ]);
    }
    if (wanted.includes('numba'))
      this.#try('numba', 'python3', [
        '-c',
        'import numpy as np; np.row_stack = np.vstack; from numba import cuda; cuda.current_context()',
      ]);
  }

  #try(side: Side, command: string, args: readonly string[]): void {
    try {
      execFileSync(command, args, { stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8' });
      this.sides.push(side);
    } catch (error) {
      this.missing.push(`${side}: ${(error as Error).message.trim().split('\n').slice(0, 4).join(' ')}`);
    }
  }

  /** One process of the kernels' benchmark. */
  kernels(side: Side, args: readonly string[]): SideOutput {
    const commands: Record<Side, readonly string[]> = {
      tsamba: [process.execPath, process.argv[1], '--worker', 'kernels'],
      cuda: [join(this.#folder, 'cases')],
      numba: ['python3', join(PEERS, 'numba/cases.py')],
    };
    const [command, ...first] = commands[side];
    return lastLine(command, [...first, ...args], {}) as SideOutput;
  }

  /** One of Tsamba's workers; on two cores when `pinned`. */
  worker(
    name: string,
    args: readonly string[] = [],
    options: { twoCores?: boolean; cache?: string | false } = {},
  ): unknown {
    const command = [process.execPath, process.argv[1], '--worker', name, ...args];
    const [program, ...rest] = options.twoCores ? ['taskset', '-c', '0,1', ...command] : command;
    return lastLine(program, rest, cacheVariables(options.cache));
  }

  /** A program of its own, beside this one. */
  program(name: string, options: { cache: string | false }): unknown {
    return lastLine(process.execPath, [join(here, `${name}.mjs`)], cacheVariables(options.cache));
  }

  numbaLatency(): unknown {
    return lastLine('python3', [join(PEERS, 'numba/latency.py')], { CUDA_CACHE_DISABLE: '1' });
  }

  file(name: string): string {
    return join(this.#folder, name);
  }

  close(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Without any cache, or with ours alone in a folder. */
function cacheVariables(cache: string | false | undefined): Readonly<Record<string, string>> {
  if (cache === undefined) return {};
  return { CUDA_CACHE_DISABLE: '1', ...(cache === false ? { TSAMBA_CACHE: '0' } : { TSAMBA_CACHE_DIR: cache }) };
}

/** The last line that a program prints, as JSON. */
function lastLine(command: string, args: readonly string[], env: Readonly<Record<string, string>>): unknown {
  const text = execFileSync(command, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 2 ** 28,
    env: { ...process.env, TSAMBA_WARN_IMPLICIT_COPY: '0', PYTHONWARNINGS: 'ignore', ...env },
  });
  return JSON.parse(text.trim().split('\n').at(-1) ?? '');
}
