/**
 * Work that is done in a process of its own: a driver that crashes or hangs takes that one down, and the command says so.
 *
 * The child is this program again, with a task and its argument. Its result is one line of its output; all others pass through as what it said.
 */
import type { ChildProcess } from 'node:child_process';
import { nodeModule } from '../host/index.ts';

/** The first word of a command line that names a task. */
export const CHILD = '__task';
const MARK = '\u0001tsamba-result:';
/** Characters that are kept of what a child says. */
const MOST_TEXT = 16_384;

/** What came of a task. */
export type Outcome<T> =
  | { readonly value: T; readonly problem?: undefined; readonly said: string }
  | { readonly value?: undefined; readonly problem: string; readonly crashed: boolean; readonly said: string };

/** How a child runs. */
export interface ChildOptions {
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Milliseconds after which it is ended. */
  readonly timeout: number;
  /** Options of Node.js itself. */
  readonly nodeOptions?: readonly string[] | undefined;
  /** Is told of each further line that the child reports with `tell`. */
  readonly onTold?: ((value: unknown) => void) | undefined;
}

/** Runs a task in a process of its own. Never rejects: what goes wrong is in the outcome. */
export function inChild<T>(task: string, argument: unknown, options: ChildOptions): Promise<Outcome<T>> {
  const { env = {}, timeout, nodeOptions = [], onTold } = options;
  const [command, args] = selfCommand(nodeOptions);
  const child = nodeModule('node:child_process').spawn(command, [...args, CHILD, task, JSON.stringify(argument)], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return new Promise((resolve) => {
    const output = new Output(onTold);
    output.listen(child);
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      child.kill('SIGKILL');
    }, timeout);
    child.on('error', (error) => resolve({ problem: `cannot be started: ${error.message}`, crashed: false, said: '' }));
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      const { result, said } = output;
      if (result?.error !== undefined) resolve({ problem: result.error, crashed: false, said });
      else if (result !== undefined) resolve({ value: result.value as T, said });
      else
        resolve({
          problem: late ? `did not end within ${timeout / 1000} s` : howEnded(code, signal),
          crashed: true,
          said,
        });
    });
  });
}

/** What a child reports. */
interface Result {
  readonly value?: unknown;
  readonly error?: string | undefined;
}

/** What a child prints: its result, what it tells on the way, and the rest. */
class Output {
  result: Result | undefined = undefined;
  said = '';
  readonly #onTold: ((value: unknown) => void) | undefined;

  constructor(onTold: ((value: unknown) => void) | undefined) {
    this.#onTold = onTold;
  }

  listen({ stdout, stderr }: ChildProcess): void {
    let rest = '';
    stdout?.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) this.#line(line);
    });
    stderr?.setEncoding('utf8').on('data', (text: string) => this.#say(text));
  }

  #line(line: string): void {
    const at = line.indexOf(MARK);
    if (at < 0) {
      this.#say(`${line}\n`);
      return;
    }
    const message = JSON.parse(line.slice(at + MARK.length)) as Result & { readonly told?: unknown };
    if ('told' in message) this.#onTold?.(message.told);
    else this.result = message;
  }

  #say(text: string): void {
    this.said = (this.said + text).slice(-MOST_TEXT);
  }
}

function howEnded(code: number | null, signal: NodeJS.Signals | null): string {
  if (signal !== null) return `crashed: the process was ended by ${signal}`;
  return code === 0 ? 'ended without a result' : `crashed: the process ended with exit code ${code}`;
}

/** This program, as a command. */
function selfCommand(nodeOptions: readonly string[]): readonly [string, readonly string[]] {
  const [, script = ''] = process.argv;
  if (process.versions['deno'] !== undefined) return [process.execPath, ['run', '-A', script]];
  return [process.execPath, [...process.execArgv, ...nodeOptions, script]];
}

/** In the child: reports something on the way to the result. */
export function tell(told: unknown): void {
  write({ told });
}

/** In the child: runs a task and reports its result. */
export async function runTask(task: (argument: never) => unknown, argument: string): Promise<void> {
  try {
    write({ value: (await task(JSON.parse(argument) as never)) ?? null });
  } catch (error) {
    write({ error: error instanceof Error ? error.message : String(error) });
  }
}

function write(message: unknown): void {
  // At once, by the file descriptor: a crash must not take it along.
  nodeModule('node:fs').writeSync(1, `${MARK}${JSON.stringify(message)}\n`);
}
