/**
 * What expressions of straight code are, as text: equal where they compute the same. Who walks the code says which variables are assigned, and
 * looks after stores himself.
 */
import { canFail } from '../measures.ts';
import type { Expr, Var } from '../ops.ts';
import { exprParts, someExpr } from './walk.ts';

type Load = Expr & { readonly op: 'load' };

/** Names for expressions: equal for those that compute the same while variables change between them. */
export class ExpressionKeys {
  /** By `Var.id`: how often it was assigned. */
  readonly #versions = new Map<number, number>();

  assigned(v: Var): void {
    this.#versions.set(v.id, (this.#versions.get(v.id) ?? 0) + 1);
  }

  /** The keys of all loads in an expression that have one. */
  each(e: Expr, visit: (key: string) => void): void {
    const key = this.of(e);
    if (key !== undefined) visit(key);
    for (const part of exprParts(e)) this.each(part, visit);
  }

  /** The key of a load; undefined for anything that is not a load, or rests on other loads or assertions. */
  of(e: Expr): string | undefined {
    if (e.op !== 'load' || exprParts(e).some((part) => someExpr(part, canFail))) return undefined;
    return this.text(e);
  }

  #load({ mem, type }: Load): string {
    const checks = mem.checks.map((c) => `${this.text(c.index)}<${this.text(c.extent)}`);
    return `${mem.array.id}:${type}:${mem.elem}*${mem.scale}+${mem.disp}[${this.text(mem.index)}]${checks.join()}`;
  }

  /** Equal for expressions of equal parts, as variables are now. */
  text(e: Expr): string {
    const parts = (): string =>
      exprParts(e)
        .map((part) => this.text(part))
        .join();
    switch (e.op) {
      case 'const':
        return `${e.type}${Object.is(e.value, -0) ? '-0' : e.value}`;
      case 'var':
        return `v${e.var.id}.${this.#versions.get(e.var.id) ?? 0}`;
      case 'param':
        return `p${e.param}`;
      case 'special':
        return e.name;
      case 'load':
        return this.#load(e);
      case 'cast':
        return `${e.to}(${parts()})`;
      case 'fma':
        return `${e.to ?? e.type}.fma(${parts()})`;
      case 'unary':
      case 'binary':
      case 'compare':
      case 'call':
        return `${e.type}.${e.fn}(${parts()})`;
      case 'intrinsic':
        return `${e.type}.${e.fn.name}(${parts()})`;
      default:
        return `${e.type}.${e.op}(${parts()})`;
    }
  }
}
