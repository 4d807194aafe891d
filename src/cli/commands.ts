/**
 * The commands of `tsamba`, by name. A new one is a file beside this and a row here.
 */
import { RUN_USAGE, run } from './run.ts';

/** One command. */
export interface Command {
  /** What follows its name. */
  readonly usage: string;
  readonly summary: string;
  /** Resolves to the exit code; what it throws is printed, with exit code 2. */
  run(args: readonly string[]): Promise<number>;
}

export const COMMANDS: Readonly<Record<string, Command>> = {
  run: { usage: RUN_USAGE, summary: 'starts a program once for each GPU, as ranks of tsamba/nccl', run },
};
