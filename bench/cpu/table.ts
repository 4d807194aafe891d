/**
 * Prints what was measured: a row for each kernel with ratios to its peers, and geometric means and worsts beside what is required.
 */
import { median } from '../statistics.ts';
import { cases } from './cases.ts';
import type { Timing } from './contest.ts';
import type { Outcome } from './worker.ts';

export type Statistic = keyof Timing;

const mean = (list: readonly number[]): number => Math.exp(list.reduce((s, v) => s + Math.log(v), 0) / list.length);

/** What one configuration measured in all its processes. */
export class Measured {
  readonly outcomes: readonly Outcome[];
  readonly statistic: Statistic;

  constructor(outcomes: readonly Outcome[], statistic: Statistic) {
    this.outcomes = outcomes;
    this.statistic = statistic;
  }

  /** Milliseconds of a contestant, the median over the processes; undefined where it did not run. */
  ms(kernel: string, contestant: string): number | undefined {
    const list = this.outcomes.flatMap((o) => o.times[kernel]?.[contestant]?.[this.statistic] ?? []);
    return list.length === 0 ? undefined : median(list);
  }

  /** The median over the processes of ours / theirs; of several peers the fastest. */
  ratio(kernel: string, ours: string, ...peers: readonly string[]): number | undefined {
    const list = this.outcomes.flatMap(({ times: { [kernel]: t } }) => {
      const theirs = peers.flatMap((p) => t?.[p]?.[this.statistic] ?? []);
      const mine = t?.[ours]?.[this.statistic];
      return mine === undefined || theirs.length === 0 ? [] : mine / Math.min(...theirs);
    });
    return list.length === 0 ? undefined : median(list);
  }
}

interface Column {
  readonly title: string;
  readonly value: (kernel: string) => number | undefined;
  readonly digits?: number;
  /** What the geometric mean and each kernel must keep to. */
  readonly limits?: { readonly mean?: number; readonly each?: number; readonly atLeast?: true };
}

function columnsOf(one: Measured, two: Measured, pocl: Measured): readonly Column[] {
  const inverse = (v: number | undefined): number | undefined => (v === undefined ? undefined : 1 / v);
  return [
    { title: 'ms', value: (k) => one.ms(k, 'tsamba'), digits: 3 },
    { title: '÷ gcc', value: (k) => one.ratio(k, 'tsamba', 'gcc'), limits: { mean: 1.15, each: 2 } },
    { title: '÷ clang', value: (k) => one.ratio(k, 'tsamba', 'clang') },
    { title: '÷ native', value: (k) => one.ratio(k, 'tsamba', 'gcc-native', 'clang-native') },
    {
      title: '× JS',
      value: (k) => inverse(one.ratio(k, 'tsamba', 'plain')),
      limits: { mean: 4.5, each: 2, atLeast: true },
    },
    { title: 'checks', value: (k) => one.ratio(k, 'tsamba', 'unchecked'), limits: { mean: 1.03 } },
    { title: '2 thr. ms', value: (k) => two.ms(k, 'tsamba'), digits: 3 },
    { title: '÷ OpenMP', value: (k) => two.ratio(k, 'tsamba', 'openmp'), limits: { mean: 1.15, each: 2 } },
    {
      title: '÷ PoCL',
      value: (k) => {
        const [ours, theirs] = [two.ms(k, 'tsamba'), pocl.ms(k, 'tsamba')];
        return ours === undefined || theirs === undefined ? undefined : ours / theirs;
      },
    },
  ];
}

const cell = (v: number | undefined, digits: number): string => (v === undefined ? '–' : v.toFixed(digits)).padStart(9);

export function printTable(one: Measured, two: Measured, pocl: Measured): void {
  const names = cases.map((c) => c.name).filter((k) => one.ms(k, 'tsamba') ?? two.ms(k, 'tsamba'));
  const columns = columnsOf(one, two, pocl).filter((c) => names.some((k) => c.value(k) !== undefined));
  const line = (first: string, cells: readonly string[]): void => console.log(`${first.padEnd(22)}${cells.join(' ')}`);
  line(
    'kernel',
    columns.map((c) => c.title.padStart(9)),
  );
  for (const k of names) {
    line(
      k,
      columns.map((c) => cell(c.value(k), c.digits ?? 2)),
    );
  }
  const ratios = columns.map((c) => (c.digits === undefined ? names.flatMap((k) => c.value(k) ?? []) : []));
  const summary = (title: string, of: (list: readonly number[], c: Column) => number): void =>
    line(
      title,
      columns.map((c, i) => cell(ratios[i].length === 0 ? undefined : of(ratios[i], c), 2)),
    );
  const wanted = (title: string, of: (limits: NonNullable<Column['limits']>) => number | undefined): void =>
    line(
      title,
      columns.map(({ limits }) => {
        const limit = limits === undefined ? undefined : of(limits);
        return (limit === undefined ? '' : `${limits?.atLeast ? '≥' : '≤'} ${limit}`).padStart(9);
      }),
    );
  console.log();
  summary('geometric mean', mean);
  wanted('  wanted', (l) => l.mean);
  summary('worst', (list, c) => (c.limits?.atLeast ? Math.min(...list) : Math.max(...list)));
  wanted('  wanted', (l) => l.each);
}

/** Cases that gave wrong results or did not run, each once. */
export function printFailures(outcomes: readonly Outcome[]): void {
  const lines = new Set(
    outcomes.flatMap((o) => Object.entries(o.failures).map(([k, why]) => `${k}, ${o.device}: ${why}`)),
  );
  for (const l of lines) console.log(`FAILED ${l}`);
  if (lines.size > 0) process.exitCode = 1;
}

export function printJax(two: Measured): void {
  for (const name of Object.keys(two.outcomes[0]?.jax ?? {})) {
    const theirs = median(two.outcomes.flatMap((o) => o.jax?.[name] ?? []));
    const ours = two.ms(name, 'tsamba');
    console.log(
      `${name.padEnd(22)}${cell(theirs, 3)} ms by jax-js' WebAssembly; two threads of Tsamba ÷ that ${cell(ours === undefined ? undefined : ours / theirs, 2).trim()}`,
    );
  }
}

export function printLatencies(outcomes: readonly Outcome[]): void {
  for (const { depth } of outcomes[0]?.nesting ?? []) {
    const list = outcomes.flatMap((o) => o.nesting?.filter((n) => n.depth === depth) ?? []);
    const ms = (of: (n: (typeof list)[number]) => number): string => median(list.map(of)).toFixed(1);
    const size = (of: (n: (typeof list)[number]) => number): string => `${(median(list.map(of)) / 1000).toFixed(1)} kB`;
    console.log(
      `${depth} nested loops: first ${ms((n) => n.first)} ms, hot ${ms((n) => n.hot)} ms; PTX ${ms((n) => n.ptx[0])} ms, ${size((n) => n.ptx[1])}; OpenCL C ${ms((n) => n.opencl[0])} ms, ${size((n) => n.opencl[1])}`,
    );
  }
  const l = outcomes.flatMap((o) => o.latency ?? []);
  if (l.length === 0) return;
  const of = (value: (x: (typeof l)[number]) => number, digits: number): string => median(l.map(value)).toFixed(digits);
  console.log(
    `first kernel ${of((x) => x.firstKernel, 1)} ms (worst ${Math.max(...l.map((x) => x.firstKernel)).toFixed(1)}); the 11th to 40th ${of((x) => x.warmKernel, 2)} ms, with a hot compiler ${of((x) => x.hotKernel, 2)} ms, one of one line ${of((x) => x.hotSmall, 2)} ms; empty launch ${of((x) => x.emptyLaunch, 3)} µs; deviceArray + dispose ${of((x) => x.allocateAndFree, 2)} µs`,
  );
  const copies = outcomes.flatMap((o) => o.copy ?? []);
  console.log(
    `copies: ${median(copies.map((c) => c.set)).toFixed(1)} GB/s by TypedArray.set, ${median(copies.map((c) => c.loop)).toFixed(1)} by a loop`,
  );
}
