/**
 * What stops a kernel: checked accesses, conversions, exponents, asserted values, traps. The first failing thread is named,
 * and nothing outside of an array is ever written.
 */
import { describe, expect, it } from 'vitest';
import * as ir from '../../ir/builder.ts';
import type { ArraySym, Expr, MemRef } from '../../ir/ops.ts';
import { check, runWasm } from './launch.testing.ts';

const { add, mul, special, i32, i64, read } = ir;
const tid = special('threadIdx.x');
const gid = add(mul(special('blockIdx.x'), special('blockDim.x')), tid);

/** A checked access. */
function element(array: ArraySym, index: Expr, extent: Expr): MemRef {
  return ir.at(array, index, { checks: [{ index, extent, axis: 0 }] });
}

const CANARY = 0x5a;

/** An image of `out[n]` between canaries. */
function guarded(n: number): { image: Uint8Array; base: number } {
  const image = new Uint8Array(256 + 4 * n + 256).fill(CANARY);
  image.fill(0, 256, 256 + 4 * n);
  return { image, base: 256 };
}

function intact(memory: Uint8Array, n: number): void {
  expect([...memory.subarray(0, 256), ...memory.subarray(256 + 4 * n)].every((b) => b === CANARY)).toBe(true);
}

describe('bounds', () => {
  const cases: [string, (n: Expr) => Expr][] = [
    ['consecutive, past the end', () => gid],
    ['consecutive, before the start', () => ir.sub(gid, i32(3))],
    ['backwards', () => ir.sub(i32(40), gid)],
    ['strided', () => mul(gid, i32(3))],
    ['scattered', () => ir.binary('rem', mul(gid, i32(7919)), i32(61))],
    ['one for all', () => i32(50)],
    ['negative for all', () => i32(-1)],
    ['the least integer', () => add(i32(-(2 ** 31)), tid)],
    ['the greatest integer', () => add(i32(2 ** 31 - 3), tid)],
  ];
  for (const [name, index] of cases) {
    for (const width of [64, 10, 3] as const) {
      it(`${name}, blocks of ${width}`, () => {
        const b = new ir.KernelBuilder('bounds');
        const out = b.global('i32', 'out');
        const n = b.value('i32', 'n');
        const kernel = b.build([ir.store(element(out, index(n), n), add(gid, i32(1)))], { checked: true });
        const { image, base } = guarded(45);
        const launch = { grid: [3, 1, 1], block: [width, 1, 1] } as const;
        check(kernel, launch, [base, 45], image, [{ at: 0, elem: 'u8', length: image.length }]);
        for (const lanes of [1, 4] as const)
          intact(runWasm(kernel, { ...launch, lanes }, [base, 45], image).memory, 45);
      });
    }
  }

  it('names array, axis, index and extent', () => {
    const b = new ir.KernelBuilder('names');
    const out = b.global('f32', 'out');
    const [h, w] = [b.value('i32', 'h'), b.value('i32', 'w')];
    const y = special('threadIdx.y');
    const mem = ir.at(out, add(mul(y, w), tid), {
      checks: [
        { index: y, extent: h, axis: 0 },
        { index: tid, extent: w, axis: 1 },
      ],
    });
    const kernel = b.build([ir.store(mem, ir.f32(1))], { checked: true });
    for (const lanes of [1, 4] as const) {
      const { fault } = runWasm(kernel, { block: [16, 8, 1], lanes }, [256, 5, 13], new Uint8Array(4096));
      expect(fault).toMatchObject({
        site: { kind: 'bounds', array: out, axis: 1 },
        thread: 13,
        block: 0,
        index: 13n,
        extent: 13n,
      });
      const rows = runWasm(kernel, { block: [16, 8, 1], lanes }, [256, 5, 16], new Uint8Array(4096));
      expect(rows.fault).toMatchObject({
        site: { kind: 'bounds', array: out, axis: 0 },
        thread: 80,
        block: 0,
        index: 5n,
        extent: 5n,
      });
    }
  });

  it('of rows and columns, where a block fits and where it does not', () => {
    const b = new ir.KernelBuilder('tiles');
    const out = b.global('i32', 'out');
    const [h, w, dx, dy] = ['h', 'w', 'dx', 'dy'].map((name) => b.value('i32', name)) as [Expr, Expr, Expr, Expr];
    const x = add(add(mul(special('blockIdx.x'), special('blockDim.x')), tid), dx);
    const y = add(add(mul(special('blockIdx.y'), special('blockDim.y')), special('threadIdx.y')), dy);
    const mem = ir.at(out, add(mul(y, w), x), {
      checks: [
        { index: y, extent: h, axis: 0 },
        { index: x, extent: w, axis: 1 },
      ],
    });
    const kernel = b.build([ir.store(mem, add(ir.load(mem), add(mul(x, i32(100)), y)))], { checked: true });
    const far = 2 ** 31 - 5;
    const sizes = [
      [8, 16, 0, 0],
      [7, 16, 0, 0],
      [8, 15, 0, 0],
      [0, 0, 0, 0],
      [9, 20, 1, 0],
      [9, 20, -1, 0],
      [9, 20, 4, 1],
      [9, 20, 5, 1],
      [9, 20, 4, 2],
      [9, 20, 0, -8],
      [9, 20, far, 0],
      [9, 20, 0, far],
      [9, 20, -(2 ** 31), -(2 ** 31)],
    ] as const;
    for (const [rows, columns, right, down] of sizes) {
      const { image, base } = guarded(180);
      for (const block of [
        [8, 4, 1],
        [4, 2, 1],
        [16, 8, 1],
      ] as const) {
        const launch = { grid: [16 / block[0], 8 / block[1], 1], block } as const;
        check(kernel, launch, [base, rows, columns, right, down], image, [{ at: 0, elem: 'u8', length: image.length }]);
        intact(runWasm(kernel, launch, [base, rows, columns, right, down], image).memory, 180);
      }
    }
  });

  it('asks active lanes only', () => {
    const b = new ir.KernelBuilder('guarded');
    const out = b.global('i32', 'out');
    const n = b.value('i32', 'n');
    const i = b.variable('i32', 'i');
    const odd = ir.eq(ir.and(read(i), i32(1)), i32(1));
    const kernel = b.build(
      [
        ir.assign(i, gid),
        ir.ifElse(ir.and(odd, ir.lt(read(i), n)), [
          ir.store(element(out, read(i), n), add(ir.load(element(out, ir.sub(n, add(read(i), i32(1))), n)), i32(5))),
        ]),
      ],
      { checked: true },
    );
    for (const n of [1, 7, 37, 64]) {
      const { image, base } = guarded(n);
      const fault = check(kernel, { grid: [2, 1, 1], block: [40, 1, 1] }, [base, n], image, []);
      expect(fault).toBeUndefined();
      for (const lanes of [1, 4] as const)
        intact(runWasm(kernel, { grid: [2, 1, 1], block: [40, 1, 1], lanes }, [base, n], image).memory, n);
    }
  });

  it('of atomics, shared and local arrays, loads of loads', () => {
    const b = new ir.KernelBuilder('kinds');
    const out = b.global('i32', 'out');
    const n = b.value('i32', 'n');
    const which = b.value('i32', 'which');
    const shared = b.shared('i32', 's', 20);
    const local = b.local('i32', 'l', 4);
    const at = (k: number, stmt: ReturnType<typeof ir.store>): ReturnType<typeof ir.ifElse> =>
      ir.ifElse(ir.eq(which, i32(k)), [stmt]);
    const indirect = ir.load(element(out, ir.and(gid, i32(15)), n));
    const kernel = b.build(
      [
        at(0, ir.atomic('add', element(out, add(gid, i32(40)), n), [i32(1)])),
        at(1, ir.store(element(shared, tid, i32(20)), i32(1))),
        at(2, ir.store(element(local, ir.and(tid, i32(7)), i32(4)), i32(1))),
        at(3, ir.store(element(out, ir.load(element(out, indirect, n)), n), i32(1))),
      ],
      { checked: true },
    );
    for (let k = 0; k < 4; k++) {
      const { image, base } = guarded(45);
      new Int32Array(image.buffer, base, 45).set(Array.from({ length: 45 }, (_, i) => (i === 6 ? 99 : i)));
      expect(check(kernel, { block: [32, 1, 1] }, [base, 45, k], image, [])?.kind).toBe('bounds');
      for (const lanes of [1, 4] as const)
        intact(runWasm(kernel, { block: [32, 1, 1], lanes }, [base, 45, k], image).memory, 45);
    }
  });

  it('of 64-bit indices', () => {
    const b = new ir.KernelBuilder('long');
    const out = b.global('i32', 'out');
    const n = b.value('i64', 'n');
    const index = add(mul(ir.cast('i64', special('blockIdx.x')), i64(64)), ir.cast('i64', tid));
    for (const offset of [0n, -2n, 2n ** 32n, 2n ** 62n]) {
      const at = add(index, i64(offset));
      const kernel = b.build([ir.store(element(out, at, n), i32(3))], { checked: true, indexBits: 64 });
      const { image, base } = guarded(70);
      check(kernel, { grid: [1, 1, 1], block: [64, 1, 1] }, [base, 70n], image, [
        { at: 0, elem: 'u8', length: image.length },
      ]);
      check(kernel, { grid: [2, 1, 1], block: [64, 1, 1] }, [base, 70n], image, []);
    }
  });

  it('does without them when the kernel is not checked', () => {
    const b = new ir.KernelBuilder('unchecked');
    const out = b.global('i32', 'out');
    const n = b.value('i32', 'n');
    const kernel = b.build([ir.store(element(out, gid, n), i32(7))]);
    for (const lanes of [1, 4] as const)
      expect(runWasm(kernel, { block: [64, 1, 1], lanes }, [256, 3], new Uint8Array(4096)).fault).toBeUndefined();
  });
});

describe('other faults', () => {
  const fault = (make: (b: ir.KernelBuilder, x: Expr) => ReturnType<typeof ir.store>[]): (() => void) => {
    return () => {
      const b = new ir.KernelBuilder('fault');
      const out = b.global('i32', 'out');
      const x = b.global('i64', 'x');
      const value = ir.load(ir.at(x, gid));
      const kernel = b.build([...make(b, value), ir.store(ir.at(out, gid), i32(1))], { checked: true });
      for (const at of [0, 5, 13, 31]) {
        const image = new Uint8Array(4 * 32 + 8 * 32);
        const values = new BigInt64Array(image.buffer, 128, 32).fill(3n);
        values[at] = -(2n ** 40n) - 1n;
        check(kernel, { grid: [2, 1, 1], block: [16, 1, 1] }, [0, 128], image, []);
        values[at] = 4n;
        check(kernel, { grid: [2, 1, 1], block: [16, 1, 1] }, [0, 128], image, [{ at: 0, elem: 'i32', length: 32 }]);
      }
    };
  };

  it(
    'a value that does not fit',
    fault((b, x) => {
      const v = b.variable('i32', 'v');
      return [ir.assign(v, { op: 'cast', type: 'i32', to: 'i32', a: x, checked: true })];
    }),
  );

  it(
    'a negative exponent',
    fault((b, x) => {
      const v = b.variable('i64', 'v');
      return [ir.assign(v, ir.binary('ipow', i64(3), x))];
    }),
  );

  it(
    'trap',
    fault((_, x) => [ir.ifElse(ir.lt(x, i64(0)), [ir.trap('negative')])]),
  );

  it('a value that is not uniform', () => {
    const b = new ir.KernelBuilder('uniform');
    const out = b.global('i32', 'out');
    const x = b.global('i32', 'x');
    const v = b.variable('i32', 'v');
    const kernel = b.build(
      [ir.assign(v, ir.unary('uniform', ir.load(ir.at(x, gid)))), ir.store(ir.at(out, gid), read(v))],
      { checked: true },
    );
    for (const at of [0, 5, 13, 31, 99]) {
      const image = new Uint8Array(4 * 64);
      const values = new Int32Array(image.buffer, 128, 32).fill(3);
      if (at < 32) values[at] = 4;
      const reference = check(kernel, { grid: [2, 1, 1], block: [16, 1, 1] }, [0, 128], image, [
        { at: 0, elem: 'i32', length: 32 },
      ]);
      expect(reference?.kind).toBe(at < 32 ? 'uniform' : undefined);
    }
  });
});

describe('blocks', () => {
  it.each([
    [5, 3, 2],
    [40, 2, 1],
    [1, 9, 2],
  ] as const)('are named by their number in a grid of %d × %d × %d, and the ones before have run', (gx, gy, gz) => {
    const b = new ir.KernelBuilder('blocks');
    const out = b.global('i32', 'out');
    const bad = b.value('i32', 'bad');
    const [x, y, z] = [special('blockIdx.x'), special('blockIdx.y'), special('blockIdx.z')];
    const number = add(x, mul(i32(gx), add(y, mul(i32(gy), z))));
    const at = add(mul(number, i32(4)), tid);
    const kernel = b.build(
      [
        ir.ifElse(ir.eq(number, bad), [ir.ifElse(ir.eq(tid, i32(2)), [ir.trap('here')])]),
        ir.store(ir.at(out, at), add(number, i32(1))),
      ],
      { checked: true },
    );
    const blocks = gx * gy * gz;
    const launch = { grid: [gx, gy, gz], block: [4, 1, 1] } as const;
    for (let k = 0; k <= blocks; k++) {
      const image = new Uint8Array(16 * blocks);
      const fault = check(kernel, launch, [0, k], image, [{ at: 0, elem: 'i32', length: 4 * blocks }]);
      expect(fault?.block).toBe(k < blocks ? k : undefined);
      const ran = new Int32Array(runWasm(kernel, launch, [0, k], image).memory.buffer).subarray(0, 4 * k);
      expect(ran).toEqual(Int32Array.from(ran, (_, i) => (i >> 2) + 1));
    }
  });
});
