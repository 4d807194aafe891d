/**
 * Tables of graphs, random numbers, primitives and OpenCL.
 */
import { SPECS } from '../../bench/nvidia/spec.ts';
import { fixed, newest, table } from './records.ts';

interface Rows<Row> {
  readonly date: string;
  readonly rows: readonly Row[];
}

interface Primitive {
  readonly what: string;
  readonly ms: number;
  readonly peers: { readonly CUB?: number };
}

interface OpenclRecord {
  readonly date: string;
  readonly kernels: readonly {
    readonly case: string;
    readonly scale: number;
    readonly tsamba: number;
    readonly raw: number;
    readonly ratio: number;
    readonly worst: number;
    readonly ofShortest: number;
  }[];
}

const any = (): boolean => true;

/** Small kernels launched one by one and as a graph. */
export function graphs(): string {
  const { record } = newest<Rows<{ what: string; issued: number; done: number }>>('graphs', any);
  const rows = record.rows.map(({ what, issued, done }) => [what, fixed(issued, 2), fixed(done, 2)]);
  return table(['', 'issued', 'done'], rows);
}

/** PyTorch's figures of the same minutes (10⁹ a second), which the benchmark of this repository does not measure. */
const RANDOM: readonly (readonly [name: string, title: string, pytorch: string])[] = [
  ['random f64', 'uniform f64', '337'],
  ['random f32', 'uniform f32', '593'],
  ['normal f64', 'normal f64', '164'],
  ['normal f32', 'normal f32', '406'],
  ['integers below 1000', 'integers below 1000', '396'],
  ['poisson of mean 5', 'Poisson, mean 5', '39.4'],
  ['permutation', 'permutation', '9.0'],
];

/** Random numbers, 10⁹ a second. */
export function random(): string {
  const { record } = newest<Rows<{ what: string; perSecond: number }>>('random', any);
  const rows = RANDOM.map(([name, title, pytorch]) => {
    const rate = record.rows.find(({ what }) => what === name)?.perSecond;
    return [title, fixed(rate, (rate ?? 0) < 100 ? 1 : 0), pytorch];
  });
  return table(['', 'Tsamba', 'PyTorch'], rows);
}

/** What the benchmark calls by its key or its algorithm. */
const TITLES: Readonly<Record<string, string>> = {
  u32: 'sort u32',
  f32: 'sort f32',
  u64: 'sort u64',
  'u32 pairs': 'sort u32 with u32 along',
  'merge u32': 'sort u32 by a comparison',
};

/** `tsamba/parallel` beside CUB. */
export function primitives(): string {
  const all = ['parallel', 'scans-sorts'].flatMap((name) => newest<Rows<Primitive>>(name, any).record.rows);
  const rows = all
    .filter(({ what }) => !what.includes('product'))
    .map(({ what, ms, peers }) => [
      TITLES[what] ?? what,
      fixed(ms, 3),
      fixed(peers.CUB, 3),
      peers.CUB === undefined ? '' : fixed(peers.CUB / ms, 2),
    ]);
  return table(['', 'Tsamba, ms', 'CUB, ms', "speed of CUB's"], rows);
}

/** Kernels by OpenCL beside ones written by hand. */
export function opencl(name: 'opencl' | 'opencl-nvidia'): string {
  const { record } = newest<OpenclRecord>(name, any);
  const titles = new Map(SPECS.map((spec) => [spec.name, spec.title.replace(/ [\d,]+M?$/, '')]));
  const scaled = name === 'opencl';
  const ms = (value: number): string => value.toFixed(value < 1 ? 3 : value < 10 ? 2 : 1);
  const rows = record.kernels.map((kernel) => [
    titles.get(kernel.case) ?? kernel.case,
    ...(scaled ? [`1/${kernel.scale}`] : []),
    ms(kernel.tsamba),
    ms(kernel.raw),
    fixed(kernel.ratio, 3),
    fixed(kernel.worst, 3),
    fixed(kernel.ofShortest, 3),
  ]);
  const scale = scaled ? ['scale'] : [];
  return table(['kernel', ...scale, 'Tsamba, ms', 'by hand, ms', 'median of ratios', 'worst', 'of shortest'], rows);
}
