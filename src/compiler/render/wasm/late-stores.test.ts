/**
 * Stores to members of records between which others are computed: that they are made as vectors where nothing can tell, and do what they do one by one where arrays
 * are the same, checks fail, or something in between reads or changes what they store.
 */
import { describe, expect, it } from 'vitest';
import * as ir from '../../ir/builder.ts';
import type { ArraySym, Expr, Kernel, MemRef, Stmt, Var } from '../../ir/ops.ts';
import { splitRanges } from '../../ir/passes/live-ranges.ts';
import { check } from './launch.testing.ts';
import { Random } from './programs.testing.ts';
import { renderWasm } from './render.ts';

const { add, i32, mul, read } = ir;
const BLOCK = [24, 1, 1] as const;
const THREADS = 2 * BLOCK[0];
const gid = add(mul(ir.special('blockIdx.x'), i32(BLOCK[0])), ir.special('threadIdx.x'));
/** Parameters of the arrays, with an extent behind each. */
const [FROM, TO, THIRD] = [0, 2, 4];

interface Made {
  readonly kernel: Kernel;
  readonly size: number;
}

/** Assignments and stores to members of the thread's record in any order. */
function random(seed: number): Made {
  const r = new Random(seed);
  const b = new ir.KernelBuilder(`late stores ${seed}`);
  const elem = r.pick(['f32', 'i32', 'u8', 'i16'] as const);
  const type = elem === 'f32' ? 'f32' : 'i32';
  const arrays = ['from', 'to', 'third'].map((name): readonly [ArraySym, Expr] => [
    b.global(elem, name),
    b.value('i32', `${name}.shape[0]`),
  ]);
  const size = r.pick([2, 3, 4, 4, 9]);
  const vars = Array.from({ length: 3 }, (_, k) => b.variable(type, `v${k}`));
  const place = (k: number): MemRef => {
    const [array, extent] = arrays[k] as (typeof arrays)[number];
    const index = add(mul(gid, i32(size)), i32(r.below(size)));
    return ir.at(array, index, { checks: [{ index, extent, axis: 0 }] });
  };
  const leaf = (): Expr => {
    const kind = r.below(5);
    if (kind < 2) return read(r.pick(vars));
    const x = ir.load(place(kind === 4 ? r.pick([1, 2]) : 0));
    return x.type === type ? x : ir.cast(type, x);
  };
  const statements = Array.from({ length: 6 + r.below(12) }, (): Stmt => {
    const value = r.below(3) === 0 ? leaf() : add(leaf(), leaf());
    if (r.below(2) === 0) return ir.assign(r.pick(vars), value);
    return ir.store(place(r.below(6) === 0 ? 2 : 1), value);
  });
  const first = vars.map((v, k) => ir.assign(v, type === 'f32' ? ir.f32(k) : i32(k)));
  const plain = b.build([...first, ...statements], { checked: seed % 3 !== 0 });
  return { kernel: seed % 2 === 0 ? splitRanges(plain) : plain, size };
}

describe('do what they do one by one', () => {
  it.each([1, 61, 121, 181])('%i …', (from) => {
    for (let seed = from; seed < from + 60; seed++) {
      const { kernel, size } = random(seed);
      const bytes = 4 * THREADS * size;
      const image = Uint8Array.from({ length: 3 * bytes }, (_, i) => (i % 4 === 3 ? 0x41 : (i * 73 + (i >> 5)) & 0x7f));
      const regions = [{ at: 0, elem: 'u8', length: image.length }] as const;
      const n = THREADS * size;
      const launch = { grid: [2, 1, 1], block: BLOCK } as const;
      const short = seed % 5 === 0 ? n - 1 - (seed % size) : n;
      check(kernel, { ...launch, apart: new Set([FROM]) }, [0, short, bytes, n, 2 * bytes, n], image, regions);
      // The same array, as far as the elements go.
      check(kernel, launch, [bytes, n, bytes, short, 2 * bytes, n], image, regions);
      check(kernel, launch, [bytes, n, bytes, n, bytes, n], image, regions);
    }
  });
});

/** `to[3 * i + k] = the sum of what is loaded for k`, a product of a matrix and a vector. */
function product(inPlace: boolean): Kernel {
  const b = new ir.KernelBuilder('product');
  const [from] = [b.global('f32', 'from'), b.value('i32', 'n')];
  const [to] = [b.global('f32', 'to'), b.value('i32', 'm')];
  const source = inPlace ? to : from;
  const element = (array: ArraySym, k: number): MemRef => ir.at(array, add(mul(gid, i32(3)), i32(k)));
  const sums = [0, 1, 2].map((k): Var => b.variable('f32', `sum${k}`));
  return b.build(
    sums.flatMap((v, k) => [
      ir.assign(v, ir.load(element(source, k))),
      ir.assign(v, add(read(v), ir.load(element(source, (k + 1) % 3)))),
      ir.store(element(to, k), read(v)),
    ]),
  );
}

describe('vectors', () => {
  /** How many lanes are loaded or stored one by one. */
  const alone = (kernel: Kernel, apart?: ReadonlySet<number>): number => {
    const variant = { block: [32, 1, 1], lanes: 4, concurrent: false, memory64: false, apart } as const;
    const { bytes } = renderWasm(kernel, variant);
    const single = [0x56, 0x5a, 0x5c];
    return bytes.filter((byte, i) => byte === 0xfd && single.includes(bytes[i + 1] ?? 0)).length;
  };

  it('are what is stored and loaded where arrays are known to be apart', () => {
    // Three members take a half and a quarter of a vector: the last ones are stored by themselves.
    expect(alone(product(false), new Set([FROM]))).toBe(8);
    expect(alone(product(false))).toBeGreaterThan(20);
    expect(alone(product(false), new Set([TO, THIRD]))).toBeGreaterThan(20);
  });

  it('are not where what is loaded has been stored', () => {
    expect(alone(product(true), new Set([FROM]))).toBeGreaterThan(20);
  });
});
