/**
 * Chapter: what goes wrong while a kernel runs: caught, named, and survived.
 *
 * Needs checked mode, which is asked for here, since GPUs have it off unless told.
 */
import { cuda, DriverError, type In, i32, type Mat, type Vec } from '../src/index.ts';
import { rejects, same, sameElements, throws } from './assert.ts';
import { blocking, type ConformanceTest, chapter, waiting } from './suite.ts';
import { launch, read, settled } from './waiting.ts';

type Body = (a: Vec<i32>, at: Vec<i32>, k: number) => void;

/**
 * Names of arrays are not looked at: compilers and minifiers rename them.
 *
 * Runs `body` in 8 threads over arrays of 8, of which thread 5 has an index that is wrong. The fault comes with the next
 * synchronising call, says what is expected, and leaves the device usable.
 */
function faulty(
  body: Body,
  message: RegExp,
  wrong = 9,
  options: { readonly debug?: boolean } = {},
): () => Promise<void> {
  return async () => {
    const kernel = cuda.jit(
      function walk(a: Vec<i32>, at: Vec<i32>) {
        const k = cuda.grid(1);
        body(a, at, k);
      },
      { name: 'walk', boundsCheck: true, ...options },
    );
    const memory = cuda.toDevice(Int32Array.from({ length: 24 }, (_, k) => k));
    const a = memory.slice([8, 16]);
    const at = cuda.toDevice(Int32Array.from({ length: 8 }, (_, k) => (k === 5 ? wrong : k)));
    await launch(kernel, { grid: 2, block: 4 }, a as never, at);
    let error: unknown;
    try {
      await settled();
    } catch (e) {
      error = e;
    }
    throws(
      () => {
        throw error;
      },
      message,
      'E_KERNEL_FAULT',
    );
    const text = (error as Error).message;
    same(error instanceof DriverError, true, 'a DriverError');
    for (const part of [
      /kernel walk/,
      /block \(1,0,0\), thread \(1,0,0\)/,
      /:\d+:\d+/,
      /grid \[2, 1, 1\], block \[4, 1, 1\]/,
    ]) {
      if (!part.test(text)) throw new Error(`the message does not have ${part}: ${text}`);
    }
    // Said once; what lies beside the array is as it was; the device goes on.
    await settled();
    const around = await read(memory);
    sameElements(
      [...around.subarray(0, 8), ...around.subarray(16)],
      [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23],
    );
    at.copyToDevice(Int32Array.of(0, 1, 2, 3, 4, 5, 6, 7));
    await launch(kernel, { grid: 2, block: 4 }, a as never, at);
    await settled();
  };
}

export const faults: readonly ConformanceTest[] = chapter('faults', {
  'a store out of bounds': faulty((a, at, k) => {
    a[at[k]] = -1;
  }, /index 9 is out of range for [\w$]+ \(length 8\)/),
  'a load out of bounds': faulty((a, at, k) => {
    a[k] = a[at[k]] + 1;
  }, /index 9 is out of range for [\w$]+ \(length 8\)/),
  'a negative index': faulty(
    (a, at, k) => {
      a[at[k]] = -1;
    },
    /index -1 is out of range for [\w$]+ \(length 8\)/,
    -1,
  ),
  'an index far outside': faulty(
    (a, at, k) => {
      const i = at[k] > 7 ? at[k] * 1000 : k;
      a[i] = a[k] + 1;
    },
    /index 2000000000 is out of range for [\w$]+ \(length 8\)/,
    2000000,
  ),
  'an index past the end by one': faulty(
    (a, at, k) => {
      a[at[k]] += 1;
    },
    /index 8 is out of range for [\w$]+ \(length 8\)/,
    8,
  ),
  'in shared memory': faulty((a, at, k) => {
    const s = cuda.shared.array(8, i32);
    if (cuda.threadIdx.x === 0) for (let i = 0; i < 8; i++) s[i] = i;
    cuda.syncThreads();
    a[k] = s[at[k]];
  }, /index 9 is out of range for [\w$]+ \(length 8\)/),
  'in local memory': faulty((a, at, k) => {
    const own = cuda.local.array(8, i32);
    for (let i = 0; i < 8; i++) own[i] = i;
    a[k] = own[at[k]];
  }, /index 9 is out of range for [\w$]+ \(length 8\)/),
  'in a slice': faulty((a, at, k) => {
    const part = a.slice('::-1');
    part[at[k]] = -1;
  }, /index 9 is out of range for [\w$]+ \(length 8\)/),
  'in an atomic': faulty((a, at, k) => {
    cuda.atomic.add(a, at[k], 1);
  }, /index 9 is out of range for [\w$]+ \(length 8\)/),
  'in a device function, in a divergent loop': faulty((a, at, k) => {
    const put = (i: number) => {
      a[i] = 1;
    };
    for (let i = 0; i <= at[k]; i++) {
      if (i === k || i > 7) put(i);
    }
  }, /index 8 is out of range for [\w$]+ \(length 8\)/),
  'in one axis of a matrix': async () => {
    const kernel = cuda.jit(
      (A: Mat<i32>, row: number, column: number) => {
        A[row][column] = 1;
      },
      { boundsCheck: true },
    );
    const A = cuda.deviceArray([3, 4], 'int32');
    A.set(0);
    for (const [row, column, message] of [
      [3, 0, /index 3 is out of range for axis 0 of [\w$]+ \(extent 3\)/],
      [0, 4, /index 4 is out of range for axis 1 of [\w$]+ \(extent 4\)/],
      [-1, 4, /index -1 is out of range for axis 0 of [\w$]+ \(extent 3\)/],
      [1, -1, /index -1 is out of range for axis 1 of [\w$]+ \(extent 4\)/],
    ] as const) {
      await launch(kernel, { grid: 1, block: 1 }, A, row, column);
      await rejects(() => settled(), message, 'E_KERNEL_FAULT');
    }
    sameElements(await read(A), new Int32Array(12));
  },
  'guarded accesses are no faults': async () => {
    const kernel = cuda.jit(
      (a: Vec<i32>) => {
        const k = cuda.grid(1);
        const left = k > 0 ? a[k - 1] : 0;
        const right = k + 1 < a.length && a[k + 1] > 2 ? a[k + 1] : 0;
        cuda.syncThreads();
        if (k < a.length) a[k] = left + right;
      },
      { boundsCheck: true },
    );
    const a = cuda.toDevice(Int32Array.of(1, 2, 3, 4, 5));
    await launch(kernel, { grid: 1, block: 5 }, a);
    sameElements(await read(a), [0, 4, 6, 8, 4]);
  },
  'a constant array': async () => {
    const table = Int32Array.of(1, 2, 3);
    const kernel = cuda.jit(
      (a: Vec<i32>, at: number) => {
        a[0] = table[at];
      },
      { boundsCheck: true },
    );
    await launch(kernel, { grid: 1, block: 1 }, cuda.deviceArray(1, 'int32'), 3);
    await rejects(() => settled(), /index 3 is out of range for [\w$]+ \(length 3\)/, 'E_KERNEL_FAULT');
  },
  'throw in a kernel with debug: true': faulty(
    (a, at, k) => {
      if (at[k] > 8) throw new Error('the index is too large');
      a[k] = 1;
    },
    /the index is too large/,
    9,
    { debug: true },
  ),
  'errors and assertions whose text has parts that only a thread knows': faulty(
    (a, at, k) => {
      console.assert(at[k] <= 8, `index ${at[k]} is above ${4 + 4}`);
      if (at[k] > 7) throw new RangeError('index ' + at[k]);
      a[k] = 1;
    },
    /assertion failed: index … is above 8/,
    9,
    { debug: true },
  ),
  'console.assert in a kernel with debug: true': faulty(
    (a, at, k) => {
      console.assert(at[k] <= 8, 'the index is small');
      a[k] = 1;
    },
    /assertion failed: the index is small/,
    9,
    { debug: true },
  ),
  'throw and assert do nothing without debug': async () => {
    const kernel = cuda.jit((a: Vec<i32>) => {
      const k = cuda.grid(1);
      console.assert(k < 1, 'only one');
      if (k > 5) throw new Error('too many');
      a[k] = k;
    });
    const a = cuda.deviceArray(4, 'int32');
    await launch(kernel, { grid: 1, block: 4 }, a);
    sameElements(await read(a), [0, 1, 2, 3]);
  },
  'uniform() of what differs': async () => {
    const kernel = cuda.jit(
      (a: Vec<i32>) => {
        const t = cuda.threadIdx.x;
        if (cuda.uniform(t) > 5) cuda.syncThreads();
        a[t] = t;
      },
      { boundsCheck: true },
    );
    await launch(kernel, { grid: 1, block: 8 }, cuda.deviceArray(8, 'int32'));
    await rejects(() => settled(), /argument of uniform\(\)/, 'E_KERNEL_FAULT');
  },
  'uniform() of what differs from round to round of a loop': async () => {
    const kernel = cuda.jit(
      (out: Vec<i32>, a: In<Vec<i32>>) => {
        let sum = 0;
        for (let k = 0; k < 4; k++) sum += cuda.uniform(a[a[k & 1] & 3]);
        out[cuda.threadIdx.x] = sum;
      },
      { boundsCheck: true },
    );
    const out = cuda.toDevice(new Int32Array(8));
    await launch(kernel, { grid: 1, block: 8 }, out, cuda.toDevice(Int32Array.of(2, 3, 10, 20)));
    sameElements(await read(out), new Array(8).fill(60));
  },
  'a negative power of an integer': faulty((a, at, k) => {
    a[k] = 2 ** (8 - at[k]);
  }, /integer power with the negative exponent -1/),
  'a fault surfaces in copyToHost': async () => {
    const kernel = cuda.jit(
      (a: Vec<i32>, at: number) => {
        a[at] = 1;
      },
      { boundsCheck: true },
    );
    const a = cuda.deviceArray(2, 'int32');
    await launch(kernel, { grid: 1, block: 1 }, a, 2);
    await rejects(() => read(a), /index 2 is out of range/, 'E_KERNEL_FAULT');
    a.set(5);
    sameElements(await read(a), [5, 5]);
  },
  'a fault surfaces on its own stream': async () => {
    const kernel = cuda.jit(
      (a: Vec<i32>, at: number) => {
        a[at] = 1;
      },
      { boundsCheck: true },
    );
    const [s, t] = [cuda.stream(), cuda.stream()];
    const a = cuda.deviceArray(2, 'int32');
    await launch(kernel, { grid: 1, block: 1, stream: s }, a, 2);
    await launch(kernel, { grid: 1, block: 1, stream: t }, a, 1);
    await settled(t);
    await rejects(() => settled(s), /index 2 is out of range/, 'E_KERNEL_FAULT');
    await settled(s);
  },
  'launches of one kernel that fail on two streams are told of apart': async () => {
    const { kernel, stream: s, a } = failing();
    const t = cuda.stream();
    const b = cuda.deviceArray(2, 'int32', { stream: t });
    await launch(kernel, { grid: 1, block: 1, stream: s }, a, 7);
    await launch(kernel, { grid: 1, block: 1, stream: t }, b, 8);
    await rejects(() => settled(t), /index 8 is out of range/, 'E_KERNEL_FAULT');
    await rejects(() => settled(s), /index 7 is out of range/, 'E_KERNEL_FAULT');
    // Each was said once.
    await settled();
    for (const stream of [s, t]) stream.dispose();
  },
  'a fault with host arrays is thrown by the launch, which copies nothing back': blocking(async () => {
    const kernel = cuda.jit(
      (a: Vec<i32>, at: number) => {
        a[0] = 9;
        a[at] = 1;
      },
      { boundsCheck: true },
    );
    const a = Int32Array.of(1, 2);
    await rejects(
      () => launch(kernel, { grid: 1, block: 1 }, cuda.InOut(a), 2),
      /index 2 is out of range/,
      'E_KERNEL_FAULT',
    );
    sameElements(a, [1, 2]);
  }),
  'a fault rejects copyToHostAsync': waiting(async () => {
    const kernel = cuda.jit(
      (a: Vec<i32>, at: number) => {
        a[at] = 1;
      },
      { boundsCheck: true },
    );
    const stream = cuda.stream();
    const a = cuda.deviceArray(2, 'int32', { stream });
    await launch(kernel, { grid: 1, block: 1, stream }, a, 7);
    await rejects(() => a.copyToHostAsync(), /index 7 is out of range/, 'E_KERNEL_FAULT');
    a.dispose();
    await settled(stream);
    stream.dispose();
  }),
  'many faulty launches, one after another': async () => {
    const kernel = cuda.jit(
      (a: Vec<i32>, at: number) => {
        const k = cuda.grid(1);
        a[k + at] = k;
      },
      { boundsCheck: true },
    );
    const a = cuda.deviceArray(64, 'int32');
    for (let n = 0; n < 20; n++) {
      await launch(kernel, { grid: 4, block: 16 }, a, n % 2);
      if (n % 2 === 1) await rejects(() => settled(), /index 64 is out of range/, 'E_KERNEL_FAULT');
      else await settled();
    }
  },
  'everybody who waits for failed work is told': waiting(async () => {
    const { kernel, a, stream } = failing();
    await launch(kernel, { grid: 1, block: 1, stream }, a, 7);
    const statuses: number[] = [];
    stream.addCallback((_, status) => statuses.push(status));
    const waits = [stream.done(), stream.done(), a.copyToHostAsync(), a.copyToHostAsync({ stream })];
    stream.addCallback((_, status) => statuses.push(status));
    const told = await Promise.allSettled(waits);
    const errors = told.map((each) =>
      each.status === 'rejected' ? (each.reason as { readonly code?: string }).code : undefined,
    );
    sameElements(
      errors,
      waits.map(() => 'E_KERNEL_FAULT'),
      'promises',
    );
    sameElements(
      statuses.map((status) => status !== 0),
      [true, true],
      'callbacks',
    );
    // Who begins to wait from now on waits for other work.
    await stream.done();
    await settled(stream);
    await settled();
    stream.dispose();
  }),
  'a callback is no observer: its fault is still thrown': waiting(async () => {
    const { kernel, a, stream } = failing();
    await launch(kernel, { grid: 1, block: 1, stream }, a, 7);
    const status = await new Promise<number>((resolve) => stream.addCallback((_, given) => resolve(given)));
    same(status !== 0, true, 'the status');
    await rejects(() => stream.done(), /index 7 is out of range/, 'E_KERNEL_FAULT');
    await stream.done();
    stream.dispose();
  }),
  'a promise that waits is told although a call that blocks was told first': waiting(async () => {
    const { kernel, a, stream } = failing();
    const other = cuda.stream();
    const clean = stream.done();
    await launch(kernel, { grid: 1, block: 1, stream }, a, 7);
    const mark = cuda.event();
    mark.record(stream);
    mark.wait(other);
    const waits = [stream.done(), other.done()];
    await rejects(() => settled(stream), /index 7 is out of range/, 'E_KERNEL_FAULT');
    const later = other.done();
    for (const wait of waits) await rejects(() => wait, /index 7 is out of range/, 'E_KERNEL_FAULT');
    await clean;
    await later;
    await launch(kernel, { grid: 1, block: 1, stream }, a, 1);
    await stream.done();
    sameElements(await a.copyToHostAsync(), [0, 1], 'after the fault');
    other.dispose();
    stream.dispose();
  }),
});

/** A kernel that fails at an index of 2 or more, with an array and a stream for it. */
function failing() {
  const kernel = cuda.jit(
    (a: Vec<i32>, at: number) => {
      a[at] = 1;
    },
    { boundsCheck: true },
  );
  const stream = cuda.stream();
  return { kernel, stream, a: cuda.toDevice(Int32Array.of(0, 0), { stream }) };
}
