/**
 * Environment variables that switch something on or off, or name what is wanted: one way to read them for all layers.
 *
 * A value that says nothing is warned of once, because it would otherwise be taken for one that did something; then the default holds.
 * Variables that hold numbers and names are read where they are used.
 */
import { attempt, environmentVariables, warn } from './host/index.ts';

/** `process.env`, or what stands for it in a test. */
export type Environment = Readonly<Record<string, string | undefined>>;

const ON: ReadonlySet<string> = new Set(['1', 'true', 'yes', 'on']);
const OFF: ReadonlySet<string> = new Set(['0', 'false', 'no', 'off']);

/** What `TSAMBA_DEBUG` may list. */
const SWITCHES = ['sync', 'captures'] as const;
/** What it may list to be printed: stages of the compiler, the code that it makes, what reaches the device. */
const TRACES = [
  'compile',
  'types',
  'ir',
  'passes',
  'wasm',
  'js',
  'ptx',
  'opencl',
  'wgsl',
  'launch',
  'copy',
  'memory',
] as const;
export type TraceWord = (typeof TRACES)[number];
export type DebugWord = (typeof SWITCHES)[number] | TraceWord;
const DEBUG_WORDS: readonly string[] = [...SWITCHES, ...TRACES];

/** Values that have been warned of. */
const warned = new Set<string>();

/** The environment of the process; none where there is no process, as in pages. */
export function environment(): Environment {
  return environmentVariables();
}

/** What a variable of the environment says, not what `Object.prototype` does under its name; undefined when it is not set. */
export function variable(name: string, env: Environment = environment()): string | undefined {
  // Deno throws where it has not been permitted to read the variable.
  return attempt(() => (Object.hasOwn(env, name) ? env[name] : undefined));
}

/** Whether the first of the variables that is set says 1 (`true`, `yes`, `on`) or 0; undefined when none is set, or says neither. */
export function switchFromEnvironment(names: string | readonly string[], env?: Environment): boolean | undefined {
  for (const name of typeof names === 'string' ? [names] : names) {
    const given = variable(name, env);
    const text = given?.trim().toLowerCase();
    if (text === undefined || text === '') continue;
    if (ON.has(text)) return true;
    if (OFF.has(text)) return false;
    warnOnce(`${name}=${given} is neither 1 nor 0, and is ignored`);
    return undefined;
  }
  return undefined;
}

/** Whether `TSAMBA_DEBUG`, a list with commas, has this word. */
export function debugWord(word: DebugWord, env?: Environment): boolean {
  const text = env === undefined && settled !== undefined ? settled.text : variable('TSAMBA_DEBUG', env);
  if (text === undefined) return false;
  if (text !== listed.text) listed = { text, words: readWords(text) };
  return listed.words.has(word);
}

/** The last list that was read: the compiler asks many times. */
let listed: { readonly text: string; readonly words: ReadonlySet<string> } = { text: '', words: new Set() };

/** What the variable says, while nobody can change it. */
let settled: { readonly text: string | undefined } | undefined;

/** Reads `TSAMBA_DEBUG` once for all that `body` asks: each look into the environment is a call of the system's. */
export function withDebugWords<R>(body: () => R): R {
  if (settled !== undefined) return body();
  settled = { text: variable('TSAMBA_DEBUG') };
  try {
    return body();
  } finally {
    settled = undefined;
  }
}

function readWords(text: string): ReadonlySet<string> {
  const words = text.split(/[\s,]+/).filter((w) => w !== '');
  for (const w of words) {
    if (!DEBUG_WORDS.includes(w)) warnOnce(`TSAMBA_DEBUG=${text}: there is no '${w}', only ${DEBUG_WORDS.join(', ')}`);
  }
  return new Set(words);
}

function warnOnce(message: string): void {
  if (warned.has(message)) return;
  warned.add(message);
  warn(message, { type: 'TsambaWarning', code: 'TSAMBA_BAD_ENV' });
}
