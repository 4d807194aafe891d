/**
 * Chapter: names for records. `const t = p[i]` is an object that stays what it was when the element is assigned as a whole.
 *
 * Each body runs on the device, on global, local and shared memory, and in JavaScript on arrays that copy what is assigned to an
 * element, as the kernel's do; all end the same.
 */
import { c64, cuda, type DeviceNDArray, f32, f64, i32, ndarray, type Struct, struct, type Vec } from '../src/index.ts';
import { rejects, same, sameElements } from './assert.ts';
import { filled, sameRecords, text } from './struct-layouts.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { eachType } from './support.ts';
import { element, launch, read } from './waiting.ts';

const rowOf = <D extends typeof f32 | typeof f64>(a: D) =>
  struct({ x: f32, y: i32, in: struct({ a, b: i32 }), f: f32.array(2, 2) });
const ROW = rowOf(f64);
type Row = Struct<typeof ROW>;

/** What a record has of f64 is, in another turn, of f32, and so are the results: all numbers fit. */
const FLOATS = [f64, f32 as unknown as typeof f64] as const;

const N = 8;
const row = (i: number): Row =>
  ({
    x: (i * 5) % N,
    y: 10 - i,
    in: { a: i / 4, b: i },
    f: [
      [i, -i],
      [i + 0.5, 1],
    ],
  }) as Row;
const rows = (): Row[] => Array.from({ length: N }, (_, i) => row(i));

type Body = (p: Vec<Row>, out: Vec<f64>) => void;

/** An array of objects in JavaScript that copies what is assigned to an element. */
function copying(list: Row[]): Vec<Row> {
  const copy = (v: Row): Row => ({ ...v, in: { ...v.in }, f: v.f.map((r) => [...r]) }) as Row;
  return new Proxy(list, {
    set(target, key, value) {
      (target as unknown as Record<PropertyKey, unknown>)[key] = typeof value === 'object' ? copy(value) : value;
      return true;
    },
  }) as unknown as Vec<Row>;
}

function inKernels(body: Body): () => Promise<void> {
  return () =>
    eachType(FLOATS, async (float) => {
      const ROW = rowOf(float);
      const expected = rows();
      const out = new Float64Array(N);
      body(copying(expected), out as unknown as Vec<f64>);
      const global = cuda.jit((p: Vec<Row>, o: Vec<f64>) => {
        if (cuda.grid(1) === 0) body(p, o);
      });
      const local = cuda.jit((p: Vec<Row>, o: Vec<f64>) => {
        const own = cuda.local.array(8, ROW);
        for (let k = 0; k < 8; k++) own[k] = p[k];
        body(own as unknown as Vec<Row>, o);
        for (let k = 0; k < 8; k++) p[k] = own[k];
      });
      const shared = cuda.jit((p: Vec<Row>, o: Vec<f64>) => {
        const tile = cuda.shared.array(0, ROW);
        if (cuda.threadIdx.x === 0) {
          for (let k = 0; k < 8; k++) tile[k] = p[k];
          body(tile as unknown as Vec<Row>, o);
          for (let k = 0; k < 8; k++) p[k] = tile[k];
        }
      });
      for (const [space, kernel] of Object.entries({ global, local, shared })) {
        const p = cuda.toDevice(filled(ROW, rows()));
        const o = cuda.deviceArray(N, float);
        o.set(0);
        await launch(kernel, { grid: 1, block: 1, sharedBytes: N * ROW.itemSize }, p as never, o);
        await sameRecords(p, expected, `${float.name}, ${space}: element`);
        sameElements(await read(o), out, `${float.name}, ${space}`);
      }
    });
}

/** A kernel that is refused because a name could mean two things. */
function refused(body: Body, message: RegExp): () => Promise<void> {
  return async () => {
    const kernel = cuda.jit((p: Vec<Row>, o: Vec<f64>) => body(p, o));
    const p = cuda.toDevice(filled(ROW, rows()));
    await rejects(() => launch(kernel, { grid: 1, block: 1 }, p as never, cuda.deviceArray(N, f64)), message, 'K244');
  };
}

export const recordNames: readonly ConformanceTest[] = chapter('names of records', {
  'a swap by way of a name': inKernels((p) => {
    const t = p[0];
    p[0] = p[1];
    p[1] = t;
  }),
  'a rotation': inKernels((p) => {
    const last = p[p.length - 1];
    for (let k = p.length - 1; k > 0; k--) p[k] = p[k - 1];
    p[0] = last;
  }),
  'insertion sort': inKernels((p) => {
    for (let i = 1; i < p.length; i++) {
      const key = p[i];
      let j = i - 1;
      while (j >= 0 && p[j].x > key.x) {
        p[j + 1] = p[j];
        j--;
      }
      p[j + 1] = key;
    }
  }),
  'selection sort': inKernels((p) => {
    for (let i = 0; i < p.length; i++) {
      let least = p[i];
      let at = i;
      for (let j = i + 1; j < p.length; j++) {
        const r = p[j];
        if (r.x < least.x) {
          least = r;
          at = j;
        }
      }
      const t = p[i];
      p[i] = least;
      p[at] = t;
    }
  }),
  'a name that is written to before': inKernels((p, out) => {
    const t = p[0];
    t.x = 50;
    t.in.b += 7;
    p[0].y = 9;
    p[0] = p[1];
    p[1] = t;
    out[0] = t.y;
  }),
  'a name that is written to in a branch': inKernels((p, out) => {
    const t = p[2];
    if (p[3].y > 0) {
      t.x = 4;
      p[2].f[1][0] = 8;
      p[2] = p[5];
    }
    out[0] = t.x;
    out[1] = t.f[1][0];
  }),
  'a name through which a branch stores': inKernels((p, out) => {
    const t = p[2];
    if (p[3].y > 0) {
      t.x = 4;
      p[2] = p[5];
    }
    out[0] = t.x;
  }),
  'an element that is assigned before continue': inKernels((p, out) => {
    const t = p[0];
    for (let k = 0; k < 4; k++) {
      out[k] = t.x + t.y;
      if (k === 0) {
        p[0] = p[1];
        continue;
      }
      out[4 + k] = k;
    }
  }),
  'an element that is assigned in a branch': inKernels((p, out) => {
    for (let i = 0; i < p.length; i++) {
      const t = p[i];
      if (i % 3 === 0) p[i] = p[(i + 1) % p.length];
      out[i] = t.x + t.in.a;
    }
  }),
  'a variable for one record, then for another': inKernels((p, out) => {
    let t = p[0];
    p[0] = p[3];
    out[0] = t.x;
    t = p[1];
    p[1] = p[4];
    out[1] = t.x;
    let u = t;
    t = p[2];
    p[2] = u;
    u = p[2];
    out[2] = t.y + u.y;
  }),
  'a name of a name': inKernels((p, out) => {
    const a = p[0];
    let b = a;
    p[0] = p[1];
    const c = b;
    b = p[5];
    p[5] = c;
    out[0] = a.x + b.x + c.y;
  }),
  'a name of a variable that names another record since': inKernels((p, out) => {
    let a = p[0];
    const b = a;
    for (let k = 0; k < 2; k++) a = p[1];
    p[6] = p[2];
    out[0] = b.x + 100 * a.y;
  }),
  'names in device functions': inKernels((p, out) => {
    const replace = (r: Row, k: number): Row => {
      p[k] = p[k + 1];
      return r;
    };
    const old = replace(p[2], 2);
    p[7] = old;
    const take = (k: number): Row => {
      const r = p[k];
      p[k] = p[0];
      return r;
    };
    p[1] = take(4);
    out[0] = take(5).x + take(6).y;
  }),
  'the arguments of a call are evaluated first': inKernels((p, out) => {
    const sum = (a: Row, b: number, c: Row): number => a.x + 10 * b + 100 * c.x;
    const shift = (k: number): number => {
      p[k] = p[k + 1];
      return k;
    };
    out[0] = sum(p[1], shift(1), p[1]);
  }),
  'a choice of records': inKernels((p, out) => {
    for (let i = 0; i < 4; i++) {
      const t = i % 2 === 0 ? p[i] : p[i + 4];
      p[i] = p[i + 1];
      out[i] = t.x;
    }
  }),
  'parts of a record': inKernels((p, out) => {
    const inner = p[0].in;
    const { f } = p[0];
    const second = f[1];
    p[0] = p[1];
    out[0] = inner.a + inner.b;
    out[1] = f[0][0] + second[0];
    p[2].in = inner;
    p[3].f = f;
  }),
  'a part that is assigned': inKernels((p, out) => {
    const t = p[3];
    const inner = t.in;
    const other = t.f;
    t.in = { a: 100, b: 200 };
    out[0] = inner.a;
    out[1] = t.in.a;
    out[2] = other[0][0];
    t.x = 8;
  }),
  'rows of sub-arrays': inKernels((p, out) => {
    const { f } = p[0];
    const first = f[0];
    f[0] = p[1].f[1];
    out[0] = first[0] + f[0][0];
    p[0].f[1] = f[0];
    p[2].f[0] = first;
    const t = p[3];
    p[3] = p[4];
    p[5].f[1] = t.f[1];
  }),
  'neighbours are not each other': inKernels((p, out) => {
    for (let k = 0; k < 4; k++) {
      const i = k;
      const t = p[i];
      p[i + 1] = p[7];
      t.x += 1;
      out[i] = t.x;
    }
    const first = p[0];
    p[1] = p[2];
    first.y = 5;
    out[5] = first.y;
  }),
  'in tuples and objects': inKernels((p, out) => {
    const [a, b] = [p[0], p[1]];
    const o = { kept: p[2] };
    p[0] = b;
    p[1] = a;
    p[2] = p[3];
    out[0] = o.kept.x;
    [p[4], p[5]] = [p[5], p[4]];
  }),
  'elements of a loop over the array': inKernels((p, out) => {
    let sum = 0;
    for (const r of p) {
      const old = r.x;
      p[0] = { ...r, x: 3 };
      sum += r.x - old;
    }
    out[0] = sum;
  }),
  'complex numbers': async () => {
    const kernel = cuda.jit((z: Vec<c64>) => {
      const t = z[0];
      z[0] = z[1];
      z[1] = t;
    });
    const z = cuda.toDevice(
      ndarray(
        [
          { re: 1, im: 2 },
          { re: 3, im: 4 },
        ],
        { dtype: c64 },
      ),
    );
    await launch(kernel, { grid: 1, block: 1 }, z as never);
    await sameRecords(z, [
      { re: 3, im: 4 },
      { re: 1, im: 2 },
    ]);
  },
  'what other threads assign after a barrier': () =>
    eachType(FLOATS, async (float) => {
      const ROW = rowOf(float);
      const kernel = cuda.jit((p: Vec<Row>, o: Vec<f64>) => {
        const tile = cuda.shared.array(64, ROW);
        const t = cuda.threadIdx.x;
        tile[t] = p[t];
        cuda.syncThreads();
        const mine = tile[t];
        cuda.syncThreads();
        tile[(t + 1) % 64] = mine;
        o[t] = mine.x;
        cuda.syncThreads();
        p[t] = tile[t];
      });
      const list = Array.from({ length: 64 }, (_, i) => ({ ...row(i), x: i }));
      const p = cuda.toDevice(filled(ROW, list));
      const o = cuda.deviceArray(64, float);
      await launch(kernel, { grid: 1, block: 64 }, p as never, o);
      const expected = list.map((_, i) => list[(i + 63) % 64]);
      await sameRecords(p, expected);
      sameElements(
        await read(o),
        list.map(({ x }) => x),
      );
    }),
  'one array for two arguments': () =>
    eachType(FLOATS, async (float) => {
      const ROW = rowOf(float);
      const kernel = cuda.jit((p: Vec<Row>, q: Vec<Row>, o: Vec<f64>) => {
        const t = p[0];
        q[0] = p[1];
        o[0] = t.x;
        q[1] = t;
      });
      const p = cuda.toDevice(filled(ROW, rows()));
      const o = cuda.deviceArray(1, float);
      await launch(kernel, { grid: 1, block: 1 }, p as never, p as never, o);
      same(await element(o, 0), row(0).x);
      same(text(await element(p as DeviceNDArray, 1)), text(row(0)));
    }),
  'two arguments that must be of two arrays': () =>
    eachType(FLOATS, async (float) => {
      const ROW = rowOf(float);
      const kernel = cuda.jit((p: Vec<Row>, q: Vec<Row>) => {
        const i = cuda.grid(1);
        const t = p[i];
        q[i] = t;
        t.x += 1;
      });
      const p = cuda.toDevice(filled(ROW, rows()));
      const q = cuda.toDevice(filled(ROW, rows()));
      await launch(kernel, { grid: 1, block: N }, p as never, q as never);
      await sameRecords(q, rows());
      same((await element(p as DeviceNDArray<Row, 1>, 3)).x, row(3).x + 1);
      await rejects(
        () => launch(kernel, { grid: 1, block: N }, p as never, p as never),
        /\w+ and \w+ overlap in memory/,
        'E_ALIASED',
      );
      await launch(kernel, { grid: 1, block: 2 }, p.slice(':4') as never, p.slice('4:') as never);
    }),

  'written to when it may have been replaced': refused((p) => {
    const t = p[0];
    p[0] = p[1];
    t.x = 5;
  }, / is written to after an element of .*\{ \.\.\.\w+\[i\] \}/s),
  'changed when it may have been replaced': refused((p, out) => {
    const t = p[cuda.grid(1)];
    p[0] = p[1];
    p[cuda.threadIdx.x * 2].x = 5;
    out[0] = t.x;
  }, /then changed.*\{ \.\.\.\w+\[i\] \}/s),
  'changed, then replaced again': refused((p, out) => {
    const t = p[cuda.grid(1)];
    p[0] = p[1];
    p[cuda.threadIdx.x * 2].x = 5;
    p[3] = p[2];
    out[0] = t.x;
  }, /then changed/),
  'indexed when it may have been replaced': refused((p, out) => {
    const { f } = p[0];
    p[0] = p[1];
    out[0] = f[cuda.grid(1)][0];
  }, /cuda\.local\.array\(1, dtype\)/),
});
