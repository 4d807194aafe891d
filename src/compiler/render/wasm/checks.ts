/**
 * Run-time checks: bounds, conversions, exponents, uniform values.
 *
 * On the fast path a check is one comparison: of the uniform index, of the base of a consecutive one with the last base
 * at which a whole vector fits, or of all lanes at once. Only when one fails does slower code find out which lanes, if any
 * active ones, are to blame; it then sets the fault locals and leaves for the end of the function, so that loops hold no
 * calls. The lanes of a vector go in step: of two that fail in different places, the one that fails first is reported.
 */
import { canFail } from '../../ir/measures.ts';
import type { Expr, MemRef, Stmt } from '../../ir/ops.ts';
import { isUnsigned } from '../../ir/ops.ts';
import { fits } from '../../ir/passes/lane-widths.ts';
import { eachStmt, exprParts, someExpr, someStmt, stmtExprs } from '../../ir/passes/walk.ts';
import { sameExpr } from '../../ir/same.ts';
import type { FaultSite } from '../sites.ts';
import type { Local } from './assembler.ts';
import { lanesPart, part, scalar } from './expr.ts';
import { type Gen, isWide, type Kept, maskParts, newSite, partsOf, shapeOf, wasmType } from './gen.ts';
import type { Offsets } from './lane-facts.ts';
import { lanesName } from './narrow-ops.ts';

/** Something that must not be. */
export interface Hazard {
  /** bool: true where the check fails. */
  readonly bad: Expr;
  readonly site: Omit<FaultSite, 'kind'> & { readonly kind: FaultSite['kind'] };
  /** What the fault record reports. */
  readonly index: Expr;
  readonly extent: Expr | undefined;
}

const unsigned = (e: Expr): Expr => {
  if (isUnsigned(e.type)) return e;
  return { op: 'bitcast', type: isWide(e.type) ? 'u64' : 'u32', a: e };
};

const toLong = (e: Expr): Expr => (isWide(e.type) ? e : { op: 'cast', type: 'i64', to: 'i64', a: e });

/** The bounds checks of one access, one an axis. */
export function boundsHazards(g: Gen, mem: MemRef): Hazard[] {
  if (!g.kernel.checked) return [];
  return mem.checks
    .filter((check) => !g.eliminated.has(check) && !g.hoisted.has(check))
    .map((check) => {
      const mixed = isWide(check.index.type) !== isWide(check.extent.type);
      const index = mixed ? toLong(check.index) : check.index;
      const extent = mixed ? toLong(check.extent) : check.extent;
      return {
        bad: { op: 'compare', type: 'bool', fn: 'ge', a: unsigned(index), b: unsigned(extent) },
        site: { kind: 'bounds', pos: mem.pos, array: mem.array, axis: check.axis },
        index,
        extent,
      };
    });
}

/** Whether statements assign and store, perhaps under conditions, and nothing in them can fail. */
export function cannotFail(g: Gen, list: readonly Stmt[]): boolean {
  const isSafe = (e: Expr): boolean =>
    !someExpr(e, (x) => (x.op === 'load' ? boundsHazards(g, x.mem).length > 0 : canFail(x)));
  return !someStmt(list, (s) => {
    if (s.op !== 'assign' && s.op !== 'store' && s.op !== 'if') return true;
    return (s.op === 'store' && boundsHazards(g, s.mem).length > 0) || !stmtExprs(s).every(isSafe);
  });
}

/** Stops the kernel where one of the hazards holds for an active lane. */
export function guard(g: Gen, hazards: readonly Hazard[]): void {
  const { f } = g;
  const distinct: Hazard[] = [];
  for (const h of hazards) if (!distinct.some((d) => sameExpr(d.bad, h.bad))) distinct.push(h);
  if (distinct.length === 0) return;
  const ok = f.block();
  const slow = f.block();
  suspicion(g, distinct, () => f.brIf(slow));
  f.br(ok);
  f.end();
  for (const [i, hazard] of distinct.entries()) {
    const certain = g.mask === null && i === distinct.length - 1;
    accuse(g, hazard, certain);
  }
  f.end();
}

/** Pushes conditions that hold wherever a hazard does, and perhaps elsewhere; `branch` after each. */
function suspicion(g: Gen, hazards: readonly Hazard[], branch: () => void): void {
  const { f } = g;
  // What does not change within the innermost loop can be tested at once: the optimiser moves it out.
  const steady = hazards.filter((h) => !isVectorish(g, h.bad));
  for (const [i, h] of steady.entries()) {
    scalar(g, h.bad);
    if (i > 0) f.op('i32.or');
  }
  if (steady.length > 0) branch();
  const vectors: Hazard[] = [];
  for (const h of hazards) {
    if (!isVectorish(g, h.bad)) continue;
    const even = h.extent !== undefined && !isVectorish(g, h.extent);
    const offsets = even && shapeOf(g, h.index) === 'V' ? knownOffsets(g, h.index) : undefined;
    if (even && shapeOf(g, h.index) === 'C') consecutiveTest(g, h.index, h.extent, branch);
    else if (even && offsets !== undefined) outermostTest(g, h.index, offsets, h.extent, branch);
    else vectors.push(h);
  }
  const full: Hazard[] = [];
  for (const h of vectors) {
    const bits = narrowIndex(g, h);
    if (bits === undefined) full.push(h);
    else narrowTest(g, h, bits, branch);
  }
  if (full.length === 0) return;
  for (const [i, h] of full.entries()) {
    for (let p = 0; p < maskParts(g); p++) {
      part(g, h.bad, p);
      if (i + p > 0) f.op('v128.or');
    }
  }
  f.op('i32x4.bitmask');
  branch();
}

const isVectorish = (g: Gen, e: Expr): boolean => g.lanes > 1 && (shapeOf(g, e) === 'V' || shapeOf(g, e) === 'C');

/** Whether base ... base + lanes - 1 may leave 0 ... extent - 1. */
function consecutiveTest(g: Gen, index: Expr, extent: Expr, branch: () => void): void {
  const { f } = g;
  const wide = isWide(index.type);
  const t = wide ? 'i64' : 'i32';
  if (extent.op === 'const') {
    scalar(g, index);
    const limit = Math.max(Number(extent.value) - g.lanes + 1, 0);
    if (wide) f.i64(limit);
    else f.i32(limit);
    f.op(`${t}.ge_u`);
    branch();
    return;
  }
  const limit = extent.op === 'param' ? g.limits.get(extent.param) : undefined;
  scalar(g, index);
  if (limit !== undefined) {
    f.get(limit);
    f.op(`${t}.ge_u`);
    branch();
    return;
  }
  scalar(g, extent);
  f.op(`${t}.ge_u`);
  branch();
  scalar(g, index);
  if (wide) f.i64(g.lanes - 1);
  else f.i32(g.lanes - 1);
  f.op(`${t}.add`);
  scalar(g, extent);
  f.op(`${t}.ge_u`);
  branch();
}

/** The narrow lanes that hold an index, which is not negative, where the extent is the same for all of them. */
function narrowIndex(g: Gen, { index, extent, site }: Hazard): 8 | 16 | undefined {
  const { widths } = g;
  if (site.kind !== 'bounds' || widths === undefined || extent === undefined || isVectorish(g, extent))
    return undefined;
  if (isWide(index.type) || isWide(extent.type) || shapeOf(g, index) !== 'V') return undefined;
  const bits = widths.of(index);
  return bits < 32 && fits(widths.ranges.of(index), bits) === 'u' ? (bits as 8 | 16) : undefined;
}

/** Whether an index in narrow lanes leaves 0 ... extent - 1: asked only where the extent does not exceed all that it can be. */
function narrowTest(g: Gen, { index, extent }: Hazard, bits: 8 | 16, branch: () => void): void {
  const { f } = g;
  if (extent === undefined) return;
  const lanes = lanesName(bits);
  scalar(g, extent);
  f.i32(g.widths?.ranges.of(index)?.[1] ?? 2 ** bits - 1);
  f.op('i32.le_u');
  f.if();
  const limit = f.temp('v128');
  scalar(g, extent);
  f.op(`${lanes}.splat`);
  f.set(limit);
  for (let p = 0; p < partsOf(g, bits); p++) {
    lanesPart(g, index, bits, p);
    f.get(limit);
    f.op(`${lanes}.ge_u`);
    if (p > 0) f.op('v128.or');
  }
  f.op('v128.any_true');
  f.release('v128', limit);
  branch();
  f.end();
}

/** How far the lanes of a 32-bit index lie from the first one, where that is known. */
export function knownOffsets(g: Gen, index: Expr): Offsets | undefined {
  return isWide(index.type) ? undefined : g.laneFacts.offsets(index);
}

/** Whether the lowest or the highest lane leaves 0 ... extent - 1: the others lie between them. */
function outermostTest(g: Gen, index: Expr, offsets: Offsets, extent: Expr, branch: () => void): void {
  const { f } = g;
  for (const [i, offset] of [Math.min(...offsets), Math.max(...offsets)].entries()) {
    scalar(g, index);
    if (offset !== 0) {
      f.i32(offset);
      f.op('i32.add');
    }
    scalar(g, extent);
    f.op('i32.ge_u');
    if (i > 0) f.op('i32.or');
  }
  branch();
}

/** Leaves with a fault where the hazard holds in an active lane; `certain`: it does, and no test is needed. */
function accuse(g: Gen, hazard: Hazard, certain: boolean): void {
  const { f, fault } = g;
  const site = newSite(g, hazard.site);
  if (g.lanes === 1) {
    if (!certain) {
      scalar(g, hazard.bad);
      f.if();
    }
    f.i32(g.second ? 2 : 1);
    f.set(fault.bits);
    leave(g, site, () => asLong(g, hazard.index), hazard.extent);
    if (!certain) f.end();
    return;
  }
  pushLanes(g, (p) => part(g, hazard.bad, p));
  if (certain) {
    // Nothing comes back from here, so that engines put it out of loops.
    f.set(fault.bits);
    leave(g, site, () => failingLane(g, hazard.index), hazard.extent);
    return;
  }
  f.tee(fault.bits);
  if (laneBits(g) === 'i64') {
    f.i64(0);
    f.op('i64.ne');
  }
  f.if();
  leave(g, site, () => failingLane(g, hazard.index), hazard.extent);
  f.end();
}

/** Lets lanes be checked one by one: that the number in `index` is below the extent of a hazard, if there is one. */
export function guardLanes(
  g: Gen,
  hazard: Hazard | undefined,
  index: Local,
  use: (check: (lane: number) => void) => void,
): void {
  const { f, fault } = g;
  const extent = hazard?.extent;
  if (hazard === undefined || extent === undefined) {
    use(() => {});
    return;
  }
  const failed = f.temp('i32');
  const ok = f.block();
  const slow = f.block();
  use((lane) => {
    f.i32(lane);
    f.set(failed);
    f.get(index);
    scalar(g, extent);
    f.op('i32.ge_u');
    f.brIf(slow);
  });
  f.br(ok);
  f.end();
  const bits = laneBits(g);
  f[bits](1);
  f.get(failed);
  if (bits === 'i64') f.op('i64.extend_i32_u');
  f.op(`${bits}.shl`);
  f.set(fault.bits);
  const long = (): void => {
    f.get(index);
    widenToLong(g, hazard.index.type);
  };
  leave(g, newSite(g, hazard.site), long, extent);
  f.end();
  f.release('i32', failed);
}

/** The type of integers with a bit for each lane. */
export function laneBits({ lanes }: Pick<Gen, 'lanes'>): 'i32' | 'i64' {
  return lanes > 32 ? 'i64' : 'i32';
}

/** Pushes which lane failed, as i32. */
export function pushFailingLane(g: Gen): void {
  g.f.get(g.fault.bits);
  if (laneBits(g) === 'i64') g.f.op('i64.ctz', 'i32.wrap_i64');
  else g.f.op('i32.ctz');
}

/** Pushes one bit for each active lane in which a condition (a mask part) holds: see `laneBits`. */
export function pushLanes(g: Gen, push: (p: number) => void): void {
  const { f } = g;
  const bits = laneBits(g);
  for (let p = 0; p < maskParts(g); p++) {
    push(p);
    const active = g.mask?.parts[p];
    if (active !== undefined) {
      f.get(active);
      f.op('v128.and');
    }
    f.op('i32x4.bitmask');
    if (bits === 'i64') f.op('i64.extend_i32_u');
    if (p > 0) {
      f[bits](4 * p);
      f.op(`${bits}.shl`, `${bits}.or`);
    }
  }
}

function leave(g: Gen, site: number, index: () => void, extent: Expr | undefined): void {
  const { f, fault } = g;
  f.i32(site);
  f.set(fault.site);
  index();
  f.set(fault.index);
  if (extent === undefined) f.i64(0);
  else if (isVectorish(g, extent)) failingLane(g, extent);
  else asLong(g, extent);
  f.set(fault.extent);
  f.br(fault.target);
}

/** Pushes a scalar as i64 (floats truncated). */
function asLong(g: Gen, e: Expr): void {
  scalar(g, e);
  widenToLong(g, e.type);
}

function widenToLong(g: Gen, type: Expr['type']): void {
  const { f } = g;
  switch (wasmType(type)) {
    case 'i32':
      f.op(isUnsigned(type) ? 'i64.extend_i32_u' : 'i64.extend_i32_s');
      return;
    case 'f32':
      f.op('i64.trunc_sat_f32_s');
      return;
    case 'f64':
      f.op('i64.trunc_sat_f64_s');
      return;
    case 'i64':
      return;
  }
}

/** Pushes the value of a failing lane, the lowest set bit of `fault.bits`, as i64. */
function failingLane(g: Gen, e: Expr): void {
  const { f, at, layout } = g;
  const shape = shapeOf(g, e);
  if (shape !== 'V') {
    asLong(g, e);
    if (shape === 'C') {
      pushFailingLane(g);
      f.op('i64.extend_i32_u', 'i64.add');
    }
    return;
  }
  const wide = isWide(e.type);
  for (let p = 0; p < (wide ? g.lanes / 2 : g.lanes / 4); p++) {
    f.get(at.scratch);
    part(g, e, p);
    f.memory('v128.store', 0, layout.faultLanes + 16 * p);
  }
  f.get(at.scratch);
  pushFailingLane(g);
  f.i32(wide ? 8 : 4);
  f.op('i32.mul');
  if (g.variant.memory64) f.op('i64.extend_i32_u', 'i64.add');
  else f.op('i32.add');
  f.memory(`${wasmType(e.type)}.load`, 0, layout.faultLanes);
  widenToLong(g, e.type);
}

/** `trap`: stops the kernel for the active lanes. */
export function emitTrap(g: Gen, site: FaultSite): void {
  const { f, fault } = g;
  if (g.mask === null) f[laneBits(g)](1);
  else pushLanes(g, (p) => f.get(g.mask?.parts[p] ?? 0));
  f.set(fault.bits);
  leave(g, newSite(g, site), () => f.i64(0), undefined);
}

/** What else than accesses can fail in an expression. */
export function expressionHazard(g: Gen, e: Expr): Hazard | undefined {
  if (!g.kernel.checked) return undefined;
  const pos = (e.op === 'cast' || e.op === 'binary' ? e.pos : undefined) ?? g.kernel.pos;
  if (e.op === 'cast' && e.checked) {
    const there: Expr = { op: 'cast', type: e.type, to: e.to, a: e.a };
    const back: Expr = { op: 'cast', type: e.a.type, to: e.a.type, a: there };
    return {
      bad: { op: 'compare', type: 'bool', fn: 'ne', a: back, b: e.a },
      site: { kind: 'cast', pos },
      index: e.a,
      extent: undefined,
    };
  }
  if (e.op === 'binary' && e.fn === 'ipow' && !isUnsigned(e.type)) {
    const zero: Expr = { op: 'const', type: e.type, value: isWide(e.type) ? 0n : 0 };
    return {
      bad: { op: 'compare', type: 'bool', fn: 'lt', a: e.b, b: zero },
      site: { kind: 'exponent', pos },
      index: e.b,
      extent: undefined,
    };
  }
  return undefined;
}

/** That all lanes have the value which was `kept` for the asserted expression, and the whole block the first one's. */
export function guardUniform(g: Gen, e: Expr & { op: 'unary' }, kept: Kept): void {
  if (!g.kernel.checked) return;
  const bits = (x: Expr): Expr =>
    x.type === 'f32' || x.type === 'f64' ? { op: 'bitcast', type: x.type === 'f32' ? 'u32' : 'u64', a: x } : x;
  const hazard = (other: Expr): Hazard => ({
    bad: { op: 'compare', type: 'bool', fn: 'ne', a: bits(e.a), b: bits(other) },
    site: { kind: 'uniform', pos: e.pos ?? g.kernel.pos },
    index: e.a,
    extent: undefined,
  });
  g.prepared.set(e, kept);
  if (shapeOf(g, e.a) === 'V' || shapeOf(g, e.a) === 'C') guard(g, [hazard(e)]);
  const first = g.firstSeen.get(e);
  if (first === undefined || g.loopDepth > 0) return;
  const { f } = g;
  const { seen, value } = first;
  f.get(seen);
  f.op('i32.eqz');
  f.if();
  f.i32(1);
  f.set(seen);
  f.get(kept.locals[0] ?? 0);
  f.set(value);
  f.end();
  const known: Expr = { ...e };
  g.shapes.set(known, 'G');
  g.prepared.set(known, { type: e.type, shape: 'G', locals: [value] });
  guard(g, [hazard(known)]);
  g.prepared.delete(known);
}

export type FirstSeen = ReadonlyMap<Expr, { readonly seen: Local; readonly value: Local }>;

/** Makes ready to compare the values that `uniform` finds in different items. */
export function watchUniforms(g: Gen, body: readonly Stmt[]): void {
  if (!g.kernel.checked) return;
  const { f } = g;
  const visit = (e: Expr): void => {
    if (e.op === 'unary' && e.fn === 'uniform') {
      // The code of interior blocks and of others shares expressions: each begins anew.
      const watched = g.firstSeen.get(e) ?? { seen: f.local('i32'), value: f.local(wasmType(e.type)) };
      g.firstSeen.set(e, watched);
      f.i32(0);
      f.set(watched.seen);
    }
    for (const operand of exprParts(e)) visit(operand);
  };
  eachStmt(body, (s) => {
    for (const e of stmtExprs(s)) visit(e);
  });
}
