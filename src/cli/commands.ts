/**
 * The commands of `tsamba`, by name. A new one is a file beside this and a row here.
 */
import { bench } from './bench.ts';
import { cache } from './cache.ts';
import type { Command } from './command-line.ts';
import { doctor } from './doctor.ts';
import { info } from './info.ts';
import { inspect } from './inspect.ts';
import { newProject } from './new.ts';
import { runCommand } from './run.ts';
import { test } from './test.ts';

export const COMMANDS: Readonly<Record<string, Command>> = {
  info,
  doctor,
  inspect,
  bench,
  run: runCommand,
  cache,
  test,
  new: newProject,
};
