/**
 * What the NVIDIA benchmark prints, and the summaries that its record keeps.
 */
import { median } from '../statistics.ts';
import type { Calls, RawFirst } from './calls.ts';
import type { Rate } from './copies.ts';
import type { FirstKernel } from './first-kernel.ts';
import type { Side } from './peers.ts';
import type { CaseSpec } from './spec.ts';

export interface KernelRow {
  readonly spec: CaseSpec;
  /** Medians of each process, milliseconds a launch. */
  readonly ms: Readonly<Record<Side, readonly number[]>>;
  /** Disagreements with the peers. */
  readonly wrong: readonly string[];
}

const fixed = (v: number | undefined, width: number, digits: number): string =>
  (v === undefined || Number.isNaN(v) ? '–' : v.toFixed(digits)).padStart(width);

const geomean = (list: readonly number[]): number => Math.exp(list.reduce((s, v) => s + Math.log(v), 0) / list.length);

/** Ratios are of medians over processes; the worst is the slowest process of ours over the peer's median. */
export function kernelsTable(rows: readonly KernelRow[], copyGBs: number | undefined): unknown {
  const middle = (list: readonly number[]): number | undefined => (list.length === 0 ? undefined : median(list));
  console.log(`device copy of 1 GiB: ${fixed(copyGBs, 0, 0)} GB/s, read and write`);
  console.log('kernel                   Tsamba ms  C++ ms  numba ms   ÷ C++  worst  ÷ numba    GB/s  of a copy');
  const summary = rows.map(({ spec, ms }) => {
    const [own, cuda, numba] = [median(ms.tsamba), middle(ms.cuda), middle(ms.numba)];
    const over = (peer: number | undefined, mine: number): number | undefined => peer && mine / peer;
    const rate = spec.bytes && spec.bytes / own / 1e6;
    const row = {
      case: spec.name,
      ms: { tsamba: own, cuda, numba },
      overCuda: over(cuda, own),
      worstOverCuda: over(cuda, Math.max(...ms.tsamba)),
      overNumba: over(numba, own),
      GBs: rate,
      ofCopy: rate && copyGBs && rate / copyGBs,
    };
    console.log(
      `${spec.title.padEnd(24)} ${fixed(own, 9, 4)} ${fixed(cuda, 7, 4)} ${fixed(numba, 9, 4)} ${fixed(row.overCuda, 7, 3)} ${fixed(row.worstOverCuda, 6, 3)} ${fixed(row.overNumba, 8, 3)} ${fixed(rate, 7, 0)} ${row.ofCopy === undefined ? '' : `${fixed(100 * row.ofCopy, 8, 0)} %`}`,
    );
    return row;
  });
  const mean = (of: 'overCuda' | 'overNumba'): number => geomean(summary.flatMap((row) => row[of] ?? []));
  console.log(`geometric mean: ${fixed(mean('overCuda'), 0, 3)} ÷ C++, ${fixed(mean('overNumba'), 0, 3)} ÷ numba`);
  return { rows: summary, geomeanOverCuda: mean('overCuda'), geomeanOverNumba: mean('overNumba') };
}

export function callsTable(
  processes: readonly Calls[],
  numba: readonly { readonly launchIssue: number; readonly allocate: number }[],
): unknown {
  const of = (key: keyof Calls): number => median(processes.map((p) => p[key]));
  const worst = (key: keyof Calls): string =>
    `(worst process ${fixed(Math.max(...processes.map((p) => p[key])), 0, 2)})`;
  const peer = (key: 'launchIssue' | 'allocate'): number | undefined =>
    numba.length === 0 ? undefined : median(numba.map((n) => n[key]));
  const above = median(processes.map((p) => p.launch - p.rawLaunch));
  console.log(
    `launch, 3 arrays and a scalar, issue: .launch ${fixed(of('launch'), 0, 2)} µs ${worst('launch')}, configured ${fixed(of('configured'), 0, 2)}, the driver's call ${fixed(of('rawLaunch'), 0, 2)} (${fixed(above, 0, 2)} more), numba ${fixed(peer('launchIssue'), 0, 2)}`,
  );
  console.log(
    `deviceArray of 4 KB + dispose: ${fixed(of('allocate'), 0, 2)} µs ${worst('allocate')}, the driver's pool ${fixed(of('rawAllocate'), 0, 2)}, numba ${fixed(peer('allocate'), 0, 2)}`,
  );
  return {
    launch: of('launch'),
    configured: of('configured'),
    rawLaunch: of('rawLaunch'),
    above,
    allocate: of('allocate'),
    rawAllocate: of('rawAllocate'),
    numbaLaunch: peer('launchIssue'),
    numbaAllocate: peer('allocate'),
  };
}

export function firstTable(result: {
  readonly tsamba: readonly FirstKernel[];
  readonly cached: readonly FirstKernel[];
  readonly raw: readonly RawFirst[];
  readonly numba: readonly { readonly firstKernel: number; readonly laterKernel: number }[];
}): unknown {
  const [own, raw] = [median(result.tsamba.map((t) => t.first)), median(result.raw.map((r) => r.first))];
  const worst = Math.max(...result.tsamba.map((t) => t.first));
  const later = median(result.tsamba.map((t) => t.later));
  const worstLater = Math.max(...result.tsamba.map((t) => t.worstLater));
  const rawLater = median(result.raw.map((r) => r.later));
  const rawWorst = Math.max(...result.raw.map((r) => r.worstLater));
  const numba = result.numba.length === 0 ? undefined : median(result.numba.map((n) => n.firstKernel));
  const numbaLater = result.numba.length === 0 ? undefined : median(result.numba.map((n) => n.laterKernel));
  console.log(
    `first kernel of a process, no cache: ${fixed(own, 0, 1)} ms (worst ${fixed(worst, 0, 1)}), cuModuleLoadData alone ${fixed(raw, 0, 1)} (${fixed(own - raw, 0, 1)} more), numba ${fixed(numba, 0, 1)}`,
  );
  const cached = median(result.cached.map((t) => t.first));
  const worstCached = Math.max(...result.cached.map((t) => t.first));
  const laterCached = median(result.cached.map((t) => t.later));
  console.log(
    `first kernel, compiled by an earlier process: ${fixed(cached, 0, 1)} ms (worst ${fixed(worstCached, 0, 1)}), later ones ${fixed(laterCached, 0, 2)} ms`,
  );
  console.log(
    `later small kernels: ${fixed(later, 0, 1)} ms (worst ${fixed(worstLater, 0, 1)}), cuModuleLoadData alone ${fixed(rawLater, 0, 1)} (worst ${fixed(rawWorst, 0, 1)}), numba ${fixed(numbaLater, 0, 1)}`,
  );
  return {
    first: own,
    worst,
    cached,
    worstCached,
    laterCached,
    raw,
    later,
    worstLater,
    rawLater,
    rawWorst,
    numba,
    numbaLater,
  };
}

export function copiesTable(all: readonly Rate[], twoCores: readonly Rate[]): void {
  console.log('copy, GB/s                       driver  Tsamba   ratio | two cores: driver  Tsamba   ratio');
  const side = (r: Rate): string => `${fixed(r.raw, 7, 2)} ${fixed(r.tsamba, 7, 2)} ${fixed(r.tsamba / r.raw, 7, 2)}`;
  all.forEach((rate, k) => {
    const size = rate.bytes >= 2 ** 20 ? `${rate.bytes / 2 ** 20} MiB` : `${rate.bytes / 2 ** 10} KiB`;
    console.log(`${`${rate.what}, ${size}`.padEnd(31)} ${side(rate)} |           ${side(twoCores[k])}`);
  });
}
