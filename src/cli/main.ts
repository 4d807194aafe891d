#!/usr/bin/env node
/**
 * The command `tsamba`: what stands in its first argument is a command of the table, the rest is that one's.
 */
import { nearest } from '../dtype/spelling.ts';
import { CHILD, runTask } from './children.ts';
import { EXIT } from './command-line.ts';
import { COMMANDS } from './commands.ts';
import { packageVersion } from './package.ts';
import { TASKS } from './tasks.ts';

function overview(): string {
  const rows = Object.entries(COMMANDS).map(([name, { summary }]) => `  ${name.padEnd(8)} ${summary}`);
  return [
    'tsamba <command> [options]',
    '',
    'Commands:',
    ...rows,
    '',
    'tsamba <command> --help prints the options of a command.',
    'Exit codes: 0 success; 1 a problem was found; 2 the command line is wrong.',
  ].join('\n');
}

async function main([name = 'help', ...rest]: readonly string[]): Promise<number> {
  if (name === '--version' || name === '-v') {
    console.log(packageVersion());
    return EXIT.ok;
  }
  const asked = name === 'help' || name === '--help' || name === '-h';
  const [topic = ''] = rest;
  const wanted = asked ? topic : name;
  const command = Object.hasOwn(COMMANDS, wanted) ? COMMANDS[wanted] : undefined;
  if (command === undefined && wanted !== '') {
    const near = nearest(wanted, Object.keys(COMMANDS));
    console.error(`tsamba has no command ${wanted}${near === undefined ? '' : `; did you mean ${near}?`}`);
    console.error(overview());
    return EXIT.usage;
  }
  if (command === undefined || asked) {
    console.log(command?.help ?? overview());
    return EXIT.ok;
  }
  if (topic === '--help' || topic === '-h') {
    console.log(command.help);
    return EXIT.ok;
  }
  try {
    return await command.run(rest);
  } catch (error) {
    console.error(error instanceof Error ? `tsamba ${name}: ${error.message}` : error);
    return EXIT.usage;
  }
}

const [, , first, task = '', argument = 'null'] = process.argv;
if (first === CHILD && Object.hasOwn(TASKS, task)) {
  await runTask(TASKS[task] as (argument: never) => unknown, argument);
  // A driver may keep threads, or lose its way when it ends: the result has been reported.
  process.exit(0);
} else {
  process.exitCode = await main(process.argv.slice(2));
}
