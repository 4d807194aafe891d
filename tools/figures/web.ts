/**
 * Tables of WebGPU: kernels beside WGSL by hand, and one page of Chromium with Tsamba, jax-js and TypeGPU.
 */
import { median } from '../../bench/statistics.ts';
import { type Found, fixed, newest, table } from './records.ts';

interface KernelsRecord {
  readonly date: string;
  readonly gpu: string;
  readonly geomean: number;
  readonly rows: readonly {
    readonly case: string;
    readonly tsamba: number;
    readonly byHand: number;
    readonly ratio: number;
    readonly ptx?: number;
  }[];
}

interface PagesRecord {
  readonly date: string;
  readonly adapter?: { readonly vendor: string };
  readonly browser: string;
  readonly machine: { readonly gpu: string; readonly driver: string };
  readonly rounds: number;
  readonly cases: Readonly<
    Record<
      string,
      {
        readonly times: Readonly<Record<string, readonly number[]>>;
        readonly issue: Readonly<Record<string, readonly number[]>>;
      }
    >
  >;
  readonly animation: Readonly<Record<'launch' | 'launchAsync', { readonly median: number; readonly p95: number }>>;
}

const TITLES: Readonly<Record<string, string>> = {
  matmul: 'matrix product 2048',
  mandelbrot: 'Mandelbrot 4096',
  nbody: 'n-body',
  reduce: 'reduction',
  blackscholes: 'Black-Scholes',
  'blackscholes-fast': 'Black-Scholes, `fastMath`',
};

/** Three significant digits. */
function ms(value: number | undefined): string {
  return value === undefined ? '–' : fixed(value, value < 1 ? 3 : value < 10 ? 2 : 1);
}

/** Kernels through Dawn on a GPU. */
export function webgpuKernels(): string {
  const { path, record } = newest<KernelsRecord>('webgpu', ({ gpu }) => gpu.startsWith('NVIDIA'));
  const rows = record.rows.map((row) => [
    TITLES[row.case] ?? row.case,
    ms(row.tsamba),
    ms(row.byHand),
    fixed(row.ratio, 2),
    ms(row.ptx),
  ]);
  const head = ['kernel', 'Tsamba, ms', 'by hand, ms', '÷ by hand', 'as PTX, ms'];
  return `${table(head, rows)}\n\nThe geometric mean is ${fixed(record.geomean, 2)} (\`${path}\`).`;
}

function pages(): Found<PagesRecord> {
  return newest<PagesRecord>('pages', ({ adapter }) => adapter?.vendor === 'nvidia');
}

const SIDES = ['tsamba', 'jax-js', 'TypeGPU'] as const;

/** One page on a GPU. */
export function webgpuPages(): string {
  const { path, record } = pages();
  const { gpu, driver } = record.machine;
  const rows = Object.entries(record.cases).map(([name, { times, issue }]) => [
    name
      .replace('by the library', '`cuda.matmul`')
      .replace(/^saxpy (\d+)/, (_, n) => `saxpy of ${elements(Number(n))}`),
    ...SIDES.map((side) => (times[side] === undefined ? '–' : ms(median(times[side])))),
    ...SIDES.map((side) => (issue[side] === undefined ? '–' : fixed(1000 * (median(issue[side]) as number), 0))),
  ]);
  const head = ['', 'Tsamba, ms', 'jax-js, ms', 'TypeGPU, ms', 'Tsamba, issue, µs', 'jax-js', 'TypeGPU'];
  const { launch, launchAsync } = record.animation;
  return `On an ${gpu} (driver ${driver}) in ${record.browser.replace('/', ' ')} through Vulkan, medians of ${record.rounds} rounds (\`${path}\`):

${table(head, rows)}

A frame of an animation on a canvas takes ${fixed(launch.median, 2)} ms of the page's main thread with \`launch\` (95 % take less than ${fixed(launch.p95, 2)}),
and ${fixed(launchAsync.median, 2)} ms with \`launchAsync\` (${fixed(launchAsync.p95, 2)}).`;
}

function elements(count: number): string {
  return count >= 2 ** 20 ? `${count / 2 ** 20}M elements` : `${count / 1024}K elements`;
}
