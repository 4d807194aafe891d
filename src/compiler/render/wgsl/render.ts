/**
 * The WGSL renderer: a kernel to the text of a module with one entry point, as module.ts says.
 *
 * What WGSL has no words for is taken out of the tree first: reports of faults (faults.ts), and returns and jumps that only some threads make before a
 * barrier. Integers of 64 bits are two words (words.ts), all memory is words (memory.ts), f64 is refused.
 */
import type { ArraySym, Expr, Kernel, Stmt } from '../../ir/ops.ts';
import { analyseLiveness } from '../../ir/passes/liveness.ts';
import { runAnalysing } from '../../ir/passes/pipeline.ts';
import { lowerReturns } from '../../ir/passes/returns.ts';
import { eachStmt, exprParts, hasBarrier, someStmt, stmtExprs } from '../../ir/passes/walk.ts';
import { lowerFaults } from '../faults.ts';
import { Lines } from '../lines.ts';
import { plainName } from '../names.ts';
import { type Gen, typeOf, varName } from './code.ts';
import { constantsOf } from './constants.ts';
import { type Layout, layOut } from './layout.ts';
import type { WgslModule, WgslOptions } from './module.ts';
import { refuseAt } from './refuse.ts';
import { emitList } from './statements.ts';
import { uniformVars } from './uniform.ts';

/** Renders a verified kernel whose functions have been expanded. Throws NotSupportedError for what WebGPU lacks. */
export function renderWgsl(kernel: Kernel, options: WgslOptions): WgslModule {
  const { kernel: stopping, sites, stops, fault } = runAnalysing('lower faults', kernel, lowerFaults);
  const plain = hasBarrier(stopping.body)
    ? runAnalysing('lower returns', stopping, (k) => lowerReturns(k, stops)).kernel
    : stopping;
  refuseDoubles(plain);
  const layout = layOut(plain, options, sites.length > 0);
  const g: Gen = {
    kernel: plain,
    options,
    lines: new Lines(),
    enabled: new Set(),
    helpers: new Map(),
    memories: layout.memories,
    values: layout.values,
    prints: [],
    fault,
    latent: fault !== undefined && hasBarrier(plain.body),
    uniform: uniformVars(plain.body, plain.vars),
    constants: constantsOf(plain),
    hidden: new Map(),
    sums: new Map(),
    scoped: new Set(),
    jumps: new Set(),
  };
  emitList(g, plain.body);
  const entry = `tsamba_${plainName(options.name)}`;
  const bindings = [...layout.bindings, ...(g.prints.length > 0 ? [{ kind: 'prints' as const }] : [])];
  const declared = layout.declarations(bindings);
  return {
    text: programText(g, entry, declared, layout),
    entry,
    words: layout.words,
    bindings,
    sharedBytes: layout.sharedBytes + (g.helpers.has('votes') ? 4 : 0) + (g.helpers.has('agreed') ? 4 : 0),
    sites,
    prints: g.prints,
    cooperative: someStmt(kernel.body, (s) => s.op === 'barrier' && s.kind === 'grid'),
    threadsPerBlockLimit: kernel.arrays.some((a: ArraySym) => a.name === '%lanes') ? 1024 : undefined,
  };
}

const INSTEAD = 'use f32: Float32Array, an annotation such as x: f32, Math.fround(x); or another device';

/** f64, wherever the kernel first computes with it. */
function refuseDoubles(kernel: Kernel): void {
  const fail = (pos: Kernel['pos'], what: string, help = INSTEAD): never =>
    refuseAt(kernel, pos, 'E_F64', `${what}, and WebGPU has no f64`, help);
  for (const { name, type } of kernel.params) {
    if (type !== 'f64') continue;
    const help = `write f32(${name}) where the kernel uses it, pass cuda.scalar(f32, …) at the launch, or set jit's option defaultFloat: 'f32'`;
    fail(kernel.pos, `takes ${name} as f64`, help);
  }
  for (const a of kernel.arrays) if (a.elem === 'f64') fail(kernel.pos, `has the array ${a.name} of f64`);
  const doubles = (e: Expr): boolean => e.type === 'f64' || exprParts(e).some(doubles);
  eachStmt(kernel.body, (s: Stmt) => {
    if (stmtExprs(s).some(doubles)) fail(s.pos, 'computes with f64 here');
  });
}

function programText(
  g: Gen,
  entry: string,
  declared: readonly string[],
  { starts, zero }: Pick<Layout, 'starts' | 'zero'>,
): string {
  const { kernel, options } = g;
  const unset = analyseLiveness(kernel.body).entry;
  const vars = [
    ...(g.helpers.has('nothing') ? [`nothing = ${zero};`] : []),
    ...g.hidden.values(),
    ...kernel.vars
      .filter((v) => !g.scoped.has(v.id))
      .map((v) => `var ${varName(v)}: ${typeOf(v.type)}${unset.has(v.id) ? ` = ${typeOf(v.type)}()` : ''};`),
    ...(g.latent ? ['var failed = 0u;'] : []),
    ...[...g.jumps].map((name) => `var ${name} = false;`),
  ];
  const inputs = [
    ...(options.onProcessor ? [] : ['@builtin(local_invocation_id) thread: vec3<u32>']),
    '@builtin(local_invocation_index) number: u32',
    '@builtin(workgroup_id) group: vec3<u32>',
  ];
  return [
    `// ${kernel.name.replace(/[^\x20-\x7e]+/g, '?')}`,
    ...[...g.enabled].map((name) => `enable ${name};`),
    // That all lanes of a warp come to its exchanges, lowerWarps knows, of more places than WGSL's own analysis does.
    ...(g.enabled.has('subgroups') ? ['diagnostic(off, subgroup_uniformity);'] : []),
    ...declared,
    ...g.helpers.values(),
    `@compute @workgroup_size(${options.block.join(', ')})`,
    `fn ${entry}(${inputs.join(', ')}) {`,
    ...[...starts, ...vars].map((line) => `  ${line}`),
    g.lines.text(),
    '}',
    '',
  ].join('\n');
}
