/**
 * Other processes that GPU tests need: this bundle once more with a task, or Python.
 *
 * A task is a function that tests name; the bundle looks for one before it does anything else. What a child prints on standard
 * output is for its parent, a line at a time.
 */
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const TASK = 'TSAMBA_GPU_TASK';

/** Runs one of these and ends the process, if it was started for that. */
export async function runTask(tasks: Readonly<Record<string, () => unknown>>): Promise<void> {
  const name = process.env[TASK];
  const task = name === undefined ? undefined : tasks[name];
  if (task === undefined) return;
  await task();
  process.exit();
}

/** A process that has been started. */
export interface Child {
  /** The next line that it prints; rejects with what it said on standard error if it ends instead. */
  line(): Promise<string>;
  tell(text: string): void;
  kill(signal: 'SIGKILL' | 'SIGTERM'): void;
  /** Resolves to its exit code, or signal. */
  ended: Promise<string | number | null>;
}

/** Starts this bundle with a task. */
export function startTask(
  task: string,
  env: Readonly<Record<string, string>> = {},
  nodeOptions: readonly string[] = [],
): Child {
  const script = fileURLToPath(import.meta.url);
  return follow(
    spawn(process.execPath, [...nodeOptions, script], { env: { ...process.env, ...env, [TASK]: task }, stdio: 'pipe' }),
  );
}

/** Whether there is Python with these modules. */
export function hasPython(...modules: readonly string[]): boolean {
  return (
    spawnSync('python3', ['-c', modules.map((name) => `import ${name}`).join('\n')], { timeout: 60_000 }).status === 0
  );
}

export function startPython(program: string, ...args: readonly string[]): Child {
  return follow(spawn('python3', ['-c', program, ...args], { stdio: 'pipe' }));
}

function follow(child: ChildProcessWithoutNullStreams): Child {
  let [text, errors] = ['', ''];
  const waiting: (() => void)[] = [];
  const wake = (): void => {
    for (const tell of waiting.splice(0)) tell();
  };
  let over = false;
  child.stdout.setEncoding('utf8').on('data', (more: string) => {
    text += more;
    wake();
  });
  child.stderr.setEncoding('utf8').on('data', (more: string) => {
    errors += more;
  });
  const ended = new Promise<string | number | null>((resolve) => {
    child.on('close', (code, signal) => {
      over = true;
      wake();
      resolve(signal ?? code);
    });
  });
  return {
    ended,
    kill: (signal) => void child.kill(signal),
    tell: (line) => void child.stdin.write(`${line}\n`),
    async line() {
      for (;;) {
        const at = text.indexOf('\n');
        if (at >= 0) {
          const line = text.slice(0, at);
          text = text.slice(at + 1);
          return line;
        }
        if (over) throw new Error(`the other process ended: ${errors.slice(-1500)}`);
        await new Promise<void>((resolve) => {
          waiting.push(resolve);
        });
      }
    },
  };
}
