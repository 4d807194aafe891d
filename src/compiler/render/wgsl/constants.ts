/**
 * Which constants of float arithmetic compilers must not see. WGSL lets them regroup, and those of SPIR-V do so with constants: `(x + c) - c` is `x` for them, `(x * c) * d` one product,
 * a quotient by a constant a product, and `x * c + x * d` is `x * (c + d)`. So where two constants come together, one is combined with a word that is only known at run time, once at the start
 * of the kernel. All others stay as they are: a constant that is hidden takes a register.
 */
import type { BinaryOp, Expr, Kernel } from '../../ir/ops.ts';
import { eachExpr, eachStmt } from '../../ir/passes/walk.ts';
import { type Constants, type Gen, nothing } from './code.ts';

type Constant = Expr & { readonly op: 'const' };

/** Operations whose operands compilers take out of their order. */
type Chain = 'sum' | 'product';

/** How far it is looked: of longer chains all constants are hidden. */
const MOST_STEPS = 64;

type Binary = Expr & { readonly op: 'binary' };

/** A term of a chain, and the operation that it is an operand of, if that is one of the chain. */
interface Term {
  readonly value: Expr;
  readonly of: Binary | undefined;
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
  return { values, factored, hidden: new Map() };
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
function termsOf(e: Expr, chain: Chain, values: Constants['values']): readonly Term[] | undefined {
  const terms: Term[] = [];
  const seen = new Set<number>();
  const open: Term[] = [{ value: e, of: undefined }];
  for (let steps = 0; open.length > 0; steps++) {
    if (steps > MOST_STEPS) return undefined;
    const term = open.pop() as Term;
    const x = term.value;
    if (x.op === 'binary' && chainOf(x.fn) === chain) {
      // What rounds by a constant is settled as it is made (sums.ts).
      if (chain === 'sum' && (roundsBy(x.a) || roundsBy(x.b))) continue;
      open.push({ value: x.a, of: x }, { value: x.b, of: x });
    } else if (x.op === 'unary' && x.fn === 'neg') open.push({ value: x.a, of: undefined });
    else if (x.op === 'select') open.push({ value: x.a, of: undefined }, { value: x.b, of: undefined });
    else if (x.op === 'fma' && chain === 'sum') open.push({ value: x.c, of: undefined });
    else if (x.op === 'var' && !seen.has(x.var.id)) {
      seen.add(x.var.id);
      terms.push(term);
      open.push(...(values.get(x.var.id) ?? []).map((value) => ({ value, of: undefined })));
    } else terms.push(term);
  }
  return terms;
}

/** `x * c + x * d`, and `x * c + x`. */
function noteFactors(e: Expr, values: Constants['values'], factored: Set<Expr>): void {
  const terms = (termsOf(e, 'sum', values) ?? []).map(({ value }) => value);
  const products = terms.flatMap((term) => {
    if (term.op !== 'binary' || term.fn !== 'mul') return [];
    const [constant, factor] = term.a.op === 'const' ? [term.a, term.b] : [term.b, term.a];
    return constant.op === 'const' && factor.op === 'var' ? [{ term, factor: factor.var }] : [];
  });
  for (const { term, factor } of products) {
    const isShared =
      products.some((other) => other.factor === factor && other.term !== term) ||
      terms.some((other) => other.op === 'var' && other.var === factor);
    if (isShared) factored.add(term);
  }
}

/** An operand of a sum, difference, product or quotient as it is written. */
export function operandOf(g: Gen, print: (e: Expr) => string, of: Binary, side: 'a' | 'b'): string {
  const e = of[side];
  if (e.op !== 'const' || e.type !== 'f32') return print(e);
  const known = g.constants.hidden.get(of);
  const hidden = known ?? mustHide(g, of, e, side);
  g.constants.hidden.set(of, hidden);
  return hidden ? hide(g, e) : print(e);
}

function mustHide({ constants }: Gen, of: Binary, e: Constant, side: 'a' | 'b'): boolean {
  const chain = chainOf(of.fn);
  const value = Number(e.value);
  if (chain === undefined || (chain === 'product' && isPowerOfTwo(value))) return false;
  // A sum with 0 is not the other operand where that is -0, nor a product with it always 0.
  if (
    value === 0 ||
    (chain === 'sum' && roundsBy(e)) ||
    (of.fn === 'div' && side === 'b') ||
    constants.factored.has(of)
  )
    return true;
  const terms = termsOf(side === 'a' ? of.b : of.a, chain, constants.values);
  return terms === undefined || terms.some((term) => isSeen(term, chain, constants.hidden));
}

/** Whether a term is a constant that compilers see, or of a product `(x + c) * d` the sum. */
function isSeen({ value, of }: Term, chain: Chain, hidden: Constants['hidden']): boolean {
  if (chain === 'product' && value.op === 'binary' && chainOf(value.fn) === 'sum') {
    return [value.a, value.b].some((operand) => isSeen({ value: operand, of: value }, 'sum', hidden));
  }
  if (value.op !== 'const' || (of !== undefined && hidden.get(of) === true)) return false;
  return chain === 'sum' ? Number(value.value) !== 0 : !isPowerOfTwo(Number(value.value));
}

const scratch = new DataView(new ArrayBuffer(8));

function hide(g: Gen, e: Constant): string {
  scratch.setFloat32(0, Number(e.value));
  const bits = scratch.getUint32(0).toString(16).padStart(8, '0');
  const name = `c_${bits}`;
  if (!g.hidden.has(name)) g.hidden.set(name, `let ${name} = bitcast<f32>(0x${bits}u | ${nothing(g)});`);
  return name;
}

/** Products with these round nothing, wherever they are made. */
function isPowerOfTwo(x: number): boolean {
  return (
    x !== 0 && Number.isFinite(x) && Number.isInteger(Math.log2(Math.abs(x))) && Math.abs(Math.log2(Math.abs(x))) < 16
  );
}
