/**
 * What all parts of the WebAssembly renderer share while one function is being written.
 *
 * A value of shape G or U is an ordinary WebAssembly value; of shape C, the value of lane 0 (lane k has k more); of shape V,
 * a number of `v128` parts. A part holds four lanes of a 4-byte type (bool: a mask of all ones or zeros a lane) or two
 * lanes of an 8-byte type; what fits may be kept in lanes of 8 or 16 bits (`widths`). Scalar code is the same code with every
 * shape forced to U and one lane.
 */
import type { ArraySym, Check, Expr, Kernel, Label, MemRef, Stmt, ValueType, Var } from '../../ir/ops.ts';
import type { LaneBits, LaneWidths } from '../../ir/passes/lane-widths.ts';
import type { Shape, Uniformity } from '../../ir/passes/uniformity.ts';
import type { FaultSite, PrintSite } from '../sites.ts';
import type { BranchTarget, FunctionBuilder, Local, WasmType } from './assembler.ts';
import type { Helpers } from './helpers.ts';
import type { LaneFacts } from './lane-facts.ts';
import type { WasmVariant } from './module.ts';
import type { Scan } from './prefix-ladders.ts';
import type { Ranges } from './ranges.ts';
import type { Rows } from './row-sums.ts';
import type { ScratchLayout } from './scratch.ts';

/** Which lanes are active: one `v128` of 32-bit lane masks for each four lanes. */
export interface Mask {
  readonly parts: readonly Local[];
  /** Where to go when no lane is left. */
  readonly empty: BranchTarget;
  /** How many times code has been written that takes lanes away. */
  kills: number;
  /** Whether lanes have been taken away since it was last made sure that some are left. */
  untested: boolean;
}

/** A value kept in locals: one for shapes G, U and C, the parts for V. */
export interface Kept {
  readonly type: ValueType;
  readonly shape: Shape;
  /** None for a value that is wanted only as a vector, and loaded as one: see `splat`. */
  readonly locals: readonly Local[];
  /** Bits of the lanes of a V that has narrower ones than its type. */
  readonly bits?: LaneBits;
  /** A value for all lanes, once some part of a vector has asked for it as a vector. */
  splat?: Local;
}

/** An operation on integers of 32 bits whose order nobody can tell, and which does not ask what was there. */
export type Counted = Pick<Stmt & { op: 'atomic' }, 'fn' | 'mem'>;

/** An element of a shared array and the vector that holds what lanes have done to it: see `counters.ts`. */
export interface Counter {
  readonly of: Counted;
  readonly place: number;
  readonly local: Local;
}

/** What turns out about a module while it is written: see `WasmModule`. */
export interface Traits {
  exclusive: boolean;
}

/** Where an access is, less threadIdx.x times the scale of its index. */
export interface Pointer {
  readonly mem: MemRef;
  readonly local: Local;
  /** Of one that is counted on with threadIdx.x, and is where the access is: how many bytes that lies beyond it. */
  readonly beyond?: number;
}

/** Thrown where scalar code does better, or alone can do what the kernel asks; the renderer then starts again with one lane. */
export class ScalarOnly extends Error {}

export interface Gen {
  readonly kernel: Kernel;
  readonly variant: WasmVariant;
  readonly uniformity: Uniformity;
  readonly f: FunctionBuilder;
  readonly helpers: Helpers;
  /** 1, or a multiple of 4. */
  readonly lanes: number;
  /** Whether vectors are warps: see `UniformityOptions.warps`. */
  readonly warps: boolean;
  readonly layout: ScratchLayout;
  readonly shapes: Map<Expr, Shape>;
  readonly laneFacts: LaneFacts;
  /** What expressions are in each lane of a warp: see `static-lanes.ts`. */
  readonly staticLanes: Map<Expr, readonly (number | bigint | boolean)[]>;
  /** In how many bits values are best computed; undefined where nothing is narrow. */
  readonly widths: LaneWidths | undefined;
  /** Locals of variables, by `Var.id`. */
  readonly vars: Map<number, readonly Local[]>;
  /** Expressions already evaluated for the current statement: loads above all. */
  readonly prepared: Map<Expr, Kept>;
  readonly params: Map<number, Local>;
  readonly bases: Map<ArraySym, Local>;
  /** Global arrays that are copies in scratch memory here: where they are there. See `own-copies.ts`. */
  readonly own: ReadonlyMap<ArraySym, number>;
  /** Per extent expression that is a parameter: the first base index at which a whole vector does not fit. */
  readonly limits: Map<number, Local>;
  readonly sites: FaultSite[];
  readonly prints: PrintSite[];
  readonly traits: Traits;
  /** The group function's own values. */
  readonly at: {
    readonly thread: readonly [Local, Local, Local];
    readonly block: readonly [Local, Local, Local];
    /** Where blockIdx.x ends. */
    readonly endX: Local;
    readonly grid: readonly [Local, Local, Local];
    readonly sharedBytes: Local;
    /** Scratch memory of the block, and where the worker's begins, which holds the fault record: see `neighbours.ts`. */
    readonly scratch: Local;
    readonly home: Local;
    readonly record: Local;
    /** threadIdx.x of lane 0 counted through the whole block; set at the start of each item. */
    readonly item: Local;
  };
  readonly fault: {
    readonly target: BranchTarget;
    readonly site: Local;
    /** Lanes that failed, one bit each. */
    readonly bits: Local;
    readonly index: Local;
    readonly extent: Local;
  };
  /** What integers may be. */
  readonly ranges: Ranges;
  /** Bounds checks that always hold and are left out. */
  readonly eliminated: ReadonlySet<Check>;
  /** Bounds checks that have been hoisted: made for all the work items to be run here. Set in `scope.ts`, as are depth and mask. */
  readonly hoisted: ReadonlySet<Check>;
  /** First of several assignments, none of which changes what another one reads, that share loads: how many there are. */
  readonly parallel: Map<Stmt, number>;
  /** Parameters of arrays that share no memory with any that the kernel writes. */
  readonly apart: ReadonlySet<number>;
  /** Arrays: regions that store to them run their items from the last to the first. See `barrier-fusion.ts`. */
  readonly downwards: ReadonlySet<ArraySym>;
  /** Loops of first threads that are passes over shared arrays. See `scan-rows.ts`. */
  readonly scans: ReadonlyMap<Label, Scan>;
  /** In scalar code, loops whose rounds may be lanes. */
  readonly rows: Rows | undefined;
  /** For each `uniform` of the region: whether an item has been there, and the value that it found. */
  readonly firstSeen: Map<Expr, { readonly seen: Local; readonly value: Local }>;
  /** Variables kept once for the block. */
  readonly blockVars: readonly Var[];
  /** threadIdx.x of lane 0, where the code is written for one vector of a row alone. */
  readonly first: number | undefined;
  /** What threadIdx.x has more than its local, in the code of one of several items that share what is computed from that. */
  readonly shift: number | undefined;
  /** What indices are made of: by `Var.id`, values that follow from threadIdx.x and stay the same while an item runs. */
  readonly definitions: ReadonlyMap<number, Expr>;
  /** How many loops of the region enclose this place. */
  readonly loopDepth: number;
  /** Whether few vectors run this code. */
  readonly rare: boolean;
  /** Whether this is scalar code of the item beside the one that is noted: see `pairs.ts`. */
  readonly second: boolean;
  /** Counters of the region that are in registers. */
  readonly counters: readonly Counter[];
  /** The active lanes; null: all. */
  readonly mask: Mask | null;
  /** Where rows begin in memory, by index: see `stretches.ts` and `box-rows.ts`. */
  readonly pointers: ReadonlyMap<Expr, Pointer>;
  /** Where not 0, inactive lanes are items of the row that have stored all that active ones store: see `box-rows.ts`. */
  readonly stored: Local | undefined;
  /** How fast things change, for address arithmetic: see `ranking`. */
  rank(e: Expr): number;
}

export function wasmType(type: ValueType): Exclude<WasmType, 'v128'> {
  switch (type) {
    case 'i64':
    case 'u64':
      return 'i64';
    case 'f32':
    case 'f64':
      return type;
    default:
      return 'i32';
  }
}

/** Whether values of the type take eight bytes: twice as many parts, of two lanes each. */
export function isWide(type: ValueType): boolean {
  return type === 'i64' || type === 'u64' || type === 'f64';
}

/** Number of `v128` that hold a V value. */
export function partCount(g: Gen, type: ValueType): number {
  return isWide(type) ? g.lanes / 2 : g.lanes / 4;
}

/** Number of `v128` of lanes of so many bits. */
export function partsOf(g: Gen, bits: LaneBits): number {
  return (g.lanes * bits) / 128;
}

/** Bits of the lanes in which a vector variable is kept; of 8-byte types those of its masks. */
export function varBits(g: Gen, v: Var): LaneBits {
  return g.widths?.ofVar(v) ?? 32;
}

/** Parts that hold lane masks. */
export function maskParts(g: Gen): number {
  return g.lanes / 4;
}

/** What is asked for shapes. */
export type Shapes = Pick<Gen, 'lanes' | 'shapes' | 'uniformity'>;

export function shapeOf(g: Shapes, e: Expr): Shape {
  if (g.lanes === 1) return 'U';
  const known = g.shapes.get(e);
  if (known !== undefined) return known;
  const shape = g.uniformity.shape(e);
  g.shapes.set(e, shape);
  return shape;
}

export function isVector(g: Gen, e: Expr): boolean {
  return shapeOf(g, e) === 'V';
}

export function varShape(g: Shapes, v: Var): Shape {
  return g.lanes === 1 ? 'U' : g.uniformity.varShape(v);
}

/** Locals of a variable, made at first use. */
export function varLocals(g: Gen, v: Var): readonly Local[] {
  let locals = g.vars.get(v.id);
  if (locals === undefined) {
    locals =
      varShape(g, v) === 'V'
        ? Array.from({ length: isWide(v.type) ? partCount(g, v.type) : partsOf(g, varBits(g, v)) }, () =>
            g.f.local('v128'),
          )
        : [g.f.local(wasmType(v.type))];
    g.vars.set(v.id, locals);
  }
  return locals;
}

/** Type of addresses. */
export function addressType(g: Gen): 'i32' | 'i64' {
  return g.variant.memory64 ? 'i64' : 'i32';
}

export function newSite(g: Gen, site: FaultSite): number {
  return g.sites.push(site) - 1;
}

export function keptTypes(kept: Kept): WasmType {
  return kept.shape === 'V' ? 'v128' : wasmType(kept.type);
}
