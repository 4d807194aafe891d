/**
 * Tables of the CPU device: kernels beside C and JavaScript, and latencies, from the newest record of `npm run bench -- cpu`.
 */
import { median } from '../../bench/statistics.ts';
import { type Found, fixed, geomean, listed, newest, short, table } from './records.ts';

interface Timing {
  readonly median: number;
}

interface Latency {
  readonly firstKernel: number;
  readonly warmKernel: number;
  readonly hotKernel: number;
  readonly hotSmall?: number;
  readonly emptyLaunch: number;
  readonly allocateAndFree: number;
}

interface Outcome {
  readonly times: Readonly<Record<string, Readonly<Record<string, Timing>>>>;
  readonly latency?: Latency;
}

interface CpuRecord {
  readonly date: string;
  readonly cpu: string;
  readonly cores: number;
  readonly configurations: readonly {
    readonly node: string;
    readonly title: string;
    readonly outcomes?: readonly Outcome[];
  }[];
}

function read(): Found<CpuRecord> {
  return newest<CpuRecord>('cpu', ({ configurations }) => configurations[0]?.outcomes !== undefined);
}

function outcomesOf({ record }: Found<CpuRecord>, title: string): readonly Outcome[] {
  return record.configurations.find((one) => one.title === title)?.outcomes ?? [];
}

/** The median, where there is one. */
function middle(list: readonly number[]): number | undefined {
  return list.length === 0 ? undefined : median(list);
}

/** The median over the processes of Tsamba's time. */
function time(outcomes: readonly Outcome[], kernel: string): number | undefined {
  return middle(outcomes.flatMap(({ times }) => times[kernel]?.['tsamba']?.median ?? []));
}

/** The median over the processes of Tsamba's time divided by the peer's; of several peers the fastest. */
function ratio(outcomes: readonly Outcome[], kernel: string, ...peers: readonly string[]): number | undefined {
  return ratioOf('tsamba', outcomes, kernel, peers);
}

function ratioOf(
  one: string,
  outcomes: readonly Outcome[],
  kernel: string,
  peers: readonly string[],
): number | undefined {
  return middle(
    outcomes.flatMap(({ times }) => {
      const all = times[kernel];
      const theirs = peers.flatMap((peer) => all?.[peer]?.median ?? []);
      const own = all?.[one]?.median;
      return own === undefined || theirs.length === 0 ? [] : own / Math.min(...theirs);
    }),
  );
}

function inverse(value: number | undefined): number | undefined {
  return value === undefined ? undefined : 1 / value;
}

function means(found: Found<CpuRecord>): {
  gcc: number;
  js: number;
  openmp: number;
  checks: number;
  kernels: string[];
} {
  const [one, two] = [outcomesOf(found, 'one thread'), outcomesOf(found, 'two threads')];
  const kernels = Object.keys(one[0]?.times ?? {});
  const over = (list: readonly Outcome[], peer: string): number =>
    geomean(kernels.flatMap((kernel) => ratio(list, kernel, peer) ?? []));
  return {
    gcc: over(one, 'gcc'),
    js: 1 / over(one, 'plain'),
    openmp: over(two, 'openmp'),
    checks: over(one, 'unchecked'),
    kernels,
  };
}

function where({ record }: Found<CpuRecord>): string {
  const [major, minor] = (record.configurations[0]?.node ?? '').replace('v', '').split('.');
  return `Node ${major}.${minor}, ${record.cores === 2 ? 'two' : record.cores} virtual cores of an ${record.cpu}`;
}

/** Where and how, the means, and a row for each kernel. */
export function cpuKernels(): string {
  const found = read();
  const [one, two] = [outcomesOf(found, 'one thread'), outcomesOf(found, 'two threads')];
  const { gcc, js, openmp, checks, kernels } = means(found);
  const slow = kernels.filter((kernel) => (ratio(one, kernel, 'gcc') ?? 0) > 1.5);
  const few = kernels.filter((kernel) => 1 / (ratio(one, kernel, 'plain') ?? 0) < 2);
  const fewOfC = kernels.filter((kernel) => 1 / (ratioOf('gcc', one, kernel, ['plain']) ?? 0) < 2);
  const named = (list: readonly string[]): string => (list.length === 0 ? 'none' : listed(list));
  const text = `${where(found)}, ${one.length} processes (\`${found.path}\`). Geometric means: ${fixed(gcc, 2)} of gcc's time, ${fixed(openmp, 2)} of
OpenMP's on two threads, ${fixed(js, 1)} times as fast as plain JavaScript, ${fixed(checks, 2)} for checks. More than 1.5 times gcc's time: ${named(slow)}.
Less than twice as fast as JavaScript: ${named(few)}; of gcc's code these are
${named(fewOfC)}.`;
  const head = ['kernel', 'ms', '÷ gcc', '÷ clang', '÷ native', '× JS', 'checks', 'two threads, ms', '÷ OpenMP'];
  const rows = kernels.map((kernel) => [
    kernel,
    fixed(time(one, kernel), 3),
    fixed(ratio(one, kernel, 'gcc'), 2),
    fixed(ratio(one, kernel, 'clang'), 2),
    fixed(ratio(one, kernel, 'gcc-native', 'clang-native'), 2),
    fixed(inverse(ratio(one, kernel, 'plain')), 2),
    fixed(ratio(one, kernel, 'unchecked'), 2),
    fixed(time(two, kernel), 3),
    fixed(ratio(two, kernel, 'openmp'), 2),
  ]);
  return `${text}\n\n${table(head, rows)}`;
}

/** What a first kernel and small calls cost. */
export function cpuLatencies(): string {
  const found = read();
  const list = outcomesOf(found, 'one thread').flatMap(({ latency }) => latency ?? []);
  const row = (what: string, unit: string, digits: number, of: (latency: Latency) => number): string[] => {
    const values = list.map(of);
    return [what, `${fixed(median(values), digits)} ${unit}`, `${fixed(Math.min(...values), digits)} ${unit}`];
  };
  const rows = [
    row('first kernel of a process', 'ms', 1, (l) => l.firstKernel),
    row('the 11th to 40th kernel, each', 'ms', 1, (l) => l.warmKernel),
    row('a kernel with a loop, with a hot compiler', 'ms', 1, (l) => l.hotKernel),
    ...(list.some((l) => l.hotSmall === undefined)
      ? []
      : [row('a kernel of one line, with a hot compiler', 'ms', 2, (l) => l.hotSmall ?? Number.NaN)]),
    row('empty launch', 'µs', 2, (l) => l.emptyLaunch),
    row('`deviceArray` and `dispose` of 4 KB', 'µs', 1, (l) => l.allocateAndFree),
  ];
  const text = `${where(found)}, ${list.length} processes (\`${found.path}\`):`;
  return `${text}\n\n${table(['', 'median', 'best process'], rows)}`;
}

const OVERVIEW: Readonly<Record<string, string>> = {
  saxpy: 'saxpy',
  'matmul-tiled': 'tiled matmul',
  life: 'game of life, 1024²',
  softmax: 'softmax',
  mandelbrot: 'Mandelbrot',
  'black-scholes': 'Black-Scholes',
  'spmv-csr': 'sparse matrix × vector',
  fft: 'FFT in shared memory',
};

/** The overview of the README. */
export function cpuOverview(): string {
  const found = read();
  const one = outcomesOf(found, 'one thread');
  const { gcc, js, kernels } = means(found);
  const text = `One thread against natural C of the same result (\`gcc -O3 -msse4.2\`, vectors as wide as WebAssembly's) and against plain JavaScript,
bounds checks on; ${where(found)}. The geometric mean of ${kernels.length} kernels of many kinds is ${fixed(gcc, 2)} of C's time, and
${fixed(js, 1)} times the speed of JavaScript. [docs/benchmarks.md](docs/benchmarks.md) has all of them, and how they are measured.`;
  const rows = Object.entries(OVERVIEW).map(([kernel, title]) => [
    title,
    short(time(one, kernel)),
    fixed(ratio(one, kernel, 'gcc'), 2),
    short(inverse(ratio(one, kernel, 'plain'))),
  ]);
  return `${text}\n\n${table(['kernel', 'Tsamba, ms', '÷ C', '× plain JS'], rows)}`;
}
