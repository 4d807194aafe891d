/**
 * What tests have done in another process or worker thread, by name: things that end a process, break the device for it, or need
 * several at once.
 *
 * The bundle runs itself again with the errand's name in the environment; `main.ts` then runs the errand and nothing else.
 */
import { spawnSync } from 'node:child_process';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';

const VARIABLE = 'TSAMBA_TEST_ERRAND';

const errands = new Map<string, () => unknown>();

/** Makes an errand known. What it returns in a worker thread is sent to who asked for it. */
export function errand(name: string, run: () => unknown): string {
  errands.set(name, run);
  return name;
}

/** The errand that this process or thread was started for. */
export function givenErrand(): string | undefined {
  return process.env[VARIABLE];
}

export async function runErrand(name: string): Promise<void> {
  const run = errands.get(name);
  if (run === undefined) throw new Error(`there is no errand ${name}`);
  const result = await run();
  if (!isMainThread) parentPort?.postMessage(result);
}

export interface ChildResult {
  readonly code: number | null;
  readonly signal: string | null;
  readonly out: string;
  readonly err: string;
}

/** Runs an errand in a process of its own, to its end. */
export function inChild(name: string, env: Record<string, string> = {}): ChildResult {
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, [...process.execArgv, process.argv[1]], {
    encoding: 'utf8',
    env: { ...process.env, ...env, [VARIABLE]: name },
    timeout: 60_000,
  });
  return { code: status, signal, out: stdout, err: stderr };
}

/** Runs an errand in a worker thread; resolves with what it returned, when the thread has ended. */
export function inWorker(name: string, env: Readonly<Record<string, string>> = {}): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(process.argv[1], { env: { ...process.env, ...env, [VARIABLE]: name }, argv: [] });
    let result: unknown;
    worker.on('message', (message: unknown) => {
      result = message;
    });
    worker.on('error', reject);
    worker.on('exit', (code) => {
      if (code === 0) resolve(result);
      else reject(new Error(`the worker ended with code ${code}`));
    });
  });
}
