/**
 * The WebAssembly renderer: a kernel, specialised on a block shape, to the bytes of a module that runs ranges of blocks.
 *
 * `run` calls `group` for a few neighbouring blocks at a time. They are separate functions on purpose: engines have no on-stack
 * replacement for WebAssembly, so that code compiled better in the meantime takes effect at the next call.
 */
import type { Expr, Kernel, Label, MathFn } from '../../ir/ops.ts';
import { columnRounds } from '../../ir/passes/column-rounds.ts';
import { chooseExtremes } from '../../ir/passes/extremes.ts';
import { type FullRounds, splitFullRounds } from '../../ir/passes/full-rounds.ts';
import { elementBits, LaneWidths } from '../../ir/passes/lane-widths.ts';
import { askAhead } from '../../ir/passes/loop-bounds.ts';
import { type Pass, runAnalysing, runPass } from '../../ir/passes/pipeline.ts';
import { splitQuotients } from '../../ir/passes/quotients.ts';
import type { Regions } from '../../ir/passes/regions.ts';
import { countRoundsApart } from '../../ir/passes/round-counters.ts';
import { eachStmt, exprParts, stmtExprs } from '../../ir/passes/walk.ts';
import { FAULT } from '../reports.ts';
import { type FunctionBuilder, ModuleBuilder } from './assembler.ts';
import { fuseBarriers } from './barrier-fusion.ts';
import { laneBits, pushFailingLane } from './checks.ts';
import { chooseItems } from './chosen-items.ts';
import { type Gen, ScalarOnly, wasmType } from './gen.ts';
import { Helpers } from './helpers.ts';
import { inlinePlaces } from './inline-places.ts';
import { type Lanes, lanesFor, lanesOfRounds } from './lane-count.ts';
import { LaneFacts } from './lane-facts.ts';
import type { RenderWasm, WasmModule, WasmVariant } from './module.ts';
import { RECORD_PARAMS_SLOT } from './module.ts';
import { emitNeighbours, findNeighbours, type Neighbours } from './neighbours.ts';
import { bytesOfCopies, ownCopiesOf, writeOwnRun } from './own-copies.ts';
import { recogniseLadders } from './prefix-ladders.ts';
import { eliminatedChecks, Ranges } from './ranges.ts';
import { inRowOrder, regionsOf, warpsOf } from './row-order.ts';
import { loopsInRows, rowSums } from './row-sums.ts';
import { blocksTogether, FIRST_CALL, runBody } from './run.ts';
import { isScattered } from './scattered.ts';
import { layOutScratch } from './scratch.ts';
import { keepOutside } from './slots.ts';
import { definitionsOf, ranking } from './structure.ts';
import { warpLanes } from './whole-warps.ts';
import { emitNodes } from './work-items.ts';

export const renderWasm: RenderWasm = (source, variant, scans = new Map()) => {
  const ladders = runAnalysing('recognise ladders', source, (k) => recogniseLadders(k, variant.block));
  const { kernel: fused, downwards } = runAnalysing('fuse barriers', ladders.kernel, (k) =>
    fuseBarriers(k, variant.block),
  );
  const known = { downwards, scans: new Map([...scans, ...ladders.scans]) };
  const lanes = lanesFor(fused, variant);
  if (lanes === 1 || loopsInRows(fused, variant).size > 0) return render(fused, variant, 1, known);
  const kernel = variant.quick === true ? fused : forVectors(fused, variant, lanes);
  try {
    const warps = warpLanes(kernel, variant) !== undefined;
    const split = (several: boolean): FullRounds =>
      runAnalysing('split full rounds', kernel, (k) => splitFullRounds(k, variant.block[0], several));
    const rounds = split(true);
    // Engines load all that several rounds need before anything is computed: eight lanes of 8 bytes are more than registers hold.
    const inRows = warps || lanes < 8 ? lanes : 8;
    const regions = inRowOrder(rounds, variant, inRows);
    if (regions !== undefined) return write(regions, variant, inRows, known, rounds);
    const columns = inColumns(kernel, variant, inRows);
    if (columns !== undefined) return write(columns, variant, inRows, known);
    const { kernel: plain, loops } = rounds.together.size === 0 ? rounds : split(false);
    const wider = loops.length > 0 && !warps ? lanesOfRounds(plain, loops, variant) : undefined;
    return render(plain, variant, wider ?? lanes, known);
  } catch (error) {
    if (error instanceof ScalarOnly) return render(fused, variant, 1, known);
    throw error;
  }
};

/** What makes more of a kernel the same or consecutive in lanes. */
function forVectors(source: Kernel, variant: WasmVariant, lanes: Lanes): Kernel {
  const passes: readonly Pass[] = [
    { name: 'choose items', run: (k) => chooseItems(k, variant.block) },
    { name: 'choose extremes', run: chooseExtremes },
    { name: 'inline places', run: inlinePlaces },
    { name: 'count rounds apart', run: (k) => countRoundsApart(k, variant.block, lanes) },
    { name: 'split quotients', run: (k) => splitQuotients(k, lanes) },
  ];
  return passes.reduce((kernel, pass) => runPass(pass, kernel), source);
}

/** The regions of a kernel whose threads go down columns, round by round; undefined for any other. */
function inColumns(kernel: Kernel, variant: WasmVariant, lanes: Lanes): Regions | undefined {
  const [width, height, depth] = variant.block;
  if (variant.quick === true || height * depth > 1) return undefined;
  const rounds = runAnalysing('split rounds of columns', kernel, (k) => columnRounds(k, width));
  return inRowOrder(rounds, variant, lanes);
}

/** What is known of a kernel's regions. */
type Known = Pick<Gen, 'downwards' | 'scans'>;

function render(kernel: Kernel, variant: WasmVariant, lanes: Lanes, known: Known): WasmModule {
  const ahead = lanes === 1 && variant.quick !== true;
  /** Loops that ask about their rounds themselves. */
  const asked = (k: Kernel): ReadonlySet<Label> => {
    const { rows, rare } = rowSums(k);
    return new Set([...rows.keys(), ...rare.keys()]);
  };
  const source = ahead ? runPass({ name: 'ask ahead', run: (k) => askAhead(k, asked(k)) }, kernel) : kernel;
  return write(regionsOf(source, variant, lanes), variant, lanes, known);
}

function write(regions: Regions, variant: WasmVariant, lanes: Lanes, known: Known, rounds?: FullRounds): WasmModule {
  const { kernel } = regions;
  const warps = warpsOf(kernel, variant, lanes);
  const laneFacts = new LaneFacts(kernel, regions.uniformity, lanes);
  if (lanes > 1 && warps === undefined && isScattered(kernel, regions.uniformity, laneFacts)) throw new ScalarOnly();
  const used = usedFeatures(kernel);

  const module = new ModuleBuilder({ memory64: variant.memory64 });
  const pointer = variant.memory64 ? 'i64' : 'i32';
  const helpers = new Helpers(module, used.math, used.prints > 0, pointer);
  const own = ownCopiesOf(kernel, variant);
  const layout = layOutScratch(kernel, regions, variant.block, lanes, used.printValues, bytesOfCopies(own));
  const neighbours = rounds && findNeighbours(regions, rounds, layout, variant);
  const constants = layOutConstants(kernel);
  const ranges = new Ranges(kernel, variant.block);
  const common: Common = {
    kernel,
    variant,
    uniformity: regions.uniformity,
    helpers,
    lanes,
    warps: warps !== undefined,
    layout,
    laneFacts,
    widths: warps === undefined ? laneWidths(regions, lanes) : undefined,
    sites: [],
    prints: [],
    traits: { exclusive: false },
    ranges,
    eliminated: eliminatedChecks(kernel, variant.block, ranges),
    apart: variant.apart ?? new Set(),
    downwards: known.downwards,
    scans: known.scans,
    rows: lanes === 1 ? rowSums(kernel) : undefined,
    blockVars: kernel.vars.filter((v) => regions.storage.get(v.id)?.kind === 'uniform'),
    definitions: variant.quick === true ? new Map() : definitionsOf(kernel.body),
    rank: ranking(kernel.body),
  };
  const most = module.global(FIRST_CALL);
  const together = blocksTogether(kernel, variant, neighbours?.most ?? 1);
  /** Declares `run`, which calls a function that runs a few blocks; this writes the latter. */
  const runOf = (copies: Gen['own']): number => {
    const { index, builder } = module.function(['i32', 'i32', 'i32', 'i32', pointer, pointer, 'i32'], ['i32']);
    const run = module.written(['i32', 'i32', pointer, pointer], ['i32'], runBody(index, most, together));
    const g = genOf(common, builder, copies, neighbours !== undefined);
    writeGroup(g, regions, used, constants.offsets, neighbours);
    return run;
  };
  const plain = runOf(new Map());
  if (own === undefined) module.export('run', plain);
  else {
    const { index, builder } = module.function(['i32', 'i32', pointer, pointer], ['i32']);
    const threads = variant.block[0] * variant.block[1] * variant.block[2];
    writeOwnRun(own, { f: builder, helpers, threads, at: layout.own, own: runOf(layout.own), plain });
    module.export('run', index);
  }

  return {
    bytes: module.finish(),
    lanes: lanes === 1 ? 1 : 4,
    sites: common.sites,
    scratchBytes: neighbours === undefined ? layout.bytes : neighbours.most * neighbours.stride,
    constants: constants.bytes,
    math: [...used.math],
    prints: common.prints,
    ...(own !== undefined && { copies: true }),
    ...(common.traits.exclusive && { exclusive: true }),
  };
}

/** What is the same in all functions of a module. */
type Common = Pick<
  Gen,
  | 'kernel'
  | 'variant'
  | 'uniformity'
  | 'helpers'
  | 'lanes'
  | 'warps'
  | 'layout'
  | 'laneFacts'
  | 'widths'
  | 'sites'
  | 'prints'
  | 'traits'
  | 'ranges'
  | 'eliminated'
  | 'apart'
  | 'downwards'
  | 'scans'
  | 'rows'
  | 'blockVars'
  | 'definitions'
  | 'rank'
>;

/** The state of a function that runs a few blocks. `beside`: with scratch memory for each of several. */
function genOf(common: Common, f: FunctionBuilder, own: Gen['own'], beside: boolean): Gen {
  const pointer = common.variant.memory64 ? 'i64' : 'i32';
  // Each by its name: engines copy objects of so many properties one by one, with a form of the object for each.
  return {
    kernel: common.kernel,
    variant: common.variant,
    uniformity: common.uniformity,
    helpers: common.helpers,
    lanes: common.lanes,
    warps: common.warps,
    layout: common.layout,
    laneFacts: common.laneFacts,
    widths: common.widths,
    sites: common.sites,
    prints: common.prints,
    traits: common.traits,
    ranges: common.ranges,
    eliminated: common.eliminated,
    apart: common.apart,
    downwards: common.downwards,
    scans: common.scans,
    rows: common.rows,
    blockVars: common.blockVars,
    definitions: common.definitions,
    rank: common.rank,
    f,
    shapes: new Map(),
    staticLanes: new Map(),
    vars: new Map(),
    prepared: new Map(),
    params: new Map(),
    bases: new Map(),
    own,
    limits: new Map(),
    at: {
      block: [0, 2, 3],
      endX: END_X,
      record: 4,
      scratch: 5,
      home: beside ? f.local(pointer) : 5,
      thread: [f.local('i32'), f.local('i32'), f.local('i32')],
      grid: [f.local('i32'), f.local('i32'), f.local('i32')],
      sharedBytes: f.local('i32'),
      item: f.local('i32'),
    },
    fault: {
      target: f.block(),
      site: f.local('i32'),
      bits: f.local(laneBits(common)),
      index: f.local('i64'),
      extent: f.local('i64'),
    },
    hoisted: new Set(),
    parallel: new Map(),
    firstSeen: new Map(),
    first: undefined,
    shift: undefined,
    loopDepth: 0,
    rare: false,
    pointers: new Map(),
    stored: undefined,
    second: false,
    counters: [],
    mask: null,
  };
}

function writeGroup(
  g: Gen,
  regions: Regions,
  used: Used,
  constants: ReadonlyMap<number, number>,
  neighbours: Neighbours | undefined,
): void {
  const { f } = g;
  writePrologue(g, used, constants);
  if (neighbours !== undefined) {
    f.get(g.at.scratch);
    f.set(g.at.home);
  }
  eachRow(g, () => {
    if (neighbours === undefined) eachBlock(g, regions);
    else emitNeighbours(g, regions, neighbours);
  });
  f.i32(0);
  f.op('return');
  f.end();
  writeFault(g);
  f.i32(0);
}

/** The parameters of `group` that say where its blocks end. */
const END_X = 1;
const END_Y = 6;

/** Runs the blocks of rows; several rows begin at 0. */
function eachRow({ f, at }: Gen, row: () => void): void {
  const [x, y] = at.block;
  const again = f.loop();
  row();
  f.i32(0);
  f.set(x);
  f.get(y);
  f.i32(1);
  f.op('i32.add');
  f.tee(y);
  f.get(END_Y);
  f.op('i32.lt_u');
  f.brIf(again);
  f.end();
}

function eachBlock(g: Gen, regions: Regions): void {
  const { f } = g;
  const [x] = g.at.block;
  const again = f.loop();
  const done = f.block();
  emitNodes(g, regions, regions.nodes, done);
  f.end();
  f.get(x);
  f.i32(1);
  f.op('i32.add');
  f.tee(x);
  f.get(END_X);
  f.op('i32.lt_u');
  f.brIf(again);
  f.end();
}

/** In how many bits values are best computed; undefined where there are no narrow ones, or vectors of them would not be full. */
function laneWidths({ kernel, uniformity, storage }: Regions, lanes: Lanes): LaneWidths | undefined {
  if (lanes < 8 || !kernel.arrays.some((a) => elementBits(a.elem) !== undefined)) return undefined;
  return new LaneWidths(kernel, {
    shape: (e) => uniformity.shape(e),
    mayNarrow: (v) => uniformity.varShape(v) === 'V' && storage.get(v.id)?.kind === 'region',
    least: lanes >= 16 ? 8 : 16,
  });
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

/** Where an array begins, as a u64: what asks whether arrays overlap. */
function writePlace({ f, at, params, variant }: Gen, index: number, offset: number): void {
  const local = f.local('i64');
  f.get(at.record);
  if (variant.memory64) f.memory('i64.load', 3, offset);
  else {
    f.memory('i32.load', 2, offset);
    f.op('i64.extend_i32_u');
  }
  f.set(local);
  params.set(index, local);
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
    if (!used.params.has(param.index)) continue;
    if (param.type === 'ptr') {
      writePlace(g, param.index, offset);
      continue;
    }
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
    const copy = g.own.get(array);
    if (copy !== undefined) {
      f.get(at.scratch);
      f.i32(copy);
      f.op('i32.add');
      f.set(local);
      g.bases.set(array, local);
      continue;
    }
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
  keepOutside(g, type, limit);
  g.limits.set(param, limit);
}

/** Where failed checks come together: fills the fault record and returns the site. */
function writeFault(g: Gen): void {
  const { f, at, fault } = g;
  f.get(at.home, fault.site);
  f.memory('i32.store', 2, FAULT.site);
  f.get(at.home, at.item);
  pushFailingLane(g);
  f.op('i32.add');
  f.memory('i32.store', 2, FAULT.thread);
  f.get(at.home, at.block[0]);
  f.memory('i32.store', 2, FAULT.block);
  f.get(at.home, at.block[1]);
  f.memory('i32.store', 2, FAULT.block + 4);
  f.get(at.home, fault.index);
  f.memory('i64.store', 3, FAULT.index);
  f.get(at.home, fault.extent);
  f.memory('i64.store', 3, FAULT.extent);
  f.get(fault.site);
  f.i32(1);
  f.op('i32.add', 'return');
}
