/** Values that an option or an argument cannot have, each with the error that says so. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cuda, f32, ndarray, SmartArray, type Vec } from '../index.ts';

beforeAll(() => void cuda.selectDevice('cpu'));
afterAll(() => cuda.close());

const LONG = 'x'.repeat(1_000_000);

function cyclic(): unknown[] {
  const list: unknown[] = [1];
  list.push(list);
  return list;
}

function nested(depth: number): unknown {
  let list: unknown = 1;
  for (let k = 0; k < depth; k++) list = [list];
  return list;
}

function detached(): Float32Array {
  const array = new Float32Array(8);
  structuredClone(array.buffer, { transfer: [array.buffer] });
  return array;
}

const first = cuda.jit((x: { [k: number]: number }) => {
  x[0] = 1;
});

const CASES: readonly [name: string, call: () => unknown, code: string][] = [
  ['an argument that contains itself', () => first.launch({ grid: 1, block: 1 }, cyclic() as never), 'E_ARGUMENT_TYPE'],
  ['arrays 100 000 deep', () => first.launch({ grid: 1, block: 1 }, nested(100_000) as never), 'E_ARGUMENT_TYPE'],
  ['a symbol', () => first.launch({ grid: 1, block: 1 }, Symbol('x') as never), 'E_ARGUMENT_TYPE'],
  ['launchBounds beyond any block', () => cuda.jit(() => {}, { launchBounds: 1e300 }), 'E_JIT_OPTION'],
  ['maxRegisters beyond any file', () => cuda.jit(() => {}, { maxRegisters: 2 ** 40 }), 'E_JIT_OPTION'],
  ['a Date as options', () => cuda.jit(() => {}, new Date() as never), 'E_JIT_OPTION'],
  ['an element of 2 ** 55 bytes', () => f32.array(2 ** 53), 'E_SHAPE'],
  ['a Map as a shape', () => cuda.deviceArray(new Map() as never, f32), 'E_SHAPE'],
  ["copy: 'no'", () => cuda.toDevice(new Float32Array(2), { copy: 'no' as never }), 'E_OPTION'],
  ["copy: 'no' of a SmartArray", () => new SmartArray(new Float32Array(2), { copy: 'no' as never }), 'E_OPTION'],
  ["timing: 'no'", () => cuda.event({ timing: 'no' as never }), 'E_OPTION'],
  ['a stream that the program makes', () => new (cuda.Stream as never as new (x: unknown) => unknown)({}), 'E_OPTION'],
  ['a dtype of a million characters', () => cuda.deviceArray(2, LONG as never), 'E_DTYPE'],
  ['an option of a million characters', () => cuda.jit(() => {}, { [LONG]: 1 } as never), 'E_OPTION'],
  ['an array in place of its tensor', () => cuda.fromDlpack(cuda.toDevice(new Float32Array(2)) as never), 'E_DLPACK'],
  ['a host array beyond what there is', () => ndarray.zeros(2 ** 40), 'E_SHAPE'],
  ['a captured array without memory', capturesDetached, 'E_DETACHED'],
];

function capturesDetached(): void {
  const gone = detached();
  const kernel = cuda.jit(
    (x: Vec<f32>) => {
      x[0] = gone[0] as number;
    },
    { captures: { gone } },
  );
  kernel.launch({ grid: 1, block: 1 }, new Float32Array(1));
}

it.each(CASES)('%s', (_, call, code) => {
  const start = performance.now();
  let error: unknown;
  try {
    call();
  } catch (e) {
    error = e;
  }
  expect(error).toMatchObject({ code });
  expect((error as Error).message.length).toBeLessThan(2_500);
  expect(performance.now() - start).toBeLessThan(5_000);
});
