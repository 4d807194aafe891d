/**
 * Chapter: functions of other languages, declared with their types, linked where the device has code for them, and in TypeScript elsewhere.
 */
import { cuda, type f32, type f64, i32, type i32 as int, roc, type Vec } from '../src/index.ts';
import { rejects, same, sameElements, throws } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { launch, read } from './waiting.ts';

const head = '.version 6.0\n.target sm_50\n.address_size 64\n';

/** `float(float, float, float)`: 1000 + a * b + c on devices that run this code, so that tests can tell whether they do. */
const MAD = {
  ptx: `${head}.visible .func (.param .b32 r) mad3(.param .b32 a, .param .b32 b, .param .b32 c)
{
  .reg .f32 %f<5>;
  ld.param.f32 %f1, [a];
  ld.param.f32 %f2, [b];
  ld.param.f32 %f3, [c];
  fma.rn.f32 %f4, %f1, %f2, %f3;
  add.f32 %f4, %f4, 0f447A0000;
  st.param.f32 [r], %f4;
  ret;
}`,
  opencl: 'float mad3(float a, float b, float c) { return fma(a, b, c) + 1000.0f; }',
  hip: '__device__ float mad3(float a, float b, float c) { return a * b + c + 1000.0f; }',
};

/** `void(int *, long long)`: adds to the first element. */
const BUMP = {
  ptx: `${head}.visible .func bump(.param .b64 p, .param .b64 n)
{
  .reg .b64 %rd<3>;
  .reg .b32 %r<4>;
  ld.param.u64 %rd1, [p];
  ld.param.u64 %rd2, [n];
  cvt.u32.u64 %r1, %rd2;
  ld.u32 %r2, [%rd1];
  add.s32 %r3, %r1, %r2;
  st.u32 [%rd1], %r3;
  ret;
}`,
  opencl: 'void bump(global int *p, long n) { p[0] += (int)n; }',
  hip: '__device__ void bump(int *p, long n) { p[0] += (int)n; }',
};

/** `int8(int8, uint16, bool)`, `bool(double)`, `double(double *)` of memory of a thread. */
const NARROW = {
  ptx: `${head}.visible .func (.param .b32 r) narrow(.param .b32 a, .param .b32 b, .param .b32 c)
{
  .reg .b32 %r<7>;
  .reg .pred %p;
  ld.param.s8 %r1, [a];
  ld.param.u16 %r2, [b];
  ld.param.u8 %r3, [c];
  setp.ne.b32 %p, %r3, 0;
  selp.b32 %r4, %r2, 0, %p;
  add.s32 %r5, %r1, %r4;
  st.param.b32 [r], %r5;
  ret;
}
.visible .func (.param .b32 r) negative(.param .b64 x)
{
  .reg .f64 %fd;
  .reg .pred %p;
  .reg .b32 %r;
  ld.param.f64 %fd, [x];
  setp.lt.f64 %p, %fd, 0d0000000000000000;
  selp.b32 %r, 1, 0, %p;
  st.param.b32 [r], %r;
  ret;
}
.visible .func (.param .b64 r) both(.param .b64 p)
{
  .reg .b64 %rd;
  .reg .f64 %fd<3>;
  ld.param.u64 %rd, [p];
  ld.f64 %fd1, [%rd];
  ld.f64 %fd2, [%rd+8];
  add.f64 %fd1, %fd1, %fd2;
  st.param.f64 [r], %fd1;
  ret;
}`,
  opencl: `char narrow(char a, ushort b, bool c) { return (char)(a + (c ? b : 0)); }
bool negative(double x) { return x < 0; }
double both(const double *p) { return p[0] + p[1]; }`,
  hip: `__device__ signed char narrow(signed char a, unsigned short b, bool c) { return (signed char)(a + (c ? b : 0)); }
__device__ bool negative(double x) { return x < 0; }
__device__ double both(const double *p) { return p[0] + p[1]; }`,
};

type Codes = typeof MAD;

/** One text for each device. */
function codes({ ptx, opencl, hip }: Codes): readonly object[] {
  return [{ ptx }, { opencl }, { hip }];
}

/** What is added by code of other languages, where this device runs it. */
function mark(): number {
  return cuda.currentDevice().kind === 'nvidia' || ['opencl', 'hip'].includes(cuda.currentDevice().kind) ? 1000 : 0;
}

export const externals: readonly ConformanceTest[] = chapter('functions of other languages', {
  'are called with numbers': async () => {
    const mad3 = cuda.declareDevice('mad3', 'float32(float32, float32, float32)', {
      link: codes(MAD),
      fallback: (a: number, b: number, c: number): number => a * b + c,
    });
    const kernel = cuda.jit((y: Vec<f32>, x: Vec<f32>, k: number) => {
      const i = cuda.grid(1);
      if (i < y.length) y[i] = mad3(x[i], k, 1) + mad3(2, 3, i);
    });
    const x = Float32Array.from({ length: 40 }, (_, i) => i / 4);
    const y = cuda.deviceArray(40, 'float32');
    await launch(kernel, { threads: 40, block: 32 }, y, cuda.toDevice(x), 3);
    sameElements(
      await read(y),
      x.map((v, i) => v * 3 + 1 + 6 + i + 2 * mark()),
    );
  },
  'write through pointers': async () => {
    const bump = cuda.declareDevice('bump', 'void(int32*, int64)', {
      link: codes(BUMP),
      fallback: (p: Vec<int>, n: bigint): void => {
        p[0] += i32(n);
      },
    });
    const kernel = cuda.jit((a: Vec<int>, out: Vec<int>) => {
      const i = cuda.grid(1);
      if (i >= a.length) return;
      const before = a[i];
      bump(a.slice([i, null]), 5n);
      if (i % 2 === 0) bump(a.slice([i, null]), BigInt(i));
      out[i] = a[i] - before;
    });
    const a = cuda.toDevice(Int32Array.from({ length: 8 }, (_, i) => 100 * i));
    const out = cuda.deviceArray(8, 'int32');
    await launch(kernel, { threads: 8, block: 8 }, a, out);
    sameElements(await read(out), [5, 5, 7, 5, 9, 5, 11, 5]);
    sameElements(await read(a), [5, 105, 207, 305, 409, 505, 611, 705]);
  },
  'in loops, on some paths only': async () => {
    const bump = cuda.declareDevice('bump', 'void(int32[:], int64)', {
      link: codes(BUMP),
      fallback: (p: Vec<int>, n: bigint): void => {
        p[0] += i32(n);
      },
    });
    const kernel = cuda.jit((a: Vec<int>) => {
      const i = cuda.grid(1);
      for (let k = 0; k < i; k++) {
        if (k % 3 === 1) continue;
        bump(a.slice([i, null]), 1n);
        if (a[i] > 4) break;
      }
    });
    const a = cuda.toDevice(new Int32Array(16));
    await launch(kernel, { threads: 16, block: 16 }, a);
    const expected = Array.from({ length: 16 }, (_, i) => {
      let n = 0;
      for (let k = 0; k < i && n <= 4; k++) if (k % 3 !== 1) n++;
      return n;
    });
    sameElements(await read(a), expected);
  },
  'with narrow types, booleans and memory of a thread': async () => {
    const link = codes(NARROW);
    const narrow = cuda.declareDevice('narrow', 'int8(int8, uint16, bool)', {
      link,
      fallback: (a: number, b: number, c: boolean): number => a + (c ? b : 0),
    });
    const negative = cuda.declareDevice('negative', 'bool(float64)', {
      link,
      fallback: (x: number): boolean => x < 0,
    });
    const both = cuda.declareDevice('both', 'float64(float64*)', {
      link,
      fallback: (p: Vec<f64>): number => p[0] + p[1],
    });
    const kernel = cuda.jit((y: Vec<f64>) => {
      const i = cuda.grid(1);
      if (i >= y.length) return;
      const pair = cuda.local.array(2, 'float64');
      pair[0] = i - 2;
      pair[1] = 0.5;
      const sign = negative(i - 2) ? 1000 : 0;
      y[i] = narrow(100 + i, 60, i % 2 === 0) + sign + both(pair);
    });
    const y = cuda.deviceArray(5, 'float64');
    await launch(kernel, { threads: 5, block: 5 }, y);
    sameElements(
      await read(y),
      Array.from(
        { length: 5 },
        (_, i) => (((100 + i + (i % 2 === 0 ? 60 : 0)) << 24) >> 24) + (i < 2 ? 1000 : 0) + i - 1.5,
      ),
    );
  },
  'are linked by the kernel, too': async () => {
    const mad3 = roc.declareDevice('mad3', 'float32(float32, float32, float32)', {
      fallback: (a: number, b: number, c: number): number => a * b + c,
    });
    const kernel = cuda.jit(
      (y: Vec<f32>) => {
        y[cuda.grid(1)] = mad3(2, 3, 4);
      },
      { link: codes(MAD) },
    );
    const plain = cuda.jit((y: Vec<f32>) => {
      y[cuda.grid(1)] = mad3(2, 3, 5);
    });
    const y = cuda.deviceArray(2, 'float32');
    await launch(kernel, { grid: 1, block: 2 }, y);
    sameElements(await read(y), [10 + mark(), 10 + mark()]);
    await launch(plain, { grid: 1, block: 2 }, y);
    sameElements(await read(y), [11, 11]);
  },
  'without code and fallback are refused by name': async () => {
    const f = cuda.declareDevice('nowhere', 'float32(float32)');
    const kernel = cuda.jit((y: Vec<f32>) => {
      y[0] = f(1);
    });
    await rejects(
      async () => await launch(kernel, { grid: 1, block: 1 }, cuda.deviceArray(1, 'float32')),
      /calls f32 nowhere\(f32\), for which .* has no code.*\n *--> .*\n *help: .*fallback/,
    );
    throws(() => f(1), /only kernels can call/);
  },
  'take what was declared': async () => {
    const f = cuda.declareDevice('f', 'int32(float32*, int32)', { fallback: (_p: object, n: number): number => n });
    const wrong = async (body: (a: Vec<f32>, b: Vec<f64>) => void, message: RegExp): Promise<void> => {
      const [a, b] = [cuda.deviceArray(4, 'float32'), cuda.deviceArray(4, 'float64')];
      await rejects(async () => await launch(cuda.jit(body), { grid: 1, block: 1 }, a as never, b as never), message);
    };
    await wrong((a, _) => {
      (f as (x: unknown) => number)(a);
    }, /K316: f takes 2 arguments, not 1/);
    await wrong((_, b) => {
      f(b, 1);
    }, /K338: argument 1 of f is a pointer to f32, and \w+ has elements of f64/);
    await wrong((a, _) => {
      f(a.slice('::2'), 1);
    }, /K338: argument 1 of f is a pointer, and .* may have gaps/);
    await wrong((a, _) => {
      (f as (x: unknown, n: number) => number)(a[0], 1);
    }, /K338: argument 1 of f is a pointer to f32, and a number is not an array/);
    await wrong((a, _) => {
      f(a, a[0]);
    }, /K2\d\d: .*argument 2 of f/s);
    throws(() => cuda.declareDevice('no name', 'int32()'), /name of a C function/);
    throws(() => cuda.declareDevice('g', 'float16(int32)'), /passed by pointer only/);
    throws(() => cuda.declareDevice('g', 'int32(int32', {}), /expected '\)'/);
    throws(() => cuda.declareDevice('g', 'int32()', { link: 'g.txt' }), /link of g takes files that end in \.ptx/);
    throws(() => cuda.declareDevice('g', 'int32()', { link: 'missing.ptx' }), /there is no file missing\.ptx/);
    same(f.name, 'f');
  },
});
