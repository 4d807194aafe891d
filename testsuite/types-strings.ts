/**
 * Chapter: strings. Strings of fixed length in arrays, structs and the memory of a kernel: compared, measured and searched against
 * JavaScript's own strings, copied and stored; texts beyond 8 and 16 bits among them.
 */
import {
  cuda,
  type DeviceNDArray,
  datetime64,
  f32,
  f32x4,
  f64,
  i32,
  type NDArray,
  ndarray,
  struct,
  timedelta64,
  types,
  type Vec,
} from '../src/index.ts';
import { rejects, same, sameElements, throws } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { launch, read, settled } from './waiting.ts';

/** Characters of 8 bits. */
const WORDS = ['abc', 'abd', 'ab', 'b', '', 'abcdefgh', 'é', 'Zebra', 'a\0b', 'ÿ', 'abcdefgi'];
const OTHERS = ['abc', 'abc', 'abc', 'a', '', 'abcdefgi', 'e', 'zebra', 'a', 'é', 'abcdefgh'];
/** And others: the last of them begins with a surrogate in JavaScript, and is therefore before U+FF5E. */
const TEXTS = ['日本', '日', 'ａ', '\uff5e', '😀', 'x😀y', '', 'ab😀', 'нет', '😁', 'zz'];
const OTHER_TEXTS = ['日本', '本', 'a', '😀', '\uff5e', '😀', '日', 'ab', 'нет!', '😀', 'zz'];

const N = WORDS.length;

type Strings = DeviceNDArray<string, 1>;

function upload(words: readonly string[], dtype: string): Strings {
  return cuda.toDevice(ndarray(words, { dtype: dtype as `U${bigint}` })) as unknown as Strings;
}

async function strings(array: Strings): Promise<string[]> {
  return (await (read(array) as unknown as Promise<NDArray<string, 1>>)).toArray() as string[];
}

/** One bit for each of the comparisons. */
function compared(a: string, b: string): number {
  return (
    (a === b ? 1 : 0) + (a !== b ? 2 : 0) + (a < b ? 4 : 0) + (a <= b ? 8 : 0) + (a > b ? 16 : 0) + (a >= b ? 32 : 0)
  );
}

const Person = struct({ id: i32, name: 'S6', nick: 'U3' });

export const stringTypes: readonly ConformanceTest[] = chapter('strings', {
  'are compared as JavaScript compares them': async () => {
    const kernel = cuda.jit((p: Vec<string>, q: Vec<string>, out: Vec<i32>) => {
      const i = cuda.grid(1);
      if (i >= out.length) return;
      const [a, b] = [p[i] as string, q[i] as string];
      out[i] =
        (a === b ? 1 : 0) +
        (a !== b ? 2 : 0) +
        (a < b ? 4 : 0) +
        (a <= b ? 8 : 0) +
        (a > b ? 16 : 0) +
        (a >= b ? 32 : 0);
    });
    const cases: [readonly string[], string, readonly string[], string][] = [
      [WORDS, 'S8', OTHERS, 'S8'],
      [WORDS, 'S8', OTHERS, 'U9'],
      [WORDS, 'U8', OTHERS, 'S20'],
      [TEXTS, 'U5', OTHER_TEXTS, 'U4'],
    ];
    for (const [a, first, b, second] of cases) {
      const out = cuda.deviceArray(N, i32);
      await launch(kernel, { threads: N, block: 4 }, upload(a, first), upload(b, second), out);
      const expected = a.map((s, k) => compared(s, b[k] as string));
      sameElements(await read(out), expected, `${first} with ${second}, pair`);
    }
  },

  'are compared with literals and captured strings': async () => {
    const wanted = '日本';
    const kernel = cuda.jit((p: Vec<string>, out: Vec<i32>) => {
      const i = cuda.grid(1);
      if (i >= out.length) return;
      const s = p[i] as string;
      out[i] =
        (s === 'abc' ? 1 : 0) +
        (wanted === s ? 2 : 0) +
        (s < 'b' ? 4 : 0) +
        ('abcdefgh and more' < s ? 8 : 0) +
        (s !== '' ? 16 : 0) +
        (s ? 32 : 0);
    });
    for (const [words, dtype] of [
      [WORDS, 'S8'],
      [WORDS, 'U8'],
      [TEXTS, 'U4'],
    ] as const) {
      const out = cuda.deviceArray(N, i32);
      await launch(kernel, { threads: N, block: 4 }, upload(words, dtype), out);
      const expected = words.map(
        (s) =>
          (s === 'abc' ? 1 : 0) +
          (wanted === s ? 2 : 0) +
          (s < 'b' ? 4 : 0) +
          ('abcdefgh and more' < s ? 8 : 0) +
          (s !== '' ? 48 : 0),
      );
      sameElements(await read(out), expected, `${dtype} ${String(words)}: string`);
    }
  },

  'have a length and characters, in words of 16 bits': async () => {
    const kernel = cuda.jit((p: Vec<string>, lengths: Vec<i32>, sums: Vec<i32>) => {
      const i = cuda.grid(1);
      if (i >= lengths.length) return;
      const s = p[i] as string;
      lengths[i] = s.length;
      let sum = 0;
      for (let k = 0; k < s.length; k++) sum = (Math.imul(sum, 31) + s.charCodeAt(k)) | 0;
      sums[i] = sum;
    });
    for (const [words, dtype] of [
      [WORDS, 'S8'],
      [WORDS, 'U9'],
      [TEXTS, 'U4'],
    ] as const) {
      const [lengths, sums] = [cuda.deviceArray(N, i32), cuda.deviceArray(N, i32)];
      await launch(kernel, { threads: N, block: 4 }, upload(words, dtype), lengths, sums);
      sameElements(
        await read(lengths),
        words.map((s) => s.length),
        `${dtype}: length`,
      );
      const hash = (s: string): number => {
        let sum = 0;
        for (let k = 0; k < s.length; k++) sum = (Math.imul(sum, 31) + s.charCodeAt(k)) | 0;
        return sum;
      };
      sameElements(await read(sums), words.map(hash), `${dtype}: sum`);
    }
  },

  'are searched': async () => {
    const kernel = cuda.jit((p: Vec<string>, q: Vec<string>, out: Vec<i32>) => {
      const i = cuda.grid(1);
      if (i >= out.length) return;
      const [s, t] = [p[i] as string, q[i] as string];
      out[i] =
        (s.startsWith(t) ? 1 : 0) +
        (s.endsWith(t) ? 2 : 0) +
        (s.includes(t) ? 4 : 0) +
        (s.startsWith('ab') ? 8 : 0) +
        (s.endsWith('b') ? 16 : 0) +
        32 * s.indexOf(t) +
        1024 * s.indexOf('y');
    });
    const search = (s: string, t: string): number =>
      (s.startsWith(t) ? 1 : 0) +
      (s.endsWith(t) ? 2 : 0) +
      (s.includes(t) ? 4 : 0) +
      (s.startsWith('ab') ? 8 : 0) +
      (s.endsWith('b') ? 16 : 0) +
      32 * s.indexOf(t) +
      1024 * s.indexOf('y');
    const parts = ['c', 'abd', 'b', 'bb', '', 'def', 'é', 'ra', '\0b', 'yy', 'gi'];
    const textParts = ['本', '日本', 'a', '', '😀', 'y', '', '😀', 'е', '😀', 'z'];
    for (const [a, first, b, second] of [
      [WORDS, 'S8', parts, 'S3'],
      [WORDS, 'U8', parts, 'S4'],
      [TEXTS, 'U4', textParts, 'U3'],
    ] as const) {
      const out = cuda.deviceArray(N, i32);
      await launch(kernel, { threads: N, block: 4 }, upload(a, first), upload(b, second), out);
      sameElements(
        await read(out),
        a.map((s, k) => search(s, b[k] as string)),
        `${first} in ${second}: string`,
      );
    }
  },

  'are copied, also to longer elements, and stored as literals': async () => {
    const kernel = cuda.jit((p: Vec<string>, out: Vec<string>) => {
      const i = cuda.grid(1);
      if (i >= out.length) return;
      const s = p[(i + 1) % p.length] as string;
      if (s === '') out[i] = 'none';
      else out[i] = s;
    });
    for (const [words, from, to] of [
      [WORDS, 'S8', 'S8'],
      [WORDS, 'S8', 'S19'],
      [WORDS, 'S8', 'U8'],
      [TEXTS, 'U4', 'U40'],
    ] as const) {
      const out = upload(
        words.map(() => '?'.repeat(4)),
        to,
      );
      await launch(kernel, { threads: N, block: 4 }, upload(words, from), out);
      sameElements(
        await strings(out),
        words.map((_, k) => words[(k + 1) % N] || 'none'),
        `${from} to ${to}: string`,
      );
    }
  },

  'change places, and are sorted through names that keep what they named': async () => {
    const kernel = cuda.jit((p: Vec<string>) => {
      for (let i = 1; i < p.length; i++) {
        const key = p[i] as string;
        let j = i - 1;
        while (j >= 0 && (p[j] as string) > key) {
          p[j + 1] = p[j] as string;
          j--;
        }
        p[j + 1] = key;
      }
      const first = p[0] as string;
      p[0] = p[1] as string;
      p[1] = first;
      [p[2], p[3]] = [p[3] as string, p[2] as string];
    });
    for (const [words, dtype] of [
      [WORDS, 'S8'],
      [WORDS, 'U20'],
      [TEXTS, 'U4'],
    ] as const) {
      const out = upload(words, dtype);
      await launch(kernel, { grid: 1, block: 1 }, out);
      const [a, b, c, d, ...rest] = [...words].sort((x, y) => (x < y ? -1 : x > y ? 1 : 0));
      sameElements(await strings(out), [b, a, d, c, ...rest], `${dtype}: string`);
    }
  },

  'are fields of structs, and stand in the memory of a kernel': async () => {
    const people = [
      { id: 1, name: 'Ada', nick: 'A😀' },
      { id: 2, name: 'Alan', nick: '' },
      { id: 3, name: 'Grace', nick: 'Gr' },
    ];
    const kernel = cuda.jit((p: Vec<typeof Person>, best: Vec<string>) => {
      const shared = cuda.shared.array(3, 'S6');
      const own = cuda.local.array(1, 'U3');
      const t = cuda.threadIdx.x;
      shared[t] = p[t]!.name;
      own[0] = p[t]!.nick;
      cuda.syncThreads();
      p[t]!.name = shared[(t + 1) % 3] as string;
      if (own[0] === '') p[t]!.nick = 'x';
      if (t > 0) return;
      if (p[t]!.id === 1 && shared[2] === 'Grace') best[0] = 'yes';
      else best[0] = 'no';
    });
    const array = cuda.toDevice(ndarray(people, { dtype: Person }));
    const best = upload(['?'], 'S3');
    await launch(kernel, { grid: 1, block: 3 }, array as never, best);
    const got = (await read(array)) as unknown as { toArray(): unknown };
    same(
      JSON.stringify(got.toArray()),
      JSON.stringify([
        { id: 1, name: 'Alan', nick: 'A😀' },
        { id: 2, name: 'Grace', nick: 'x' },
        { id: 3, name: 'Ada', nick: 'Gr' },
      ]),
    );
    sameElements(await strings(best), ['yes'], 'best');
  },

  'select the case of a switch, and go through device functions': async () => {
    const kind = (s: string): number => {
      switch (s) {
        case 'abc':
        case 'ab':
          return 1;
        case '':
          return 2;
        default:
          return s.length > 3 ? 3 : 4;
      }
    };
    const kernel = cuda.jit((p: Vec<string>, out: Vec<i32>) => {
      const i = cuda.grid(1);
      if (i < out.length) out[i] = kind(p[i] as string);
    });
    const out = cuda.deviceArray(N, i32);
    await launch(kernel, { threads: N, block: 4 }, upload(WORDS, 'S8'), out);
    sameElements(await read(out), WORDS.map(kind), 'string');
  },

  'are chosen, filled in, and looked for in arrays': async () => {
    const kernel = cuda.jit((p: Vec<string>, q: Vec<string>, k: i32, out: Vec<i32>) => {
      if (cuda.grid(1) > 0) return;
      p[0] = k > 1 ? 'x' : '日本';
      p[1] = k > 1 ? (q[0] as string) : 'two';
      const s = k > 1 ? (q[1] as string) : (q[2] as string);
      let t = q[1] as string;
      if (k > 1) t = q[2] as string;
      p[2] = s;
      p[3] = t;
      const kind = (n: number): string => (n > 1 ? 'many' : 'few');
      out[0] = kind(k) === 'many' ? 1 : 0;
      out[1] = q.indexOf('c');
      out[2] = q.includes(s) ? 1 : 0;
      out[3] = q.findIndex((w) => w.length === 2);
      let length = 0;
      for (const w of q) length += w.length;
      out[4] = length;
      q.fill('zz');
    });
    for (const k of [1, 2]) {
      const [p, q] = [upload(['', '', '', ''], 'U4'), upload(['a', 'bb', 'c'], 'U4')];
      const out = cuda.toDevice(new Int32Array(5));
      await launch(kernel, { grid: 1, block: 1 }, p, q, cuda.scalar(i32, k), out);
      sameElements(await strings(p), k > 1 ? ['x', 'a', 'bb', 'c'] : ['日本', 'two', 'c', 'bb'], `${k}: string`);
      sameElements(await read(out), [k - 1, 2, 1, 1, 4], `${k}: number`);
      sameElements(await strings(q), ['zz', 'zz', 'zz'], 'filled');
    }
  },

  'are members of enums of strings, captured and as arguments': async () => {
    // What `enum State { Idle = 'idle' … }` and `enum Level { Low = 1 … }` compile to.
    const State = { Idle: 'idle', Busy: 'busy', Done: 'done' } as const;
    const Level = { Low: 1, High: 5, 1: 'Low', 5: 'High' } as const;
    type State = (typeof State)[keyof typeof State];
    type Level = typeof Level.Low | typeof Level.High;
    const kernel = cuda.jit((p: Vec<string>, out: Vec<i32>, from: State, level: Level) => {
      const i = cuda.grid(1);
      if (i >= out.length) return;
      if (p[i] === from) p[i] = State.Done;
      switch (p[i]) {
        case State.Done:
          out[i] = level === Level.High ? Level.High * 10 : Level.Low;
          break;
        case State.Busy:
          out[i] = -1;
      }
    });
    for (const [from, level] of [
      [State.Idle, Level.High],
      [State.Busy, Level.Low],
    ] as const) {
      const states = [State.Idle, State.Busy, State.Done, 'other'];
      const array = upload(states, 'S5');
      const out = cuda.toDevice(new Int32Array(4));
      await launch(kernel, { threads: 4, block: 2 }, array, out, from, cuda.scalar(i32, level) as never);
      const after = states.map((s) => (s === from ? State.Done : s));
      sameElements(await strings(array), after, `from ${from}: state`);
      const done = level === Level.High ? 50 : 1;
      sameElements(
        await read(out),
        after.map((s) => (s === State.Done ? done : s === State.Busy ? -1 : 0)),
        'number',
      );
    }
  },

  'stand in signatures, as structs, dates and vectors do': async () => {
    const Point = struct({ x: f32, y: f32 });
    const move = (p: Vec<typeof Point>, n: Vec<string>, d: Vec<datetime64<'s'>>, v: Vec<f32x4>, s: number): void => {
      p[0]!.x = s;
      if (n[0] === 'a') n[0] = 'b';
      d[0] = d[0]! + timedelta64('s')(1n);
      v[0] = v[0]! * s;
    };
    const spelled = [
      "void(Point[:], U4[::1], NPDatetime('s')[:], float4[:], double)",
      "void(Array(Point, 1, 'C'), UnicodeCharSeq(4)[:], datetime64[s][:], float32x4[::1], f64)",
    ];
    const value = types.void(
      types.array(Point),
      types.array('U4'),
      types.array(datetime64('s')),
      types.array(f32x4, 1, 'C'),
      f64,
    );
    for (const signature of [...spelled, value]) {
      const kernel = cuda.jit(move, { signature, types: { Point } });
      const [p, n] = [cuda.toDevice(ndarray([{ x: 0, y: 0 }], { dtype: Point })), upload(['a'], 'U4')];
      const d = cuda.toDevice(ndarray([5n], { dtype: datetime64('s') }));
      const v = cuda.toDevice(ndarray([{ x: 1, y: 2, z: 3, w: 4 }], { dtype: f32x4 }));
      await launch(kernel, { grid: 1, block: 1 }, p as never, n, d as never, v, 2.5);
      same(JSON.stringify(((await read(p)) as unknown as { toArray(): unknown }).toArray()), '[{"x":2.5,"y":0}]');
      sameElements(await strings(n), ['b'], 'string');
      same(String(await read(d)), 'NDArray datetime64[s] [1] [1970-01-01T00:00:06]');
      same(
        JSON.stringify(((await read(v)) as unknown as { toArray(): unknown }).toArray()),
        '[{"x":2.5,"y":5,"z":7.5,"w":10}]',
      );
      const other = cuda.deviceArray(1, struct({ x: f32, z: f32 }));
      await rejects(
        () => launch(kernel, { grid: 1, block: 1 }, other as never, n, d as never, v, 2.5),
        /is struct\{x: f32, z: f32\}\[::1\], and void\(struct\{x: f32, y: f32\}/,
        'E_ARGUMENT_TYPE',
      );
    }
    throws(
      () => cuda.jit(move, { signature: 'void(Piont[:])', types: { Point } }),
      /did you mean 'Point'\?\n {2}void\(Piont\[:\]\)\n {7}\^{5}/,
      'E_SIGNATURE',
    );
  },

  'are printed': async () => {
    const printed: unknown[][] = [];
    const kernel = cuda.jit((p: Vec<string>) => {
      if (cuda.grid(1) === 0) console.log(p[0], `${p[1]}!`);
    });
    const { log } = console;
    console.log = (...args: unknown[]) => void printed.push(args);
    try {
      await launch(kernel, { grid: 1, block: 1 }, upload(['日本', '😀'], 'U3'));
      await settled();
    } finally {
      console.log = log;
    }
    same(JSON.stringify(printed), JSON.stringify([['日本', '😀!']]));
  },

  'what would make a new string, or cut one off, is refused': async () => {
    const [short, long, text] = [upload(['a'], 'S3'), upload(['abcd'], 'S4'), upload(['日'], 'U3')];
    const refusals: [(p: Vec<string>, q: Vec<string>) => void, Strings, Strings, RegExp][] = [
      [(p, q) => void (p[0] = (p[0] as string) + (q[0] as string)), short, short, /\+ makes a new string/],
      [(p, q) => void (p[0] += q[0] as string), short, short, /\+ makes a new string/],
      [
        (p, q) => void (p[0] = (q[0] as string) === '' ? 'abcd' : (q[0] as string)),
        short,
        short,
        /'abcd' has 4 characters, S3/,
      ],
      [(p, q) => void (p[0] = q[0] as string), short, long, /a string of S4 may not fit in \w+, whose elements are S3/],
      [(p, q) => void (p[0] = q[0] as string), short, text, /a string of U3 may not fit/],
      [(p, _) => void (p[0] = 'four'), short, short, /'four' has 4 characters, S3 has room for 3/],
      [(p, _) => void (p[0] = '日'), short, short, /S3 holds characters of 8 bits/],
      [(p, q) => void (p[0] = (q[0] as string).slice(1)), short, short, /strings have no slice in a kernel/],
      [(p, q) => void (p[0] = (q[0] as string).toUpperCase()), short, short, /strings have no toUpperCase in a kernel/],
      [
        (p, q) => void (p[0] = (q[0] as string)[0] as string),
        short,
        short,
        /a character of a string would be a new string/,
      ],
      [
        (p, q) => void (p[(q[0] as unknown as number) < 1 ? 0 : 1] = 'a'),
        short,
        short,
        / does not take a string and a number together/,
      ],
    ];
    for (const [body, p, q, message] of refusals) {
      await rejects(() => launch(cuda.jit(body), { grid: 1, block: 1 }, p, q), message);
    }
  },

  'come from the host as NumPy has them': async () => {
    const array = cuda.toDevice(['pear', 'fig', '日本']);
    same(array.dtype.name, 'U4');
    same(array.__cuda_array_interface__.typestr, '<U4');
    same(String(await read(array)), 'NDArray U4 [3] ["pear", "fig", "日本"]');
    same(upload(['a'], '|S8').__cuda_array_interface__.typestr, '|S8');
    throws(() => ndarray(['abcd'], { dtype: 'S3' }), /'abcd' has 4 characters, S3 has room for 3/, 'E_CONVERT');
    throws(() => ndarray(['a\0'], { dtype: 'S3' }), /ends in NUL/, 'E_CONVERT');
    throws(() => ndarray(['\ud800'], { dtype: 'U3' }), /half of a surrogate pair/, 'E_CONVERT');
    throws(() => ndarray([5], { dtype: 'U3' }), /an element of U3 must be a string, got 5/, 'E_CONVERT');
    throws(() => ndarray.zeros(1, 'U' as never), /does not say how long the strings are/, 'E_DTYPE');
  },
});
