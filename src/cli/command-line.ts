/**
 * What the commands of `tsamba` have in common: how a command line is read, its help, and its exit codes.
 */
import { nearest } from '../dtype/spelling.ts';
import { TsambaTypeError } from '../errors.ts';

/** What a command says when it ends. */
export const EXIT = {
  /** All is well. */
  ok: 0,
  /** The command ran, and what it looked at is not well. */
  failed: 1,
  /** The command line cannot be read, or names what is not there. */
  usage: 2,
} as const;

/** An option of a command, by its name without the dashes. */
export interface OptionRow {
  /** What stands for its value in the help; absent for a switch. */
  readonly value?: string | undefined;
  readonly help: string;
}

export type OptionTable = Readonly<Record<string, OptionRow>>;

/** What a command line says: the values of options (switches: the empty string) and what stands beside them. */
export interface Given {
  readonly options: ReadonlyMap<string, string>;
  readonly rest: readonly string[];
}

/** One command. */
export interface Command {
  /** What follows its name. */
  readonly usage: string;
  readonly summary: string;
  readonly help: string;
  /** Resolves to the exit code; what it throws is printed, with exit code 2. */
  run(args: readonly string[]): Promise<number>;
}

/** A command of options and words. */
export interface Definition {
  readonly name: string;
  readonly usage: string;
  readonly summary: string;
  readonly options: OptionTable;
  /** How many words may stand beside the options. */
  readonly words?: number | undefined;
  /** Lines below the options in the help. */
  readonly notes?: string | undefined;
  run(given: Given): Promise<number>;
}

/** Makes a command that reads its options, and refuses those that it does not have. */
export function defineCommand(definition: Definition): Command {
  const { name, usage, summary, options, notes, words = 0 } = definition;
  return {
    usage,
    summary,
    help: helpOf(`tsamba ${name} ${usage}`.trim(), summary, options, notes),
    run: (args) => definition.run(readArguments(name, args, options, words)),
  };
}

/** The help of a command. */
export function helpOf(line: string, summary: string, options: OptionTable, notes?: string): string {
  const rows = Object.entries({ ...options, help: { help: 'prints this help' } }).map(
    ([key, { value, help }]: [string, OptionRow]) =>
      [`--${key}${value === undefined ? '' : ` ${value}`}`, help] as const,
  );
  const width = Math.max(...rows.map(([left]) => left.length));
  const listed = rows.map(([left, help]) => `  ${left.padEnd(width)}  ${help}`);
  return [line, `  ${summary}`, '', 'Options:', ...listed, ...(notes === undefined ? [] : ['', notes])].join('\n');
}

/** Reads a command line. Throws TypeError for options that there are not, with the nearest that there is. */
export function readArguments(command: string, args: readonly string[], table: OptionTable, words: number): Given {
  const options = new Map<string, string>();
  const rest: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? '';
    const [, name, inline] = /^--([^=]+)(?:=(.*))?$/s.exec(arg) ?? [];
    if (name === undefined) {
      if (/^-./.test(arg)) throw unknownOption(command, arg, table);
      rest.push(arg);
      continue;
    }
    if (!Object.hasOwn(table, name)) throw unknownOption(command, `--${name}`, table);
    if (table[name]?.value === undefined) {
      if (inline !== undefined) throw usageError(`--${name} takes no value, got ${inline}`);
      options.set(name, '');
      continue;
    }
    const value = inline ?? args[++at];
    if (value === undefined) throw usageError(`--${name} needs a value: --${name} ${table[name].value}`);
    options.set(name, value);
  }
  if (rest.length > words) {
    throw usageError(`unexpected: ${rest.slice(words).join(' ')}; see tsamba ${command} --help`);
  }
  return { options, rest };
}

function unknownOption(command: string, option: string, table: OptionTable): TsambaTypeError {
  const near = nearest(option.replace(/^-+/, ''), Object.keys(table));
  const hint = near === undefined ? `see tsamba ${command} --help` : `did you mean --${near}?`;
  return usageError(`there is no option ${option}; ${hint}`);
}

/** One of some words that an option's value must be. Throws TypeError with the nearest. */
export function oneOf<T extends string>(what: string, given: string, known: readonly T[]): T {
  const found = known.find((one) => one === given);
  if (found !== undefined) return found;
  const near = nearest(given, known);
  const hint =
    near === undefined ? `one of ${known.join(', ')}` : `did you mean ${near}? It is one of ${known.join(', ')}`;
  throw usageError(`${what} cannot be ${given}: ${hint}`);
}

/** An error of who typed the command. */
export function usageError(message: string): TsambaTypeError {
  return new TsambaTypeError('E_OPTION', message);
}
