#!/usr/bin/env node
/**
 * The command `tsamba`: what stands in its first argument is a command of the table, the rest is that one's.
 */
import { COMMANDS } from './commands.ts';

const [name = 'help', ...rest] = process.argv.slice(2);
const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
if (command === undefined) {
  const known = Object.entries(COMMANDS).map(
    ([key, { usage, summary }]) => `  tsamba ${key} ${usage}\n      ${summary}`,
  );
  const asked = name === 'help' || name === '--help' || name === '-h';
  if (!asked) console.error(`tsamba has no command ${name}`);
  console[asked ? 'log' : 'error'](`Commands:\n${known.join('\n')}`);
  process.exitCode = asked ? 0 : 2;
} else {
  try {
    process.exitCode = await command.run(rest);
  } catch (error) {
    console.error(error instanceof Error ? `tsamba ${name}: ${error.message}` : error);
    process.exitCode = 2;
  }
}
