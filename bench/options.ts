/**
 * What benchmarks may be told, and how it is read: an option that there is not is refused with the list of those that there are, before anything runs.
 */
import { EXIT, helpOf, type OptionTable } from '../src/cli/command-line.ts';

const RECORD: OptionTable = { json: { value: 'FILE', help: 'keeps the figures there' } };
const rounds = (most: number, help = 'timed rounds'): OptionTable => ({
  rounds: { value: 'N', help: `${help} (${most})` },
});
const POWER: OptionTable = { power: { value: 'N', help: 'elements are 2 to this power' } };

/** The options of each program, by the name of its benchmark. */
export const OPTIONS = {
  cpu: {
    processes: { value: 'N', help: 'of each configuration, in turns (3)' },
    ...rounds(9, 'timed rounds in each process; 15 with --quick'),
    node: { value: 'PATH', help: 'another Node.js beside this one' },
    case: { value: 'NAME,NAME', help: 'only cases whose names have one of these in them' },
    quick: { help: 'one process of the sources as they are: nothing built, nothing kept' },
    threads: { value: 'N', help: 'with --quick: 1 or 2 (1)' },
  },
  nvidia: {
    ...rounds(5, 'processes of each side, in turns'),
    runs: { value: 'N', help: 'timed intervals in each process (50)' },
    cases: { value: 'NAME,NAME', help: 'only these kernels' },
    parts: { value: 'NAME,NAME', help: 'of kernels, calls, first, copies' },
    peers: { value: 'NAME,NAME', help: 'of cuda, numba' },
    ...RECORD,
  },
  opencl: {
    processes: { value: 'N', help: 'one after another (5; 3 for GPUs)' },
    ...rounds(15, 'intervals of each side in each process'),
    cases: { value: 'NAME,NAME', help: 'only these kernels' },
    ...RECORD,
  },
  webgpu: {
    processes: { value: 'N', help: 'one after another (3)' },
    ...rounds(15, 'intervals of each side in each process'),
    scale: { value: 'N', help: 'divides the extents, for small machines (1)' },
    cases: { value: 'NAME,NAME', help: 'only these kernels' },
    ...RECORD,
  },
  pages: {
    gpu: { help: "on the machine's GPU, by Vulkan, instead of SwiftShader" },
    power: { value: 'N', help: 'elements are 2 to this power (22; 25 with --gpu)' },
    ...rounds(15),
    size: { value: 'N', help: 'of matrices (512; 2048 with --gpu)' },
    frames: { value: 'N', help: 'of the animation (300)' },
    ...RECORD,
  },
  memory: RECORD,
  library: { ...POWER, ...rounds(11), ...RECORD },
  parallel: { ...POWER, ...rounds(11), ...RECORD },
  'scans-sorts': { ...POWER, ...rounds(11), ...RECORD },
  graphs: { kernels: { value: 'N', help: 'in one graph (100)' }, ...rounds(9), ...RECORD },
  random: { ...POWER, ...rounds(9), ...RECORD },
  profile: { launches: { value: 'N', help: 'in one loop (1000)' }, ...rounds(9), ...RECORD },
  nccl: {
    ...rounds(20),
    transport: { value: 'reference', help: 'tries the program itself, where there is no GPU: no figures' },
    ranks: { value: 'N', help: 'with --transport reference (2)' },
    'no-programs': { help: 'leaves out the examples' },
    ...RECORD,
  },
  ulp: {
    function: { value: 'NAME,NAME', help: 'only these functions' },
    stride: { value: 'N', help: 'each so many-th argument (1)' },
    samples: { value: 'N', help: 'of functions of two arguments (2^28 / stride)' },
    processes: { value: 'N', help: 'at a time (2)' },
    scalar: { help: 'code without vectors' },
    ...RECORD,
  },
  'ulp:special': {
    function: { value: 'NAME,NAME', help: 'only these functions' },
    stride: { value: 'N', help: 'each so many-th argument' },
  },
  'ulp:gpu': {
    function: { value: 'NAME,NAME', help: 'only these functions' },
    samples: { value: 'N', help: 'of each function (1000000)' },
    seed: { value: 'N', help: 'of the samples (1)' },
  },
} as const satisfies Readonly<Record<string, OptionTable>>;

/** What a command line says. */
export interface Given {
  has(name: string): boolean;
  /** The value of an option, or what holds where it is not given. */
  value(name: string, otherwise: string): string;
}

/**
 * Reads the options of a program: `args`, or the command line of this process. `line` is how it is called, `more` what may be said besides. With `--help`, and where there is
 * something that it does not know, this prints the options and ends the process.
 */
export function readOptions(
  program: keyof typeof OPTIONS,
  line: string,
  args: readonly string[] = process.argv.slice(2),
  more: OptionTable = {},
): Given {
  const table: OptionTable = { ...OPTIONS[program], ...more };
  const given = new Map<string, string>();
  const end = (problem?: string): never => {
    if (problem !== undefined) console.error(`${line}: ${problem}\n`);
    console.log(helpOf(`${line} [options]`, `the benchmark ${program}`, table));
    process.exit(problem === undefined ? EXIT.ok : EXIT.usage);
  };
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? '';
    const name = arg.slice(2);
    if (arg === '--help' || arg === '-h') end();
    if (!arg.startsWith('--') || !Object.hasOwn(table, name)) end(`there is no option ${arg}`);
    const takes = table[name]?.value;
    const value = takes === undefined ? '' : args[++at];
    if (value === undefined || value.startsWith('--')) end(`${arg} needs a value: ${arg} ${takes}`);
    given.set(name, value ?? '');
  }
  return { has: (name) => given.has(name), value: (name, otherwise) => given.get(name) ?? otherwise };
}
