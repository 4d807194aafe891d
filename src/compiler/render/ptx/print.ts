/**
 * `console.log` in a kernel: each call appends one record to the module's buffer, which the host reads when it synchronises.
 */
import type { Stmt, ValueType } from '../../ir/ops.ts';
import { PRINT, PRINTS } from '../reports.ts';
import type { PrintedValue } from '../sites.ts';
import type { Operand } from './code.ts';
import { convert } from './convert.ts';
import { type Gen, isWide } from './gen.ts';
import { linearBlock, linearThread } from './specials.ts';

export const PRINT_SYMBOL = 'tsamba_print';

function printed(type: ValueType): PrintedValue {
  return { type: type === 'i64' || type === 'u64' || type === 'bool' ? type : 'f64' };
}

export function emitPrint(g: Gen, s: Stmt & { op: 'print' }): void {
  const { code } = g;
  const parts = s.parts.map((p) => (typeof p === 'string' ? p : printed(p.type)));
  const number = g.prints.push({ pos: s.pos, parts, forms: s.forms });
  const values = s.parts.flatMap((p): Operand[] => {
    if (typeof p === 'string') return [];
    return [isWide(p.type) ? g.value(p) : convert(g, p.type, 'f64', g.value(p))];
  });
  const wide = s.parts.filter((p) => typeof p !== 'string').map((p) => isWide(p.type));
  const size = PRINT.values + 8 * values.length;
  const [at, full, end] = [code.reg('r'), code.reg('p'), code.label()];
  code.emit(`atom.global.add.u32 ${at}, [${PRINT_SYMBOL}+${PRINTS.taken}], ${size}`);
  code.emit(`setp.gt.u32 ${full}, ${at}, ${PRINTS.bytes - PRINTS.records - size}`);
  code.emit(`@${full} bra ${end}`);
  const [offset, record] = [code.reg('rd'), code.reg('rd')];
  code.emit(`cvt.u64.u32 ${offset}, ${at}`);
  code.emit(`add.s64 ${record}, ${code.once('rd', 'mov.u64', PRINT_SYMBOL)}, ${offset}`);
  const slot = (offset: number): string => `[${record}+${PRINTS.records + offset}]`;
  code.emit(`st.global.b32 ${slot(PRINT.thread)}, ${linearThread(g)}`);
  code.emit(`st.global.b64 ${slot(PRINT.block)}, ${linearBlock(g)}`);
  for (const [k, v] of values.entries()) {
    code.emit(`st.global.${wide[k] ? 'b64' : 'f64'} ${slot(PRINT.values + 8 * k)}, ${v}`);
  }
  code.emit(`st.global.b32 ${slot(PRINT.site)}, ${number}`);
  code.place(end);
}
