/**
 * Chapter: kernels that cannot be compiled, and what is said about them: a code, the place, and what to write instead.
 */
import { bool, cuda, f32, i32, KernelError, type Mat, struct, type Vec } from '../src/index.ts';
import { ConformanceFailure, sameElements } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { type Launched, launch, read } from './waiting.ts';

type AnyKernel = Launched<unknown[]>;
// biome-ignore lint/suspicious/noExplicitAny: kernels with mistakes, which the editor would underline.
type Wrong = any;

const vec = (): unknown => cuda.deviceArray(4, 'float32');
const ints = (): unknown => cuda.deviceArray(4, 'int32');
const uints = (): unknown => cuda.deviceArray(4, 'uint32');
const longs = (): unknown => cuda.deviceArray(4, 'int64');
const mat = (): unknown => cuda.deviceArray([2, 2], 'float32');

const settings = { gain: 2 };
const TABLE = Int32Array.of(1, 2, 3);
let later: number;

interface Expected {
  /** The beginning of its code. */
  readonly code: string;
  readonly message: RegExp;
  readonly help?: RegExp;
}

/** A kernel that is refused at its first launch with these arguments. */
function refused(
  fn: (...args: Wrong[]) => unknown,
  args: readonly (() => unknown)[],
  expected: Expected,
): () => Promise<void> {
  return async () => {
    const kernel = cuda.jit(fn as () => void, { name: 'wrong' }) as unknown as AnyKernel;
    const made = args.map((make) => make());
    let error: unknown;
    try {
      await launch(kernel, { grid: 1, block: 4 }, ...made);
    } catch (e) {
      error = e;
    }
    if (!(error instanceof KernelError)) throw new ConformanceFailure(`${String(error)} instead of a KernelError`);
    const { code, message, help } = error;
    if (!code.startsWith(expected.code))
      throw new ConformanceFailure(`code ${code} instead of ${expected.code}: ${message}`);
    if (!expected.message.test(message)) throw new ConformanceFailure(`${message}: expected ${expected.message}`);
    if (expected.help && !expected.help.test(help ?? ''))
      throw new ConformanceFailure(`help ${help}: expected ${expected.help}`);
    if (!/--> .*\d+:\d+/.test(message)) throw new ConformanceFailure(`${message}: no place is named`);
  };
}

export const errors: readonly ConformanceTest[] = chapter('errors in kernels', {
  'A[i, j]': refused(
    (a: Wrong) => {
      a[0][(cuda.threadIdx.x as Wrong, 1)] = 1;
    },
    [mat],
    { code: 'K238', message: /comma operator/, help: /threadIdx\.x\]\[1\]/ },
  ),
  'i32 with u32': refused(
    (a: Vec<i32>, b: Vec<i32>) => {
      a[0] = a[0] % b[0];
    },
    [ints, uints],
    { code: 'K203', message: /% does not take i32 and u32 together/, help: /i32\([\w$]+\[0\]\) or u32\([\w$]+\[0\]\)/ },
  ),
  'i64 with floats': refused(
    (a: Vec<f32>, b: Vec<f32>) => {
      a[0] = a[0] * b[0];
    },
    [vec, longs],
    { code: 'K203', message: /cannot multiply f32 and i64/, help: /Number\(/ },
  ),
  'a float as a lane': refused(
    (a: Vec<f32>, b: Vec<i32>) => {
      b[0] = cuda.shflSync(0xffffffff, b[1], a[0]);
    },
    [vec, ints],
    { code: 'K215', message: /the lane needs an integer/, help: /i32\(/ },
  ),
  'a float of which bits are counted': refused(
    (a: Vec<f32>, b: Vec<i32>) => {
      b[0] = cuda.popc(a[0]);
    },
    [vec, ints],
    { code: 'K215', message: /cuda\.popc needs an integer/, help: /Math\.trunc\(/ },
  ),
  'a float for an index': refused(
    (a: Vec<f32>) => {
      a[a[0]] = 1;
    },
    [vec],
    { code: 'K215', message: /an index needs an integer, but [\w$]+\[0\] is f32/, help: /i32\(/ },
  ),
  'a literal that does not fit': refused(
    (a: Vec<f32>) => {
      a[0] = 300;
    },
    [() => cuda.deviceArray(1, 'uint8')],
    { code: 'K212', message: /300 does not fit u8 \(0 to 255\)/ },
  ),
  'a fraction for an index': refused(
    (a: Vec<f32>) => {
      a[1.5] = 1;
    },
    [vec],
    { code: 'K234', message: /must be an integer; this is 1\.5/ },
  ),
  'a negative constant index': refused(
    (a: Vec<f32>) => {
      a[-1] = 1;
    },
    [vec],
    { code: 'K235', message: /index -1 is out of range/, help: /\.length - 1/ },
  ),
  'a constant index beyond a shared array': refused(
    (a: Vec<f32>) => {
      const s = cuda.shared.array(4, f32);
      s[4] = a[0];
    },
    [vec],
    { code: 'K235', message: /index 4 is out of range for axis 0 of [\w$]+ \(length 4\)/ },
  ),
  'a store to a row': refused(
    (a: Wrong) => {
      a[0] = 1;
    },
    [mat],
    { code: 'K240', message: /not one element|rank 2/ },
  ),
  'a row as a number': refused(
    (a: Wrong, b: Vec<f32>) => {
      b[0] = a[0] + 1;
    },
    [mat, vec],
    { code: 'K221', message: /expected a number, but this is [\w$]+, an array of rank 1/ },
  ),
  'too many indices': refused(
    (a: Wrong, b: Vec<f32>) => {
      b[0] = a[0][0];
    },
    [vec, vec],
    { code: 'K223', message: /a number cannot be indexed/ },
  ),
  'an unknown name': refused(new Function('a', 'a[0] = gainn') as never, [vec], { code: 'K010', message: /gainn/ }),
  'a property that a captured object does not have': refused(
    (a: Vec<f32>) => {
      a[0] = (settings as Wrong).gian;
    },
    [vec],
    { code: 'K312', message: /[\w$]+ has no property gian/ },
  ),
  'a captured name that has no value yet': refused(
    (a: Vec<f32>) => {
      a[0] = later;
    },
    [vec],
    { code: 'K011', message: /later/ },
  ),
  'assignment to a captured name': refused(
    (a: Vec<f32>) => {
      later = a[0];
    },
    [vec],
    { code: 'K313', message: /later/ },
  ),
  'assignment to a member of a captured object': refused(
    (a: Vec<f32>) => {
      settings.gain = a[0];
    },
    [vec],
    { code: 'K', message: /settings/ },
  ),
  'a store to a captured host array': refused(
    (a: Vec<f32>) => {
      TABLE[0] = a.length;
    },
    [vec],
    { code: 'K241', message: /[\w$]+ is a captured host array and read-only/ },
  ),
  'captures that were not given': refused(
    new Function('cuda', 'return (a) => { a[0] = gain; }')(cuda) as never,
    [vec],
    {
      code: 'K',
      message: /gain/,
    },
  ),
  this: refused(
    function (this: Wrong, a: Vec<f32>) {
      a[0] = this.k;
    },
    [vec],
    { code: 'K006', message: /this/ },
  ),
  try: refused(
    (a: Vec<f32>) => {
      try {
        a[0] = 1;
      } catch {
        a[0] = 2;
      }
    },
    [vec],
    { code: 'K101', message: /`try` cannot be used/ },
  ),
  new: refused(
    (a: Vec<f32>) => {
      const x = new Map<number, number>();
      a[0] = x.size;
    },
    [vec],
    { code: 'K101', message: /`new` cannot be used/, help: /cuda\.local\.array/ },
  ),
  await: refused(
    async (a: Vec<f32>) => {
      await a;
    },
    [vec],
    { code: 'K004', message: /async/ },
  ),
  'a generator': refused(
    function* (a: Vec<f32>) {
      yield a[0];
    },
    [vec],
    { code: 'K', message: /generator/ },
  ),
  'a string': refused(
    (a: Wrong) => {
      a[0] = 'x';
    },
    [vec],
    { code: 'K', message: /./ },
  ),
  'a regular expression': refused(
    (a: Wrong) => {
      a[0] = /x/.test('y') ? 1 : 2;
    },
    [vec],
    { code: 'K', message: /./ },
  ),
  'for … in': refused(
    (a: Vec<f32>) => {
      for (const k in a) a[0] = Number(k);
    },
    [vec],
    { code: 'K', message: /for.*in/ },
  ),
  'a class that extends another': refused(
    (a: Vec<f32>) => {
      class P {
        x = 1;
      }
      class Q extends P {}
      a[0] = new Q().x;
    },
    [vec],
    { code: 'K101', message: /extends/, help: /in a field/ },
  ),
  recursion: refused(
    (a: Vec<f32>) => {
      const f = (n: number): number => (n < 2 ? 1 : n * f(n - 1));
      a[0] = f(5 + a[0]);
    },
    [vec],
    { code: 'K315', message: /[\w$]+ calls itself: recursion/ },
  ),
  'a value that the kernel returns': refused((a: Vec<f32>) => a[0], [vec], {
    code: 'K317',
    message: /a kernel returns nothing/,
  }),
  'Math.random': refused(
    (a: Vec<f32>) => {
      a[0] = Math.random();
    },
    [vec],
    { code: 'K318', message: /Math\.random/ },
  ),
  'Date.now and other functions of the engine': refused(
    (a: Vec<f32>) => {
      a[0] = Date.now();
    },
    [vec],
    { code: 'K314', message: /now is built into the engine|now/ },
  ),
  'a timer of the host': refused(
    (a: Vec<f32>) => {
      setTimeout(() => {
        a[0] = 1;
      }, 1);
    },
    [vec],
    { code: 'K314', message: /setTimeout is built into the engine/ },
  ),
  'a method of JavaScript arrays': refused(
    (a: Vec<f32>) => {
      a[0] = [1, 2, 3].push(4);
    },
    [vec],
    { code: 'K235', message: /a JavaScript array has no push in a kernel/, help: /keeps its length.*new Array\(16\)/ },
  ),
  "a name as Numba's manual has it": refused(() => (cuda as unknown as { syncthreads(): void }).syncthreads(), [], {
    code: 'K312',
    message: /no property syncthreads/,
    help: /did you mean syncThreads/,
  }),
  'several indices in one pair of brackets': refused(
    (a: Vec<f32>) => {
      a[[0, 1] as unknown as number] = 1;
    },
    [vec],
    { code: 'K221', message: /expected an index, but this is a tuple of 2/, help: /a\[i\]\[j\]/ },
  ),
  'a wrong number of arguments': refused(
    (a: Vec<f32>) => {
      const f = (x: number, y: number) => x + y;
      a[0] = (f as Wrong)(1) + Math.sqrt(...([1, 2] as unknown as [number]));
    },
    [vec],
    { code: 'K', message: /argument/ },
  ),
  'shared memory of a size that is not known': refused(
    (a: Vec<f32>) => {
      const s = cuda.shared.array(a.length, f32);
      s[0] = 1;
    },
    [vec],
    { code: 'K332', message: /must be known at compile time/, help: /size 0/ },
  ),
  'shared memory of a type that is none': refused(
    (a: Vec<f32>) => {
      const s = cuda.shared.array(4, 'float31' as 'float32');
      s[0] = a[0];
    },
    [vec],
    { code: 'K322', message: /float31/ },
  ),
  'local memory of a negative size': refused(
    (a: Vec<f32>) => {
      const s = cuda.local.array(-4, f32);
      a[0] = s[0];
    },
    [vec],
    { code: 'K332', message: /-4/ },
  ),
  'more local memory than a thread can have': refused(
    (a: Vec<f32>) => {
      const s = cuda.local.array(100_000, f32);
      const t = cuda.local.array([200, 200], f32);
      t[0][0] = s[0];
      a[0] = t[0][0];
    },
    [vec],
    {
      code: 'K332',
      message: /160000 bytes with the others \(560000 in all\) are more local memory/,
      help: /524288 bytes/,
    },
  ),
  'const.arrayLike of what was not captured': refused(
    (a: Vec<f32>) => {
      const c = cuda.const.arrayLike(a as Wrong) as Wrong;
      a[0] = c[0];
    },
    [vec],
    { code: 'K333', message: /needs a host array captured from outside/ },
  ),
  'const.arrayLike of rows of several lengths': refused(
    (a: Vec<f32>) => {
      const c = cuda.const.arrayLike([[1, 2], [3]]);
      a[0] = c[0][0];
    },
    [vec],
    { code: 'K333', message: /rows have shapes \[2\] and \[1\]/, help: /rectangular/ },
  ),
  'an atomic for the wrong type': refused(
    (a: Wrong) => {
      cuda.atomic.inc(a, 0, 1);
    },
    [vec],
    { code: 'K335', message: /atomic\.inc does not exist for f32/, help: /u32/ },
  ),
  'an atomic with too few indices': refused(
    (a: Wrong) => {
      cuda.atomic.add(a, 0, 1);
    },
    [mat],
    { code: 'K334', message: /needs 2 indices for [\w$]+, not 1/ },
  ),
  'an atomic on local memory': refused(
    (a: Vec<f32>) => {
      const s = cuda.local.array(4, f32);
      cuda.atomic.add(s, 0, 1);
      a[0] = s[0];
    },
    [vec],
    { code: 'K334', message: /local memory belongs to one thread/ },
  ),
  'grid() of a number that is not known': refused(
    (a: Vec<f32>) => {
      a[0] = cuda.grid(a.length as 1);
    },
    [vec],
    { code: 'K331', message: /constant 1, 2 or 3/ },
  ),
  'threadIdx called like a function': refused(
    (a: Vec<f32>) => {
      a[0] = (cuda.threadIdx as Wrong)();
    },
    [vec],
    { code: 'K314', message: /threadIdx is a value/, help: /threadIdx\.x/ },
  ),
  'a barrier in a divergent branch': refused(
    (a: Vec<f32>) => {
      const t = cuda.threadIdx.x;
      if (t < 2) cuda.syncThreads();
      a[t] = 1;
    },
    [vec],
    { code: 'K401', message: /barrier/, help: /cuda\.uniform/ },
  ),
  'a barrier in a loop that threads leave one by one': refused(
    (a: Vec<f32>) => {
      const t = cuda.threadIdx.x;
      for (let i = 0; i < t; i++) cuda.syncThreads();
      a[t] = 1;
    },
    [vec],
    { code: 'K401', message: /barrier/ },
  ),
  'a barrier under a condition read from memory': refused(
    (a: Vec<f32>) => {
      if (a[cuda.blockIdx.x] > 0) cuda.syncThreads();
      a[cuda.threadIdx.x] = 1;
    },
    [vec],
    { code: 'K401', message: /barrier/, help: /cuda\.uniform/ },
  ),
  'what a block computes together behind a return of some threads': refused(
    (a: Vec<f32>) => {
      const t = cuda.threadIdx.x;
      if (t >= a.length) return;
      a[t] = cuda.block.reduce(a[t], (x, y) => x + y);
    },
    [vec],
    // A minifier makes conditions of such returns.
    { code: 'K401', message: /skipped by a return|under a condition/ },
  ),
  'what a block computes together under a condition': refused(
    (a: Vec<f32>) => {
      const t = cuda.threadIdx.x;
      if (t < a.length) a[t] = cuda.block.reduce(a[t], (x, y) => x + y);
    },
    [vec],
    { code: 'K401', message: /under a condition/ },
  ),
  'a barrier in a loop on a shared flag that is stored to in the meantime': refused(
    (a: Vec<f32>) => {
      const flag = cuda.shared.array(1, i32);
      const t = cuda.threadIdx.x;
      if (t === 0) flag[0] = 5;
      cuda.syncThreads();
      while (flag[0] > 0) {
        if (t === 0) flag[0] -= 1;
        cuda.syncThreads();
      }
      a[t] = 1;
    },
    [vec],
    {
      code: 'K401',
      message: /in a loop whose condition varies/,
      help: /each store to \w+ and this read.*(?:while|for) \(.*cuda\.uniform\(\w+\[0\] ?> ?0\)/,
    },
  ),
  'a barrier in a divergent device function': refused(
    (a: Vec<f32>) => {
      const meet = () => {
        cuda.syncThreads();
      };
      const t = cuda.threadIdx.x;
      if (t > 1) meet();
      a[t] = 1;
    },
    [vec],
    { code: 'K401', message: /meet[\s\S]*|barrier/ },
  ),
  'two kinds of value in one variable': refused(
    (a: Vec<f32>) => {
      let x: Wrong = 1;
      if (a[0] > 0) x = a;
      a[0] = x;
    },
    [vec],
    { code: 'K231', message: /holds a number and cannot become/ },
  ),
  'a loop without an end': refused(
    (a: Vec<f32>) => {
      for (;;) a[0] += 1;
    },
    [vec],
    { code: 'K102', message: /never ends/ },
  ),
  'an array where a number belongs': refused(
    (a: Wrong) => {
      a[0] = i32(a);
    },
    [vec],
    { code: 'K221', message: /an array of rank 1/ },
  ),
  'bigint with numbers': refused(
    (a: Wrong) => {
      a[0] = a[0] + 1n;
    },
    [vec],
    { code: 'K', message: /1n|i64|bigint/ },
  ),
  'a matrix for a vector': refused(
    (a: Vec<f32>) => {
      a[cuda.grid(1)] = 1;
    },
    [mat],
    { code: 'K240', message: /rank|not one element/ },
  ),
  'a number for a record': async () => {
    const kernel = cuda.jit((a: Wrong) => {
      a[0] = 1;
    }) as unknown as AnyKernel;
    let error: unknown;
    try {
      await launch(kernel, { grid: 1, block: 1 }, cuda.deviceArray(2, struct({ x: f32, flag: bool })));
    } catch (e) {
      error = e;
    }
    if (!(error instanceof Error) || !/struct|\{/.test(error.message))
      throw new ConformanceFailure(`${String(error)} instead of an error that names the type`);
  },
  'errors name the kernel, the line, and the calls that led there': async () => {
    const inner = (v: Wrong): number => v.missing;
    const outer = (v: number): number => inner(v) * 2;
    const kernel = cuda.jit(
      (a: Vec<f32>) => {
        a[0] = outer(a[1]);
      },
      { name: 'chain' },
    ) as unknown as AnyKernel;
    let message = '';
    try {
      await launch(kernel, { grid: 1, block: 1 }, vec());
    } catch (e) {
      message = String((e as Error).message);
    }
    for (const part of [/kernel "chain"/, /called from/, /\.missing/, /\^/]) {
      if (!part.test(message)) throw new ConformanceFailure(`${message}: expected ${part}`);
    }
  },
  'a kernel that was refused once is refused again, others go on': async () => {
    const wrong = cuda.jit((a: Wrong) => {
      a[0] = 'x';
    }) as unknown as AnyKernel;
    for (let n = 0; n < 2; n++) {
      let error: unknown;
      try {
        await launch(wrong, { grid: 1, block: 1 }, vec());
      } catch (e) {
        error = e;
      }
      if (!(error instanceof KernelError)) throw new ConformanceFailure(`${String(error)} instead of a KernelError`);
    }
    const right = cuda.jit((a: Mat<f32>) => {
      a[1][1] = 3;
    });
    const A = cuda.deviceArray([2, 2], f32);
    A.set(0);
    await launch(right, { grid: 1, block: 1 }, A);
    sameElements(await read(A), [0, 0, 0, 3]);
  },
});
