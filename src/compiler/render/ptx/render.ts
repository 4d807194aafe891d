/**
 * The PTX renderer: a kernel to the text of a module with one entry, as module.ts says.
 *
 * The tree is walked once, in the order of execution. Sections that a device's assembler does better by itself (register
 * allocation, scheduling, predication) are left to it.
 */
import type { Kernel, MemoryOrder } from '../../ir/ops.ts';
import { externalsIn } from '../../ir/passes/externals.ts';
import { analyseLiveness } from '../../ir/passes/liveness.ts';
import { readOnlyParams, someStmt } from '../../ir/passes/walk.ts';
import { plainName } from '../names.ts';
import { FAULTS, PRINTS } from '../reports.ts';
import { emitReport, FAULT_SYMBOL, faultRegisters } from './checks.ts';
import { Code, type Operand } from './code.ts';
import { evaluate } from './expr.ts';
import { declareExtern } from './externals.ts';
import { classOf, type Gen, immediate, needIsa, TYPES } from './gen.ts';
import { layOut } from './layout.ts';
import { LineTable } from './lines.ts';
import type { PtxModule, PtxOptions, PtxTarget } from './module.ts';
import { PRINT_SYMBOL } from './print.ts';
import { registersFor } from './registers.ts';
import { clearSlots, SLOTS } from './specials.ts';
import { emitList } from './statements.ts';
import { architecture, atLeast } from './targets.ts';

/** Renders a verified kernel whose approximated functions have been expanded. */
export function renderPtx(kernel: Kernel, target: PtxTarget, options: PtxOptions): PtxModule {
  const arch = architecture(target);
  const code = new Code();
  const mayFail = kernel.checked || someStmt(kernel.body, (s) => s.op === 'trap');
  const layout = layOut(kernel, mayFail ? 1 : 0);
  const g: Gen = {
    kernel,
    target: { ...target, capability: arch.sm },
    options,
    code,
    layout,
    value: (e) => evaluate(g, e),
    vars: declareVars(kernel, code),
    readOnly: listens(kernel) ? new Set() : readOnlyParams(kernel),
    evaluated: new Map(),
    halves: new Map(),
    sites: [],
    prints: [],
    slots: 0,
    cooperative: false,
    loopDepth: 0,
    targets: new Map(),
    usesReadOnlyPath: false,
    lines: options.lines === undefined ? undefined : new LineTable(options.lines),
    isa: arch.isa,
    fault: mayFail ? faultRegisters(code) : undefined,
  };
  emitList(g, kernel.body);
  clearSlots(g);
  const launch = `param_${kernel.params.length}`;
  emitReport(g, launch);
  const faults = g.sites.length > 0;
  const entry = entryName(options.name);
  return {
    text: moduleText(g, entry, arch.sm, faults ? launch : undefined),
    lineInfo: options.lines !== undefined,
    entry,
    params: layout.params,
    launchNumber: faults ? layout.paramBytes - 4 : undefined,
    paramBytes: faults || !mayFail ? layout.paramBytes : layOut(kernel, 0).paramBytes,
    extraSharedBytes: layout.extraSharedBytes,
    sites: g.sites,
    faultSymbol: faults ? FAULT_SYMBOL : undefined,
    prints: g.prints,
    printSymbol: g.prints.length > 0 ? PRINT_SYMBOL : undefined,
    cooperative: g.cooperative,
    usesReadOnlyPath: g.usesReadOnlyPath,
  };
}

/** What no kernel may be called: a constant of PTX, and names of the module's own variables. */
const TAKEN = /^(?:WARP_SZ$|tsamba_|local_|shared_|constant_)/;

/** A name that PTX allows: a letter first. */
function entryName(name: string): string {
  const plain = plainName(name, '$');
  return /^[A-Za-z]/.test(plain) && !TAKEN.test(plain) ? plain : `kernel_${plain}`;
}

/** A register for each variable; zero where it may be read before it is assigned. */
function declareVars(kernel: Kernel, code: Code): Map<number, Operand> {
  const vars = new Map<number, Operand>();
  const unset = analyseLiveness(kernel.body).entry;
  for (const v of kernel.vars) {
    const register = code.mutable(classOf(v.type), `v${v.id}_${plainName(v.name, '$')}`);
    vars.set(v.id, register);
    const stored = v.type === 'bool' ? 'u32' : v.type;
    if (unset.has(v.id)) code.atStart(`mov.${TYPES[stored].bits} ${register}, ${immediate(stored, 0)}`);
  }
  return vars;
}

function moduleText(g: Gen, entry: string, sm: number, launch: string | undefined): string {
  const { kernel, layout, options } = g;
  const params = layout.params.map(({ type }, i) => `.param .${PARAM_TYPES[type] ?? type} param_${i}`);
  if (launch !== undefined) params.push(`.param .u32 ${launch}`);
  const clustered = options.cluster !== undefined && sm >= 90;
  if (clustered) needIsa(g, 7, 8);
  const { launchBounds, minBlocks, maxRegisters } = options;
  const bounded = launchBounds !== undefined || minBlocks !== undefined;
  const registers = maxRegisters ?? (bounded ? undefined : registersFor(kernel));
  const directives = [
    ...(launchBounds === undefined ? [] : [`.maxntid ${launchBounds}, 1, 1`]),
    ...(minBlocks === undefined ? [] : [`.minnctapersm ${minBlocks}`]),
    ...(clustered ? [`.reqnctapercluster ${options.cluster?.join(', ')}`] : []),
    ...(registers === undefined ? [] : [`.maxnreg ${registers}`]),
  ];
  const declarations = [
    ...layout.declarations,
    ...(launch === undefined ? [] : [`.visible .global .align 8 .b8 ${FAULT_SYMBOL}[${FAULTS.bytes}];`]),
    ...(g.prints.length === 0 ? [] : [`.visible .global .align 8 .b8 ${PRINT_SYMBOL}[${PRINTS.bytes}];`]),
    ...(g.slots === 0 ? [] : [`.shared .align 8 .b8 ${SLOTS}[${8 * g.slots}];`]),
  ];
  const isa = atLeast(g.isa, [4, 0]) ? g.isa : [4, 0];
  return [
    `// ${kernel.name.replace(/[^\x20-\x7e]+/g, '?')}`,
    `.version ${isa[0]}.${isa[1]}`,
    `.target sm_${sm}`,
    '.address_size 64',
    ...(g.lines?.files ?? []),
    ...externalsIn(kernel).map(declareExtern),
    ...declarations,
    `.visible .entry ${entry}(${params.length === 0 ? '' : `\n\t${params.join(',\n\t')}\n`})`,
    ...directives,
    '{',
    ...layout.locals.map((line) => `\t${line}`),
    g.code.text(),
    '}',
    '',
  ].join('\n');
}

const PARAM_TYPES: Readonly<Record<string, string>> = {
  ptr: 'u64',
  bool: 'u8',
  i32: 'b32',
  u32: 'b32',
  i64: 'b64',
  u64: 'b64',
};

/**
 * Whether a kernel waits for what others write while it runs, the host or other kernels: by an acquiring atomic or a fence for the whole system. Then
 * what it does not write itself may change all the same, and must not go by the read-only path, which is never made coherent (PTX ISA, `ld.global.nc`).
 */
function listens({ body }: Kernel): boolean {
  const acquires = (order: MemoryOrder | undefined): boolean =>
    order === 'acquire' || order === 'acq_rel' || order === 'seq_cst';
  return someStmt(body, (s) => (s.op === 'atomic' && acquires(s.order)) || (s.op === 'fence' && s.scope === 'system'));
}
