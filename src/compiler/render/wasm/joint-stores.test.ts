/**
 * Branches that both end with a store to the same place: that lanes store what their own branch says, and nothing where they are not
 * active or have left; and that whole vectors are stored, not lanes one by one.
 */
import { describe, expect, it } from 'vitest';
import * as ir from '../../ir/builder.ts';
import { ELEM_SIZE, type ElemType, type Expr, type Kernel, type Label, type Stmt, type Var } from '../../ir/ops.ts';
import { check } from './launch.testing.ts';
import { renderWasm } from './render.ts';

const { add, and, i32, read } = ir;
const tid = ir.special('threadIdx.x');
const MANY = 64;

interface Parts {
  readonly elem: ElemType;
  readonly to: Expr & { op: 'load' };
  readonly x: Expr;
  readonly y: Expr;
  readonly odd: Expr;
  readonly own: Var;
  readonly out: Label;
}

/** `body` with places and conditions that differ from lane to lane; twice as many elements of `to` as there are threads. */
function kernelOf(elem: ElemType, body: (parts: Parts) => readonly Stmt[]): Kernel {
  const b = new ir.KernelBuilder('joint');
  const [from, to] = [b.global(elem, 'from'), b.global(elem, 'to')];
  const flags = b.global('i32', 'flags');
  const own = b.variable('i32', 'own');
  const place = (k: number): Expr & { op: 'load' } => ir.load(ir.at(from, add(tid, i32(k)))) as Expr & { op: 'load' };
  const to1 = ir.load(ir.at(to, tid)) as Expr & { op: 'load' };
  const odd = ir.ne(and(ir.load(ir.at(flags, tid)), i32(1)), i32(0));
  return b.build(body({ elem, to: to1, x: place(0), y: place(MANY), odd, own, out: b.label() }));
}

const put = (p: Parts, value: Expr): Stmt => ir.store(p.to.mem, value);

function holds(kernel: Kernel, elem: ElemType): void {
  const size = ELEM_SIZE[elem];
  const [toAt, flagsAt] = [2 * MANY * size, 4 * MANY * size];
  const image = Uint8Array.from({ length: flagsAt + 4 * MANY }, (_, i) => (i * 73 + (i >> 3) * 11 + (i >> 6)) & 0x7b);
  // Flags of all kinds of fours: all lanes, none, some.
  for (let k = 0; k < MANY; k++) image[flagsAt + 4 * k] = k < 8 ? 1 : k < 16 ? 0 : (k * 5) >> 2;
  if (elem === 'bool') for (let k = 0; k < flagsAt; k++) image[k] = (image[k] ?? 0) & 1;
  check(kernel, { block: [MANY, 1, 1] }, [0, toAt, flagsAt], image, [{ at: toAt, elem, length: 2 * MANY }]);
}

/** How many instructions store a single lane. */
function laneStores(kernel: Kernel): number {
  const { bytes } = renderWasm(kernel, { block: [MANY, 1, 1], lanes: 4, concurrent: false, memory64: false });
  return bytes.filter((byte, i) => byte === 0xfd && [0x58, 0x59, 0x5a, 0x5b].includes(bytes[i + 1] ?? 0)).length;
}

const plain = (p: Parts): Stmt => ir.ifElse(p.odd, [put(p, p.x)], [put(p, p.y)]);
const guard = (list: readonly Stmt[]): Stmt => ir.ifElse(ir.ne(ir.binary('rem', tid, i32(5)), i32(2)), list);

describe.each(['bool', 'u8', 'i16', 'f16', 'i32', 'f32', 'f64', 'i64'] as const)('%s', (elem) => {
  const programs: [string, (p: Parts) => readonly Stmt[]][] = [
    ['in all lanes', (p) => [plain(p)]],
    ['in some lanes', (p) => [guard([plain(p)])]],
    ['within each other', (p) => [ir.ifElse(p.odd, [guard([put(p, p.y)]), put(p, p.x)], [plain(p)])]],
    ['after a store to the same place', (p) => [ir.ifElse(p.odd, [put(p, p.y), put(p, p.to)], [put(p, p.x)])]],
    [
      'in a branch that changes the index',
      (p) => {
        const moved: Parts = { ...p, to: ir.load({ ...p.to.mem, index: read(p.own) }) as Parts['to'] };
        const move = ir.assign(p.own, add(read(p.own), i32(MANY)));
        return [ir.assign(p.own, tid), ir.ifElse(p.odd, [move, put(moved, p.x)], [put(moved, p.y)])];
      },
    ],
    [
      'of lanes that leave before it',
      (p) => {
        const { out } = p;
        const leaves = ir.ifElse(ir.eq(ir.binary('rem', tid, i32(3)), i32(0)), [ir.breakTo(out)]);
        return [ir.block(out, [ir.ifElse(p.odd, [leaves, put(p, p.x)], [put(p, p.y)])])];
      },
    ],
  ];
  it.each(programs)('%s', (_, body) => {
    holds(kernelOf(elem, body), elem);
  });
});

describe('whole vectors', () => {
  it('are stored where both branches store to the same place', () => {
    expect(laneStores(kernelOf('i32', (p) => [plain(p)]))).toBe(0);
    expect(laneStores(kernelOf('i32', (p) => [ir.ifElse(p.odd, [put(p, p.x)], [])]))).toBeGreaterThan(0);
  });
});
