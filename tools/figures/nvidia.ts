/**
 * Tables of the H200: kernels beside CUDA C++ and numba-cuda, and calls and copies beside the driver's own.
 */
import { SPECS } from '../../bench/nvidia/spec.ts';
import { fixed, newest, table } from './records.ts';

interface Row {
  readonly case: string;
  readonly ms: { readonly tsamba: number; readonly cuda?: number; readonly numba?: number };
  readonly overCuda?: number;
  readonly overNumba?: number;
  readonly GBs?: number;
  readonly ofCopy?: number;
}

interface Rate {
  readonly what: string;
  readonly bytes: number;
  readonly raw: number;
  readonly tsamba: number;
}

interface NvidiaRecord {
  readonly date: string;
  readonly gpu: string;
  readonly driver: string;
  readonly node: string;
  readonly cores: number;
  readonly rounds: number;
  readonly kernels: {
    readonly copyGBs: number;
    readonly summary: {
      readonly rows: readonly Row[];
      readonly geomeanOverCuda: number;
      readonly geomeanOverNumba: number | null;
    };
    readonly versions: {
      readonly numba?: Readonly<Record<string, string>>;
      readonly cuda?: Readonly<Record<string, string>>;
    };
    readonly runs: { readonly tsamba: readonly Readonly<Record<string, readonly number[]>>[] };
  };
  readonly first?: { readonly summary: Readonly<Record<string, number>> };
  readonly calls?: { readonly summary: Readonly<Record<string, number>> };
  readonly copies?: { readonly all: readonly Rate[]; readonly twoCores: readonly Rate[] };
}

const titles = new Map(SPECS.map(({ name, title }) => [name, title]));
const withNumba = ({ kernels }: NvidiaRecord): boolean => kernels.versions.numba !== undefined;

/** All kernels beside CUDA C++. */
export function nvidiaKernels(): string {
  const { path, record } = newest<NvidiaRecord>('nvidia', ({ kernels }) => kernels.summary.rows.length > 20);
  const { summary, copyGBs, runs, versions } = record.kernels;
  const intervals = Object.values(runs.tsamba[0] ?? {})[0]?.length;
  const slowest = [...summary.rows].sort((a, b) => (b.overCuda ?? 0) - (a.overCuda ?? 0))[0];
  const text = `${record.gpu}, driver ${record.driver}, CUDA ${versions.cuda?.['cuda']}, Node ${record.node.slice(1)}, ${record.cores} host cores; ${record.rounds} processes of ${intervals} intervals on each side, in turns
(\`${path}\`). A device-to-device copy of 1 GiB ran at ${fixed(copyGBs, 0)} GB/s (read and written). The kernel that
compares worst is ${titles.get(slowest?.case ?? '')}.`;
  const rows = summary.rows.map((row) => [
    titles.get(row.case) ?? row.case,
    fixed(row.ms.tsamba, 4),
    fixed(row.ms.cuda, 4),
    fixed(row.overCuda, 3),
    row.GBs === undefined ? '' : `${fixed(row.GBs, 0)}, ${fixed(100 * (row.ofCopy ?? 0), 0)} %`,
  ]);
  const all = [...rows, ['geometric mean', '', '', fixed(summary.geomeanOverCuda, 3), '']];
  return `${text}\n\n${table(['kernel', 'Tsamba, ms', 'C++, ms', '÷ C++', 'GB/s, of a copy'], all)}`;
}

/** The kernels that have a Numba version. */
export function numbaKernels(): string {
  const { path, record } = newest<NvidiaRecord>('nvidia', withNumba);
  const { summary, versions } = record.kernels;
  const text = `The kernels that have a Numba version were measured on ${record.date.slice(0, 10)} with numba-cuda ${versions.numba?.['numba-cuda']}, ${record.rounds} processes on each side
(\`${path}\`).`;
  const rows = summary.rows.map((row) => [
    titles.get(row.case) ?? row.case,
    fixed(row.ms.tsamba, 4),
    fixed(row.ms.numba, 4),
    fixed(row.overNumba, 2),
  ]);
  const all = [...rows, ['geometric mean', '', '', fixed(summary.geomeanOverNumba, 2)]];
  return `${text}\n\n${table(['kernel', 'Tsamba, ms', 'Numba, ms', '÷ Numba'], all)}`;
}

/** Launches, allocations, first kernels and copies. */
export function nvidiaCalls(): string {
  const { path, record } = newest<NvidiaRecord>('nvidia', ({ calls, first, copies }) =>
    Boolean(calls && first && copies),
  );
  const [calls, first] = [record.calls?.summary ?? {}, record.first?.summary ?? {}];
  const of = (from: Readonly<Record<string, number>>, key: string, unit: string): string => {
    const value = from[key];
    return value === undefined ? '' : `${fixed(value, unit === 'µs' && value < 10 ? 2 : value < 100 ? 1 : 0)} ${unit}`;
  };
  const rows = [
    [
      'launch of three arrays and a scalar, issue',
      of(calls, 'launch', 'µs'),
      of(calls, 'rawLaunch', 'µs'),
      of(calls, 'numbaLaunch', 'µs'),
    ],
    [
      '`deviceArray` of 4 KB and `dispose`',
      of(calls, 'allocate', 'µs'),
      of(calls, 'rawAllocate', 'µs'),
      of(calls, 'numbaAllocate', 'µs'),
    ],
    [
      'first kernel of a process',
      `${of(first, 'first', 'ms')}, worst ${fixed(first['worst'], 1)}`,
      `${of(first, 'raw', 'ms')} (loading the same PTX)`,
      of(first, 'numba', 'ms'),
    ],
    [
      'later small kernels',
      `${of(first, 'later', 'ms')}, worst ${fixed(first['worstLater'], 1)}`,
      `${of(first, 'rawLater', 'ms')}, worst ${fixed(first['rawWorst'], 1)} (loading the same PTX)`,
      of(first, 'numbaLater', 'ms'),
    ],
  ];
  const beside = (rate: Rate, key: 'raw' | 'tsamba'): string => {
    const two = record.copies?.twoCores.find(({ what, bytes }) => what === rate.what && bytes === rate.bytes);
    return `${fixed(rate[key], 1)} GB/s; on two cores ${fixed(two?.[key], 1)}`;
  };
  const size = (bytes: number): string => (bytes >= 2 ** 20 ? `${bytes / 2 ** 20} MiB` : `${bytes / 2 ** 10} KiB`);
  const copies = [...(record.copies?.all ?? [])]
    .sort((a, b) => b.bytes - a.bytes)
    .map((rate) => [`copy of ${size(rate.bytes)}, ${rate.what}`, beside(rate, 'tsamba'), beside(rate, 'raw'), '']);
  const text = `Calls and copies, measured on ${record.date.slice(0, 10)} (\`${path}\`).`;
  return `${text}\n\n${table(['call', 'Tsamba', 'driver alone', 'numba'], [...rows, ...copies])}`;
}

/** The overview of the README, from one run of all three sides. */
export function nvidiaOverview(): string {
  const { record } = newest<NvidiaRecord>('nvidia', withNumba);
  const chosen = ['saxpy', 'matmul', 'stencil', 'reduce', 'nbody'];
  const rows = chosen.map((name) => {
    const row = record.kernels.summary.rows.find((one) => one.case === name);
    const ms = (value: number | undefined): string => fixed(value, (value ?? 0) < 1 ? 3 : 2);
    return [titles.get(name) ?? name, ms(row?.ms.tsamba), ms(row?.ms.cuda), ms(row?.ms.numba)];
  });
  const [calls, first] = [record.calls?.summary ?? {}, record.first?.summary ?? {}];
  const more = [
    [
      'launch of a kernel, issue',
      `${fixed(calls['launch'], 1)} µs`,
      `${fixed(calls['rawLaunch'], 1)} µs (the driver's call)`,
      `${fixed(calls['numbaLaunch'], 0)} µs`,
    ],
    [
      'first kernel of a process',
      `${fixed(first['first'], 0)} ms`,
      `${fixed(first['raw'], 0)} ms (loading the same PTX)`,
      `${fixed(first['numba'], 0)} ms`,
    ],
  ];
  return table(['kernel', 'Tsamba, ms', 'CUDA C++, ms', 'numba-cuda, ms'], [...rows, ...more]);
}
