/** Arrays of other libraries as arguments: what a call takes of their memory it gives back, whatever becomes of the call. */
import { expect, it } from 'vitest';
import { cuda, type f32, roc, SmartArray, type Vec } from '../index.ts';

cuda.selectDevice('simulator');

/** What another library's array looks like. */
const exporting = (of: { readonly __cuda_array_interface__: unknown }) =>
  ({ __cuda_array_interface__: of.__cuda_array_interface__ }) as never;

const fill = cuda.jit((x: Vec<f32>, value: number) => {
  const i = cuda.grid(1);
  if (i < x.length) x[i] = value;
});
const broken = cuda.jit((x: Vec<f32>) => {
  (x as unknown as { nothing(): void }).nothing();
});
const first = cuda.jit((pair: readonly [Vec<f32>, Vec<f32>]) => {
  if (cuda.grid(1) === 0) pair[0][0] = pair[1].length;
});

type D = ReturnType<typeof make>;
const make = () => cuda.toDevice(Float32Array.of(1, 2));

const calls: readonly [string, (d: D, e: D) => unknown][] = [
  ['a launch', (d) => fill.launch({ threads: 2 }, exporting(d), 3)],
  ['a launch on a stream', (d) => fill.launch({ threads: 2, stream: cuda.stream() }, exporting(d), 3)],
  ['a tuple', (d, e) => first.launch({ threads: 1 }, [exporting(d), exporting(e)])],
  ['a launch that is refused', (d) => fill.launch({ threads: 2 }, exporting(d), 'x' as never)],
  ['a launch that does not compile', (d) => broken.launch({ threads: 2 }, exporting(d))],
  ['compile()', (d) => fill.compile(exporting(d), 3)],
  ['toDevice({ to })', (d, e) => cuda.toDevice(e, { to: exporting(d) })],
  ['toDevice({ to }) that is refused', (d) => cuda.toDevice(new Float64Array(2), { to: exporting(d) })],
  ['set', (d, e) => e.set(exporting(d))],
  ['copyToDevice', (d, e) => e.copyToDevice(exporting(d))],
  ['deviceArrayLike', (d) => cuda.deviceArrayLike(exporting(d)).dispose()],
  ['asCudaArray', (d) => cuda.asCudaArray(exporting(d)).dispose()],
  ['a smart array', (d) => new SmartArray(exporting(d)).dispose()],
  ['roc.toDevice', (d) => roc.toDevice(exporting(d)).dispose()],
];

it.each(calls)('%s keeps nothing of the array', (_, call) => {
  const before = cuda.memoryStats().live;
  const [d, e] = [make(), make()];
  try {
    call(d, e);
  } catch {
    // What a refusal says is tested elsewhere.
  }
  expect(d.owner.arrays).toBe(1);
  d.dispose();
  e.dispose();
  expect(cuda.memoryStats().live).toBe(before);
});
