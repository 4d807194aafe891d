/**
 * Accesses whose lanes lie at known distances from each other, or turn out to be in a row at run time: which instructions they
 * become, and that they load and store what the interpreter does.
 */
import { describe, expect, it } from 'vitest';
import * as ir from '../../ir/builder.ts';
import type { ElemType, Expr, Kernel, Stmt } from '../../ir/ops.ts';
import { ELEM_SIZE } from '../../ir/ops.ts';
import { lowerReturns } from '../../ir/passes/returns.ts';
import { analyseUniformity } from '../../ir/passes/uniformity.ts';
import { LaneFacts } from './lane-facts.ts';
import { check } from './launch.testing.ts';
import { renderWasm } from './render.ts';

const { add, i32, mul, read, sub } = ir;
const tid = ir.special('threadIdx.x');
const LANES = 4;

/** How often an instruction with two bytes of opcode stands in the code; other bytes that look like it are unlikely. */
function count(kernel: Kernel, second: number): number {
  const { bytes } = renderWasm(kernel, { block: [64, 1, 1], lanes: 4, concurrent: false, memory64: false });
  return bytes.filter((byte, i) => byte === 0xfd && bytes[i + 1] === second).length;
}
const VECTOR_LOAD = 0x00;
const LANE_LOADS = [0x54, 0x55, 0x56, 0x57];

/** `to[threadIdx.x] = from[index]`. */
function copy(index: (m: Expr) => Expr, elem: ElemType = 'f32'): Kernel {
  const b = new ir.KernelBuilder('copy');
  const [from, to, m] = [b.global(elem, 'from'), b.global(elem, 'to'), b.value('i32', 'm')];
  return b.build([ir.store(ir.at(to, tid), ir.load(ir.at(from, index(m))))]);
}

const laneLoads = (kernel: Kernel): number => LANE_LOADS.reduce((sum, op) => sum + count(kernel, op), 0);

describe('distances between lanes', () => {
  const b = new ir.KernelBuilder('distances');
  const [n, x] = [b.value('i32', 'n'), b.global('i32', 'x')];
  const v = (name: string) => b.variable('i32', name);
  const [twice, stepped, mixed, late, parted, loaded] = ['a', 'b', 'c', 'd', 'e', 'f'].map(v) as [
    ReturnType<typeof v>,
    ReturnType<typeof v>,
    ReturnType<typeof v>,
    ReturnType<typeof v>,
    ReturnType<typeof v>,
    ReturnType<typeof v>,
  ];
  const use = (s: typeof twice): Stmt => ir.store(ir.at(x, add(tid, n)), read(s));
  const kernel = b.build([
    use(late),
    ir.assign(twice, mul(tid, i32(2))),
    ir.assign(stepped, add(read(twice), i32(1))),
    ir.assign(stepped, add(read(stepped), n)),
    ir.assign(mixed, read(twice)),
    use(mixed),
    ir.assign(mixed, mul(tid, i32(3))),
    ir.assign(late, read(twice)),
    ir.assign(parted, read(twice)),
    ir.ifElse(ir.lt(tid, n), [ir.assign(parted, mul(add(tid, i32(1)), i32(2)))]),
    ir.assign(loaded, ir.load(ir.at(x, tid))),
    ...[twice, stepped, mixed, late, parted, loaded].map(use),
  ]);
  const options = { block: [64, 1, 1], lanes: LANES } as const;
  const facts = new LaneFacts(kernel, analyseUniformity(lowerReturns(kernel).kernel, options), LANES);

  it.each([
    ['uniform', () => n, [0, 0, 0, 0]],
    ['consecutive', () => add(n, tid), [0, 1, 2, 3]],
    ['reversed', () => sub(n, tid), [0, -1, -2, -3]],
    ['strided', () => add(mul(i32(3), tid), i32(7)), [0, 3, 6, 9]],
    ['shifted', () => ir.binary('shl', tid, i32(2)), [0, 4, 8, 12]],
    ['of two', () => sub(mul(tid, i32(4)), tid), [0, 3, 6, 9]],
    ['low bits', () => ir.and(tid, i32(1)), [0, 1, 0, 1]],
    ['some bits', () => ir.and(tid, i32(6)), [0, 0, 2, 2]],
    ['all but the low bits, doubled', () => mul(ir.and(tid, i32(-2)), i32(2)), [0, 0, 4, 4]],
    ['bits of what begins anywhere', () => ir.and(add(tid, i32(1)), i32(1)), undefined],
    ['unknown', () => mul(tid, n), undefined],
    ['far', () => mul(tid, i32(2 ** 20)), undefined],
    ['variable', () => read(twice), [0, 2, 4, 6]],
    ['variable with steps', () => read(stepped), [0, 2, 4, 6]],
    ['variable with values that lie in different ways', () => read(mixed), undefined],
    ['variable that is read before it is assigned', () => read(late), undefined],
    ['variable that some lanes keep', () => read(parted), undefined],
    ['variable from memory', () => read(loaded), undefined],
  ] as const)('%s', (_, e, expected) => expect(facts.offsets(e())).toEqual(expected));

  it.each([
    ['remainder', () => ir.binary('rem', tid, n), 1],
    ['quotient', () => ir.binary('div', tid, n), 0],
    ['clamped', () => ir.binary('max', ir.binary('min', add(tid, n), n), i32(0)), 1],
    ['butterfly', () => sub(mul(tid, i32(2)), ir.and(tid, sub(n, i32(1)))), 1],
    ['one of two', () => ir.select(ir.lt(tid, n), add(tid, n), i32(0)), 1],
    ['one of two ways', () => ir.select(ir.lt(tid, n), tid, sub(n, tid)), undefined],
    ['variable that some lanes keep', () => read(parted), 2],
    ['loaded', () => add(tid, read(loaded)), undefined],
    ['product', () => mul(ir.binary('rem', tid, n), n), undefined],
    ['product of quotients', () => mul(ir.binary('div', tid, n), n), 0],
  ] as const)('likely: %s', (_, e, expected) => expect(facts.likelyStep(e())).toBe(expected));
});

describe('code', () => {
  it('has one address for lanes at known distances, and loads whole vectors that hold them', () => {
    const reversed = copy((m) => sub(m, tid));
    expect(laneLoads(reversed)).toBe(0);
    expect(count(reversed, VECTOR_LOAD)).toBeGreaterThan(0);
    expect(laneLoads(copy((m) => add(mul(tid, i32(2)), m)))).toBe(0);
    expect(laneLoads(copy((m) => add(mul(tid, i32(4)), m), 'u8'))).toBe(0);
    expect(laneLoads(copy((m) => add(mul(tid, i32(33)), m)))).toBeGreaterThan(0);
  });

  it('tests what may be in a row, and nothing else', () => {
    for (const index of [
      (m: Expr) => ir.binary('rem', tid, m),
      (m: Expr) => ir.binary('xor', add(tid, i32(1)), m),
      (m: Expr) => ir.binary('min', tid, m),
    ]) {
      expect(laneLoads(copy(index))).toBeGreaterThan(0);
      expect(count(copy(index), VECTOR_LOAD)).toBeGreaterThan(0);
    }
    expect(
      count(
        copy((m) => mul(tid, m)),
        VECTOR_LOAD,
      ),
    ).toBe(0);
  });
});

describe('lanes that exchange places', () => {
  const swap = (m: Expr): Expr => ir.binary('xor', tid, m);
  const SWIZZLE = 0x0e;

  it('are found where they begin at a multiple of the lanes', () => {
    const b = new ir.KernelBuilder('exchange');
    const n = b.value('i32', 'n');
    const kernel = b.build([]);
    const facts = new LaneFacts(kernel, analyseUniformity(kernel, { block: [64, 1, 1], lanes: LANES }), LANES);
    expect(facts.isExchange(swap(n))).toBe(true);
    expect(facts.isExchange(ir.binary('xor', n, add(tid, i32(8))))).toBe(true);
    expect(facts.isExchange(ir.binary('xor', add(tid, i32(1)), n))).toBe(false);
    expect(facts.isExchange(ir.binary('xor', tid, tid))).toBe(false);
    expect(facts.isExchange(ir.and(tid, n))).toBe(false);
  });

  it('are loaded as vectors, if they have 4 bytes', () => {
    expect(laneLoads(copy(swap))).toBe(0);
    expect(count(copy(swap), SWIZZLE)).toBeGreaterThan(0);
    expect(laneLoads(copy(swap, 'f64'))).toBeGreaterThan(0);
  });

  it.each(['f32', 'i32', 'u32', 'f64', 'u8'] as const)('%s in shared memory, in all lanes or some', (elem) => {
    for (const guarded of [false, true]) {
      const b = new ir.KernelBuilder('swaps');
      const [from, to, m] = [b.global(elem, 'from'), b.global(elem, 'to'), b.value('i32', 'm')];
      const shared = b.shared(elem, 'shared', 64);
      const at = b.variable('i32', 'at');
      const swapped = ir.store(ir.at(shared, read(at)), ir.load(ir.at(from, add(tid, i32(64)))));
      const odd = ir.ne(ir.binary('rem', tid, i32(3)), i32(0));
      const kernel = b.build([
        ir.store(ir.at(shared, tid), ir.load(ir.at(from, tid))),
        ir.barrier(),
        ir.assign(at, swap(m)),
        guarded ? ir.ifElse(odd, [swapped]) : swapped,
        ir.barrier(),
        ir.ifElse(ir.ge(tid, i32(3)), [ir.store(ir.at(to, tid), ir.load(ir.at(shared, swap(m))))]),
        ir.store(ir.at(to, add(tid, i32(64))), ir.load(ir.at(shared, tid))),
      ]);
      const size = ELEM_SIZE[elem];
      const image = Uint8Array.from({ length: size * 256 }, (_, i) => (i * 73 + (i >> 3) * 11) & 0x7b);
      for (const value of [0, 1, 2, 3, 4, 6, 8, 13, 31, 40])
        check(kernel, { block: [64, 1, 1] }, [0, 128 * size, value], image, [{ at: 0, elem, length: 256 }]);
    }
  });
});

describe.each(['bool', 'i8', 'u16', 'f16', 'f32', 'f64'] as const)('%s', (elem) => {
  const size = ELEM_SIZE[elem];
  const cases: [string, (m: Expr) => Expr][] = [
    ['t & m', (m) => ir.and(tid, m)],
    ['t ^ m', (m) => ir.binary('xor', tid, m)],
    ['t % m', (m) => ir.binary('rem', tid, m)],
    ['t / m', (m) => ir.binary('div', tid, m)],
    ['min(t + m, 33)', (m) => ir.binary('min', add(tid, m), i32(33))],
    ['2 t - (t & (m - 1))', (m) => sub(mul(tid, i32(2)), ir.and(tid, sub(m, i32(1))))],
    ['t < m ? t : 20', (m) => ir.select(ir.lt(tid, m), tid, i32(20))],
    ['m + 2 t', (m) => add(m, mul(tid, i32(2)))],
    ['m + 3 t + 1', (m) => add(add(m, mul(tid, i32(3))), i32(1))],
    ['4 t + 3', () => add(mul(tid, i32(4)), i32(3))],
    ['100 - t', () => sub(i32(100), tid)],
    ['100 - 2 t', () => sub(i32(100), mul(tid, i32(2)))],
    ['100 - m t', (m) => sub(i32(100), mul(tid, m))],
    ['9 t', () => mul(tid, i32(9))],
  ];
  it.each(cases)('%s, loaded and stored', (_, index) => {
    for (const guarded of [false, true]) {
      const b = new ir.KernelBuilder('places');
      const [from, to, m] = [b.global(elem, 'from'), b.global(elem, 'to'), b.value('i32', 'm')];
      const size1 = b.value('i32', 'size');
      const place = (array: typeof from, e: Expr) =>
        ir.at(array, e, { checks: [{ index: e, extent: size1, axis: 0 }] });
      const lines = [
        ir.store(place(to, tid), ir.load(place(from, index(m)))),
        // Where lanes meet, the last one's value stays.
        ir.store(place(to, add(index(m), i32(150))), ir.load(place(from, tid))),
      ];
      const odd = ir.ne(ir.binary('rem', tid, i32(5)), i32(0));
      const kernel = b.build(guarded ? [ir.ifElse(odd, lines)] : lines, { checked: true });
      const image = Uint8Array.from({ length: size * 1200 }, (_, i) => (i * 73 + (i >> 3) * 11) & 0x7b);
      for (const [width, values] of [
        [24, [1, 4, 7, 8]],
        [32, [5, 16]],
      ] as const) {
        for (const value of values) {
          const fault = check(kernel, { block: [width, 1, 1] }, [0, 600 * size, value, 600], image, [
            { at: 0, elem, length: 1200 },
          ]);
          if (width === 24 && value < 4) expect(fault).toBeUndefined();
        }
      }
    }
  });
});

describe('checks of lanes at known distances', () => {
  it.each([
    [0, 3],
    [1, -1],
    [2, -3],
    [30, 2],
    [60, -4],
    [-10, 4],
  ])('%i + %i t', (start, step) => {
    const b = new ir.KernelBuilder('checks');
    const [from, to, n] = [b.global('i32', 'from'), b.global('i32', 'to'), b.value('i32', 'n')];
    const index = add(i32(start), mul(tid, i32(step)));
    const place = ir.at(from, index, { checks: [{ index, extent: n, axis: 0 }] });
    const kernel = b.build([ir.store(ir.at(to, tid), ir.load(place))], { checked: true });
    const faults = [20, 60, 61, 62, 63, 64, 92, 93, 94, 200].map((extent) =>
      check(kernel, { block: [32, 1, 1] }, [800, 0, extent], new Uint8Array(2400), [
        { at: 0, elem: 'i32', length: 32 },
      ]),
    );
    expect(faults.some((fault) => fault !== undefined)).toBe(true);
  });
});
