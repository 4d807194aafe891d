/**
 * Runs the kernels of `directed.ts` on a device and compares what they leave.
 */
import type { BlockingDriver } from '../../src/driver/driver.ts';
import { BLOCK, type Directed, THREADS } from './directed.ts';
import { difference, elements, image, placement } from './memory.ts';
import { count } from './program.ts';

/** Runs one of them; what is wrong with the result, or undefined. */
export function checkDirected(device: BlockingDriver, d: Directed): string | undefined {
  const pointers = d.arrays.map((a) => {
    const pointer = Number(device.allocate(placement(a).bytes));
    device.copyToDevice(pointer, image(a, a.data));
    return pointer;
  });
  const executable = device.load({ kernel: d.kernel });
  executable.launch(
    { grid: [THREADS / BLOCK, 1, 1], block: [BLOCK, 1, 1], sharedBytes: 0 },
    pointers.map((p, i) => p + placement(d.arrays[i]).offset),
    undefined,
  );
  device.synchronize();
  let wrong: string | undefined;
  d.arrays.forEach((a, i) => {
    const bytes = new Uint8Array(placement(a).bytes);
    device.copyToHost(bytes, pointers[i] ?? 0);
    device.free(pointers[i] ?? 0);
    const expected = d.expected.get(a.name) ?? a.data;
    if (d.ulps === undefined) wrong ??= difference(a, expected, bytes)?.what;
    else {
      const got = elements(a, bytes);
      for (let k = 0; k < count(a); k++)
        if (ulps(Number(got[k]), Number(expected[k]), a.elem === 'f32') > d.ulps)
          wrong ??= `${a.name}[${k}] is ${got[k]}, must be ${expected[k]}`;
    }
  });
  executable.unload();
  return wrong;
}

/** Whether there are f32 that WGSL lets be zero. */
export function hasDenormals({ arrays, expected }: Directed): boolean {
  const isOne = (v: unknown): boolean => typeof v === 'number' && v !== 0 && Math.abs(v) < 2 ** -126;
  return arrays.some(({ name, data }) => [...data, ...(expected.get(name) ?? [])].some(isOne));
}

/** The distance of two floats in units of the last place. */
function ulps(a: number, b: number, single: boolean): number {
  if (Object.is(a, b) || (Number.isNaN(a) && Number.isNaN(b))) return 0;
  const order = (x: number): bigint => {
    const view = new DataView(new ArrayBuffer(8));
    if (single) view.setFloat32(0, x);
    else view.setFloat64(0, x);
    const bits = single ? BigInt(view.getInt32(0)) : view.getBigInt64(0);
    return bits < 0n ? (single ? -(1n << 31n) : -(1n << 63n)) - bits : bits;
  };
  if (Number.isNaN(a) || Number.isNaN(b)) return Number.POSITIVE_INFINITY;
  const d = order(a) - order(b);
  return Number(d < 0n ? -d : d);
}
