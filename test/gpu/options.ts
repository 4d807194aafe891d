/**
 * The options of the GPU tests' command line, for the process that reports and for the one that runs the tests.
 */
import { KIND_NAMES } from '../../src/driver/driver.ts';

export interface Options {
  /** Only tests whose `chapter: name` contains one of these. */
  readonly filters: readonly string[];
  /** None whose `chapter: name` contains one of these. */
  readonly excluded: readonly string[];
  readonly device: string;
  /** Only the chapters of the conformance suite on this namespace. */
  readonly namespace: 'cuda' | 'roc' | undefined;
  readonly json: string | undefined;
  readonly programs: number;
  readonly launched: number;
  readonly seed: number;
  readonly seconds: number;
  readonly shrink: boolean;
  readonly list: boolean;
  /** One process for everything: for tools that watch a process, such as compute-sanitizer. */
  readonly inProcess: boolean;
  /** Where to begin, of a process that was started to run the tests. */
  readonly from: number | undefined;
  /** Every `of`th test from `index` on, so that several runs share a GPU. */
  readonly part: { readonly index: number; readonly of: number };
  /** Multiplies how long tests may take, for tools that make them slow. */
  readonly patience: number;
}

export const USAGE = `node test-gpu.mjs [options]
  --filter TEXT     only tests whose "chapter: name" contains TEXT; may be given several times
  --exclude TEXT    none of those
  --device KIND     ${KIND_NAMES.join(', ')}: what cuda and roc compute on (nvidia)
  --part K/N        every Nth of them, from the Kth on: N runs beside each other do them all
  --namespace NAME  only the chapters of the conformance suite on cuda, or on roc
  --json FILE       writes the results
  --programs N      random programs that go to the driver (200); --launched N as users launch kernels (60)
  --seed N          of the first random program (1)
  --seconds N       for random programs in all (60)
  --shrink          makes failing programs smaller
  --patience N      tests may take N times as long
  --in-process      no processes of its own; a test that breaks the device breaks the rest
  --list            prints the names of the tests`;

const FLAGS = ['shrink', 'in-process', 'list'] as const;
const VALUES = [
  'filter',
  'exclude',
  'device',
  'namespace',
  'json',
  'programs',
  'launched',
  'seed',
  'seconds',
  'patience',
  'part',
  'from',
];

export function parseOptions(args: readonly string[]): Options {
  const given = new Map<string, string[]>();
  for (let k = 0; k < args.length; k++) {
    const name = args[k].replace(/^--/, '');
    const flag = (FLAGS as readonly string[]).includes(name);
    if (!args[k].startsWith('--') || !(flag || VALUES.includes(name)) || (!flag && k + 1 === args.length)) {
      throw new Error(`what is ${args[k]}?\n${USAGE}`);
    }
    given.set(name, [...(given.get(name) ?? []), flag ? '1' : args[++k]]);
  }
  const one = (name: string): string | undefined => given.get(name)?.at(-1);
  const number = (name: string, otherwise: number): number => {
    const value = Number(one(name) ?? otherwise);
    if (!(value >= 0)) throw new Error(`--${name} ${one(name)} is no number\n${USAGE}`);
    return value;
  };
  return {
    filters: given.get('filter') ?? [],
    excluded: given.get('exclude') ?? [],
    device: one('device') ?? 'nvidia',
    namespace: namespaceOf(one('namespace')),
    json: one('json'),
    programs: number('programs', 200),
    launched: number('launched', 60),
    seed: number('seed', 1),
    seconds: number('seconds', 60),
    shrink: given.has('shrink'),
    list: given.has('list'),
    inProcess: given.has('in-process'),
    from: given.has('from') ? number('from', 0) : undefined,
    part: partOf(one('part')),
    patience: number('patience', 1),
  };
}

function namespaceOf(given: string | undefined): Options['namespace'] {
  if (given === undefined || given === 'cuda' || given === 'roc') return given;
  throw new Error(`--namespace ${given} is neither cuda nor roc\n${USAGE}`);
}

function partOf(given = '1/1'): Options['part'] {
  const [index, of] = given.split('/').map(Number) as [number, number | undefined];
  if (of !== undefined && index >= 1 && index <= of) return { index: index - 1, of };
  throw new Error(`--part ${given} is no part such as 1/4\n${USAGE}`);
}
