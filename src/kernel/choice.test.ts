import { beforeEach, describe, expect, it } from 'vitest';
import { InterpretingDriver } from '../../test/support/interpreting-driver.ts';
import { grid } from '../cuda/geometry.ts';
import { stream as createStream, deviceArray, jit, toDevice } from '../cuda/host.ts';
import type { Executable, LaunchShape, Program } from '../driver/driver.ts';
import { type f32, f64 } from '../dtype/index.ts';
import { Context } from '../memory/context.ts';
import { cudaDevices } from '../memory/devices.ts';
import type { In, Mat, Vec } from './types.ts';

/** A device that says what it was asked to launch, and whose kernels are as large as a test likes. */
class Recording extends InterpretingDriver {
  readonly shapes: LaunchShape[] = [];
  /** Threads that a multiprocessor holds in blocks of a size. */
  occupancy: (threads: number) => number = () => 2048;
  suggested = 1024;
  most = 1024;

  override load(program: Program): Executable {
    const inner = super.load(program);
    return {
      attributes: { ...inner.attributes, maxThreadsPerBlock: this.most },
      launch: (shape, args, stream) => {
        this.shapes.push({ ...shape });
        inner.launch(shape, args, stream);
      },
      inspect: (target) => inner.inspect(target),
      suggestBlock: (_shared, limit) => Math.min(this.suggested, limit),
      activeBlocks: (threads) => Math.floor(this.occupancy(threads) / threads),
      unload: () => inner.unload(),
    };
  }

  get last(): LaunchShape {
    const shape = this.shapes.at(-1);
    if (shape === undefined) throw new Error('nothing was launched');
    return shape;
  }
}

let driver: Recording;
beforeEach(() => {
  driver = new Recording();
  cudaDevices.enter(new Context(driver));
});

describe('whether arrays overlap', () => {
  const add = jit((y: Vec<f64>, a: In<Vec<f64>>, b: In<Vec<f64>>) => {
    const i = grid(1);
    if (i < y.length) y[i] = (a[i] as number) + (b[i] as number);
  });
  const launched = (...args: Parameters<typeof add.launch> extends [unknown, ...infer A] ? A : never): boolean => {
    add.launch({ grid: 1, block: 4 }, ...args);
    return driver.last.aliased === true;
  };

  it('is asked at every launch, on both paths', () => {
    const memory = deviceArray(12, f64);
    const [y, a, b] = [memory.slice('0:4'), memory.slice('4:8'), memory.slice('8:12')];
    for (let k = 0; k < 2; k++) {
      expect(launched(y, a, b)).toBe(false);
      expect(launched(y, y, b)).toBe(true);
      expect(launched(y, a, y)).toBe(true);
      expect(launched(y, a, memory.slice('3:7'))).toBe(true);
      // Two that are only read may be the same.
      expect(launched(y, a, a)).toBe(false);
    }
  });

  it('knows strided, reversed and empty arrays', () => {
    const memory = deviceArray(16, f64);
    const y = memory.slice('0:4');
    expect(launched(y, memory.slice('7:3:-1'), memory.slice('8::2'))).toBe(false);
    expect(launched(y, memory.slice('6:2:-1'), memory.slice('8::2'))).toBe(true);
    expect(launched(memory.slice('15:11:-1'), memory.slice('::4'), memory.slice('4:8'))).toBe(true);
    add.launch({ grid: 1, block: 1 }, deviceArray(0, f64), deviceArray(0, f64), y);
    expect(driver.last.aliased).toBe(false);
  });

  it('does not matter where nothing is only read, or nothing is written', () => {
    const both = jit((y: Vec<f64>, x: Vec<f64>) => {
      y[grid(1)] = 1;
      x[grid(1)] = 2;
    });
    const y = deviceArray(4, f64);
    both.launch({ grid: 1, block: 4 }, y, y);
    expect(driver.last.aliased).toBe(false);
  });

  it('is known of arrays in tuples and of captured ones', () => {
    const inTuple = jit((pair: [Vec<f64>, Vec<f64>]) => {
      const [to, from] = pair;
      to[grid(1)] = from[grid(1)] as number;
    });
    const [a, b] = [deviceArray(4, f64), deviceArray(4, f64)];
    inTuple.launch({ grid: 1, block: 4 }, [a, b]);
    expect(driver.last.aliased).toBe(false);
    inTuple.launch({ grid: 1, block: 4 }, [a, a]);
    expect(driver.last.aliased).toBe(true);
    const table = toDevice(Float64Array.of(1, 2, 3, 4));
    const fromTable = jit((y: Vec<f64>) => {
      y[grid(1)] = (table as unknown as Vec<f64>)[grid(1)] as number;
    });
    fromTable.launch({ grid: 1, block: 4 }, a);
    expect(driver.last.aliased).toBe(false);
    fromTable.launch({ grid: 1, block: 2 }, table.slice('2:'));
    expect(driver.last.aliased).toBe(true);
  });
});

describe('a block that Tsamba chooses', () => {
  const make = () =>
    jit((y: Vec<f32>) => {
      const i = grid(1);
      if (i < y.length) y[i] = i;
    });

  it('has 256 threads where larger ones do not keep the device busier', () => {
    const y = deviceArray(1000, 'float32');
    make().forAll(1000)(y);
    expect(driver.last).toMatchObject({ grid: [4, 1, 1], block: [256, 1, 1] });
    expect(y.get(999)).toBe(999);
  });

  it('is the calculator’s where it does', () => {
    driver.suggested = 384;
    // One block fits, whatever its size.
    driver.occupancy = (threads) => threads;
    const y = deviceArray(1000, 'float32');
    const fill = make();
    for (const stream of [undefined, createStream()]) {
      fill.launch({ threads: 1000, stream }, y);
      expect(driver.last).toMatchObject({ grid: [3, 1, 1], block: [384, 1, 1] });
    }
    fill.launch({ threads: 700 }, y);
    expect(driver.last.grid).toEqual([2, 1, 1]);
    fill.launch({ threads: 1000, block: 100 }, y);
    expect(driver.last.block).toEqual([100, 1, 1]);
  });

  it('is no larger than the compiled kernel allows', () => {
    driver.most = 100;
    const y = deviceArray(1000, 'float32');
    make().forAll(1000)(y);
    expect(driver.last.block).toEqual([96, 1, 1]);
    const square = jit((A: Mat<f32>) => {
      const [x, r] = grid(2);
      const row = A[r];
      if (row !== undefined && r < A.length && x < row.length) row[x] = 1;
    });
    const A = deviceArray([20, 30], 'float32');
    square.launch({ threads: [30, 20] }, A);
    expect(driver.last.block).toEqual([32, 3, 1]);
    expect(A.get(19, 29)).toBe(1);
    expect(() => make().launch({ grid: 1, block: 128 }, y)).toThrow(/can run at most 100 in a block/);
  });
});
