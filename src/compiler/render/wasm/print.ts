/**
 * `console.log` in a kernel: the values go into slots of the scratch memory, then the host is called.
 */
import { isUnsigned, type Stmt, type ValueType } from '../../ir/ops.ts';
import type { PrintedValue } from '../sites.ts';
import { scalar } from './expr.ts';
import { type Gen, ScalarOnly, wasmType } from './gen.ts';

function printed(type: ValueType): PrintedValue {
  return { type: type === 'i64' || type === 'u64' || type === 'bool' ? type : 'f64' };
}

export function emitPrint(g: Gen, s: Stmt & { op: 'print' }): void {
  if (g.lanes > 1) throw new ScalarOnly();
  const { f, at, layout } = g;
  const number =
    g.prints.push({
      pos: s.pos,
      parts: s.parts.map((p) => (typeof p === 'string' ? p : printed(p.type))),
      forms: s.forms,
    }) - 1;
  let offset = layout.printSlots;
  for (const part of s.parts) {
    if (typeof part === 'string') continue;
    f.get(at.scratch);
    scalar(g, part);
    const w = wasmType(part.type);
    if (w === 'i64') f.memory('i64.store', 3, offset);
    else {
      if (w === 'f32') f.op('f64.promote_f32');
      else if (w === 'i32')
        f.op(part.type === 'bool' || isUnsigned(part.type) ? 'f64.convert_i32_u' : 'f64.convert_i32_s');
      f.memory('f64.store', 3, offset);
    }
    offset += 8;
  }
  f.i32(number);
  f.get(at.scratch);
  if (g.variant.memory64) f.i64(layout.printSlots);
  else f.i32(layout.printSlots);
  f.op(g.variant.memory64 ? 'i64.add' : 'i32.add');
  f.call(g.helpers.print());
}
