/**
 * How many registers the assembler is told that it may use.
 *
 * Left to itself it holds back for the sake of more threads at a time, as its heuristics go, and then computes in turn what could overlap. Any bound that
 * is said, the largest too, has it schedule first.
 */
import type { Expr, Kernel } from '../../ir/ops.ts';
import { eachExpr, eachStmt, someStmt, written } from '../../ir/passes/walk.ts';

/** What an entry may have at most, on all architectures. */
const MOST = 255;

/** Special functions in a loop that are worth overlapping. */
const FEW = 3;

/** For a kernel with a loop that waits for special functions, several of them in a round, and never for global memory, which more threads would hide. */
export function registersFor({ body }: Kernel): number | undefined {
  let found = false;
  eachStmt(body, (s) => {
    if (s.op !== 'loop' || found || someStmt(s.body, (x) => x.op === 'loop')) return;
    let special = 0;
    let far = someStmt(s.body, (x) => written(x)?.array.space === 'global' || x.op === 'extern');
    eachExpr(s.body, (e) => {
      if (isSpecial(e)) special++;
      far ||= e.op === 'load' && e.mem.array.space === 'global';
    });
    found = special >= FEW && !far;
  });
  return found ? MOST : undefined;
}

function isSpecial(e: Expr): boolean {
  if (e.type !== 'f32') return false;
  if (e.op === 'unary') return e.fn === 'sqrt' || e.fn.endsWith('Approx');
  return e.op === 'binary' ? e.fn === 'div' || e.fn === 'divApprox' : e.op === 'call' && e.fn === 'rsqrt';
}
