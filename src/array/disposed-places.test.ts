/** Errors name the place in the program where a thing was disposed, whatever it is, and never one inside the library. */
import { afterEach, describe, expect, it } from 'vitest';
import { cuda, f32, ndarray, SmartArray, struct } from '../index.ts';

const point = struct({ x: f32 });

/** What is made, what can be disposed of it, and what tells that it was. */
const things: readonly [string, () => { over: Disposable; use: () => unknown }][] = [
  ['device array', () => of(cuda.deviceArray(1), (d) => d.get(0))],
  ['record', () => of(cuda.toDevice({ x: 1 }, { dtype: point }), (r) => r.get('x'))],
  ['array of a record', () => of(cuda.toDevice({ x: 1 }, { dtype: point }), (r) => r.array.get())],
  ['smart array', () => of(new SmartArray([1]), (s) => s.get())],
  ['device side of a smart array', () => sideOf(new SmartArray([1]), (s) => s.get('gpu'))],
  ['pinned array', () => of(cuda.pinnedArray(1), (p) => p.get(0))],
  ['mapped array', () => of(cuda.mappedArray(1), (m) => m.get(0))],
  ['device side of a mapped array', () => sideOf(cuda.mappedArray(1), (m) => cuda.toDevice(m))],
  ['stream', () => of(cuda.stream(), (s) => s.synchronize())],
  ['event', () => of(cuda.event(), (e) => e.record())],
];

function of<T extends Disposable>(over: T, use: (thing: T) => unknown): { over: Disposable; use: () => unknown } {
  return { over, use: () => use(over) };
}

function sideOf<T extends Disposable>(over: T, side: (thing: T) => unknown): { over: Disposable; use: () => unknown } {
  const device = side(over) as { get(i: number): unknown };
  return { over, use: () => device.get(0) };
}

const HERE = /was disposed at .*disposed-places\.test\.ts:\d+/;

describe.each(things)('a %s', (_, make) => {
  cuda.selectDevice('simulator');
  afterEach(() => cuda.currentContext().reset());

  it('was disposed here by dispose()', () => {
    const { over, use } = make();
    (over as unknown as { dispose(): void }).dispose();
    expect(use).toThrow(HERE);
  });

  it('was disposed here by leaving a `using`', () => {
    const { over, use } = make();
    over[Symbol.dispose]();
    expect(use).toThrow(HERE);
  });
});

it('a stream that was waited for before', async () => {
  const stream = cuda.stream();
  cuda.toDevice(ndarray.arange(4), { stream });
  await stream[Symbol.asyncDispose]();
  expect(() => stream.synchronize()).toThrow(HERE);
});
