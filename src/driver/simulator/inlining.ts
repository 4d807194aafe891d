/**
 * Which inlined device functions become functions again, and what goes in and out of them.
 *
 * A device function has its own place in a file. Its inlined body becomes a function in a script laid out at that place;
 * variables that it shares with its surroundings are passed in and handed back.
 */
import type { Expr, Stmt, Var } from '../../compiler/ir/ops.ts';
import { eachStmt, exprParts, stmtExprs } from '../../compiler/ir/passes/walk.ts';
import type { SourceText } from '../../compiler/source.ts';

/** A block that is emitted as a function. */
export interface Inlined {
  readonly body: Stmt & { readonly op: 'block' };
  readonly source: SourceText;
  /** Variables whose values it needs or must keep. */
  readonly takes: readonly Var[];
  /** Variables that it changes and that matter outside. */
  readonly gives: readonly Var[];
}

/** How often each variable occurs in a list of statements. */
export type Occurrences = Map<Var, number>;

/** Counts the variables in a list of statements. */
export function occurrences(list: readonly Stmt[]): Occurrences {
  const counts: Occurrences = new Map();
  eachStmt(list, (s) => {
    for (const v of mentioned(s)) counts.set(v, (counts.get(v) ?? 0) + 1);
  });
  return counts;
}

/** The variables that a statement itself reads or sets, as often as it does. */
export function mentioned(s: Stmt): Var[] {
  const vars: Var[] = [];
  const inside = (e: Expr): void => {
    if (e.op === 'var') vars.push(e.var);
    for (const part of exprParts(e)) inside(part);
  };
  for (const e of stmtExprs(s)) inside(e);
  const target = targetOf(s);
  if (target !== undefined) vars.push(target);
  return vars;
}

/**
 * The block as a function of its own, or undefined when it is not an inlined function with a place in a file. `all` are the
 * occurrences in the function around it.
 */
export function asFunction(
  s: Stmt & { readonly op: 'block' },
  around: SourceText,
  all: Occurrences,
): Inlined | undefined {
  if (s.inlined === undefined) return undefined;
  const source = sourceInside(s.body, around);
  if (source?.script === undefined || source.script.url === '') return undefined;
  const own = occurrences(s.body);
  const assigned = new Set<Var>();
  eachStmt(s.body, (inner) => {
    const target = targetOf(inner);
    if (target !== undefined) assigned.add(target);
  });
  // What is handed back is taken too: a jump out of the middle may leave it as it was.
  const takes = [...own.keys()].filter((v) => own.get(v) !== all.get(v) || !startsAssigned(s.body, v));
  return { body: s, source, takes, gives: takes.filter((v) => assigned.has(v)) };
}

/** The variable that a statement sets. */
function targetOf(s: Stmt): Var | undefined {
  if (s.op === 'assign') return s.var;
  return s.op === 'atomic' || s.op === 'barrier' || s.op === 'warp' ? s.result : undefined;
}

/** The other source in which the statements of an inlined function stand. */
function sourceInside(body: readonly Stmt[], around: SourceText): SourceText | undefined {
  for (const s of body) {
    if (s.pos.source !== around) return s.pos.source;
  }
  return undefined;
}

/** Whether the first statement that mentions a variable sets it without reading it: then nothing older is ever read. */
function startsAssigned(body: readonly Stmt[], v: Var): boolean {
  const first = body.find((s) => occurrences([s]).has(v));
  return first?.op === 'assign' && first.var === v && mentioned(first).filter((u) => u === v).length === 1;
}
