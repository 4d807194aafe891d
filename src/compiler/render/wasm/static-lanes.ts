/**
 * Values that each lane of a warp has while the code is written: functions of `laneId` and constants, such as `laneId >= 16`.
 */
import { i32 } from '../../ir/builder.ts';
import type { Expr } from '../../ir/ops.ts';
import { foldExpr } from '../../ir/passes/fold.ts';
import { exprParts, mapExpr, someExpr } from '../../ir/passes/walk.ts';
import type { Gen } from './gen.ts';

type Constant = (Expr & { op: 'const' })['value'];

const NONE: readonly Constant[] = [];

/** The value of an expression in each lane; undefined where a vector is no warp, or the value is not known. */
export function staticLanes(g: Gen, e: Expr): readonly Constant[] | undefined {
  if (!g.warps || g.lanes === 1) return undefined;
  let known = g.staticLanes.get(e);
  if (known === undefined) {
    known = isStatic(e) ? Array.from({ length: g.lanes }, (_, lane) => valueIn(e, lane)).filter(isKnown) : NONE;
    g.staticLanes.set(e, known);
  }
  return known.length === g.lanes ? known : undefined;
}

/** The lanes in which a condition holds, one bit each, where that is known and not the same in all lanes' code anyway. */
export function staticBits(g: Gen, cond: Expr): number | undefined {
  if (!someExpr(cond, (e) => e.op === 'special')) return undefined;
  return staticLanes(g, cond)?.reduce<number>((bits, holds, lane) => (holds ? bits | (1 << lane) : bits), 0);
}

function isStatic(e: Expr): boolean {
  switch (e.op) {
    case 'const':
      return true;
    case 'special':
      return e.name === 'laneId';
    case 'unary':
    case 'binary':
    case 'compare':
    case 'select':
    case 'cast':
      return exprParts(e).every(isStatic);
    case 'bitcast':
      return e.type === 'u32' && isStatic(e.a);
    default:
      return false;
  }
}

function valueIn(e: Expr, lane: number): Constant | undefined {
  const value = foldExpr(mapExpr(e, (x) => (x.op === 'special' ? i32(lane) : x)));
  return value.op === 'const' ? value.value : undefined;
}

const isKnown = (value: Constant | undefined): value is Constant => value !== undefined;

/** Pushes ones in the lanes of a part that are set in `bits`. */
export function pushLaneMask({ f }: Gen, bits: number, perPart: 2 | 4): void {
  const word = (k: number): number => ((bits >> (perPart === 2 ? k >> 1 : k)) & 1 ? -1 : 0);
  f.v128([word(0), word(1), word(2), word(3)]);
}
