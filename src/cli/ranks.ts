/**
 * The processes of a job on this host: started in groups of their own, their lines prefixed, and ended together with all that they have started.
 */
import type { ChildProcess } from 'node:child_process';
import { nodeModule } from '../host/index.ts';

/** Milliseconds that others have to say what went wrong, before they are told to end. */
const GRACE = 2_000;
/** Milliseconds from then on until they are ended. */
const PATIENCE = 5_000;

/** The processes of this host. */
export class Ranks {
  readonly #running = new Map<number, ChildProcess>();
  readonly #timers: ReturnType<typeof setTimeout>[] = [];
  #code = 0;
  #finish: (code: number) => void = () => undefined;
  /** The exit code of the process that failed first, when all have ended; else 0. */
  readonly ended: Promise<number> = new Promise((resolve) => {
    this.#finish = resolve;
  });

  constructor() {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => this.#interrupted(signal));
    process.on('exit', () => this.#signal('SIGKILL'));
  }

  start(rank: number, [command = '', ...args]: readonly string[], env: Record<string, string | undefined>): void {
    const child = nodeModule('node:child_process').spawn(command, args, {
      env,
      // The leader of a group, so that what it starts is found and ended with it.
      detached: process.platform !== 'win32',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#running.set(rank, child);
    prefixed(child.stdout, process.stdout, rank);
    prefixed(child.stderr, process.stderr, rank);
    child.on('error', (error) => this.#failed(rank, error.message, 1));
    child.on('exit', (code, signal) => this.#exited(rank, code, signal));
    child.on('close', () => this.#closed(rank));
  }

  #exited(rank: number, code: number | null, signal: NodeJS.Signals | null): void {
    const child = this.#running.get(rank);
    // What it has started, and left; it may hold the other end of the output.
    if (child !== undefined) signalGroup(child, 'SIGKILL');
    if (signal !== null) {
      const number = nodeModule('node:os').constants.signals[signal];
      this.#failed(rank, `was ended by ${signal}`, 128 + number);
    } else if (code !== 0) {
      this.#failed(rank, `ended with exit code ${code}`, code ?? 1);
    }
  }

  #closed(rank: number): void {
    this.#running.delete(rank);
    if (this.#running.size > 0) return;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#finish(this.#code);
  }

  #failed(rank: number, how: string, code: number): void {
    if (this.#code !== 0) return;
    this.#code = code;
    const rest = this.#running.size > 1 ? '; the others are ended' : '';
    process.stderr.write(`tsamba run: rank ${rank} ${how}${rest}\n`);
    this.#timers.push(setTimeout(() => this.#signal('SIGTERM'), GRACE));
    this.#timers.push(setTimeout(() => this.#signal('SIGKILL'), GRACE + PATIENCE));
  }

  #interrupted(signal: NodeJS.Signals): void {
    // Asked twice: at once.
    const isFirst = this.#code === 0;
    this.#code ||= 128 + nodeModule('node:os').constants.signals[signal];
    this.#signal(isFirst ? signal : 'SIGKILL');
    if (isFirst) this.#timers.push(setTimeout(() => this.#signal('SIGKILL'), PATIENCE));
  }

  #signal(signal: NodeJS.Signals): void {
    for (const child of this.#running.values()) signalGroup(child, signal);
  }
}

/** To a process and all that it has started. */
function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === 'win32') child.kill(signal);
    else process.kill(-child.pid, signal);
  } catch {
    // Nobody is left.
  }
}

/** Whole lines, so that those of several processes do not mix. */
function prefixed(from: NodeJS.ReadableStream | null, to: NodeJS.WritableStream, rank: number): void {
  let rest = '';
  from?.setEncoding('utf8');
  from?.on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) to.write(`[${rank}] ${line}\n`);
  });
  from?.on('end', () => {
    if (rest !== '') to.write(`[${rank}] ${rest}\n`);
  });
}
