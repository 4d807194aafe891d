/**
 * Which constants of float arithmetic compilers must not see. WGSL lets them regroup, and those of SPIR-V do so with constants: `(x + c) - c` is `x` for them, `(x * c) * d` one product,
 * a quotient by a constant a product, and `x * c + x * d` is `x * (c + d)`. So where two constants come together, one is combined with a word that is only known at run time, once at the start
 * of the kernel. All others stay as they are: a constant that is hidden takes a register.
 */
import type { BinaryOp, Expr, Kernel } from '../../ir/ops.ts';
import { eachExpr, eachStmt } from '../../ir/passes/walk.ts';
import { type Gen, nothing } from './code.ts';

type Constant = Expr & { readonly op: 'const' };

/** Operations whose operands compilers take out of their order. */
type Chain = 'sum' | 'product';

/** How far it is looked: of longer chains all constants are hidden. */
const MOST_STEPS = 64;

export interface Constants {
  /** Values that variables are given. */
  readonly values: ReadonlyMap<number, readonly Expr[]>;
  /** Constants of products of one and the same factor in one sum. */
  readonly factored: ReadonlySet<Expr>;
  /** Constants that have been hidden. */
  readonly hidden: Set<Expr>;
}

export function constantsOf({ body }: Kernel): Constants {
  const values = new Map<number, Expr[]>();
  eachStmt(body, (s) => {
    if (s.op !== 'assign' || s.var.type !== 'f32') return;
    const known = values.get(s.var.id);
    if (known === undefined) values.set(s.var.id, [s.value]);
    else known.push(s.value);
  });
  const factored = new Set<Expr>();
  eachExpr(body, (e) => {
    if (e.op === 'binary' && e.type === 'f32' && chainOf(e.fn) === 'sum') noteFactors(e, values, factored);
  });
  return { values, factored, hidden: new Set() };
}

function chainOf(fn: BinaryOp): Chain | undefined {
  if (fn === 'add' || fn === 'sub') return 'sum';
  return fn === 'mul' || fn === 'div' ? 'product' : undefined;
}

/** From here on adding a constant rounds to whole numbers, or coarser. */
const ROUNDS = 2 ** 22;

/** Whether a sum with this constant is made for how it rounds: `(x + c) - c` is the nearest integer. */
export function roundsBy(e: Expr): boolean {
  return e.op === 'const' && Math.abs(Number(e.value)) >= ROUNDS;
}

/** The terms of a chain, through variables and what passes values on; undefined where there are too many. */
function termsOf(e: Expr, chain: Chain, values: Constants['values']): readonly Expr[] | undefined {
  const terms: Expr[] = [];
  const seen = new Set<number>();
  const open: Expr[] = [e];
  for (let steps = 0; open.length > 0; steps++) {
    if (steps > MOST_STEPS) return undefined;
    const x = open.pop() as Expr;
    if (x.op === 'binary' && chainOf(x.fn) === chain) {
      // What rounds by a constant is settled as it is made (sums.ts).
      if (chain === 'sum' && (roundsBy(x.a) || roundsBy(x.b))) continue;
      open.push(x.a, x.b);
    } else if (x.op === 'unary' && x.fn === 'neg') open.push(x.a);
    else if (x.op === 'select') open.push(x.a, x.b);
    else if (x.op === 'fma' && chain === 'sum') open.push(x.c);
    else if (x.op === 'var' && !seen.has(x.var.id)) {
      seen.add(x.var.id);
      terms.push(x);
      open.push(...(values.get(x.var.id) ?? []));
    } else terms.push(x);
  }
  return terms;
}

/** `x * c + x * d`, and `x * c + x`. */
function noteFactors(e: Expr, values: Constants['values'], factored: Set<Expr>): void {
  const terms = termsOf(e, 'sum', values) ?? [];
  const products = terms.flatMap((term) => {
    if (term.op !== 'binary' || term.fn !== 'mul') return [];
    const [constant, factor] = term.a.op === 'const' ? [term.a, term.b] : [term.b, term.a];
    return constant.op === 'const' && factor.op === 'var' ? [{ constant, factor: factor.var }] : [];
  });
  for (const { constant, factor } of products) {
    const isShared =
      products.some((other) => other.factor === factor && other.constant !== constant) ||
      terms.some((term) => term.op === 'var' && term.var === factor);
    if (isShared) factored.add(constant);
  }
}

/** An operand of `fn` as it is written; `other` is the other operand. */
export function operandOf(
  g: Gen,
  print: (e: Expr) => string,
  fn: BinaryOp,
  e: Expr,
  other: Expr,
  isRight: boolean,
): string {
  if (e.op !== 'const' || e.type !== 'f32' || !mustHide(g, fn, e, other, isRight)) return print(e);
  return hide(g, e);
}

function mustHide({ constants }: Gen, fn: BinaryOp, e: Constant, other: Expr, isRight: boolean): boolean {
  const chain = chainOf(fn);
  if (chain === undefined) return false;
  if (chain === 'product' && isPowerOfTwo(Number(e.value))) return false;
  if (fn === 'div' && isRight) return true;
  if (constants.factored.has(e)) return true;
  const terms = termsOf(other, chain, constants.values);
  return (
    terms === undefined ||
    terms.some(
      (term) =>
        term.op === 'const' &&
        !constants.hidden.has(term) &&
        (chain === 'sum' ? Number(term.value) !== 0 : !isPowerOfTwo(Number(term.value))),
    )
  );
}

const scratch = new DataView(new ArrayBuffer(8));

function hide(g: Gen, e: Constant): string {
  scratch.setFloat32(0, Number(e.value));
  const bits = scratch.getUint32(0).toString(16).padStart(8, '0');
  const name = `c_${bits}`;
  g.constants.hidden.add(e);
  if (!g.hidden.has(name)) g.hidden.set(name, `let ${name} = bitcast<f32>(0x${bits}u | ${nothing(g)});`);
  return name;
}

/** Products with these round nothing, wherever they are made. */
function isPowerOfTwo(x: number): boolean {
  return (
    x !== 0 && Number.isFinite(x) && Number.isInteger(Math.log2(Math.abs(x))) && Math.abs(Math.log2(Math.abs(x))) < 16
  );
}
