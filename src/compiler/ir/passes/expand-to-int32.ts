/**
 * Replaces JavaScript's ToInt32 of floats (`x | 0`) by conversions to 64 bits, for devices that have those as instructions.
 *
 * Beyond 2⁶³ an f32 is a multiple of 2³², whose low bits are zero, so that it is enough to keep it from saturating upwards. An f64 is
 * first reduced by the multiple of 2³² in it; product and difference are exact.
 */

import type { Pos } from '../../source.ts';
import { assign, binary, cast, f32, f64, KernelBuilder, mul, read, sub, unary } from '../builder.ts';
import type { Expr, Kernel, Stmt } from '../ops.ts';
import { mapLists, mapStmtExprs } from './walk.ts';

/** The greatest f32 below 2⁶³. */
const MOST = 2 ** 63 - 2 ** 39;

/** The same kernel without `toInt32`; the kernel itself when it has none. */
export function expandToInt32(kernel: Kernel): Kernel {
  const symbols = KernelBuilder.from(kernel);
  let expanded = false;

  const expand = (a: Expr, out: Stmt[], pos: Pos): Expr => {
    expanded = true;
    if (a.type === 'f32') return cast('i32', cast('i64', binary('fmin', a, f32(MOST))));
    const v = symbols.variable('f64', '%toInt32');
    out.push(assign(v, a, pos));
    const wraps = mul(unary('trunc', mul(read(v), f64(2 ** -32))), f64(2 ** 32));
    return cast('i32', cast('i64', sub(read(v), wraps)));
  };

  const list = (statements: readonly Stmt[]): Stmt[] => {
    const out: Stmt[] = [];
    for (const s of statements) {
      // One may be shared, as an index and the check of it are.
      const done = new Map<Expr, Expr>();
      const own = mapStmtExprs(s, (e) => {
        if (e.op !== 'unary' || e.fn !== 'toInt32') return e;
        const known = done.get(e) ?? expand(e.a, out, s.pos);
        done.set(e, known);
        return known;
      });
      out.push(mapLists(own, list));
    }
    return out;
  };

  const body = list(kernel.body);
  return expanded ? { ...kernel, vars: [...symbols.vars], body } : kernel;
}
