import { beforeEach, describe, expect, it } from 'vitest';
import { InterpretingDriver } from '../../test/support/interpreting-driver.ts';
import { DeviceNDArray } from '../array/device-array.ts';
import type { ArgType } from '../compiler/contract.ts';
import type { Kernel, Param, ParamOrigin } from '../compiler/ir/ops.ts';
import { deviceArray, toDevice } from '../cuda/host.ts';
import { f32, f64 } from '../dtype/index.ts';
import { Context } from '../memory/context.ts';
import { cudaDevices } from '../memory/devices.ts';
import { Allocation, MemoryOwner } from '../memory/owner.ts';
import { Marshaller } from './marshal.ts';
import { scalar } from './scalar.ts';

let context: Context;
beforeEach(() => {
  context = new Context(new InterpretingDriver());
  cudaDevices.enter(context);
});

/** A marshaller of a kernel with these parameters; nothing else of the kernel matters to it. */
function marshaller(
  types: readonly ArgType[],
  params: readonly [Param['type'], ParamOrigin][],
  indexBits: 32 | 64 = 32,
  stated = false,
): Marshaller {
  const kernel = {
    params: params.map(([type, origin], index) => ({ index, name: 'p', type, origin })),
    indexBits,
    body: [],
  };
  return new Marshaller({ kernel: kernel as unknown as Kernel, apart: [] }, types, stated);
}

const VEC: ArgType = { kind: 'array', elem: 'f32', ndim: 1, layout: 'C', unit: 4 };
const STRIDED: ArgType = { kind: 'array', elem: 'f32', ndim: 2, layout: 'A', unit: 4 };
const value = (type: Param['type'], i: number): [Param['type'], ParamOrigin] => [type, { kind: 'value', path: [i] }];

describe('match, the fast path', () => {
  it('takes arrays apart', () => {
    const m = marshaller(
      [VEC],
      [
        ['i32', { kind: 'extent', path: [0], axis: 0 }],
        ['ptr', { kind: 'base', path: [0] }],
      ],
    );
    const d = deviceArray(7, f32);
    expect(m.match([d], context)).toBe(true);
    expect(m.values).toEqual([7, d.pointer]);
  });

  it('takes strides in their unit', () => {
    const m = marshaller(
      [STRIDED],
      [
        ['i32', { kind: 'stride', path: [0], axis: 0, unit: 4 }],
        ['i32', { kind: 'stride', path: [0], axis: 1, unit: 4 }],
      ],
    );
    const view = deviceArray([4, 6], f32).slice('::-1', '::2');
    expect(m.match([view], context)).toBe(true);
    expect(m.values).toEqual([-6, 2]);
  });

  it('gives up on other types, ranks, layouts, contexts and disposed arrays', () => {
    const m = marshaller([VEC], [['ptr', { kind: 'base', path: [0] }]]);
    const d = deviceArray(8, f32);
    const gone = deviceArray(8, f32);
    gone.dispose();
    for (const other of [
      deviceArray(8, f64),
      deviceArray([2, 4], f32),
      d.slice('::2'),
      gone,
      new Float32Array(8),
      1,
      null,
      undefined,
    ]) {
      expect(m.match([other], context)).toBe(false);
    }
    expect(m.match([d], new Context(new InterpretingDriver()))).toBe(false);
    expect(m.match([], context)).toBe(false);
    expect(m.match([d, 1], context)).toBe(false);
  });

  it('gives up on what needs wider indices', () => {
    const m = marshaller([VEC], [['i32', { kind: 'extent', path: [0], axis: 0 }]]);
    const wide = marshaller([VEC], [['i64', { kind: 'extent', path: [0], axis: 0 }]], 64);
    // Memory that is said to be there: nobody touches it.
    const owner = new MemoryOwner(context, new Allocation(context, 4096, 0, undefined), 2 ** 33);
    const gpuData = { context, owner, address: 4096 };
    const huge = new DeviceNDArray([2 ** 31], null, f32, { gpuData });
    expect([m.match([huge], context), wide.match([huge], context)]).toEqual([false, true]);
    expect(wide.values).toEqual([2 ** 31]);
  });

  it.each<[ArgType, Param['type'], boolean, unknown[], unknown[]]>([
    [{ kind: 'number' }, 'i32', false, [5, -5], [5.5, 2 ** 31, 5n, true, scalar('int32', 5), '5', undefined]],
    [{ kind: 'number' }, 'f32', false, [5.5, Number.NaN], [5n, scalar(f32, 5)]],
    [{ kind: 'bigint' }, 'i64', false, [5n], [5, 2n ** 63n]],
    [{ kind: 'scalar', type: 'bool' }, 'bool', false, [true, scalar('bool', false)], [1, 0n]],
    [{ kind: 'scalar', type: 'f32' }, 'f32', false, [scalar(f32, 5)], [5, scalar(f64, 5)]],
    [{ kind: 'scalar', type: 'u8' }, 'i32', true, [scalar('uint8', 5)], [5, 300]],
    [{ kind: 'scalar', type: 'f32' }, 'f32', true, [5, scalar(f32, 5)], [5n, scalar(f64, 5)]],
    [{ kind: 'scalar', type: 'i64' }, 'i64', true, [5, 5n], [5.5, 2 ** 53, true]],
  ])('of %o in %s (stated: %s) takes %o and not %o', (type, param, stated, good, bad) => {
    const m = marshaller([type], [value(param, 0)], 32, stated);
    for (const x of good) {
      expect(m.match([x], context)).toBe(true);
      expect(m.values).toEqual([typeof x === 'object' ? (x as { value: unknown }).value : x]);
    }
    for (const x of bad) expect(m.match([x], context)).toBe(false);
  });

  it('knows arguments again, and when they are others', () => {
    const m = marshaller(
      [VEC, { kind: 'scalar', type: 'f64' }],
      [['ptr', { kind: 'base', path: [0] }], ['i32', { kind: 'extent', path: [0], axis: 0 }], value('f64', 1)],
    );
    const [a, b] = [deviceArray(8, f32), deviceArray(9, f32)];
    const match = (array: DeviceNDArray, x: number): [boolean, boolean] => {
      const before = m.version;
      return [m.match([array, scalar(f64, x)], context), m.version !== before];
    };
    expect(match(a, 1)).toEqual([true, true]);
    expect(match(a, 1)).toEqual([true, false]);
    expect(match(a, -0)).toEqual([true, true]);
    expect(match(a, 0)).toEqual([true, true]);
    expect(Object.is(m.values[2], 0)).toBe(true);
    expect(match(b, 0)).toEqual([true, true]);
    expect(m.values.slice(0, 2)).toEqual([b.pointer, 9]);
    m.fill(
      [
        { kind: 'array', array: { pointer: 0x1000, shape: [3], strides: [4] } },
        { kind: 'scalar', value: 0 },
      ],
      String,
    );
    expect(match(b, 0)).toEqual([true, true]);
    expect(m.values.slice(0, 2)).toEqual([b.pointer, 9]);
    // Another shape of the same array has its own values.
    b.shape = [3, 3];
    expect(match(b, 0)[0]).toBe(false);
    b.shape = [9];
    expect(match(b, 0)[0]).toBe(true);
    b.dispose();
    expect(match(b, 0)[0]).toBe(false);
    expect(match(a, 0)).toEqual([true, true]);
    expect(m.values.slice(0, 2)).toEqual([a.pointer, 8]);
  });

  it('looks at arguments that the kernel does not use as well', () => {
    const m = marshaller([{ kind: 'scalar', type: 'i32' }, { kind: 'number' }], [], 32, true);
    expect(m.match([1, 2], context)).toBe(true);
    expect(m.match([undefined, 2], context)).toBe(false);
    expect(m.match([1, 'x'], context)).toBe(false);
  });
});

describe('fill, the slow path', () => {
  it('reaches into tuples', () => {
    const types: ArgType[] = [{ kind: 'tuple', items: [VEC, { kind: 'number' }] }];
    const m = marshaller(types, [
      ['ptr', { kind: 'base', path: [0, 0] }],
      ['i32', { kind: 'extent', path: [0, 0], axis: 0 }],
      ['i32', { kind: 'value', path: [0, 1] }],
    ]);
    const d = toDevice(Float32Array.of(1, 2));
    const ready = (k: number) =>
      [
        {
          kind: 'tuple',
          items: [
            { kind: 'array', array: d },
            { kind: 'scalar', value: k },
          ],
        },
      ] as const;
    m.fill(ready(9), () => 'argument 1');
    expect(m.values).toEqual([d.pointer, 2, 9]);
    expect(() => m.fill(ready(0.5), () => 'argument 1')).toThrow(
      'argument 1[1] is i32 in this kernel: 0.5 is not an integer',
    );
    expect(m.match([[d, 9]], context)).toBe(true);
    expect(m.match([[d, 9, 9]], context)).toBe(false);
    expect(m.match([[d, 0.5]], context)).toBe(false);
  });

  it('rounds and checks by the stated type, not by the parameter’s', () => {
    const m = marshaller(
      [
        { kind: 'scalar', type: 'f16' },
        { kind: 'scalar', type: 'u8' },
      ],
      [value('f32', 0), value('i32', 1)],
    );
    const fill = (a: number, b: number) =>
      m.fill(
        [
          { kind: 'scalar', value: a },
          { kind: 'scalar', value: b },
        ],
        (i) => `argument ${i + 1}`,
      );
    fill(2049, 255);
    expect(m.values).toEqual([2048, 255]);
    expect(() => fill(0, 256)).toThrow('argument 2 is u8 in this kernel: 256 is out of range, which is 0 to 255');
  });
});
