/**
 * What a program, or a library in it, puts on `Object.prototype` is no option, no field and no variable: the same calls give the same
 * results with every name that is read from options there, by getters that throw.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { cuda, f32, i32, ndarray, roc, SmartArray, struct, type Vec } from '../src/index.ts';

// Read when a device is first used.
Object.assign(process.env, { TSAMBA_DEVICE: 'cpu', TSAMBA_ROC_DRIVER: 'cpu', TSAMBA_WARN_IMPLICIT_COPY: '0' });

/** Names of options, as the sources list them for `readOptions` and `readKeys`; and what arrays, capsules and handles say of themselves. */
function namesRead(): Set<string> {
  const names = new Set<string>([
    ...['data', 'shape', 'stride', 'strides', 'offset', 're', 'im', 'itemSize', 'markChanged', 'toArray', 'dtype'],
    ...['__cuda_array_interface__', 'typestr', 'descr', 'mask', 'pointer', 'type', 'x', 'y', 'gain'],
    ...[
      'TSAMBA_DEBUG',
      'TSAMBA_BOUNDS_CHECK',
      'TSAMBA_DEVICE',
      'TSAMBA_CPU_THREADS',
      'TSAMBA_CPU_SIMD',
      'TSAMBA_CACHE',
    ],
  ]);
  for (const file of readdirSync('src', { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts') || file.includes('.test.')) continue;
    const text = readFileSync(`src/${file}`, 'utf8');
    for (const list of text.matchAll(
      /(?:read(?:Options|Keys)(?:<\w+>)?\([^[;]*|KNOWN[^=]*= |LAYOUT = |MAPPED = |KEYS = |known = )\[([^\]]*)\]/g,
    )) {
      for (const [, name] of (list[1] as string).matchAll(/'(\w+)'/g)) names.add(name as string);
    }
  }
  // The inspector of Node.js reads this one there itself.
  names.delete('error');
  // An option of `bincount`. With a length, every object is array-like to much of what Node.js itself does.
  names.delete('length');
  return names;
}

/** Runs with a property of every name on `Object.prototype`. */
function polluted<R>(names: Iterable<string>, describe: (name: string) => PropertyDescriptor, body: () => R): R {
  const added: string[] = [];
  try {
    for (const name of names) {
      if (Object.hasOwn(Object.prototype, name)) continue;
      Object.defineProperty(Object.prototype, name, {
        __proto__: null,
        configurable: true,
        ...describe(name),
      } as never);
      added.push(name);
    }
    return body();
  } finally {
    for (const name of added) delete (Object.prototype as Record<string, unknown>)[name];
  }
}

const Point = struct({ x: f32, y: i32 });

/** A good part of the public interface, as text. */
function everything(): string[] {
  const log: string[] = [];
  const note = (what: string, run: () => unknown): void => {
    let text: string;
    try {
      const value = run();
      text = value === undefined ? 'undefined' : String(JSON.stringify(value) ?? String(value));
    } catch (error) {
      text = `${(error as { code?: string }).code}: ${(error as Error).message}`;
    }
    log.push(`${what}: ${text}`);
  };
  const values = (x: { copyToHost(): unknown }): unknown => Array.from(x.copyToHost() as ArrayLike<number>);

  note('ndarray', () => ndarray([1, 2, 3]));
  note('ndarray of', () => ndarray([1, 2, 3, 4], { dtype: 'f32' }).reshape(2, 2).T.copy().toArray());
  note('views', () => ndarray.arange(12).reshape([3, 4], {}).slice('1:3').ravel().astype('i32', {}).toArray());
  note('complex', () => ndarray([{ re: 1, im: 2 }]));
  note('not complex', () => ndarray([{}] as never));
  note('records', () =>
    ndarray([{ x: 1, y: 2 }], { dtype: Point })
      .field('x')
      .toArray(),
  );
  note('missing field', () => ndarray([{ x: 1 }] as never, { dtype: Point }));
  note('struct', () => struct({ a: 'uint8', b: 'f64' }, {}).itemSize);
  note('full', () => ndarray.full(3, 7, {}).toArray());
  note('foreign', () => ndarray({ data: new Float32Array(4), shape: [2, 2] }).strides);
  note('no array', () => cuda.toDevice({} as never));
  for (const [name, space] of [
    ['cuda', cuda],
    ['roc', roc],
  ] as const) {
    const { jit, toDevice, deviceArray, deviceArrayLike } = space as typeof cuda;
    const d = toDevice(Float32Array.of(1, 2, 3, 4), {});
    note(`${name} toDevice`, () => values(d));
    note(`${name} like`, () => deviceArrayLike(d).shape);
    note(`${name} deviceArray`, () => deviceArray([2, 3], f32, {}).strides);
    note(`${name} views`, () => [d.reshape(2, 2).T.strides, d.ravel({}).shape, d.squeeze().shape, d.split(2).length]);
    note(`${name} copies`, () => [
      d.copyToHost({}),
      d.copyToHost(new Float32Array(4)),
      d.copyToDevice(new Float32Array(4)),
    ]);
    note(`${name} set`, () => [d.set(5, 0), d.get(0)]);
    note(`${name} nested`, () => values(toDevice([1, 2, 3])));
    note(`${name} record`, () => toDevice({ x: 1, y: 2 }, { dtype: Point }).copyToHost());
    note(`${name} smart`, () => new SmartArray(Float32Array.of(1, 2)).get('gpu').shape);
    note(`${name} smart shape`, () => new SmartArray({ shape: [2], dtype: f32 }).strides);
    const outside = jit((x: Vec<f32>) => {
      x[x.length + 3] = 1;
    }, {});
    note(`${name} checked`, () => {
      outside.launch({ grid: 1, block: 1 }, d);
      (space as typeof cuda).synchronize?.();
      return values(d);
    });
    const scale = jit(
      ({ gain }: { gain: number }) =>
        (x: Vec<f32>) => {
          // All threads do it, in any order.
          for (let i = 0; i < x.length; i++) x[i] = i * gain;
        },
      { captures: { gain: 3 } },
    );
    note(`${name} captures`, () => [scale.launch({ threads: 1 }, d), scale.launch({ threads: 1 }, d), values(d)]);
    note(`${name} forAll`, () => [scale.forAll(1)(d), scale.configure(1, 1)(d), values(d)]);
    const lacking = jit(
      ({ gain }: { gain: number }) =>
        (x: Vec<f32>) => {
          x[0] = gain;
        },
      { captures: {} as { gain: number } },
    );
    note(`${name} no capture`, () => lacking.launch({ threads: 1 }, d));
    note(`${name} no grid`, () => scale.launch({ block: 1 } as never, d));
    note(`${name} no shape`, () => scale.launch({} as never, d));
    note(`${name} inspect`, () => scale.inspect({}));
    note(`${name} host`, () => {
      const x = Float32Array.of(1, 2);
      scale.launch({ threads: 1 }, x);
      return x;
    });
  }
  note('pinned', () => [
    cuda.pinnedArray(3, f32, {}).shape,
    cuda.mappedArray(3, f32, {}).shape,
    cuda.managedArray(3).shape,
  ]);
  note('mapped', () => cuda.mapped(new Float32Array(64), {}, ([x]) => x.shape));
  note('interface', () => [cuda.isCudaArray({}), cuda.isCudaArray(cuda.deviceArray(2))]);
  note('as array', () => cuda.asCudaArray(cuda.deviceArray(2, f32), {}).shape);
  note('no interface', () => cuda.asCudaArray({} as never));
  note('event', () => cuda.event({}).query());
  note('dlpack', () => cuda.fromDlpack({} as never));
  note('ipc', () => cuda.openIpcArray({} as never));
  return log;
}

const names = namesRead();

test('the list of names is not empty', () => {
  for (const name of ['boundsCheck', 'stream', 'order', 'timing', 'grid', 'captures', 'copy', 'ipc', 'sync'])
    expect(names).toContain(name);
});

test('getters on Object.prototype are never called', () => {
  const clean = everything();
  const got = polluted(
    names,
    (name) => ({
      get() {
        throw new Error(`Object.prototype.${name} was read`);
      },
      // Assignment is of no interest here: it makes a property, as it would without the getter.
      set(value: unknown) {
        Object.defineProperty(this, name, {
          __proto__: null,
          value,
          writable: true,
          configurable: true,
          enumerable: true,
        } as never);
      },
    }),
    everything,
  );
  expect(got).toEqual(clean);
});

test.each([[false], [true], [0], ['F'], [null], [[1]], [() => 1]])(
  'values on Object.prototype change nothing: %s',
  (value) => {
    const clean = everything();
    expect(polluted(names, () => ({ value, enumerable: true, writable: true }), everything)).toEqual(clean);
  },
);
