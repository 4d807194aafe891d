/**
 * The OpenCL C renderer: a kernel to the text of a program with one kernel, as module.ts says.
 *
 * What devices do badly is taken out of the tree first: reports of faults (faults.ts), and returns and jumps that only some
 * threads make before a barrier (PoCL runs such threads on). What is left is printed, statement by statement.
 */
import { NotSupportedError } from '../../../errors.ts';
import { refuseNesting } from '../../frontend/too-deep.ts';
import { ELEM_SIZE, type Kernel, type Param } from '../../ir/ops.ts';
import { linkedWith } from '../../ir/passes/externals.ts';
import { analyseLiveness } from '../../ir/passes/liveness.ts';
import { runAnalysing } from '../../ir/passes/pipeline.ts';
import { lowerReturns } from '../../ir/passes/returns.ts';
import {
  eachStmt,
  hasBarrier,
  readOnlyParams,
  someExpr,
  someStmt,
  specialsIn,
  stmtExprs,
} from '../../ir/passes/walk.ts';
import { lowerFaults } from '../faults.ts';
import { Lines } from '../lines.ts';
import { plainName } from '../names.ts';
import { type Gen, paramName, spaceName, typeOf, varName } from './code.ts';
import { type Arrays, declareArrays, elementTypes } from './declarations.ts';
import { earlyPositions } from './early-positions.ts';
import { readSpecial } from './expr.ts';
import { positionArguments } from './grid-positions.ts';
import { threadNumber } from './helpers.ts';
import { HIP_PRELUDE } from './hip.ts';
import type { OpenCLArg, OpenCLModule, OpenCLOptions, OpenCLTarget } from './module.ts';
import { opaqueParts, ZERO } from './opaque.ts';
import { emitList } from './statements.ts';

/** Renders a verified kernel whose approximated functions have been expanded. Throws NotSupportedError for what the target lacks. */
export function renderOpenCL(kernel: Kernel, target: OpenCLTarget, options: OpenCLOptions): OpenCLModule {
  const { kernel: stopping, sites, stops, fault } = runAnalysing('lower faults', kernel, lowerFaults);
  const plain = hasBarrier(stopping.body)
    ? runAnalysing('lower returns', stopping, (k) => lowerReturns(k, stops)).kernel
    : stopping;
  const doubles = usesDoubles(plain);
  if (doubles && !target.fp64) {
    throw new NotSupportedError(
      'E_F64',
      `kernel ${kernel.name} computes with f64, which this OpenCL device does not have (cl_khr_fp64)\n  help: use f32, or another device`,
    );
  }
  const arrays = declareArrays(plain, target);
  const readOnly = readOnlyParams(kernel);
  const g: Gen = {
    kernel: plain,
    target,
    options,
    lines: new Lines(),
    helpers: new Map(),
    extensions: new Set(doubles ? ['cl_khr_fp64'] : []),
    prints: [],
    elements: new Set(),
    far: arrays.far,
    constant: options.disjoint === true ? readOnly : new Set(),
    fault,
    latent: fault !== undefined && hasBarrier(plain.body),
    votes: false,
    positions: earlyPositions(plain, target),
    opaque: target.hidesMasks === true ? opaqueParts(plain) : new Set(),
    jumps: new Set(),
  };
  const pointers = arrays.pointers(g);
  emitList(g, plain.body);
  const taken = argumentsOf(g, arrays, sites.length > 0);
  const positions = [...g.positions].map(([name, early]) => `const int ${early} = ${readSpecial(g, name).text};`);
  const start = [
    ...declareVars(g),
    ...positions,
    ...arrays.owned(g),
    ...declareShared(g, arrays),
    ...pointers,
    ...voting(g),
  ];
  const entry = entryName(options.name);
  const text = programText(g, entry, taken, start, arrays.constants);
  if (target.dialect === 'opencl' && bracketsIn(text) > MAX_BRACKETS) {
    refuseNesting(kernel.pos, `for OpenCL: its compilers take ${MAX_BRACKETS} brackets inside each other`);
  }
  return {
    text,
    entry,
    args: taken.map(({ arg }) => arg),
    buildOptions: buildOptions(target),
    staticSharedBytes: arrays.staticSharedBytes + (g.votes ? 12 : 0),
    constants: arrays.farBytes,
    sites,
    prints: g.prints,
    usesDisjoint: target.dialect === 'opencl' && readOnly.size > 0,
    cooperative: someStmt(kernel.body, (s) => s.op === 'barrier' && s.kind === 'grid'),
    threadsPerBlockLimit: arrays.threads,
  };
}

/** What Clang, which all of OpenCL's compilers are made of, allows of brackets of one kind around another. */
const MAX_BRACKETS = 256;

/** How many brackets of one kind stand around another at most. */
function bracketsIn(text: string): number {
  const depths = [0, 0, 0];
  let most = 0;
  for (const c of text.matchAll(/[()[\]{}]/g)) {
    const at = '([{)]}'.indexOf(c[0]);
    const depth = (depths[at % 3] ?? 0) + (at < 3 ? 1 : -1);
    depths[at % 3] = depth;
    most = Math.max(most, depth);
  }
  return most;
}

/** A name that C allows and that no function of OpenCL has. */
function entryName(name: string): string {
  return `tsamba_${plainName(name)}`;
}

function buildOptions({ dialect, correctlyRounded, unoptimized }: OpenCLTarget): readonly string[] {
  if (dialect === 'hip') return ['-O3', '-ffp-contract=off', '-fbracket-depth=4096'];
  return [
    '-cl-std=CL1.2',
    ...(correctlyRounded ? ['-cl-fp32-correctly-rounded-divide-sqrt'] : []),
    ...(unoptimized === true ? ['-cl-opt-disable'] : []),
  ];
}

function usesDoubles(kernel: Kernel): boolean {
  if (kernel.vars.some((v) => v.type === 'f64') || kernel.params.some((p) => p.type === 'f64')) return true;
  let found = false;
  eachStmt(kernel.body, (s) => {
    found ||= s.op === 'print' || stmtExprs(s).some((e) => someExpr(e, (x) => x.type === 'f64'));
  });
  return found;
}

// ---------------------------------------------------------------- arguments

interface Taken {
  readonly arg: OpenCLArg;
  readonly text: string;
}

function argumentsOf(g: Gen, arrays: Arrays, faults: boolean): readonly Taken[] {
  const buffer = `${spaceName(g, 'global')}uchar *`;
  const taken = g.kernel.params.flatMap((p) => parameter(g, p, buffer));
  if (faults) {
    taken.push({ arg: { kind: 'faults' }, text: `${buffer}faults` });
    taken.push({ arg: { kind: 'launchNumber' }, text: 'uint launch_number' });
  }
  if (g.prints.length > 0) taken.push({ arg: { kind: 'prints' }, text: `${buffer}prints` });
  if (arrays.farBytes)
    taken.push({
      arg: { kind: 'constants' },
      text: `const ${buffer}${g.target.dialect === 'hip' ? '' : 'restrict '}constants`,
    });
  if (g.opaque.size > 0) taken.push({ arg: { kind: 'zero' }, text: `int ${ZERO}` });
  taken.push(...positionArguments(g).map(({ arg, name }) => ({ arg, text: `uint ${name}` })));
  if (usesSharedBytes(g.kernel)) taken.push({ arg: { kind: 'sharedBytes' }, text: 'uint shared_bytes' });
  if (arrays.dynamic && g.target.dialect === 'opencl' && g.options.sharedBytes === undefined) {
    // The memory of a local argument is aligned as its type asks: any array may stand in it.
    taken.push({ arg: { kind: 'shared' }, text: 'local ulong2 *shared_memory' });
  }
  return taken;
}

function parameter(g: Gen, { index, type }: Param, buffer: string): Taken[] {
  const name = paramName(g, index);
  if (type !== 'ptr') {
    const size = ELEM_SIZE[type];
    return [
      { arg: { kind: 'value', param: index, type, size }, text: `${type === 'bool' ? 'uchar' : typeOf(type)} ${name}` },
    ];
  }
  if (g.target.dialect === 'hip') return [{ arg: { kind: 'pointer', param: index }, text: `${buffer}${name}` }];
  const pointer = g.constant.has(index) ? 'global const uchar *restrict ' : buffer;
  const taken: Taken = { arg: { kind: 'buffer', param: index }, text: `${pointer}${name}` };
  if (g.options.whole === true) return [taken];
  return [taken, { arg: { kind: 'offset', param: index }, text: `ulong ${name}_offset` }];
}

function usesSharedBytes({ body }: Kernel): boolean {
  return specialsIn(body).has('sharedBytes');
}

// ---------------------------------------------------------------- text

/** Zero where they may be read before they are assigned. */
function declareVars({ kernel, target, jumps, latent }: Gen): string[] {
  const unset = analyseLiveness(kernel.body).entry;
  const vars = kernel.vars.map((v) => `${typeOf(v.type)} ${varName(v)}${unset.has(v.id) ? ' = 0' : ''};`);
  if (latent) vars.push('uint failed = 0;');
  // Where ways meet, PoCL keeps what is in memory over barriers, but not every value that depends on the way.
  const kind = target.dialect === 'opencl' && hasBarrier(kernel.body) ? 'volatile bool' : 'bool';
  return [...vars, ...[...jumps].map((name) => `${kind} ${name} = false;`)];
}

/** Dynamic shared memory whose size is known. */
function declareShared({ options: { sharedBytes } }: Gen, { dynamic }: Arrays): string[] {
  if (sharedBytes === undefined || !dynamic) return [];
  return [`local ulong2 shared_memory[${Math.max(1, Math.ceil(sharedBytes / 16))}];`];
}

/** Counters for votes at barriers, and the one in use. */
function voting(g: Gen): string[] {
  if (!g.votes) return [];
  const declared = g.target.dialect === 'hip' ? '__shared__ uint votes[3];' : 'local uint votes[3];';
  return [
    declared,
    'uint vote = 0;',
    `if (${threadNumber(g)} == 0) votes[0] = votes[1] = votes[2] = 0;`,
    'barrier(CLK_LOCAL_MEM_FENCE);',
  ];
}

function programText(
  g: Gen,
  entry: string,
  taken: readonly Taken[],
  start: readonly string[],
  constants: readonly string[],
): string {
  const { kernel, target, options } = g;
  const hip = target.dialect === 'hip';
  const contract = kernel.contract ? 'ON' : 'OFF';
  const head = hip
    ? [HIP_PRELUDE, `#pragma clang fp contract(${kernel.contract ? 'fast' : 'off'})`]
    : [
        `#pragma OPENCL FP_CONTRACT ${contract}`,
        ...[...g.extensions].map((x) => `#pragma OPENCL EXTENSION ${x} : enable`),
      ];
  const [x, y, z] = options.block ?? [];
  const bounds = hip ? ` __launch_bounds__(${options.block ? (x ?? 1) * (y ?? 1) * (z ?? 1) : 1024})` : '';
  const required = options.block && !hip ? `__attribute__((reqd_work_group_size(${x}, ${y}, ${z})))\n` : '';
  return [
    `// ${kernel.name.replace(/[^\x20-\x7e]+|\\$/g, '?')}`,
    ...head,
    ...linkedWith(kernel, [hip ? 'hip' : 'opencl']).map((item) => new TextDecoder().decode(item.code())),
    ...elementTypes(g),
    ...constants,
    ...g.helpers.values(),
    `${hip ? 'extern "C" __global__ ' : `${required}kernel `}void${bounds} ${entry}(${taken.map((t) => `\n    ${t.text}`).join(',')}) {`,
    ...start.map((line) => `  ${line}`),
    g.lines.text(),
    '}',
    '',
  ].join('\n');
}
