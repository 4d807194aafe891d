/**
 * Programs through the public door: `jit`, device arrays and views of them, launches, copies back.
 *
 * `devices.ts` is the quicker way and sees every byte; this one also has marshalling, layouts of views and strided copies in it.
 */

import { cuda, ndarray } from '../../src/index.ts';
import type { Context } from '../../src/memory/context.ts';
import { cudaDevices } from '../../src/memory/devices.ts';
import { captures, DTYPES, type Failure, functionOf, isUnspecified } from './devices.ts';
import { evaluate } from './evaluate.ts';
import { show } from './memory.ts';
import { argumentsOf } from './print.ts';
import { collectLines, linesDiffer } from './prints.ts';
import { type ArrayDecl, count, type Program, SIZE, type Val } from './program.ts';

type DeviceArray = ReturnType<typeof cuda.deviceArray>;

/** A device array with the layout that the declaration asks for, as a view where it takes one. */
function view(a: ArrayDecl): DeviceArray {
  const dtype = DTYPES[a.elem] as typeof DTYPES.f32;
  const [rows = 1, columns = 1] = a.shape;
  const flat = a.shape.length === 1;
  switch (a.layout) {
    case 'F':
      return cuda.deviceArray(a.shape, dtype, { order: 'F' }) as DeviceArray;
    case 'reversed':
      return (
        flat ? cuda.deviceArray(a.shape, dtype).slice('::-1') : cuda.deviceArray(a.shape, dtype).slice('::-1', '::-1')
      ) as DeviceArray;
    case 'stepped':
    case 'bytes':
      return (
        flat
          ? cuda.deviceArray([2 * rows], dtype).slice('::2')
          : cuda.deviceArray([rows, 2 * columns + 1], dtype).slice(':', `:${2 * columns}:2`)
      ) as DeviceArray;
    case 'transposed':
      return (
        flat
          ? cuda.deviceArray([3 * rows], dtype).slice('1::3')
          : cuda.deviceArray([columns, rows + 3], dtype).slice(':', `2:${rows + 2}`).T
      ) as DeviceArray;
    default:
      return cuda.deviceArray(a.shape, dtype) as DeviceArray;
  }
}

/** Runs a program through `cuda` on each context; the first failure, if any. */
export function checkApi(p: Program, contexts: ReadonlyMap<string, Context>): Failure | undefined {
  // Refusals of values that may be absent are made while compiling: `check` compares them.
  if (p.risky) return undefined;
  const expected = evaluate(p);
  const kernel = cuda.jit(functionOf(p) as (...args: unknown[]) => void, {
    captures: captures(p),
    contract: false,
    boundsCheck: p.seed % 2 === 0,
  });
  const sharedBytes = Math.max(0, ...p.arrays.filter((a) => a.space === 'dynamic').map((a) => count(a) * SIZE[a.elem]));
  const block = p.block[1] === 1 ? p.block[0] : p.block;
  for (const [name, context] of contexts) {
    if (isUnspecified(expected, context.kind)) continue;
    const leave = cudaDevices.enter(context);
    try {
      const arrays = argumentsOf(p).map((a) => {
        const array = view(a);
        array.copyToDevice(
          ndarray([...a.data] as number[], { shape: a.shape, dtype: DTYPES[a.elem] as typeof DTYPES.f32 }),
        );
        return array;
      });
      const scalars = p.scalars.map((s) => cuda.scalar(DTYPES[s.t] as typeof DTYPES.f32, s.v as number));
      const { lines } = collectLines(() => {
        kernel.launch({ grid: p.grid, block, sharedBytes }, ...arrays, ...scalars);
        cuda.synchronize();
      });
      const printed = linesDiffer(expected.lines, lines);
      if (printed !== undefined) return { device: `${name} through cuda`, kind: 'prints', what: printed };
      for (const [i, a] of argumentsOf(p).entries()) {
        const host = ndarray(arrays[i].copyToHost() as Float32Array);
        const got = (host.toArray() as unknown[]).flat() as Val[];
        const want = expected.memory.get(a.name) ?? [];
        const wrong = want.findIndex((v, k) => !Object.is(v, got[k]));
        if (wrong >= 0)
          return {
            device: `${name} through cuda`,
            kind: 'differs',
            what: `${a.name}[${wrong}] (${a.elem}) is ${show(got[wrong] as Val)}, must be ${show(want[wrong] as Val)}`,
          };
        arrays[i].dispose();
      }
    } catch (error) {
      const { code, stack } = error as { code?: string; stack?: string };
      return {
        device: `${name} through cuda`,
        kind: `throws ${code ?? String(error).slice(0, 60)}`,
        what: stack ?? String(error),
      };
    } finally {
      leave();
    }
  }
  return undefined;
}
