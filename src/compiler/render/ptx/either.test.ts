/**
 * One access for one of several arrays: which chains of tests become one, and what it depends on.
 */
import { describe, expect, it } from 'vitest';
import * as ir from '../../ir/builder.ts';
import type { ArraySym, Stmt } from '../../ir/ops.ts';
import { assemble, hasPtxas, merge } from './assemble.testing.ts';
import type { PtxModule } from './module.ts';
import { renderPtx } from './render.ts';

const TARGET = { capability: 90, isa: [9, 0] } as const;
const modules: PtxModule[] = [];

function render(build: (b: ir.KernelBuilder) => readonly Stmt[]): string {
  const b = new ir.KernelBuilder('k');
  const body = build(b);
  const module = renderPtx(b.build(body, { checked: false }), TARGET, { name: 'k', aliased: false });
  modules.push(module);
  return module.text;
}

const count = (text: string, op: RegExp): number => (text.match(op) ?? []).length;

/** `if (tid < 3) { a } else { b }` */
const either = (a: Stmt, b: Stmt): Stmt => ir.ifElse(ir.compare('lt', ir.special('threadIdx.x'), ir.i32(3)), [a], [b]);

describe('one of several arrays', () => {
  it('is read by one load at a chosen address', () => {
    const text = render((b) => {
      const [p, q, out] = [b.global('f32', 'p'), b.global('f32', 'q'), b.global('f32', 'out')];
      const v = b.variable('f32', 'v');
      const i = ir.special('threadIdx.x');
      const read = (a: ArraySym): Stmt => ir.assign(v, ir.load(ir.at(a, i)));
      return [either(read(p), read(q)), ir.store(ir.at(out, i), ir.read(v))];
    });
    expect(count(text, /ld\.global\.nc/g)).toBe(1);
    expect(count(text, /selp\.b64/g)).toBe(1);
    expect(text).not.toMatch(/bra/);
  });

  it('leaves the read-only path where one of them is written', () => {
    const text = render((b) => {
      const [p, q] = [b.global('f32', 'p'), b.global('f32', 'q')];
      const v = b.variable('f32', 'v');
      const i = ir.special('threadIdx.x');
      const read = (a: ArraySym): Stmt => ir.assign(v, ir.load(ir.at(a, i)));
      return [either(read(p), read(q)), ir.store(ir.at(q, i), ir.read(v))];
    });
    expect(count(text, /ld\.global\.f32/g)).toBe(1);
    expect(text).not.toMatch(/\.nc/);
  });

  it('is read again after a store to any of them, also in shared memory', () => {
    for (const space of ['global', 'shared'] as const) {
      const text = render((b) => {
        const make = (name: string): ArraySym =>
          space === 'global' ? b.global('f32', name) : b.shared('f32', name, 64);
        const [p, q] = [make('p'), make('q')];
        const out = b.global('f32', 'out');
        const [v, w] = [b.variable('f32', 'v'), b.variable('f32', 'w')];
        const i = ir.special('threadIdx.x');
        const read = (a: ArraySym, into: typeof v): Stmt => ir.assign(into, ir.load(ir.at(a, i)));
        const write = (a: ArraySym): Stmt => ir.store(ir.at(a, i), ir.read(v));
        return [
          either(read(p, v), read(q, v)),
          either(write(q), write(p)),
          either(read(p, w), read(q, w)),
          ir.store(ir.at(out, i), ir.read(w)),
        ];
      });
      expect(count(text, new RegExp(`ld\\.${space}\\.f32`, 'g'))).toBe(2);
      expect(count(text, new RegExp(`st\\.${space}\\.f32`, 'g'))).toBe(space === 'global' ? 2 : 1);
      expect(text).not.toMatch(/bra/);
    }
  });

  it('stays a branch where memories, indices or values differ', () => {
    const text = render((b) => {
      const [p, q] = [b.global('f32', 'p'), b.shared('f32', 'q', 64)];
      const i = ir.special('threadIdx.x');
      const write = (a: ArraySym, at = i, v = 1): Stmt => ir.store(ir.at(a, at), ir.f32(v));
      return [either(write(p), write(q)), either(write(p), write(p, ir.i32(0))), either(write(p), write(p, i, 2))];
    });
    expect(count(text, /st\./g)).toBe(6);
    expect(text).not.toMatch(/selp\.b64/);
  });

  it.skipIf(!hasPtxas())('assembles', { timeout: 300_000 }, async () => {
    await assemble(merge(modules), 90);
  });
});
