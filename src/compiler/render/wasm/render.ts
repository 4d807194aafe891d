/**
 * The WebAssembly renderer: a kernel, specialised on a block shape, to the bytes of a module that runs ranges of blocks.
 *
 * `run` calls `group` for a few neighbouring blocks at a time. They are separate functions on purpose: engines have no on-stack
 * replacement for WebAssembly, so that code compiled better in the meantime takes effect at the next call.
 */
import type { Expr, Kernel, MathFn } from '../../ir/ops.ts';
import { interchange } from '../../ir/passes/interchange.ts';
import { runAnalysing, runPass } from '../../ir/passes/pipeline.ts';
import { formRegions, type Regions } from '../../ir/passes/regions.ts';
import { lowerReturns } from '../../ir/passes/returns.ts';
import type { UniformityOptions } from '../../ir/passes/shapes.ts';
import { eachStmt, exprParts, stmtExprs } from '../../ir/passes/walk.ts';
import { FAULT } from '../reports.ts';
import type { FaultSite, PrintSite } from '../sites.ts';
import { ModuleBuilder } from './assembler.ts';
import { fuseIndexLoads } from './fuse.ts';
import { type Gen, isWide, ScalarOnly, wasmType } from './gen.ts';
import { Helpers } from './helpers.ts';
import type { RenderWasm, WasmModule, WasmVariant } from './module.ts';
import { RECORD_PARAMS_SLOT } from './module.ts';
import { eliminatedChecks } from './ranges.ts';
import { runBody } from './run.ts';
import { layOutScratch } from './scratch.ts';
import { ranking } from './structure.ts';
import { emitNodes } from './work-items.ts';

export const renderWasm: RenderWasm = (kernel, variant) => {
  const lanes = lanesFor(kernel, variant);
  try {
    return render(kernel, variant, lanes);
  } catch (error) {
    if (error instanceof ScalarOnly) return render(kernel, variant, 1);
    throw error;
  }
};

type Lanes = 1 | 4 | 8 | 16;
type Block = readonly [number, number, number];

/**
 * Lanes of a vector: several `v128` for each value keep the processor's units busy and share the work that is done once for
 * all lanes. Two are 1.2 to 1.5 times faster than one where arithmetic counts, four as much again where there is little else;
 * with many accesses to memory they only run out of registers. 8-byte types have twice as many parts already, and short rows
 * would be mostly tail.
 */
function lanesFor(kernel: Kernel, variant: WasmVariant): Lanes {
  const [width] = variant.block;
  if (variant.lanes === 1 || width < 4) return 1;
  const wide = kernel.arrays.some((a) => isWide(a.elem as Expr['type'])) || kernel.vars.some((v) => v.type === 'f64');
  if (wide) return 4;
  if (width % 16 === 0 && isArithmetic(kernel)) return 16;
  // A row that is one vector needs no loop.
  if (width === 16 && isLean(kernel)) return 16;
  return width % 8 === 0 || width >= 64 ? 8 : 4;
}

/** Whether float arithmetic outweighs accesses to memory. */
function isArithmetic(kernel: Kernel): boolean {
  let [operations, accesses] = [0, 0];
  const count = (e: Expr): void => {
    if (e.op === 'load') accesses++;
    else if (e.type === 'f32' && e.op !== 'const' && e.op !== 'var' && e.op !== 'param') operations++;
    for (const operand of exprParts(e)) count(operand);
  };
  eachStmt(kernel.body, (s) => {
    if (s.op === 'store' || s.op === 'atomic') accesses++;
    for (const e of stmtExprs(s)) count(e);
  });
  return operations >= 4 * accesses;
}

/** Whether few values are loaded for each statement, and in all: then four parts of each stay in registers. */
function isLean(kernel: Kernel): boolean {
  let [loads, most] = [0, 0];
  const count = (e: Expr): number => {
    const below = exprParts(e).reduce((sum, operand) => sum + count(operand), 0);
    return below + (e.op === 'load' ? 1 : 0);
  };
  eachStmt(kernel.body, (s) => {
    const here = stmtExprs(s).reduce((sum, e) => sum + count(e), 0);
    loads += here;
    most = Math.max(most, here);
  });
  return most <= 2 && loads <= 6;
}

function render(source: Kernel, variant: WasmVariant, lanes: Lanes): WasmModule {
  const [width, height, depth] = variant.block;
  // Rows are run as whole vectors, the last one under a mask, so that a vector never reaches into the next row.
  const options = { block: [Math.ceil(width / lanes) * lanes, height, depth], lanes } as const;
  const regions = regionsOf(runPass({ name: 'fuse index loads', run: fuseIndexLoads }, source), options);
  const { kernel } = regions;
  const used = usedFeatures(kernel);

  const module = new ModuleBuilder({ memory64: variant.memory64 });
  const pointer = variant.memory64 ? 'i64' : 'i32';
  const helpers = new Helpers(module, used.math, used.prints > 0, pointer);
  const group = module.function(['i32', 'i32', 'i32', 'i32', pointer, pointer], ['i32']);
  module.export('run', module.written(['i32', 'i32', pointer, pointer], ['i32'], runBody(group.index)));

  const f = group.builder;
  const layout = layOutScratch(kernel, regions, variant.block, lanes, used.printValues);
  const sites: FaultSite[] = [];
  const prints: PrintSite[] = [];
  const constants = layOutConstants(kernel);
  const failed = f.block();
  const g: Gen = {
    kernel,
    variant,
    uniformity: regions.uniformity,
    f,
    helpers,
    lanes,
    layout,
    shapes: new Map(),
    vars: new Map(),
    prepared: new Map(),
    params: new Map(),
    bases: new Map(),
    limits: new Map(),
    sites,
    prints,
    at: {
      block: [0, 2, 3],
      record: 4,
      scratch: 5,
      thread: [f.local('i32'), f.local('i32'), f.local('i32')],
      grid: [f.local('i32'), f.local('i32'), f.local('i32')],
      sharedBytes: f.local('i32'),
      item: f.local('i32'),
    },
    fault: {
      target: failed,
      site: f.local('i32'),
      bits: f.local('i32'),
      index: f.local('i64'),
      extent: f.local('i64'),
    },
    eliminated: eliminatedChecks(kernel, variant.block),
    hoisted: new Set(),
    parallel: new Map(),
    firstSeen: new Map(),
    blockVars: kernel.vars.filter((v) => regions.storage.get(v.id)?.kind === 'uniform'),
    loopDepth: 0,
    mask: null,
    rank: ranking(kernel.body),
  };
  writePrologue(g, used, constants.offsets);
  const [x] = g.at.block;
  const endX = 1;
  const again = f.loop();
  const done = f.block();
  emitNodes(g, regions, regions.nodes, done);
  f.end();
  f.get(x);
  f.i32(1);
  f.op('i32.add');
  f.tee(x);
  f.get(endX);
  f.op('i32.lt_u');
  f.brIf(again);
  f.end();
  f.i32(0);
  f.op('return');
  f.end();
  writeFault(g);
  f.i32(0);

  return {
    bytes: module.finish(),
    lanes: lanes === 1 ? 1 : 4,
    sites,
    scratchBytes: layout.bytes,
    constants: constants.bytes,
    math: [...used.math],
    prints,
  };
}

/** Vectors in a row from which on a loop around rows is as good as one inside of them. */
const LONG_ROW = 8;

function regionsOf(kernel: Kernel, options: UniformityOptions & { block: Block; lanes: Lanes }): Regions {
  const { block, lanes } = options;
  const form = (k: Kernel): Regions => formRegions(runAnalysing('lower returns', k, lowerReturns), options);
  const plain = form(kernel);
  const long = lanes > 1 && block[0] >= LONG_ROW * lanes;
  const turned = long ? runPass({ name: 'interchange', run: (k) => interchange(k, options) }, kernel) : kernel;
  if (turned === kernel) return plain;
  const regions = form(turned);
  const same = regions.slots.length <= plain.slots.length && regions.perItemArrays.size <= plain.perItemArrays.size;
  return same ? regions : plain;
}

interface Used {
  readonly params: ReadonlySet<number>;
  /** Parameters that are extents in bounds checks. */
  readonly extents: ReadonlySet<number>;
  readonly math: ReadonlySet<MathFn>;
  readonly specials: ReadonlySet<string>;
  readonly prints: number;
  readonly printValues: number;
}

function usedFeatures(kernel: Kernel): Used {
  const used = {
    params: new Set<number>(),
    extents: new Set<number>(),
    math: new Set<MathFn>(),
    specials: new Set<string>(),
    prints: 0,
    printValues: 0,
  };
  const seen = new Set<Expr>();
  const visit = (e: Expr): void => {
    if (seen.has(e)) return;
    seen.add(e);
    if (e.op === 'param') used.params.add(e.param);
    else if (e.op === 'call') used.math.add(e.fn);
    else if (e.op === 'special') used.specials.add(e.name);
    else if (e.op === 'load') {
      for (const { extent } of e.mem.checks) if (extent.op === 'param') used.extents.add(extent.param);
    }
    for (const operand of exprParts(e)) visit(operand);
  };
  eachStmt(kernel.body, (s) => {
    for (const e of stmtExprs(s)) visit(e);
    if (s.op === 'store' || s.op === 'atomic') {
      for (const { extent } of s.mem.checks) if (extent.op === 'param') used.extents.add(extent.param);
    }
    if (s.op !== 'print') return;
    used.prints++;
    used.printValues = Math.max(used.printValues, s.parts.length);
  });
  return used;
}

/** Constant arrays one after another, with room for a vector that reaches over an end. */
function layOutConstants(kernel: Kernel): { bytes: Uint8Array; offsets: ReadonlyMap<number, number> } {
  const offsets = new Map<number, number>();
  const pieces: [number, Uint8Array][] = [];
  let at = 0;
  for (const array of kernel.arrays) {
    if (array.space !== 'constant') continue;
    const align = Math.max(16, array.align);
    at = Math.ceil(at / align) * align;
    offsets.set(array.id, at);
    pieces.push([at, array.data ?? new Uint8Array()]);
    at += (array.data?.length ?? 0) + 64;
  }
  const bytes = new Uint8Array(at);
  for (const [offset, piece] of pieces) bytes.set(piece, offset);
  return { bytes, offsets };
}

/** Loads what the code uses of the launch record. */
function writePrologue(g: Gen, used: Used, constants: ReadonlyMap<number, number>): void {
  const { f, at, kernel } = g;
  const pointer = g.variant.memory64 ? 'i64' : 'i32';
  const load = (offset: number): void => {
    f.get(at.record);
    f.memory('i32.load', 2, offset);
  };
  for (const [axis, local] of at.grid.entries()) {
    if (!used.specials.has(`gridDim.${'xyz'[axis]}`)) continue;
    load(4 * axis);
    f.set(local);
  }
  if (used.specials.has('sharedBytes')) {
    load(12);
    f.set(at.sharedBytes);
  }
  for (const param of kernel.params) {
    const offset = 8 * (RECORD_PARAMS_SLOT + param.index);
    if (param.type === 'ptr' || !used.params.has(param.index)) continue;
    const type = wasmType(param.type);
    const local = f.local(type);
    f.get(at.record);
    f.memory(`${type}.load`, type === 'i64' || type === 'f64' ? 3 : 2, offset);
    f.set(local);
    g.params.set(param.index, local);
    if (used.extents.has(param.index) && g.lanes > 1 && (param.type === 'i32' || param.type === 'i64'))
      writeLimit(g, param.index, param.type, local);
  }
  for (const array of kernel.arrays) {
    if (array.space !== 'global' && array.space !== 'constant') continue;
    const local = f.local(pointer);
    f.get(at.record);
    f.memory(`${pointer}.load`, 2, array.space === 'global' ? 8 * (RECORD_PARAMS_SLOT + (array.param ?? 0)) : 16);
    if (array.space === 'constant') {
      if (pointer === 'i64') f.i64(constants.get(array.id) ?? 0);
      else f.i32(constants.get(array.id) ?? 0);
      f.op(`${pointer}.add`);
    }
    f.set(local);
    g.bases.set(array, local);
  }
}

/** The least index at which a whole vector does not fit below the extent: max(extent - (lanes - 1), 0). */
function writeLimit(g: Gen, param: number, type: 'i32' | 'i64', extent: number): void {
  const { f } = g;
  const limit = f.local(type);
  const push = (value: number): void => (type === 'i64' ? f.i64(value) : f.i32(value));
  f.get(extent);
  push(g.lanes - 1);
  f.op(`${type}.sub`);
  push(0);
  f.get(extent);
  push(g.lanes - 1);
  f.op(`${type}.gt_s`, 'select');
  f.set(limit);
  // By way of memory: else the optimiser would compute it anew at each use, inside of loops.
  const slot = g.layout.faultLanes;
  f.get(g.at.scratch, limit);
  f.memory(`${type}.store`, 2, slot);
  f.get(g.at.scratch);
  f.memory(`${type}.load`, 2, slot);
  f.set(limit);
  g.limits.set(param, limit);
}

/** Where failed checks come together: fills the fault record and returns the site. */
function writeFault(g: Gen): void {
  const { f, at, fault } = g;
  f.get(at.scratch, fault.site);
  f.memory('i32.store', 2, FAULT.site);
  f.get(at.scratch, at.item, fault.bits);
  f.op('i32.ctz', 'i32.add');
  f.memory('i32.store', 2, FAULT.thread);
  f.get(at.scratch, at.block[0]);
  f.op('i64.extend_i32_s');
  f.memory('i64.store', 3, FAULT.block);
  f.get(at.scratch, fault.index);
  f.memory('i64.store', 3, FAULT.index);
  f.get(at.scratch, fault.extent);
  f.memory('i64.store', 3, FAULT.extent);
  f.get(fault.site);
  f.i32(1);
  f.op('i32.add', 'return');
}
