/**
 * Copies between host and device, pinned and pageable, beside the driver's own synchronous copies of the same memory.
 */
import { cuda, f32 } from 'tsamba';
import { median } from '../statistics.ts';
import { RawDriver } from './raw.ts';

/** GB/s. `raw` is the driver's call, `tsamba` ours on the same memory. */
export interface Rate {
  readonly what: string;
  readonly bytes: number;
  readonly raw: number;
  readonly tsamba: number;
}

const SIZES = [2 ** 16, 2 ** 20, 2 ** 24, 2 ** 28];

export function copies(): Rate[] {
  const raw = new RawDriver();
  const rates: Rate[] = [];
  for (const bytes of SIZES) {
    const n = bytes / 4;
    const device = cuda.toDevice(new Float32Array(n).fill(1));
    const pointer = raw.get('cuMemAlloc', bytes);
    // Small ones often: engines compile what they run often.
    const rounds = Math.min(1000, Math.max(9, 2 ** 29 / bytes));
    const measure = (what: string, host: Float32Array): void => {
      host.fill(2);
      const down = compared(rounds, bytes, [
        () => raw.call('cuMemcpyHtoD', pointer, host, bytes),
        () => void device.copyToDevice(host),
      ]);
      rates.push({ what: `${what} to device`, bytes, ...down });
      host.fill(0);
      const up = compared(rounds, bytes, [
        () => raw.call('cuMemcpyDtoH', host, pointer, bytes),
        () => void device.copyToHost(host),
      ]);
      if (host[n - 1] !== 2) throw new Error(`${what}: ${host[n - 1]} came back instead of 2`);
      rates.push({ what: `${what} to host`, bytes, ...up });
    };
    measure('pageable', new Float32Array(n));
    const pinned = pinnedArray(n);
    if (pinned !== undefined) measure('pinned', pinned);
    else measure('pinned by the driver', new Float32Array(raw.pinned(bytes).buffer));
    device.dispose();
    raw.call('cuMemFree', pointer);
  }
  return rates;
}

/** Pinned memory of Tsamba's, once it has some. */
function pinnedArray(n: number): Float32Array | undefined {
  const make = (cuda as { readonly pinnedArray?: (n: number, dtype: typeof f32) => { readonly data: Float32Array } })
    .pinnedArray;
  return make?.(n, f32).data;
}

/** In turns; the first fifth of the rounds warms up. */
function compared(
  rounds: number,
  bytes: number,
  runs: readonly [() => void, () => void],
): { raw: number; tsamba: number } {
  const times: [number[], number[]] = [[], []];
  for (let k = -Math.max(2, rounds / 5); k < rounds; k++) {
    runs.forEach((run, side) => {
      const began = performance.now();
      run();
      if (k >= 0) times[side].push(performance.now() - began);
    });
  }
  const [raw, tsamba] = times.map((list) => bytes / median(list) / 1e6);
  return { raw, tsamba };
}
