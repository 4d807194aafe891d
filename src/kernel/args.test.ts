import { describe, expect, it } from 'vitest';
import { BlockDriver } from '../../test/support/block-driver.ts';
import { ndarray } from '../array/ndarray-create.ts';
import { declareHostOnly } from '../compiler/intrinsics.ts';
import { f32, f64, i8 } from '../dtype/index.ts';
import { Context } from '../memory/context.ts';
import { isWide, type Typed, typeArgument, typeKey } from './args.ts';
import { In, InOut, Out } from './hints.ts';
import { scalar } from './scalar.ts';

const context = new Context(new BlockDriver());
const typed = (value: unknown): Typed => typeArgument(value, context, () => 'argument 3 (`k`)');
const hostOnly = () => 0;
declareHostOnly(hostOnly, { what: 'hostOnly', help: '' });
const typeOf = (value: unknown) => typed(value).type;

describe('the type of an argument', () => {
  it('is weak for numbers and bigints, whatever their value', () => {
    expect([typeOf(2), typeOf(2.5), typeOf(2n)]).toEqual([{ kind: 'number' }, { kind: 'number' }, { kind: 'bigint' }]);
  });

  it('is stated by booleans and cuda.scalar', () => {
    expect(typeOf(true)).toEqual({ kind: 'scalar', type: 'bool' });
    expect(typed(scalar(f32, 2))).toEqual({ kind: 'scalar', type: { kind: 'scalar', type: 'f32' }, value: 2 });
  });

  it('is element type, rank and layout for host arrays', () => {
    expect(typeOf(new Float32Array(4))).toEqual({ kind: 'array', elem: 'f32', ndim: 1, layout: 'C', unit: 4 });
    expect(typeOf(new Uint8ClampedArray(4))).toMatchObject({ elem: 'u8', clamped: true });
    expect(typeOf(ndarray.zeros([2, 3], { dtype: f64, order: 'F' }))).toMatchObject({
      elem: 'f64',
      ndim: 2,
      layout: 'F',
    });
    expect(typeOf(ndarray.zeros([], i8))).toMatchObject({ ndim: 0, layout: 'C' });
    expect(typeOf({ data: new Int32Array(6), shape: [2, 3], stride: [3, 1], offset: 0 })).toMatchObject({
      elem: 'i32',
      ndim: 2,
    });
  });

  it('is C for strided host arrays, which are packed on the device', () => {
    const everySecond = ndarray.zeros([8], f32).slice('::2');
    expect(typeOf(everySecond)).toMatchObject({ layout: 'C' });
  });

  it('is a tuple for JS arrays', () => {
    expect(typeOf([1, [true], new Float32Array(1)])).toEqual({
      kind: 'tuple',
      items: [
        { kind: 'number' },
        { kind: 'tuple', items: [{ kind: 'scalar', type: 'bool' }] },
        { kind: 'array', elem: 'f32', ndim: 1, layout: 'C', unit: 4 },
      ],
    });
    expect(typeOf([])).toEqual({ kind: 'tuple', items: [] });
  });

  it('keeps the direction of hinted arrays', () => {
    const a = new Float32Array(1);
    expect([a, In(a), Out(a), InOut(a)].map(typed)).toMatchObject([
      { direction: 'inout', hinted: false },
      { direction: 'in', hinted: true },
      { direction: 'out', hinted: true },
      { direction: 'inout', hinted: true },
    ]);
  });

  it.each([
    [hostOnly, 'argument 3 (`k`) is the function hostOnly, which a kernel cannot take: it is for the host'],
    [Symbol('x'), 'argument 3 (`k`) is Symbol(x), which a kernel cannot take'],
    [{ x: new Map() }, 'argument 3 (`k`).x is a Map, which a kernel cannot take'],
    [new ArrayBuffer(4), 'argument 3 (`k`) is an ArrayBuffer, which a kernel cannot take: pass a TypedArray of it'],
    [
      new DataView(new ArrayBuffer(4)),
      'argument 3 (`k`) is a DataView, which a kernel cannot take: pass a TypedArray of it',
    ],
    [Promise.resolve(1), 'argument 3 (`k`) is a Promise, which a kernel cannot take: await it first'],
    [new Map(), 'argument 3 (`k`) is a Map, which a kernel cannot take'],
    [new Array(65).fill(0), 'argument 3 (`k`) is a JS array of 65, which would be a tuple: for data pass a TypedArray'],
    [[1, Symbol('y')], 'argument 3 (`k`)[1] is Symbol(y), which a kernel cannot take'],
    [In([1, 2]), 'argument 3 (`k`) is cuda.In([1, 2]): the hint is for host arrays'],
  ])('%o is refused', (value, message) => {
    expect(() => typed(value)).toThrow(message);
  });

  it('is their names and what is in them for objects', () => {
    expect(typeKey(typeOf({ n: 1, on: true, t: [2, 'x'], none: undefined }))).toBe(
      '{"n":n,"on":bool,"t":(n,"x"),"none":undefined}',
    );
    class Wave {
      gain = 1;
    }
    expect(typeKey(typeOf(new Wave()))).toMatch(/^@\d+\{"gain":n\}$/);
    expect(typeKey(typeOf(new Wave()))).toBe(typeKey(typeOf(new Wave())));
    const f = () => 0;
    expect(typeKey(typeOf(f))).toBe(typeKey(typeOf(f)));
    expect(typeKey(typeOf(f))).not.toBe(typeKey(typeOf(() => 0)));
  });

  it('hints take objects only', () => {
    expect(() => In(5 as never)).toThrow('cuda.In takes a host array, got 5');
    expect(() => Out(null as never)).toThrow('cuda.Out takes a host array, got null');
  });
});

describe('keys of types', () => {
  it('differ where code differs, and only there', () => {
    const values = [
      2,
      2n,
      true,
      scalar(f32, 1),
      scalar(f64, 1),
      [1],
      [1, 1],
      [[1]],
      new Float32Array(1),
      new Float64Array(1),
      ndarray.zeros([1, 4], f32),
      ndarray.zeros([4, 4], { dtype: f32, order: 'F' }),
    ];
    const keys = values.map((value) => typeKey(typeOf(value)));
    expect(new Set(keys).size).toBe(values.length);
    expect(typeKey(typeOf(new Float32Array(9)))).toBe(typeKey(typeOf(new Float32Array(1))));
    expect(typeKey(typeOf(7))).toBe(typeKey(typeOf(0.5)));
  });

  it('tell apart the units of strides', () => {
    const type = { kind: 'array', elem: 'f32', ndim: 1, layout: 'A' } as const;
    expect(typeKey({ ...type, unit: 4 })).not.toBe(typeKey({ ...type, unit: 1 }));
  });
});

describe('arrays that need 64-bit indices', () => {
  const wide = (shape: number[], strides: number[], layout: 'C' | 'A' = 'A'): boolean => {
    const claimed = { shape, strides, size: shape.reduce((a, b) => a * b, 1), itemSize: 1 };
    return isWide(claimed, { kind: 'array', elem: 'i8', ndim: shape.length, layout, unit: 1 });
  };

  it('have more than 2^31 - 1 elements, or reach further than that', () => {
    expect(wide([2 ** 31 - 1], [1], 'C')).toBe(false);
    expect(wide([2 ** 31], [1], 'C')).toBe(true);
    expect(wide([2 ** 16, 2 ** 15], [2 ** 15, 1], 'C')).toBe(true);
    expect(wide([2 ** 16], [2 ** 15])).toBe(false);
    expect(wide([2 ** 16 + 1], [2 ** 15])).toBe(true);
    expect(wide([2], [-(2 ** 31)])).toBe(true);
    expect(wide([2 ** 32, 0], [1, 1], 'C')).toBe(true);
  });
});
