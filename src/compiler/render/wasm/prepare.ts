/**
 * What a statement must evaluate before its own effect: the loads in its expressions, with their checks.
 *
 * Loads are taken level by level (those whose addresses hold no other load first), so that the checks of one level share
 * one branch. Each value goes into locals until the statement is done; equal loads are done once.
 */
import type { Expr, MemRef } from '../../ir/ops.ts';
import type { LaneBits } from '../../ir/passes/lane-widths.ts';
import { exprParts, memParts, someExpr } from '../../ir/passes/walk.ts';
import { sameExpr } from '../../ir/same.ts';
import { boundsHazards, expressionHazard, guard, guardUniform, type Hazard, knownOffsets } from './checks.ts';
import { deinterleaved } from './deinterleave.ts';
import { lanesPart, part, pushFirstLane } from './expr.ts';
import { type Gen, isVector, type Kept, keptTypes, partCount, partsOf, wasmType } from './gen.ts';
import { loadKept, loadSpread } from './memory.ts';
import { bitsFor, operandBits } from './narrow.ts';
import { turnedLoads } from './records.ts';

interface Level {
  readonly loads: (Expr & { op: 'load' })[];
  readonly asserted: (Expr & { op: 'unary' })[];
  /** Computed in narrow lanes and wanted in wider ones: once for all that they are widened to. */
  readonly narrow: Expr[];
  readonly hazards: Hazard[];
}

/** The operands that are evaluated: unchecked code has no use for the indices in checks. */
function operands(g: Gen, e: Expr): readonly Expr[] {
  return e.op === 'load' ? memOperands(g, e.mem) : exprParts(e);
}

function memOperands(g: Gen, mem: MemRef): readonly Expr[] {
  return g.kernel.checked ? memParts(mem) : [mem.index];
}

/** Whether an expression wants nothing but vectors of its operands. */
function takesVectors(g: Gen, e: Expr): boolean {
  if (e.op !== 'binary' || e.type !== 'f32' || !isVector(g, e)) return false;
  return e.fn === 'add' || e.fn === 'sub' || e.fn === 'mul' || e.fn === 'div';
}

/**
 * Evaluates the loads of `exprs` and the checks of `accesses`, then runs `body`, in which all of them can be used. The load
 * `apart` is checked but left to `body`. The first expression is wanted in lanes of `bits`.
 */
export function withPrepared(
  g: Gen,
  exprs: readonly Expr[],
  accesses: readonly MemRef[],
  body: () => void,
  apart?: Expr,
  bits: LaneBits = 32,
): void {
  const levels: Level[] = [];
  const depths = new Map<Expr, number>();
  const scalars = new Set<Expr>();
  /** In lanes of how many bits a load is wanted, at least. */
  const widths = new Map<Expr, LaneBits>();
  const level = (n: number): Level => {
    while (levels.length <= n) levels.push({ loads: [], asserted: [], narrow: [], hazards: [] });
    return levels[n] as Level;
  };
  /**
   * The level at which an expression can be evaluated: that many levels must have been loaded before. It is wanted in lanes of
   * `wanted` bits.
   */
  const visit = (e: Expr, wanted: LaneBits): number => {
    if (e.op === 'load' && !(wanted === 32 && exprs.includes(e))) widths.set(e, least(widths.get(e), wanted));
    const known = depths.get(e);
    if (known !== undefined) return known;
    let depth = 0;
    const spreads = takesVectors(g, e);
    const bits = bitsFor(g, e, wanted);
    const inner = e.op === 'load' ? 32 : operandBits(g, e, bits);
    for (const operand of operands(g, e)) {
      if (!spreads) scalars.add(operand);
      depth = Math.max(depth, visit(operand, inner));
    }
    const inVector = apart === undefined || !someExpr(e, (x) => x === apart);
    if (bits < wanted && inVector && e.op !== 'load' && e.op !== 'var' && !g.prepared.has(e))
      level(depth).narrow.push(e);
    if (!g.prepared.has(e)) {
      if (e.op === 'load') {
        level(depth).hazards.push(...boundsHazards(g, e.mem));
        if (e !== apart) level(depth).loads.push(e);
        depth++;
      } else if (
        (e.op === 'unary' && e.fn === 'uniform' && g.lanes > 1) ||
        (e.op === 'unary' && e.fn === 'uniform' && g.kernel.checked)
      ) {
        level(depth).asserted.push(e as Expr & { op: 'unary' });
        depth++;
      } else {
        const hazard = expressionHazard(g, e);
        if (hazard !== undefined) level(depth).hazards.push(hazard);
      }
    }
    depths.set(e, depth);
    return depth;
  };
  for (const [k, e] of exprs.entries()) {
    scalars.add(e);
    visit(e, k === 0 ? bits : 32);
  }
  for (const mem of accesses) {
    let depth = 0;
    for (const e of memOperands(g, mem)) {
      scalars.add(e);
      depth = Math.max(depth, visit(e, 32));
    }
    const hazards = boundsHazards(g, mem);
    if (hazards.length > 0) level(depth).hazards.push(...hazards);
  }
  const made: [Expr, Kept, boolean][] = [];
  for (const { loads, asserted, narrow, hazards } of levels) {
    for (const e of narrow) {
      const kept = keepNarrow(g, e);
      g.prepared.set(e, kept);
      made.push([e, kept, true]);
    }
    const indices = keepIndices(g, hazards, [...loads.map((e) => e.mem.index), ...accesses.map((mem) => mem.index)]);
    for (const [e, kept, owner] of indices) made.push([e, kept, owner]);
    guard(g, hazards);
    const members = g.lanes > 1 ? new Map([...deinterleaved(g, loads, widths), ...turnedLoads(g, loads)]) : undefined;
    for (const e of loads) {
      const spread = !scalars.has(e);
      const twin = made.find(([other, kept]) => sameExpr(other, e) && (spread || kept.locals.length > 0));
      const kept = twin?.[1] ?? members?.get(e) ?? (spread ? loadSpread(g, e) : undefined) ?? loadKept(g, e);
      g.prepared.set(e, kept);
      made.push([e, kept, twin === undefined]);
    }
    for (const e of asserted) {
      const kept = firstLane(g, e);
      guardUniform(g, e, kept);
      g.prepared.set(e, kept);
      made.push([e, kept, true]);
    }
  }
  body();
  for (const [e, kept, owner] of made) {
    g.prepared.delete(e);
    if (!owner) continue;
    g.f.release(keptTypes(kept), ...kept.locals);
    if (kept.splat !== undefined) g.f.release('v128', kept.splat);
  }
}

function least(a: LaneBits | undefined, b: LaneBits): LaneBits {
  return a !== undefined && a < b ? a : b;
}

/**
 * Evaluates the vectors that the checks of a level ask about into locals: a check uses its index several times, and most often
 * the address is computed from the same.
 */
function keepIndices(g: Gen, hazards: readonly Hazard[], addressed: readonly Expr[]): [Expr, Kept, boolean][] {
  const made: [Expr, Kept, boolean][] = [];
  for (const { index } of hazards) {
    if (g.prepared.has(index) || !isVector(g, index) || exprParts(index).length === 0) continue;
    if (knownOffsets(g, index) !== undefined) continue;
    const twin = made.find(([other]) => sameExpr(other, index));
    const kept = twin?.[1] ?? keepVector(g, index);
    made.push([index, kept, twin === undefined]);
    g.prepared.set(index, kept);
    if (twin !== undefined) continue;
    for (const e of addressed) {
      if (e === index || g.prepared.has(e) || !sameExpr(e, index)) continue;
      made.push([e, kept, false]);
      g.prepared.set(e, kept);
    }
  }
  return made;
}

function keepVector(g: Gen, e: Expr): Kept {
  const locals = Array.from({ length: partCount(g, e.type) }, (_, p) => {
    const local = g.f.temp('v128');
    part(g, e, p);
    g.f.set(local);
    return local;
  });
  return { type: e.type, shape: 'V', locals };
}

function keepNarrow(g: Gen, e: Expr): Kept {
  const bits = bitsFor(g, e, 32);
  const locals = Array.from({ length: partsOf(g, bits) }, (_, p) => {
    const local = g.f.temp('v128');
    lanesPart(g, e, bits, p);
    g.f.set(local);
    return local;
  });
  return { type: e.type, shape: 'V', bits, locals };
}

/** The value of an asserted expression in the first active lane. */
function firstLane(g: Gen, e: Expr & { op: 'unary' }): Kept {
  const local = g.f.temp(wasmType(e.type));
  pushFirstLane(g, e.a);
  g.f.set(local);
  return { type: e.type, shape: 'G', locals: [local] };
}
