import { describe, expect, it } from 'vitest';
import * as ir from '../../ir/builder.ts';
import type { Kernel } from '../../ir/ops.ts';
import type { Pos } from '../../source.ts';
import { assemble, hasPtxas } from './assemble.testing.ts';
import type { LinePlace } from './lines.ts';
import { renderPtx } from './render.ts';

const TARGET = { capability: 90, isa: [9, 0] } as const;
const SOURCE = { text: 'abcdefgh', name: 'k' };
const at = (start: number): Pos => ({ source: SOURCE, start, end: start + 1 });

/** Stores at positions 1, 1, 5 and 2. */
function sample(): Kernel {
  const b = new ir.KernelBuilder('k');
  const out = b.global('i32', 'out');
  const stores = [1, 1, 5, 2].map((start, i) => ({
    ...ir.store(ir.at(out, ir.i32(i)), ir.i32(7 * i)),
    pos: at(start),
  }));
  return b.build(stores);
}

function render(file: string): string {
  const lines = (pos: Pos): LinePlace => ({ file: pos.start === 5 ? '/b.ts' : file, line: pos.start, column: 3 });
  const module = renderPtx(sample(), TARGET, { name: 'k', aliased: false, lines });
  expect(module.lineInfo).toBe(true);
  return module.text;
}

describe('lines of the author in PTX', () => {
  it('are said when they change, by the number of a file', () => {
    const said = render('/a.ts')
      .split('\n')
      .filter((line) => /^\t?\.(loc|file) /.test(line));
    expect(said).toEqual(['.file 1 "/a.ts"', '.file 2 "/b.ts"', '\t.loc 1 1 3', '\t.loc 2 5 3', '\t.loc 1 2 3']);
  });

  it('are left out unless they are asked for, and where no file is known', () => {
    const plain = renderPtx(sample(), TARGET, { name: 'k', aliased: false });
    expect(plain.text).not.toMatch(/\.loc|\.file/);
    const lines = (): LinePlace => ({ file: undefined, line: 1, column: 1 });
    expect(renderPtx(sample(), TARGET, { name: 'k', aliased: false, lines }).text).not.toMatch(/\.loc|\.file/);
  });

  it.skipIf(!hasPtxas())('are read by the assembler, whatever the file is called', async () => {
    for (const file of ['/a.ts', 'C:\\kernels\\a.ts', '/with "quotes" and ä/日本.ts']) {
      await assemble(render(file), 90, ['-lineinfo']);
    }
  });
});
