/**
 * Sorts in the ways of all devices, on the CPU device: single sweeps and tiles, which GPUs choose, and merges in tiles; tiles by a compiler of OpenCL too, where there is one.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DeviceNDArray } from '../array/device-array.ts';
import { assemble, hasPtxas } from '../compiler/render/ptx/assemble.testing.ts';
import { hasOpenCL } from '../driver/opencl/opencl.testing.ts';
import { asDType, type DType, f32, i32, u32, u64 } from '../dtype/index.ts';
import { cuda, roc } from '../index.ts';
import { launchSteps } from '../kernel/steps.ts';
import { isThorough } from '../required.testing.ts';
import { lessOf, mergeSteps } from './merge-sort.ts';
import { onesweepOf } from './onesweep.ts';
import { jitOn, placeOf } from './place.ts';
import { type RadixKeys, radixKeysOf } from './radix-keys.ts';
import { radixSteps, shapeFor, type Way, wayOn } from './radix-steps.ts';

beforeAll(() => cuda.selectDevice('cpu'));
afterAll(async () => {
  await roc.close();
  await cuda.close();
});

type Host = Float32Array | Uint8Array | Int16Array | Float64Array | Int32Array;
const HOSTS: readonly (readonly [string, (length: number, make: () => number) => Host])[] = [
  ['float32', (length, make) => Float32Array.from({ length }, make)],
  ['uint8', (length, make) => Uint8Array.from({ length }, make)],
  ['int16', (length, make) => Int16Array.from({ length }, make)],
  ['float64', (length, make) => Float64Array.from({ length }, make)],
];

/** Up or down. */
const LENGTHS: readonly (readonly [number, boolean])[] = [
  [777, true],
  [9000, false],
  ...(isThorough()
    ? ([
        [1, false],
        [30001, true],
      ] as const)
    : []),
];

/** Numbers that repeat, the same every time. */
function some(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return ((state >>> 9) % 700) - 350;
  };
}

const WAYS: readonly (readonly [Way, 'cpu' | 'opencl'])[] = [
  ['sweeps', 'cpu'],
  ['tiles', 'cpu'],
  ['stretches', 'cpu'],
  ...(hasOpenCL() ? ([['tiles', 'opencl']] as const) : []),
];

describe.each(WAYS)('%s on %s', (way, kind) => {
  it.each(HOSTS)('sort %s with what goes along', { timeout: 300_000 }, (name, make) => {
    const device = kind === 'cpu' ? cuda : roc;
    if (kind === 'opencl') roc.selectDevice(kind);
    for (const [length, descending] of LENGTHS) {
      for (const along of ['nothing', 'places', 'in place'] as const) {
        const host = make(length, some(length));
        const keys = device.toDevice(host) as unknown as DeviceNDArray;
        const inPlace = along === 'in place';
        const toKeys = inPlace ? keys : (device.deviceArray(length, asDType(name)) as DeviceNDArray);
        const values = device.toDevice(Int32Array.from(host.keys())) as unknown as DeviceNDArray;
        const place = placeOf('sort', [keys], undefined);
        const keysOf = radixKeysOf(asDType(name) as DType, descending) as RadixKeys;
        const pairs = along === 'nothing' ? {} : { values: inPlace ? values : ('places' as const), toValues: values };
        const steps = radixSteps(place, { keysOf, name: `${name} ${descending}`, keys, toKeys, ...pairs }, way);
        launchSteps({ steps, temporaries: place.made });
        const by = descending ? -1 : 1;
        const at = Array.from(host.keys()).sort((i, j) => by * ((host[i] as number) - (host[j] as number)) || i - j);
        expect(Array.from(toKeys.copyToHost() as unknown as Host)).toEqual(at.map((i) => host[i]));
        if (along !== 'nothing') expect(Array.from(values.copyToHost() as unknown as Host)).toEqual(at);
      }
    }
  });
});

describe('the way of a device', () => {
  it.each([
    ['nvidia', 'gpu', 'sweeps'],
    ['hip', 'gpu', 'sweeps'],
    ['opencl', 'gpu', 'tiles'],
    ['webgpu', 'gpu', 'tiles'],
    ['opencl', 'cpu', 'stretches'],
    ['webgpu', 'cpu', 'stretches'],
  ])('%s on a %s: %s', (kind, type, way) => {
    expect(wayOn({ info: { kind, hardware: { type } } } as never)).toBe(way);
  });
});

describe('merges in tiles', () => {
  it.each([1, 2047, 2048, 2049, 10001])('sort %i elements', (length) => {
    const host = Float32Array.from({ length }, some(length));
    const x = cuda.toDevice(host) as unknown as DeviceNDArray;
    const place = placeOf('sort', [x], undefined);
    const less = lessOf(((a: number, b: number) => a - b) as never, false);
    const steps = mergeSteps(place, { from: x, to: x, less, argument: 0 }, true);
    launchSteps({ steps, temporaries: place.made });
    expect(x.copyToHost()).toEqual(host.sort());
  });
});

describe.runIf(hasPtxas())('sweeps as a GPU runs them', () => {
  it.each([
    ['keys of 32 bits', u32, undefined],
    ['floats', f32, undefined],
    ['pairs', i32, u32],
    ['keys of 64 bits', u64, undefined],
  ] as const)('keep %s in registers', async (_, key, value) => {
    const keysOf = radixKeysOf(key as unknown as DType, false) as RadixKeys;
    const valueType = value as unknown as DType | undefined;
    const sweep = onesweepOf(jitOn(cuda.currentContext()), keysOf, valueType, shapeFor(keysOf, valueType));
    const [keys, words] = [cuda.deviceArray(1, keysOf.raw), cuda.deviceArray(1, u32)] as never[];
    const values = (value === undefined ? keys : words) as never;
    const rest = [words, words, words, words, words, 0, 0] as never as [never, never, never, never, never, 0, 0];
    sweep.compile(keys as never, keys as never, values, values, ...rest);
    const ptx = sweep.inspect({ target: 'ptx', arch: 'sm_90' } as never) as unknown as string;
    const said = await assemble(ptx, 90, ['-v']);
    // An array that is indexed by a variable would be memory: four bytes for each key.
    expect(Number(/(\d+) bytes stack frame/.exec(said)?.[1])).toBeLessThan(128);
    expect(Number(/Used (\d+) registers/.exec(said)?.[1])).toBeLessThanOrEqual(64);
  });
});
