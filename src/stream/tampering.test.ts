/** Streams, events, contexts and smart arrays stay with the device and the memory that they were made for. */
import { describe, expect, it } from 'vitest';
import { freshCpuDevice } from '../../test/support/with-device.ts';
import { cuda, f32 } from '../index.ts';

freshCpuDevice();

const property = expect.objectContaining({ code: 'E_PROPERTY' });
const sloppy = (object: object, key: string) => () => new Function('o', 'key', 'o[key] = 1')(object, key);

describe.each<[string, () => object, readonly string[]]>([
  ['Stream', () => cuda.stream(), ['context', 'kind', 'handle', 'ref', 'pointer', 'destroyed', 'disposed']],
  ['Event', () => cuda.event(), ['context', 'timing', 'disposed']],
  ['Context', () => cuda.currentContext(), ['driver', 'kind', 'closed', 'memoryStream']],
  [
    'SmartArray',
    () => new cuda.SmartArray([1, 2]),
    ['shape', 'strides', 'dtype', 'size', 'nbytes', 'disposed', '0', 'x'],
  ],
])('%s', (_name, make, keys) => {
  it.each(keys)('does not take an assignment to %s', (key) => {
    const object = make();
    expect(sloppy(object, key)).toThrow(property);
    expect(() => Object.assign(object, { [key]: 1 })).toThrow(property);
  });
});

it.each(['info', 'namespace', 'counters', 'noMemory', 'deallocations'])('%s of a context stays', (key) => {
  const context = cuda.currentContext();
  const before = Reflect.get(context, key);
  expect(Reflect.set(context, key, {})).toBe(false);
  expect(() => Object.defineProperty(context, key, { value: {} })).toThrow(TypeError);
  expect(Reflect.get(context, key)).toBe(before);
});

it('what a device says of itself cannot be changed, limits included', () => {
  const device = cuda.currentDevice();
  const { info } = cuda.currentContext();
  for (const object of [device, device.limits, info, info.limits, info.features]) {
    for (const key of Object.keys(object)) expect(Reflect.set(object, key, 2 ** 40)).toBe(false);
  }
});

it('the handle of a stream stays', () => {
  const stream = cuda.stream();
  const { handle } = stream;
  expect(Reflect.set(stream.ref, 'handle', { address: 1n })).toBe(false);
  expect(Reflect.set(stream.ref, 'context', {})).toBe(false);
  expect(stream.handle).toBe(handle);
});

it('smart arrays are compared by what they hold', () => {
  const make = (value: number) => new cuda.SmartArray(Float32Array.of(1, value));
  expect(make(2)).toEqual(make(2));
  expect(make(2)).not.toEqual(make(3));
  expect(cuda.deviceArray(2, f32)).not.toEqual(cuda.deviceArray(2, f32));
});
