/**
 * Which operations, on which types, each renderer has executed: counted in the kernels that the devices were given, after the
 * passes that run before the renderer proper.
 *
 * For SIMD code only operations on vectors count: on a value that is the same in a whole block it is scalar code.
 */
import type { Expr, Kernel, Stmt } from '../../src/compiler/ir/ops.ts';
import { formRegions } from '../../src/compiler/ir/passes/regions.ts';
import { lowerReturns } from '../../src/compiler/ir/passes/returns.ts';
import { simplify } from '../../src/compiler/ir/passes/simplify.ts';
import { eachStmt, exprParts, stmtExprs } from '../../src/compiler/ir/passes/walk.ts';
import { findInterior } from '../../src/compiler/render/wasm/interior.ts';
import { eliminatedChecks, Ranges } from '../../src/compiler/render/wasm/ranges.ts';
import type { Observer } from './devices.ts';

export type Renderer = 'wasm scalar' | 'wasm SIMD' | 'simulator';
export const RENDERERS: readonly Renderer[] = ['wasm scalar', 'wasm SIMD', 'simulator'];

/** What an expression is, as far as renderers treat it alike; undefined for leaves. */
export function keyOf(e: Expr): string | undefined {
  switch (e.op) {
    case 'unary':
      return `${e.fn} ${e.a.type}`;
    case 'binary':
      return `${e.fn} ${e.type}`;
    case 'compare':
      return `${e.fn} ${e.a.type}`;
    case 'select':
      return `select ${e.type}`;
    case 'cast':
      return `cast ${e.a.type} to ${e.to}`;
    case 'bitcast':
      return `bits ${e.a.type} as ${e.type}`;
    case 'fma':
      return `fma ${e.type}`;
    case 'intrinsic':
      return `${e.fn.name} ${e.type}`;
    case 'call':
      return `${e.fn} ${e.type}`;
    case 'load':
      return `load ${e.mem.array.space} ${e.mem.elem}`;
    default:
      return undefined;
  }
}

export function keyOfStmt(s: Stmt): string | undefined {
  switch (s.op) {
    case 'store':
      return `store ${s.mem.array.space} ${s.mem.elem}`;
    case 'atomic':
      return `atomic ${s.fn} ${s.mem.array.space} ${s.mem.elem}${s.result ? ' with result' : ''}`;
    case 'barrier':
      return `barrier ${s.kind}`;
    default:
      return undefined;
  }
}

export class Coverage {
  readonly seen: ReadonlyMap<Renderer, Map<string, number>> = new Map(RENDERERS.map((r) => [r, new Map()]));

  /** Regions that have code for interior blocks. */
  interiors = 0;

  readonly observer: Observer = (device, kernel, block, lanes) => {
    if (device === 'simulator') return this.#walk('simulator', kernel, () => true);
    const known = simplify(kernel, { block });
    if (lanes === 1) return this.#walk('wasm scalar', known, () => true);
    const width = block[0] % 8 === 0 ? 8 : 4;
    const options = { block: [Math.ceil(block[0] / width) * width, block[1], block[2]], lanes: width } as const;
    const lowered = lowerReturns(known);
    const regions = formRegions(lowered, options);
    const { kernel: final, uniformity } = regions;
    const ranges = new Ranges(final, block);
    const eliminated = eliminatedChecks(final, block, ranges);
    const variant = { block, lanes: 4, concurrent: false, memory64: false } as const;
    const facts = { kernel: final, variant, uniformity, lanes: width, shapes: new Map(), ranges, eliminated };
    for (const node of regions.nodes)
      if (node.kind === 'workItems' && findInterior(facts, node.body) !== undefined) this.interiors++;
    this.#walk('wasm SIMD', final, (e) => exprParts(e).some((x) => isVector(uniformity.shape(x))));
  };

  #walk(renderer: Renderer, kernel: Kernel, counts: (e: Expr) => boolean): void {
    const seen = this.seen.get(renderer);
    const note = (key: string | undefined): void => {
      if (key !== undefined) seen?.set(key, (seen.get(key) ?? 0) + 1);
    };
    const visited = new Set<Expr>();
    const visit = (e: Expr): void => {
      if (visited.has(e)) return;
      visited.add(e);
      if (counts(e)) note(keyOf(e));
      for (const part of exprParts(e)) visit(part);
    };
    eachStmt(kernel.body, (s) => {
      note(keyOfStmt(s));
      for (const e of stmtExprs(s)) visit(e);
    });
  }

  /** Adds what another coverage has seen. */
  add(other: Iterable<readonly [Renderer, Iterable<readonly [string, number]>]>): void {
    for (const [renderer, keys] of other) {
      const seen = this.seen.get(renderer);
      for (const [key, n] of keys) seen?.set(key, (seen.get(key) ?? 0) + n);
    }
  }

  /** How many of the combinations in `legal` were executed by a renderer, and which were not. */
  missing(renderer: Renderer, legal: Iterable<string>): string[] {
    const seen = this.seen.get(renderer);
    return [...legal].filter((key) => !seen?.has(key));
  }
}

function isVector(shape: string): boolean {
  return shape === 'V' || shape === 'C';
}

/** The share of what is legal that each renderer has executed, and what is missing. */
export function coverageReport(coverage: Coverage, legalFor: (renderer: Renderer) => readonly string[]): string {
  return RENDERERS.map((renderer) => {
    const legal = legalFor(renderer);
    const missing = coverage.missing(renderer, legal);
    const share = ((100 * (legal.length - missing.length)) / legal.length).toFixed(1);
    return `${renderer}: ${legal.length - missing.length} of ${legal.length} combinations (${share} %)${missing.length > 0 ? `, missing: ${missing.join(', ')}` : ''}`;
  }).join('\n');
}
