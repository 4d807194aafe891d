/**
 * Chapter: members of structs as arrays, records on the device, atomics on members, host arrays of structs; and kernels that use
 * structs as they cannot be used.
 */
import {
  c64,
  c128,
  cuda,
  type DeviceNDArray,
  f32,
  f64,
  i32,
  i64,
  type NDArray,
  ndarray,
  type Struct,
  struct,
  u32,
  type Vec,
} from '../src/index.ts';
import { rejects, same, sameElements } from './assert.ts';
import {
  ALIGNED,
  filled,
  objects,
  PACKED,
  PAIR,
  type Pair,
  type Particle,
  particle,
  sameRecords,
  text,
} from './struct-layouts.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { element, launch, read, settled } from './waiting.ts';

/** A kernel that is refused, with this code. */
function refused(
  body: (p: Vec<Pair>, packed: Vec<Particle>) => void,
  code: string,
  message: RegExp,
): () => Promise<void> {
  return async () => {
    const kernel = cuda.jit((p: Vec<Pair>, packed: Vec<Particle>) => body(p, packed));
    const p = cuda.deviceArray([4], PAIR) as DeviceNDArray<Pair, 1>;
    const q = cuda.toDevice(filled(PACKED, objects(4)));
    await rejects(() => launch(kernel, { grid: 1, block: 1 }, p, q), message, code);
  };
}

// biome-ignore lint/suspicious/noExplicitAny: kernels with mistakes, which the editor would underline.
type Wrong = any;

export const records: readonly ConformanceTest[] = chapter('records', {
  'field() is the array of one member': async () => {
    const kernel = cuda.jit((p: Vec<Particle>) => {
      const xs = p.field('x');
      const f = p.field('f');
      const i = cuda.grid(1);
      if (i >= xs.length) return;
      xs[i] = f[i][2][1] + f.shape[2];
      p.field('pos').field('b')[i] = xs[i];
    });
    const p = cuda.toDevice(filled(PACKED, objects(8)));
    await launch(kernel, { grid: 1, block: 32 }, p);
    same((await element(p, 7)).x, 6);
    same((await element(p, 7)).pos.b, 6);
    // On the host a member is a view, and goes to kernels as any array does.
    const scale = cuda.jit((x: Vec<f32>) => {
      const i = cuda.grid(1);
      if (i < x.length) x[i] *= 2;
    });
    const aligned = cuda.toDevice(filled(ALIGNED as typeof PACKED, objects(8)));
    await launch(scale, { grid: 1, block: 32 }, aligned.field('x') as never);
    same((await element(aligned, 5)).x, 5);
    sameElements(aligned.field('f').shape, [8, 3, 2]);
  },
  'atomics on members': async () => {
    const dtype = struct({ count: u32, sum: f32, most: i64, parts: i32.array(3) }, { align: true });
    const kernel = cuda.jit((p: Vec<Struct<typeof dtype>>) => {
      const i = cuda.grid(1);
      const bin = p[i % 2];
      cuda.atomic.add(bin, 'count', 1);
      cuda.atomic.add(p[1], 'sum', 0.5);
      cuda.atomic.max(p.field('most'), 0, BigInt(i));
      cuda.atomic.add(bin.parts as never as Vec<i32>, i % 3, i);
    });
    const p = cuda.deviceArray([2], dtype);
    p.set({ count: 0, sum: 0, most: -1n, parts: [0, 0, 0] });
    await launch(kernel, { grid: 2, block: 48 }, p);
    const [even, odd] = (await read(p)).toArray() as unknown as Struct<typeof dtype>[];
    same(text(even), text({ count: 48, sum: 0, most: 95n, parts: [720, 736, 800].map((_, k) => partial(0, k)) }));
    same(text(odd), text({ count: 48, sum: 48, most: -1n, parts: [0, 1, 2].map((k) => partial(1, k)) }));
  },
  'a record as an argument': async () => {
    const kernel = cuda.jit((settings: Particle, y: Vec<f64>) => {
      const i = cuda.grid(1);
      if (i < y.length) y[i] = settings.pos.a + settings.f[i % 3][1] * i;
      if (i === 0) settings.y = 1234;
    });
    const y = cuda.deviceArray(4, f64);
    using settings = cuda.toDevice(particle(4), { dtype: PACKED });
    await launch(kernel, { grid: 1, block: 32 }, settings, y);
    sameElements(
      await read(y),
      [2, -2, 10, 14.75].map((v, i) => (i === 0 ? 2 + 0 : v)),
    );
    same(await element(settings, 'y'), 1234);
    const host = filled(PACKED, [particle(4)]).reshape([]);
    await launch(kernel, { grid: 1, block: 32 }, host as never, y);
    same((host.get() as Particle).y, 1234);
  },
  'a captured record stays on the device': async () => {
    const state = cuda.toDevice({ x: 1, y: 2 }, { dtype: PAIR });
    const kernel = cuda.jit(() => {
      if (cuda.grid(1) === 0) state.get('x');
    });
    await rejects(() => launch(kernel, { grid: 1, block: 1 }), /get needs 0 indices/);
    const counting = cuda.jit((s: Pair) => {
      s.y += 1;
    });
    for (let k = 0; k < 3; k++) await launch(counting, { grid: 1, block: 1 }, state);
    same(await element(state, 'y'), 5);
  },
  'complex numbers have parts': async () => {
    for (const dtype of [c64, c128]) {
      const host = ndarray(
        [
          { re: 1, im: 2 },
          { re: -3, im: 0.5 },
        ],
        { dtype },
      );
      const z = cuda.toDevice(host);
      const kernel = cuda.jit((a: Vec<c64>) => {
        const i = cuda.grid(1);
        if (i >= a.length) return;
        const { re, im } = a[i];
        a[i] = c64(re * re - im * im, 2 * re * im);
      });
      await launch(kernel, { grid: 1, block: 32 }, z as never);
      await sameRecords(
        z,
        [
          { re: -3, im: 4 },
          { re: 8.75, im: -3 },
        ],
        dtype.name,
      );
    }
  },
  'host arrays of structs': async () => {
    const kernel = cuda.jit((p: Vec<Pair>, q: Vec<Pair>) => {
      const i = cuda.grid(1);
      if (i < p.length) p[i] = { x: q[i].y, y: i };
    });
    const p = ndarray.zeros([5], PAIR);
    const q = filled(
      PAIR,
      objects(5).map(({ x, y }) => ({ x, y })),
    );
    await launch(kernel, { grid: 1, block: 32 }, p, cuda.In(q));
    same(text(p.toArray()), text([0, 1, 2, 3, 4].map((i) => ({ x: 3 - i, y: i }))));
    // Two views of one buffer, at an odd address.
    const bytes = new Uint8Array(3 + 5 * PAIR.itemSize);
    const odd = ndarray(bytes, { dtype: PAIR, shape: [4], byteOffset: 3 } as never) as unknown as NDArray<Pair, 1>;
    const next = ndarray(bytes, {
      dtype: PAIR,
      shape: [4],
      byteOffset: 3 + PAIR.itemSize,
    } as never) as unknown as NDArray<Pair, 1>;
    next.set({ x: 0, y: 5 }, 3);
    await launch(kernel, { grid: 1, block: 1 }, odd, next);
    same(odd.get(0).y, 0);
    same(next.get(3).y, 5);
  },
  'an index out of range is named': async () => {
    const kernel = cuda.jit(
      (p: Vec<Particle>, k: number) => {
        p[cuda.grid(1)].f[k][1] = 2;
      },
      { boundsCheck: true },
    );
    const p = cuda.toDevice(filled(PACKED, objects(4)));
    await launch(kernel, { grid: 1, block: 5 }, p, 0);
    await rejects(() => settled(), /index 4 is out of range .*\(length 4\)/, 'E_KERNEL_FAULT');
    await launch(kernel, { grid: 1, block: 4 }, p, 3);
    await rejects(() => settled(), /index 3 is out of range for axis 1 .*\(extent 3\)/, 'E_KERNEL_FAULT');
  },

  'an unknown member': refused((p: Wrong) => void (p[0].z = 1), 'K312', /no member z .*struct\{x: f32, y: i32\}/),
  'a member of the array': refused((p: Wrong) => void (p.x = 1), 'K223', /field\('x'\)/),
  'an element as a number': refused((p: Wrong) => void (p[0].x = p[1] + 1), 'K221', /struct\{x: f32, y: i32\}/),
  'an element counted up': refused((p: Wrong) => void p[0]++, 'K240', /as a whole/),
  'a literal without a member': refused((p: Wrong) => void (p[0] = { x: 1 }), 'K242', /member y/),
  'a float for an integer member is cut, as a typed array does': async () => {
    const p = cuda.deviceArray([2], PAIR) as DeviceNDArray<Pair, 1>;
    const kernel = cuda.jit((p: Vec<Pair>) => {
      const i = cuda.grid(1);
      if (i >= p.length) return;
      p[i].x = i === 0 ? -2.75 : Number.NaN;
      p[i].y = p[i].x;
    });
    await launch(kernel, { threads: 2, block: 2 }, p);
    same(await element(p.field('y'), 0), -2);
    same(await element(p.field('y'), 1), 0);
  },
  'a literal with another member': refused((p: Wrong) => void (p[0] = { x: 1, y: 2, z: 3 }), 'K242', /no member z/),
  'a number for an element': refused((p: Wrong) => void (p[0] = 3), 'K242', /a number/),
  'an element of another type': refused((p: Wrong, q: Wrong) => void (q[0] = p[0]), 'K242', /member tag/),
  'a sub-array of another length': refused(
    (_: Wrong, q: Wrong) => void (q[0].f = cuda.local.array([2, 2], f32)),
    'K242',
    /3 elements, .* has 2/,
  ),
  'an atomic at an odd address': refused(
    (_: Wrong, q: Wrong) => void cuda.atomic.add(q[0], 'x' as never, 1 as never),
    'K337',
    /may lie anywhere[\s\S]*align: true/,
  ),
  'an atomic on a whole element': refused(
    (p: Wrong) => void cuda.atomic.add(p, 0, 1 as never),
    'K335',
    /struct\{x: f32, y: i32\}/,
  ),
  'an index of an element': refused((p: Wrong) => void (p[0][1] = 2), 'K233', /members, not indices/),
});
/** The sum of the thread numbers below 96 of one parity that leave `k` when divided by 3. */
function partial(parity: number, k: number): number {
  let sum = 0;
  for (let i = parity; i < 96; i += 2) if (i % 3 === k) sum += i;
  return sum;
}
