/**
 * What random programs have found, made small: each was wrong once, on some device.
 */
import { describe, expect, it } from 'vitest';
import { compileFor, type TestArray } from '../../src/compiler/testing.ts';
import { cuda } from '../../src/cuda/index.ts';
import { bool, f64, i8, i32, i64, u8, u32, u64 } from '../../src/dtype/index.ts';
import { DEVICE_NAMES, openDevice } from './devices.ts';

type V = { [k: number]: number; length: number };
type B = { [k: number]: bigint; length: number };

/** Runs a kernel in one block on every device and compares its last argument. */
function everywhere(
  fn: (...args: never[]) => unknown,
  args: readonly TestArray[],
  block: number,
  want: TestArray,
): void {
  for (const checked of [true, false]) {
    const { kernel } = compileFor(fn, args, { checked });
    for (const name of DEVICE_NAMES) {
      const device = openDevice(name);
      const pointers = args.map((a) => {
        const pointer = Number(device.allocate(a.byteLength));
        device.copyToDevice(pointer, new Uint8Array(a.buffer.slice(0)));
        return pointer;
      });
      const values = kernel.params.map(({ origin }) => {
        const n = origin.kind === 'capturedBase' ? -1 : (origin.path[0] ?? -1);
        return origin.kind === 'base' ? pointers[n] : args[n].length;
      });
      device.load({ kernel }).launch({ grid: [1, 1, 1], block: [block, 1, 1], sharedBytes: 0 }, values, undefined);
      device.synchronize();
      const bytes = new Uint8Array(want.byteLength);
      device.copyToHost(bytes, pointers[pointers.length - 1]);
      device.close();
      expect(bytes, name).toEqual(new Uint8Array(want.buffer));
    }
  }
}

describe('found by random programs', () => {
  it('a mask of 64 bits keeps its last ones', () => {
    everywhere(
      (y: B) => {
        y[cuda.grid(1)] = i64(cuda.threadIdx.x) & 0x5555555555555555n;
      },
      [new BigInt64Array(8)],
      8,
      BigInt64Array.from({ length: 8 }, (_, i) => BigInt(i & 5)),
    );
  });

  it('the index of an atomic may be computed from one narrow load', () => {
    const x = Uint8Array.from({ length: 64 }, (_, i) => 37 * i);
    const want = new Int32Array(16);
    for (const v of x) want[v >> 4]++;
    everywhere(
      ((a: V, y: V) => {
        const k = cuda.grid(1);
        cuda.atomic.add(y as never, a[k] >> 4, 1 as never);
      }) as (...args: never[]) => unknown,
      [x, new Int32Array(16)],
      64,
      want,
    );
  });

  it('a variable in narrow lanes is read as it is kept, in loops as well', () => {
    const x = Uint8Array.from({ length: 70 }, (_, i) => 100 + 2 * i);
    for (const signed of [false, true]) {
      everywhere(
        (signed
          ? (a: V, y: V) => {
              const k = cuda.grid(1);
              let kept: number = i32(100);
              for (let i = i32(0); i < 3; i++) {
                if (a[k] === 120) {
                  kept = i8(i - 7);
                  if (300 > a[k]) break;
                } else y[k] = (kept ^ 1) + a[k];
              }
              y[k] += kept;
            }
          : (a: V, y: V) => {
              const k = cuda.grid(1);
              let kept: number = i32(100);
              for (let i = i32(0); i < 3; i++) {
                if (a[k] === 120) {
                  kept = u8(i + 200);
                  if (300 > a[k]) break;
                } else y[k] = (kept ^ 1) + a[k];
              }
              y[k] += kept;
            }) as (...args: never[]) => unknown,
        [x, new Int32Array(70)],
        70,
        Int32Array.from(x, (v) => (v === 120 ? (signed ? -7 : 200) : 101 + v + 100)),
      );
    }
  });

  it('a loop that is left in its update keeps alive what is read behind it', () => {
    everywhere(
      (y: V) => {
        const k = cuda.grid(1);
        let fuel = i32(0);
        do {} while (fuel++ < 1 && false);
        y[k] = 3;
      },
      [new Int32Array(4)],
      4,
      Int32Array.of(3, 3, 3, 3),
    );
  });

  it('threads that have returned do not vote', () => {
    const x = Int32Array.of(0, 3, 0, 0, 5);
    everywhere(
      (y: V) => {
        const k = cuda.grid(1);
        if (y[k] > 0) return;
        const all = i32(cuda.syncThreadsCount(true));
        const some = i32(cuda.syncThreadsCount(y[k] > -5));
        const every = i32(cuda.syncThreadsAnd(y[k] < 1));
        y[k] = -(all * 100 + some * 10 + every);
      },
      [x],
      5,
      Int32Array.of(-331, 3, -331, -331, 5),
    );
  });

  it('a jump under a uniform condition takes the lanes that are left', () => {
    const kernel = (x: V, y: V): void => {
      const k = cuda.grid(1);
      let s = 0;
      outer: for (let a = 0; a < 6; a++) {
        for (let b = 0; b < 6; b++) {
          if (a * b > (x[k] & 15)) break outer;
          if (b > a) continue outer;
          s += a * 10 + b;
        }
      }
      y[k] = s;
    };
    const x = Int32Array.of(3, 9, 15, 0, 20, 7, 12);
    const want = x.map((limit) => {
      let s = 0;
      outer: for (let a = 0; a < 6; a++) {
        for (let b = 0; b < 6; b++) {
          if (a * b > (limit & 15)) break outer;
          if (b > a) continue outer;
          s += a * 10 + b;
        }
      }
      return s;
    });
    everywhere(kernel, [x, new Int32Array(7)], 7, want);
  });

  it('a float constant that becomes u64 saturates', () => {
    everywhere(
      (y: B) => {
        y[0] = u64(f64(-14));
        y[1] = u64(-14);
      },
      [new BigUint64Array(2)],
      1,
      BigUint64Array.of(0n, 2n ** 64n - 14n),
    );
  });

  it('a case without statements falls through past one that breaks', () => {
    everywhere(
      (x: V, y: V) => {
        const k = cuda.grid(1);
        switch (x[k]) {
          case 1:
            {
            }
            break;
          case 0: {
          }
          case 5:
            {
              y[k] = 9;
            }
            break;
        }
      },
      [Int32Array.of(0, 1, 2, 5), new Int32Array(4)],
      4,
      Int32Array.of(9, 0, 0, 9),
    );
  });

  it('variables that are defined through each other have the type of what they start with', () => {
    everywhere(
      (y: B) => {
        let v = i64(40n);
        const w = i64(3n);
        let some = bool(1);
        for (let a = i32(0); a < 2; a++) {
          for (let b = i32(0); b < 1; b++) {
            v = v / w;
            some = some && v > 5n;
          }
        }
        y[0] = v;
        y[1] = some ? 1n : 0n;
      },
      [new BigInt64Array(2)],
      1,
      BigInt64Array.of(4n, 0n),
    );
  });

  it('code that is never reached is typed like the rest', () => {
    everywhere(
      (x: B, y: B) => {
        const k = cuda.grid(1);
        const n = i32(k);
        let v = x[k];
        let fuel = i32(0);
        do {
          break;
          // biome-ignore lint/correctness/noUnreachable: that is the point
        } while (fuel++ < 1 && (i64(91n) & (n as never)) === x[n & 1]);
        y[k] = v;
        if (k >= 0) return;
        v = v / x[n & 1];
        y[k] = v;
      },
      [BigInt64Array.of(5n, 6n), new BigInt64Array(2)],
      2,
      BigInt64Array.of(5n, 6n),
    );
  });

  it('brev of i64 is i64; nanMin of integers is min', () => {
    everywhere(
      (y: B) => {
        const r = cuda.brev(y[0]);
        cuda.atomic.nanMin(y as never, 1, i64(-7n) as never);
        y[0] = r;
      },
      [BigInt64Array.of(2n, 5n)],
      1,
      BigInt64Array.of(2n ** 62n, -7n),
    );
  });

  it('x | 0 of small data is i32, which has no order with u32', () => {
    const kernel = (x: V, y: V): void => {
      y[0] = u32(7) < (x[0] | 0) ? 1 : 0;
    };
    expect(() => compileFor(kernel, [new Int16Array(1), new Uint32Array(1)])).toThrow('K203');
  });
});

describe('corners that random programs seldom come to', () => {
  it('NaN differs from itself, and x + 0 is not x for -0', () => {
    everywhere(
      (x: V, y: V) => {
        const k = cuda.grid(1);
        const v = x[k];
        const same = v;
        y[k] = (v !== same ? 100 : 0) + (v === same ? 10 : 0) + (1 / (v + 0) > 0 ? 1 : 0);
      },
      [Float32Array.of(-0, Number.NaN, 0, 5), new Float32Array(4)],
      4,
      Float32Array.of(11, 100, 11, 11),
    );
  });

  it('what a round leaves in a variable before it continues is there in the next', () => {
    everywhere(
      (x: V, y: V) => {
        const k = cuda.grid(1);
        let v = 1;
        for (let i = 0; i < 5; i++) {
          y[k] = y[k] * 10 + v;
          if ((i + x[k]) & 1) {
            v = 5;
            continue;
          }
          v = 7;
        }
      },
      [Int32Array.of(0, 1, 2, 3, 4), new Int32Array(5)],
      5,
      Int32Array.of(17575, 15757, 17575, 15757, 17575),
    );
  });

  it('quotients of negative integers by powers of two are cut, remainders keep the sign', () => {
    everywhere(
      (x: V, y: V) => {
        const k = cuda.grid(1);
        y[k] = ((x[k] / 8) | 0) * 100 + (x[k] % 8);
      },
      [Int32Array.of(-9, -8, -1, 7, 17, -2147483648), new Int32Array(6)],
      6,
      Int32Array.of(-101, -100, -1, 7, 201, Math.imul(-268435456, 100)),
    );
  });

  it('a value less itself is 0, one shifted by itself is not', () => {
    everywhere(
      (x: V, y: V) => {
        const v = x[cuda.grid(1)];
        y[cuda.grid(1)] = (v << v) + (v - v) + (v ^ v) + (v >> v) * 1000;
      },
      [Int32Array.of(0, 1, 3, 33, -31), new Int32Array(5)],
      5,
      Int32Array.of(0, 2, 24, 66 + 16_000, -62 - 16_000),
    );
  });
});

describe('corners of 64 bits and of early returns', () => {
  it('i64 of a negative i32 is divided as such', () => {
    everywhere(
      (x: V, y: B) => {
        const k = cuda.grid(1);
        y[k] = (i64(x[k]) / 8n) * 100n + (i64(x[k]) % 8n);
      },
      [Int32Array.of(-9, -1, 17, -16), new BigInt64Array(4)],
      4,
      BigInt64Array.of(-101n, -1n, 201n, -200n),
    );
  });

  it('i64 of the low half of an i64 has lost the high one', () => {
    everywhere(
      (x: B, y: B) => {
        const k = cuda.grid(1);
        y[k] = i64(i32(x[k])) * 4n + i64(u32(x[k]));
      },
      [BigInt64Array.of(2n ** 40n + 3n, -1n, -(2n ** 32n), 2n ** 31n), new BigInt64Array(4)],
      4,
      BigInt64Array.of(15n, 2n ** 32n - 5n, 0n, 2n ** 31n - 2n ** 33n),
    );
  });

  it('a function that returns out of a loop gives what it found there', () => {
    everywhere(
      (x: V, y: V) => {
        const k = cuda.grid(1);
        function find(wanted: number): number {
          for (let i = 0; i < 4; i++) {
            if (wanted === i * 3) return 1;
          }
          return 2;
        }
        let kind = 0;
        switch (x[k]) {
          case 3:
            kind = 10;
            break;
          default:
            if (x[k] > 4) break;
            kind = 20;
        }
        y[k] = find(x[k]) + kind;
      },
      [Int32Array.of(0, 1, 3, 9, 10), new Int32Array(5)],
      5,
      Int32Array.of(21, 22, 11, 1, 2),
    );
  });
});

describe('what must be refused', () => {
  const refused: [string, (x: V, y: V) => void, TestArray, TestArray, string][] = [
    [
      'i8 data with u32',
      (x, y) => {
        y[0] = y[0] % x[0];
      },
      new Int8Array(1),
      new Uint32Array(1),
      'K203',
    ],
    [
      'i32 data with u32',
      (x, y) => {
        y[0] = Math.min(y[0], x[0]);
      },
      new Int32Array(1),
      new Uint32Array(1),
      'K203',
    ],
    [
      'i16 data stored to u64',
      (x, y) => {
        y[0] = x[0];
      },
      new Int16Array(1),
      new BigUint64Array(1),
      'K216',
    ],
    [
      'i64 with a float',
      (x, y) => {
        y[0] = y[0] + x[0];
      },
      new BigInt64Array(1),
      new Float64Array(1),
      'K203',
    ],
  ];
  it.each(refused)('%s', (_, kernel, x, y, code) => {
    expect(() => compileFor(kernel, [x, y])).toThrow(code);
  });

  it('but u8 data widens to u32', () => {
    everywhere(
      (x: V, y: V) => {
        y[0] = y[0] + x[0];
      },
      [Uint8Array.of(200), Uint32Array.of(4294967295)],
      1,
      Uint32Array.of(199),
    );
  });
});
