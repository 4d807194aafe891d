/**
 * Atomic operations: every one on every type, scalar and vector, plain and with real atomic instructions.
 */
import { describe, expect, it } from 'vitest';
import * as ir from '../../ir/builder.ts';
import { writeElement } from '../../ir/evaluate.ts';
import { type AtomicOp, ELEM_SIZE, isFloat, type ValueType } from '../../ir/ops.ts';
import { check, runWasm } from './launch.testing.ts';

const { add, mul, special, i32, read } = ir;
const tid = special('threadIdx.x');
const gid = add(mul(special('blockIdx.x'), special('blockDim.x')), tid);

const OPS: Readonly<Record<string, readonly AtomicOp[]>> = {
  int: ['add', 'sub', 'and', 'or', 'xor', 'exch', 'inc', 'dec', 'max', 'min', 'cas'],
  float: ['add', 'sub', 'exch', 'max', 'min', 'nanMax', 'nanMin', 'cas'],
};

const FLOATS = [1.5, -2, 0, -0, Number.NaN, 7, 1e30, -1e30, 0.25];

function run(fn: AtomicOp, type: ValueType, space: 'global' | 'shared', concurrent: boolean): void {
  const b = new ir.KernelBuilder(`${fn} ${type}`);
  const target = b.global(type, 'target');
  const olds = b.global(type, 'olds');
  const x = b.global(type, 'x');
  const cells = space === 'shared' ? b.shared(type, 's', 8) : target;
  const [result, again] = [b.variable(type, 'old'), b.variable(type, 'again')];
  const value = ir.load(ir.at(x, gid));
  const args = fn === 'cas' ? [ir.load(ir.at(x, ir.and(gid, i32(7)))), value] : [value];
  const cell = ir.binary('rem', mul(tid, i32(5)), i32(3));
  const copyIn = ir.ifElse(ir.lt(tid, i32(8)), [ir.store(ir.at(cells, tid), ir.load(ir.at(target, tid)))]);
  const copyOut = ir.ifElse(ir.lt(tid, i32(8)), [ir.store(ir.at(target, tid), ir.load(ir.at(cells, tid)))]);
  const kernel = b.build([
    ...(space === 'shared' ? [copyIn, ir.barrier()] : []),
    ir.atomic(fn, ir.at(cells, cell), args, result),
    ir.store(ir.at(olds, gid), read(result)),
    // In a row: each lane its own, all of them or some; and what was there.
    ...(fn === 'cas' ? [] : [ir.atomic(fn, ir.at(olds, gid), args)]),
    ir.ifElse(ir.eq(ir.binary('rem', tid, i32(3)), i32(0)), [ir.atomic(fn, ir.at(olds, gid), args)]),
    ir.atomic(fn, ir.at(olds, gid), args, again),
    ir.store(ir.at(olds, gid), read(again)),
    // A lane alone, the result unused, and one cell for all.
    ir.ifElse(ir.eq(ir.binary('rem', tid, i32(3)), i32(1)), [ir.atomic(fn, ir.at(cells, i32(7)), args)]),
    // The same for all lanes, or of each; of all lanes, or of some.
    ...(fn === 'cas' ? [] : [[ir.load(ir.at(x, i32(3)))], args]).flatMap((own, k) => [
      ir.atomic(fn, ir.at(cells, i32(3 + k)), own),
      ir.ifElse(ir.eq(ir.binary('rem', tid, i32(3)), i32(2)), [ir.atomic(fn, ir.at(cells, i32(5 + k)), own)]),
    ]),
    ...(space === 'shared' ? [ir.barrier(), copyOut] : []),
  ]);
  const size = ELEM_SIZE[type];
  const threads = 2 * 20;
  const image = new Uint8Array(size * (8 + 2 * threads));
  const view = new DataView(image.buffer);
  const sample = (i: number): number | bigint => {
    if (isFloat(type)) return FLOATS[i % FLOATS.length] ?? 0;
    const n = [5, 1, 3, 0, -1, 7, 100, 2, 6][i % 9] ?? 0;
    return type === 'i64' || type === 'u64' ? BigInt(n) : n;
  };
  for (let i = 0; i < 8; i++) writeElement(view, size * i, type, sample(i));
  for (let i = 0; i < threads; i++) writeElement(view, size * (8 + threads + i), type, sample(i * 5 + 1));
  check(kernel, { grid: [2, 1, 1], block: [20, 1, 1], concurrent }, [0, size * 8, size * (8 + threads)], image, [
    { at: 0, elem: type, length: 8 },
    { at: size * 8, elem: type, length: threads },
  ]);
}

for (const space of ['global', 'shared'] as const) {
  for (const concurrent of [false, true]) {
    describe(`${space}, ${concurrent ? 'several threads' : 'one thread'}`, () => {
      for (const type of ['i32', 'u32', 'i64', 'u64', 'f32', 'f64'] as const) {
        for (const fn of OPS[isFloat(type) ? 'float' : 'int'] ?? [])
          it(`${fn} ${type}`, () => run(fn, type, space, concurrent));
      }
    });
  }
}

describe('histograms', () => {
  for (const elem of ['u8', 'i16', 'i32'] as const) {
    for (const [name, form] of [
      ['guarded', 0],
      ['grid-stride loop', 1],
    ] as const) {
      it(`of ${elem}, ${name}`, () => {
        const b = new ir.KernelBuilder('histogram');
        const bins = b.global('i32', 'bins');
        const x = b.global(elem, 'x');
        const n = b.value('i32', 'n');
        const [i, v] = [b.variable('i32', 'i'), b.variable('i32', 'v')];
        const label = b.label();
        const checked = (array: ReturnType<typeof b.global>, index: ReturnType<typeof read>, extent: typeof n) =>
          ir.at(array, index, { checks: [{ index, extent, axis: 0 }] });
        const count = [
          ir.assign(v, ir.load(checked(x, read(i), n))),
          ir.atomic('add', checked(bins, read(v), i32(256)), [i32(1)]),
        ];
        const body =
          form === 0
            ? [ir.assign(i, gid), ir.ifElse(ir.lt(read(i), n), count)]
            : [
                ir.assign(i, gid),
                ir.loop(
                  label,
                  [ir.ifElse(ir.ge(read(i), n), [ir.breakTo(label)]), ...count],
                  [ir.assign(i, add(read(i), i32(24)))],
                ),
              ];
        const kernel = b.build(body, { checked: true });
        const image = new Uint8Array(1024 + 4 * 100);
        const view = new DataView(image.buffer);
        for (let k = 0; k < 100; k++) writeElement(view, 1024 + k * ELEM_SIZE[elem], elem, (k * 37) % 100);
        for (const count of [0, 1, 24, 77, 100]) {
          check(kernel, { grid: [form === 0 ? 10 : 2, 1, 1], block: [12, 1, 1] }, [0, 1024, count], image, [
            { at: 0, elem: 'i32', length: 256 },
          ]);
        }
        if (elem === 'u8') return;
        // A bin that does not exist.
        writeElement(view, 1024 + 30 * ELEM_SIZE[elem], elem, -3);
        check(kernel, { grid: [form === 0 ? 10 : 2, 1, 1], block: [12, 1, 1], lanes: 1 }, [0, 1024, 100], image, []);
        if (form === 1) return;
        // Lanes are asked one by one: those before have counted.
        const { fault, memory } = runWasm(kernel, { grid: [10, 1, 1], block: [12, 1, 1] }, [0, 1024, 100], image);
        expect(fault).toMatchObject({ thread: 6, block: 2, index: -3n, extent: 256n });
        const counts = new Int32Array(memory.slice(0, 1024).buffer);
        expect(counts.reduce((sum, count) => sum + count)).toBe(30);
      });
    }
  }

  it('of rows, whose numbers are asked and not their places', () => {
    const b = new ir.KernelBuilder('rows');
    const [bins, keys] = [b.global('i32', 'bins'), b.global('i32', 'keys')];
    const key = ir.load(ir.at(keys, tid));
    const bin = ir.at(bins, add(mul(key, i32(4)), i32(1)), { checks: [{ index: key, extent: i32(8), axis: 0 }] });
    const kernel = b.build([ir.atomic('add', bin, [i32(1)])], { checked: true });
    const image = new Uint8Array(4 * 32 + 4 * 16);
    new Int32Array(image.buffer).set(
      Array.from({ length: 16 }, (_, k) => (k * 5) % 8),
      32,
    );
    check(kernel, { block: [16, 1, 1] }, [0, 4 * 32], image, [{ at: 0, elem: 'i32', length: 32 }]);
  });

  it('of a lane far along a vector that sums first', () => {
    const b = new ir.KernelBuilder('sums');
    const [bins, keys, x] = [b.global('i32', 'bins'), b.global('i32', 'keys'), b.global('i32', 'x')];
    const [i, sum, v] = [b.variable('i32', 'i'), b.variable('i32', 'sum'), b.variable('i32', 'v')];
    const label = b.label();
    const bin = ir.at(bins, read(v), { checks: [{ index: read(v), extent: i32(8), axis: 0 }] });
    const kernel = b.build(
      [
        ir.assign(i, tid),
        ir.assign(sum, i32(0)),
        ir.loop(
          label,
          [
            ir.ifElse(ir.ge(read(i), i32(512)), [ir.breakTo(label)]),
            ir.assign(sum, add(read(sum), ir.load(ir.at(x, read(i))))),
          ],
          [ir.assign(i, add(read(i), special('blockDim.x')))],
        ),
        ir.assign(v, ir.load(ir.at(keys, tid))),
        ir.atomic('add', bin, [read(sum)]),
      ],
      { checked: true },
    );
    const image = new Uint8Array(32 + 4 * 128 + 4 * 512);
    const words = new Int32Array(image.buffer);
    for (let k = 0; k < 512; k++) words[136 + k] = k * k;
    const args = [0, 32, 32 + 512];
    check(kernel, { block: [128, 1, 1] }, args, image, [{ at: 0, elem: 'i32', length: 8 }]);
    words[8 + 61] = 8;
    const { fault } = runWasm(kernel, { block: [128, 1, 1] }, args, image);
    expect(fault).toMatchObject({ thread: 61, index: 8n, extent: 8n });
  });
});
