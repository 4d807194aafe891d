/**
 * Copies of counters: what they come to, what arrives before a fault, and which kernels and launches have them.
 */
import { describe, expect, it } from 'vitest';
import { disassemble } from '../../../driver/cpu/disassemble.ts';
import { openCpu } from '../../../driver/cpu/index.ts';
import * as ir from '../../ir/builder.ts';
import type { ArraySym, AtomicOp, ElemType, Expr, Kernel, Stmt } from '../../ir/ops.ts';
import { check, type Launch, runWasm } from './launch.testing.ts';
import { ownCopiesOf } from './own-copies.ts';
import { Random } from './programs.testing.ts';

const { add, i32, ifElse, mul, read } = ir;
const tid = ir.special('threadIdx.x');
const gid = add(mul(ir.special('blockIdx.x'), ir.special('blockDim.x')), tid);

interface Argument {
  readonly array: ArraySym;
  readonly extents: readonly Expr[];
}

/** An array argument with its extents, as the front end has them. */
function argument(b: ir.KernelBuilder, elem: ElemType, name: string, axes = 1, type: 'i32' | 'i64' = 'i32'): Argument {
  const array = b.global(elem, name);
  const path = [array.param ?? 0];
  const extents = Array.from({ length: axes }, (_, axis) => {
    const index = b.params.length;
    b.params.push({ index, name: `${name}.shape[${axis}]`, type, origin: { kind: 'extent', path, axis } });
    return ir.param(type, index);
  });
  return { array, extents };
}

const within = ({ array, extents: [extent = i32(0)] }: Argument, index: Expr): ReturnType<typeof ir.at> =>
  ir.at(array, index, { checks: [{ index, extent, axis: 0 }] });

const FNS: readonly AtomicOp[] = ['add', 'add', 'sub', 'and', 'or', 'xor', 'min', 'max'];

describe('come to the same', () => {
  it('at random', () => {
    for (let seed = 1; seed <= 60; seed++) {
      const r = new Random(seed);
      const elem = r.pick(['i32', 'u32'] as const);
      const [threads, blocks] = [r.pick([64, 40, 128, 7]), r.pick([1, 3, 8])];
      const b = new ir.KernelBuilder('counts');
      const x = argument(b, elem, 'x');
      const counters = Array.from({ length: 1 + r.below(3) }, (_, k) => ({
        ...argument(b, elem, `c${k}`),
        fn: r.pick(FNS),
        length: r.pick([1, 3, 8, 10]),
      }));
      const change = (): Stmt => {
        const c = r.pick(counters);
        const own = ir.cast('i32', ir.load(within(x, gid)));
        const place = r.pick([i32(r.below(c.length)), ir.binary('rem', ir.and(own, i32(255)), i32(c.length))]);
        const value = r.pick([ir.constant(elem, 1), ir.load(within(x, gid)), ir.constant(elem, 77)]);
        const fn = c.fn === 'add' && r.chance(0.3) ? 'sub' : c.fn;
        return ir.atomic(fn, within(c, place), [value]);
      };
      const body = Array.from({ length: 1 + r.below(4) }, (): Stmt => {
        if (r.chance(0.5)) return change();
        return ifElse(
          ir.lt(ir.binary('rem', gid, i32(5)), i32(r.below(5))),
          [change()],
          r.chance(0.3) ? [change()] : [],
        );
      });
      const k = b.build(body, { checked: r.chance(0.5) });
      const items = threads * blocks;
      const start = 4 * items;
      const image = new Uint8Array(
        Int32Array.from({ length: items + 48 }, (_, i) => Math.imul(i + seed, 2654435761) >> r.pick([1, 20, 28]))
          .buffer,
      );
      const args = [0, items, ...counters.flatMap(({ length }, j) => [start + 64 * j, length])];
      check(
        k,
        { grid: [blocks, 1, 1], block: [threads, 1, 1], concurrent: true, slice: r.pick([1, 2, blocks]) },
        args,
        image,
        [{ at: start, elem: 'i32', length: 48 }],
      );
    }
  });

  it('with what other arrays are stored to, wherever these are', () => {
    const b = new ir.KernelBuilder('both');
    const [counts, out] = [argument(b, 'i32', 'counts'), argument(b, 'i32', 'out')];
    // Who changes an element stores to it afterwards, if both are the same.
    const k = b.build([
      ifElse(ir.lt(tid, i32(8)), [ir.atomic('add', within(counts, tid), [i32(1)]), ir.store(within(out, tid), i32(7))]),
    ]);
    const image = new Uint8Array(64 * 4);
    for (const at of [0, 128])
      check(k, { block: [32, 1, 1], concurrent: true }, [0, 8, at, 32], image, [{ at: 0, elem: 'i32', length: 64 }]);
  });

  it('up to a fault', () => {
    const b = new ir.KernelBuilder('faulty');
    const [x, counts] = [argument(b, 'i32', 'x'), argument(b, 'i32', 'counts')];
    const k = b.build([ir.atomic('add', within(counts, ir.load(within(x, gid))), [i32(1)])], { checked: true });
    const values = Int32Array.from({ length: 256 + 8 }, (_, i) => (i < 256 ? i % 8 : 0));
    values[200] = 8;
    const launch: Launch = { grid: [4, 1, 1], block: [64, 1, 1] };
    for (const lanes of [1, 4] as const) {
      const [alone, together] = [false, true].map((concurrent) =>
        runWasm(k, { ...launch, lanes, concurrent }, [0, 256, 1024, 8], new Uint8Array(values.buffer.slice(0))),
      );
      expect(together?.fault).toMatchObject({ thread: 8, block: 3, index: 8n });
      expect(together?.memory).toEqual(alone?.memory);
      const counted = new Int32Array(together?.memory.slice(1024).buffer ?? []).reduce((a, n) => a + n, 0);
      expect(counted).toBeGreaterThanOrEqual(192);
    }
  });
});

interface Case {
  readonly kernel: Kernel;
  readonly args: readonly number[];
  readonly launch?: Partial<Launch>;
}

/**
 * Whether a call has copies. An index beyond the end, which nobody checks, changes the element of an array that stands there, but not one of a
 * copy, of which only the elements that there are arrive.
 */
function hasCopies({ kernel, args, launch }: Case): boolean {
  const image = new Uint8Array(4 * 16384);
  const { memory } = runWasm(kernel, { block: [64, 1, 1], concurrent: true, ...launch }, args, image);
  const words = new Int32Array(memory.buffer);
  const [first, beyond] = [words[0] ?? 0, words[BEYOND] ?? 0];
  expect(first, 'the first element').toBeGreaterThan(0);
  return beyond === 0;
}

const BEYOND = 12000;

/** Each item adds to the first element and to one that is not there. */
function adding(make?: (b: ir.KernelBuilder) => readonly Stmt[], axes = 1, type: 'i32' | 'i64' = 'i32'): Kernel {
  const b = new ir.KernelBuilder('adding');
  const { array } = argument(b, 'i32', 'counts', axes, type);
  const changes = [0, BEYOND].map((k) => ir.atomic('add', ir.at(array, i32(k)), [i32(1)]));
  return b.build([...changes, ...(make?.(b) ?? [])]);
}

/** The same, in a loop of two rounds. */
function looping(): Kernel {
  const b = new ir.KernelBuilder('looping');
  const { array } = argument(b, 'i32', 'counts');
  const [k, label] = [b.variable('i32', 'k'), b.label()];
  const changes = [0, BEYOND].map((at) => ir.atomic('add', ir.at(array, i32(at)), [i32(1)]));
  const leave = ifElse(ir.ge(read(k), i32(2)), [ir.breakTo(label)]);
  const step = ir.assign(k, add(read(k), i32(1)));
  return b.build([ir.assign(k, i32(0)), ir.loop(label, [leave, ...changes], [step])]);
}

const storing = (axes: number): Kernel =>
  adding((b) => {
    const { array, extents } = argument(b, 'f32', 'out', axes);
    const index = extents.length === 1 ? gid : mul(gid, extents[1] ?? i32(1));
    return [ifElse(ir.lt(gid, i32(0)), [ir.store(ir.at(array, index), ir.constant('f32', 1))])];
  });

const large: Partial<Launch> = { grid: [200, 1, 1] };

describe('a call has them', () => {
  it.each<[string, boolean, Case]>([
    ['of a few elements', true, { kernel: adding(), args: [0, 8] }],
    ['of no elements but one', true, { kernel: adding(), args: [0, 1] }],
    ['for half as many elements as items', true, { kernel: adding(), args: [0, 32] }],
    ['not for more', false, { kernel: adding(), args: [0, 33] }],
    ['for more in a loop', true, { kernel: looping(), args: [0, 256] }],
    ['not for as many as are changed in a loop', false, { kernel: looping(), args: [0, 257] }],
    ['for more with more blocks', true, { kernel: adding(), args: [0, 64], launch: { grid: [2, 1, 1] } }],
    ['not if these come one by one', false, { kernel: adding(), args: [0, 64], launch: { grid: [2, 1, 1], slice: 1 } }],
    ['of many elements', true, { kernel: adding(), args: [0, 4096], launch: large }],
    ['not of very many', false, { kernel: adding(), args: [0, 4097], launch: large }],
    ['of two axes', true, { kernel: adding(undefined, 2), args: [0, 4, 8] }],
    ['not of two long ones', false, { kernel: adding(undefined, 2), args: [0, 4, 9] }],
    ['with wide extents', true, { kernel: adding(undefined, 1, 'i64'), args: [0, 32] }],
    ['not with long wide ones', false, { kernel: adding(undefined, 1, 'i64'), args: [0, 33] }],
    ['beside another array', true, { kernel: storing(1), args: [0, 8, 32, 64] }],
    ['not under its first element', false, { kernel: storing(1), args: [0, 8, 28, 64] }],
    ['not within it', false, { kernel: storing(1), args: [0, 8, 0, 64] }],
    ['behind another array', true, { kernel: storing(1), args: [0, 8, -32, 8] }],
    ['not over its last element', false, { kernel: storing(1), args: [0, 8, -32, 9] }],
    ['behind one of two axes', true, { kernel: storing(2), args: [0, 8, -64, 4, 4] }],
    ['not over its last row', false, { kernel: storing(2), args: [0, 8, -64, 5, 4] }],
  ])('%s', (_, wanted, c) => expect(hasCopies(c)).toBe(wanted));

  it('not if two of them are one', () => {
    const kernel = adding((b) => [ir.atomic('min', ir.at(argument(b, 'i32', 'least').array, i32(0)), [i32(99)])]);
    expect(hasCopies({ kernel, args: [0, 8, 64, 8] })).toBe(true);
    expect(hasCopies({ kernel, args: [0, 8, 0, 8] })).toBe(false);
  });
});

const VARIANT = { block: [64, 1, 1], lanes: 4, concurrent: true, memory64: false } as const;

describe('a kernel has them', () => {
  type Make = (b: ir.KernelBuilder, counts: ArraySym, count: Stmt) => readonly Stmt[];
  const another = (b: ir.KernelBuilder): ArraySym => argument(b, 'i32', 'another').array;
  const copies = (make: Make, variant: Parameters<typeof ownCopiesOf>[1] = VARIANT): string[] => {
    const b = new ir.KernelBuilder('k');
    const { array } = argument(b, 'i32', 'counts');
    const kernel = b.build(make(b, array, ir.atomic('add', ir.at(array, i32(0)), [i32(1)])));
    return ownCopiesOf(kernel, variant)?.copies.map((c) => c.array.name) ?? [];
  };

  it.each<[string, Make]>([
    ['that adds', (_, __, count) => [count]],
    ['that subtracts as well', (_, counts, count) => [count, ir.atomic('sub', ir.at(counts, i32(1)), [i32(2)])]],
    [
      'that adds to floats elsewhere',
      (b, _, count) => [
        count,
        ir.atomic('add', ir.at(argument(b, 'f32', 'sums').array, i32(0)), [ir.constant('f32', 1)]),
      ],
    ],
    [
      'that loads and stores elsewhere',
      (b, _, count) => {
        const array = another(b);
        return [count, ir.store(ir.at(array, gid), add(ir.load(ir.at(array, gid)), i32(1)))];
      },
    ],
  ])('%s', (_, make) => expect(copies(make)).toEqual(['counts']));

  it.each<[string, Make]>([
    ['stores', (_, counts, count) => [count, ir.store(ir.at(counts, i32(1)), i32(2))]],
    ['loads', (b, counts, count) => [count, ir.store(ir.at(another(b), gid), ir.load(ir.at(counts, i32(1))))]],
    ['has another operation', (_, counts, count) => [count, ir.atomic('max', ir.at(counts, i32(1)), [i32(2)])]],
    ['exchanges', (_, counts, count) => [count, ir.atomic('exch', ir.at(counts, i32(1)), [i32(2)])]],
    ['asks what it was', (b, counts) => [ir.atomic('add', ir.at(counts, i32(1)), [i32(2)], b.variable('i32', 'old'))]],
    [
      'asks what another was',
      (b, _, count) => [count, ir.atomic('add', ir.at(another(b), i32(0)), [i32(1)], b.variable('i32', 'old'))],
    ],
    ['raises a flag', (b, _, count) => [count, ir.atomic('store', ir.at(another(b), i32(0)), [i32(1)])]],
    [
      'releases',
      (b, _, count) => [
        count,
        { ...(ir.atomic('add', ir.at(another(b), i32(0)), [i32(1)]) as Stmt & { op: 'atomic' }), order: 'release' },
      ],
    ],
    ['has a fence', (_, __, count) => [count, { op: 'fence', scope: 'device', pos: count.pos }]],
    ['has a barrier', (_, __, count) => [count, ir.barrier()]],
    ['prints', (_, __, count) => [count, { op: 'print', parts: ['here'], pos: count.pos }]],
    ['has shared memory', (b, _, count) => [count, ir.store(ir.at(b.shared('i32', 's', 64), tid), i32(1))]],
    ['changes parts of elements', (_, counts) => [ir.atomic('add', { ...ir.at(counts, i32(0)), scale: 8 }, [i32(1)])]],
    ['stores where nobody knows', (b, _, count) => [count, ir.store(ir.at(b.global('i32', 'any'), gid), i32(1))]],
    [
      'stores to a strided array',
      (b, _, count) => {
        const array = another(b);
        const origin = { kind: 'stride', path: [array.param ?? 0], axis: 0, unit: 4 } as const;
        b.params.push({ index: b.params.length, name: 'strides', type: 'i32', origin });
        return [count, ir.store(ir.at(array, gid), i32(1))];
      },
    ],
  ])('not if it %s', (_, make) => expect(copies(make)).toEqual([]));

  it('not on one thread, in a hurry, or in large memory', () => {
    const make: Make = (_, __, count) => [count];
    expect(copies(make)).toEqual(['counts']);
    expect(copies(make, { ...VARIANT, concurrent: false })).toEqual([]);
    expect(copies(make, { ...VARIANT, quick: true })).toEqual([]);
    expect(copies(make, { ...VARIANT, memory64: true })).toEqual([]);
  });

  it('for the arrays that may', () => {
    const make: Make = (b, counts, count) => {
      const [other, odd] = [another(b), argument(b, 'u32', 'odd').array];
      const change = (array: ArraySym, fn: AtomicOp): Stmt =>
        ir.atomic(fn, ir.at(array, i32(0)), [ir.constant(array.elem as 'i32', 1)]);
      return [count, change(other, 'max'), change(odd, 'or'), change(odd, 'and'), change(counts, 'sub')];
    };
    expect(copies(make)).toEqual(['counts', 'another']);
  });
});

it('are changed by plain instructions, and arrays by atomic ones', () => {
  const { module } = runWasm(
    adding(),
    { block: [64, 1, 1], concurrent: true, lanes: 1 },
    [0, 8],
    new Uint8Array(65536),
  );
  const atomics = disassemble(module.bytes)
    .split('(func ')
    .slice(-5)
    .map((text) => text.match(/i32\.atomic\.rmw\.add/g)?.length ?? 0);
  // A few blocks and `run`, `run` that decides, which puts four elements at a time, and the first two with copies.
  expect(atomics).toEqual([2, 0, 4, 0, 0]);
});

it('arrive from all threads', () => {
  const b = new ir.KernelBuilder('counts');
  const [x, counts] = [argument(b, 'u8', 'x'), argument(b, 'i32', 'counts')];
  const kernel = b.build([
    ifElse(ir.lt(gid, x.extents[0] ?? i32(0)), [ir.atomic('add', within(counts, ir.load(within(x, gid))), [i32(1)])]),
  ]);
  const n = 100_000;
  const device = openCpu({ threads: 3, alwaysParallel: true, quick: false, scalarFirst: false });
  const [from, to] = [Number(device.allocate(n)), Number(device.allocate(4 * 256))];
  device.copyToDevice(
    from,
    Uint8Array.from({ length: n }, (_, i) => (i * i) % 251),
  );
  const wanted = new Int32Array(256);
  device.copyToDevice(to, new Uint8Array(wanted.buffer));
  const executable = device.load({ kernel });
  for (let launch = 0; launch < 20; launch++) {
    executable.launch(
      { grid: [Math.ceil(n / 128), 1, 1], block: [128, 1, 1], sharedBytes: 0 },
      [from, n, to, 256],
      undefined,
    );
    for (let i = 0; i < n; i++) {
      const k = (i * i) % 251;
      wanted[k] = (wanted[k] ?? 0) + 1;
    }
  }
  const counted = new Int32Array(256);
  device.copyToHost(new Uint8Array(counted.buffer), to);
  device.close();
  expect(counted).toEqual(wanted);
});
