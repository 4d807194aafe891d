/**
 * What the memory model costs on the current device: views, single elements, strided copies, and a `SmartArray` beside the same
 * transfers by hand. Printing and keeping the figures is `main.ts`.
 */
import { cuda, type DeviceNDArray, f32, type NDArray, SmartArray, type Vec } from 'tsamba';
import { median } from '../statistics.ts';

/** Microseconds a call: medians over batches, all of them in turns; the first batches warm up. */
function perCall(
  runs: Readonly<Record<string, () => void>>,
  { batches = 60, warm = 20, batch = 500 } = {},
): Record<string, number> {
  const times: Record<string, number[]> = {};
  for (let k = -warm; k < batches; k++) {
    for (const [name, run] of Object.entries(runs)) {
      const began = performance.now();
      for (let call = 0; call < batch; call++) run();
      const us = ((performance.now() - began) / batch) * 1000;
      times[name] ??= [];
      if (k >= 0) times[name].push(us);
    }
  }
  return Object.fromEntries(Object.entries(times).map(([name, list]) => [name, median(list)]));
}

/** Microseconds to make a view, left to the collector; with `+ dispose` of a slice as well. */
export function views(): Record<string, number> {
  const d = cuda.deviceArray([64, 64], f32);
  const dropped = perCall({
    "slice('1:', 3)": () => void d.slice('1:', 3),
    "slice('1:', '::2')": () => void d.slice('1:', '::2'),
    'slice([1, null], [])': () => void d.slice([1, null], []),
    'reshape(32, 128)': () => void d.reshape(32, 128),
    'reshape([32, -1])': () => void d.reshape([32, -1]),
    "view('i32')": () => void d.view('i32'),
  });
  const disposed = perCall({ 'slice + dispose': () => d.slice('1:', 3).dispose() });
  d.dispose();
  return { ...dropped, ...disposed };
}

/** Microseconds to read one element: of an array, of one bound to a stream, of a view. */
export function elements(): Record<string, number> {
  const stream = cuda.stream();
  const d = cuda.toDevice(new Float32Array(4096).fill(7)).reshape(64, 64);
  const [bound, view] = [d.bind(stream), d.T.slice('::-2')];
  const us = perCall(
    {
      get: () => void d.get(3, 4),
      'get, on a stream': () => void bound.get(3, 4),
      'get of a view': () => void view.get(3, 4),
    },
    { batches: 30, warm: 10, batch: 200 },
  );
  if (d.get(3, 4) !== 7) throw new Error('get is wrong');
  return us;
}

/** A strided copy of rows between pinned memory and the device, beside one block of as many bytes, GB/s. */
export interface RowCopy {
  readonly what: string;
  readonly rowBytes: number;
  readonly strided: number;
  readonly contiguous: number;
}

const ROWS = [1024, 4096, 65_536];
const BYTES = 2 ** 26;

/** Every other row of a pinned array, to a device array without gaps and back; and the other way round. */
export function rowCopies(): RowCopy[] {
  const block = cuda.pinnedArray(BYTES / 4, f32);
  const flat = cuda.deviceArray(BYTES / 4, f32);
  return ROWS.flatMap((rowBytes) => {
    const shape: [number, number] = [BYTES / rowBytes, rowBytes / 4];
    const compact = flat.reshape(shape);
    const sparse = cuda.pinnedArray([2 * shape[0], shape[1]], f32);
    const gaps = sparse.slice('::2');
    const sparseDevice = cuda.deviceArray([2 * shape[0], shape[1]], f32);
    const gapsDevice = sparseDevice.slice('::2');
    const block2d = block.reshape(shape);
    block.data.fill(3);
    sparse.data.fill(4);
    const rows = [
      ['host rows to device', () => compact.copyToDevice(gaps), () => flat.copyToDevice(block)],
      ['device to host rows', () => compact.copyToHost(gaps), () => flat.copyToHost(block)],
      ['host to device rows', () => gapsDevice.copyToDevice(block2d), () => flat.copyToDevice(block)],
      ['device rows to host', () => gapsDevice.copyToHost(block2d), () => flat.copyToHost(block)],
    ] as const;
    const rates = rows.map(([what, strided, contiguous]): RowCopy => {
      const [first, second] = inTurns([strided, contiguous], 15);
      return { what, rowBytes, strided: BYTES / median(first) / 1e6, contiguous: BYTES / median(second) / 1e6 };
    });
    checkRows(compact, gaps);
    for (const array of [sparse, sparseDevice]) array.dispose();
    return rates;
  });
}

function checkRows(compact: DeviceNDArray<f32, 2>, gaps: NDArray<f32>): void {
  gaps.set(5);
  compact.copyToDevice(gaps);
  if (compact.get(-1, -1) !== 5 || compact.get(0, 0) !== 5) throw new Error('a copy of rows is wrong');
}

/** Milliseconds of each run of each, in turns; the first ones warm up. */
function inTurns(runs: readonly (() => unknown)[], rounds: number, warm = 3): number[][] {
  const times: number[][] = runs.map(() => []);
  for (let k = -warm; k < rounds; k++) {
    runs.forEach((run, side) => {
      const began = performance.now();
      run();
      if (k >= 0) times[side].push(performance.now() - began);
    });
  }
  return times;
}

/** What a chain of kernels moves and takes. */
export interface Chain {
  readonly bytes: number;
  readonly kernels: number;
  /** Copies and their bytes, to the device and back. */
  readonly smart: readonly number[];
  readonly manual: readonly number[];
  /** Milliseconds. */
  readonly smartMs: number;
  readonly manualMs: number;
  /** The median of the ratios of neighbours in time. */
  readonly ratio: number;
}

const KERNELS = 10;

/** Upload, kernels one after another, download: with a SmartArray and by hand, each with arrays of its own, made before. */
export function chains(): Chain[] {
  const step = cuda.jit((a: Vec<f32>, k: number) => {
    const i = cuda.grid(1);
    if (i < a.length) a[i] = a[i] * 0.5 + k;
  });
  return [2 ** 14, 2 ** 22].map((n) => {
    const [mine, theirs] = [new Float32Array(n), new Float32Array(n)];
    const device = cuda.deviceArray(n, f32);
    const smartArray = new SmartArray(theirs, { copy: false });
    const manual = (): void => {
      device.copyToDevice(mine);
      for (let k = 0; k < KERNELS; k++) step.launch({ threads: n }, device, k);
      device.copyToHost(mine);
    };
    const smart = (): void => {
      smartArray.markChanged('host');
      for (let k = 0; k < KERNELS; k++) step.launch({ threads: n }, smartArray, k);
      smartArray.get('host');
      // Else every kernel would refresh what somebody holds.
      smartArray.release('host');
    };
    smartArray.release('host');
    // Engines compile what they run often.
    const times = n > 2 ** 16 ? inTurns([smart, manual], 60) : inTurns([smart, manual], 2000, 2000);
    const moved = [counted(smart), counted(manual)];
    if (mine.some((value, i) => value !== theirs[i])) throw new Error('the two chains disagree');
    const chain = {
      bytes: 4 * n,
      kernels: KERNELS,
      smart: moved[0],
      manual: moved[1],
      smartMs: median(times[0]),
      manualMs: median(times[1]),
      ratio: median(times[0].map((ms, k) => ms / times[1][k])),
    };
    device.dispose();
    smartArray.dispose();
    return chain;
  });
}

/** Copies and bytes to the device, copies and bytes to the host, of one run. */
function counted(run: () => void): number[] {
  const before = cuda.memoryStats().copies;
  run();
  const after = cuda.memoryStats().copies;
  return (['hostToDevice', 'deviceToHost'] as const).flatMap((way) => [
    after[way].count - before[way].count,
    after[way].bytes - before[way].bytes,
  ]);
}
