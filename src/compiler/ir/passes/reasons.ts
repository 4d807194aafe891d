/**
 * Why a value is not the same in the whole block: the chain of reasons from an expression down to what differs by nature.
 *
 * The uniformity analysis notes for each variable what first made it vary; this follows those notes. The front end puts
 * the steps into the error of an illegal barrier.
 */
import type { Pos } from '../../source.ts';
import type { Expr, Stmt } from '../ops.ts';
import type { ShapeFacts } from './shapes.ts';
import { exprShape } from './shapes.ts';
import { exprParts } from './walk.ts';

/** One step of the answer to "why is this not uniform?". */
export interface Reason {
  readonly text: string;
  readonly pos?: Pos | undefined;
  /** The shared array that is written where others may read it. */
  readonly array?: string | undefined;
}

/** What first made a variable vary. */
export type VarCause =
  | { readonly kind: 'value'; readonly name: string; readonly value: Expr; readonly pos: Pos }
  | { readonly kind: 'atomic' | 'warp'; readonly name: string; readonly pos: Pos }
  | { readonly kind: 'control'; readonly parting: { readonly cond: Expr; readonly stmt: Stmt }; readonly pos: Pos };

/** Compilers' temporaries have no name that means anything to the user. */
const isTemporary = (name: string): boolean => name.startsWith('%');

export function reasons(e: Expr, facts: ShapeFacts, causes: ReadonlyMap<number, VarCause>): Reason[] {
  const chain: Reason[] = [];
  const seen = new Set<number>();
  for (let at: Expr | undefined = e; at !== undefined; ) at = step(at);
  return chain;

  /** Adds what there is to say about an expression; returns the expression that explains it further. */
  function step(e: Expr): Expr | undefined {
    if (exprShape(e, facts) === 'G') return undefined;
    switch (e.op) {
      case 'special':
        chain.push({ text: `${e.name} differs from thread to thread` });
        return undefined;
      case 'var':
        return variable(e);
      case 'load': {
        const { array } = e.mem;
        const varying = exprParts(e).find((part) => exprShape(part, facts) !== 'G');
        if (array.space === 'local')
          chain.push({ text: `'${array.name}' is a local array: each thread has its own`, pos: e.mem.pos });
        else if (varying) chain.push({ text: `the index into '${array.name}' varies`, pos: e.mem.pos });
        else
          chain.push({
            text: `'${array.name}' is written in this kernel, so that threads may read different values`,
            pos: e.mem.pos,
            array: array.space === 'shared' ? array.name : undefined,
          });
        return array.space === 'local' ? undefined : varying;
      }
      default:
        return exprParts(e).find((part) => exprShape(part, facts) !== 'G');
    }
  }

  function variable(e: Expr & { op: 'var' }): Expr | undefined {
    const cause = causes.get(e.var.id);
    if (!cause || seen.has(e.var.id)) return undefined;
    seen.add(e.var.id);
    const name = isTemporary(e.var.name) ? 'the value' : `'${e.var.name}'`;
    switch (cause.kind) {
      case 'value':
        if (!isTemporary(e.var.name))
          chain.push({ text: `${name} is computed from a value that varies`, pos: cause.pos });
        return cause.value;
      case 'atomic':
        chain.push({
          text: `${name} is the result of an atomic operation, which differs from thread to thread`,
          pos: cause.pos,
        });
        return undefined;
      case 'warp':
        chain.push({ text: `${name} comes from other lanes, and may differ from warp to warp`, pos: cause.pos });
        return undefined;
      case 'control': {
        const { stmt, cond } = cause.parting;
        const where =
          stmt.op === 'if' ? 'under a condition that varies' : 'in a loop or block that threads leave differently';
        chain.push({ text: `${name} is assigned ${where}`, pos: cause.pos });
        return cond;
      }
    }
  }
}
