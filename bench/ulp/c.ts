/**
 * Prints bodies of the math table as C functions, operation by operation.
 *
 * Meant to be compiled without contraction (-ffp-contract=off). Bit casts, upper products and the hardware's approximations are
 * calls of functions that the program around it defines: `as_*`, `mulhi*`, `approx_*`.
 */
import { at, KernelBuilder, read } from '../../src/compiler/ir/builder.ts';
import type { ArraySym, BinaryOp, Expr, Stmt, ValueType, Var } from '../../src/compiler/ir/ops.ts';
import { eachStmt, someExpr, stmtExprs } from '../../src/compiler/ir/passes/walk.ts';
import { lowerGraph } from '../../src/compiler/math/lower.ts';
import type { MathBody } from '../../src/compiler/math/table.ts';

const C_TYPE: Readonly<Record<ValueType, string>> = {
  bool: 'bool',
  i32: 'int',
  u32: 'unsigned',
  i64: 'long long',
  u64: 'unsigned long long',
  f32: 'float',
  f64: 'double',
};

export interface Printed {
  readonly text: string;
  readonly operations: number;
}

/** `T name(T x, T y)` in C; `prefix` stands before functions and tables ("static inline", "__device__"). */
export function printBody(name: string, body: MathBody, type: 'f32' | 'f64', arity: number, prefix: string): Printed {
  const b = new KernelBuilder(name);
  const args = Array.from({ length: arity }, (_, k) => b.variable(type, `x${k}`));
  const out: Stmt[] = [];
  const pos = at(b.global('f32', 'p'), { op: 'const', type: 'i32', value: 0 }).pos;
  const result = lowerGraph(body(...args.map(read)), out, {
    variable: (t) => b.variable(t, 't'),
    table: (t) => t,
    pos,
  });
  const tables = new Set<ArraySym>();
  const note = (e: Expr) =>
    someExpr(e, (x) => {
      if (x.op === 'load') tables.add(x.mem.array);
      return false;
    });
  note(result);
  eachStmt(out, (s) => stmtExprs(s).forEach(note));
  let operations = 0;
  const v = (x: Var) => (args.includes(x) ? x.name : `t${x.id}`);
  const expr = (e: Expr): string => {
    if (!['const', 'var', 'bitcast'].includes(e.op)) operations++;
    return printExpr(e, expr, v, name);
  };
  const stmts = (list: readonly Stmt[], indent: string): string =>
    list
      .map((s) => {
        if (s.op === 'assign') return `${indent}${v(s.var)} = ${expr(s.value)};\n`;
        if (s.op !== 'if') throw new Error(`a body with a ${s.op}`);
        const other = s.else.length > 0 ? ` else {\n${stmts(s.else, `${indent}  `)}${indent}}` : '';
        return `${indent}if (${expr(s.cond)}) {\n${stmts(s.then, `${indent}  `)}${indent}}${other}\n`;
      })
      .join('');
  const code = stmts(out, '  ');
  const last = expr(result);
  const locals = b.vars.filter((x) => !args.includes(x)).map((x) => `  ${C_TYPE[x.type]} ${v(x)};\n`);
  const parameters = args.map((x) => `${C_TYPE[type]} ${x.name}`).join(', ');
  const data = [...tables].map((t) => table(t, name, prefix)).join('');
  return {
    text: `${data}${prefix} ${C_TYPE[type]} ${name}(${parameters}) {\n${locals.join('')}${code}  return ${last};\n}\n`,
    operations,
  };
}

function table(t: ArraySym, name: string, prefix: string): string {
  const words = new BigUint64Array(t.data?.slice().buffer ?? new ArrayBuffer(0));
  const kind = prefix.includes('__device__') ? '__device__ const' : 'static const';
  if (t.elem !== 'u64') throw new Error(`a table of ${t.elem}`);
  return `${kind} unsigned long long ${name}_${t.name}[] = {${[...words].map((w) => `${w}ull`).join(', ')}};\n`;
}

const INFIX: Partial<Record<BinaryOp, string>> = {
  add: '+',
  sub: '-',
  mul: '*',
  div: '/',
  and: '&',
  or: '|',
  xor: '^',
};
const COMPARE = { eq: '==', ne: '!=', lt: '<', le: '<=', gt: '>', ge: '>=' };

function printExpr(e: Expr, sub: (e: Expr) => string, v: (x: Var) => string, name: string): string {
  switch (e.op) {
    case 'const':
      return literal(e);
    case 'var':
      return v(e.var);
    case 'unary': {
      const a = sub(e.a);
      const f = e.type === 'f32' ? 'f' : '';
      if (e.fn === 'neg') return `(-${a})`;
      if (e.fn === 'not') return e.type === 'bool' ? `(!${a})` : `(~${a})`;
      if (e.fn === 'isNaN') return `(${a} != ${a})`;
      if (e.fn === 'isFinite') return `(fabs(${a}) < INFINITY)`;
      if (e.fn === 'abs') return e.type === 'f32' || e.type === 'f64' ? `fabs${f}(${a})` : `abs(${a})`;
      if (e.fn.endsWith('Approx')) return `approx_${e.fn.slice(0, -6)}${e.type === 'f32' ? '' : '64'}(${a})`;
      return `${e.fn}${f}(${a})`;
    }
    case 'intrinsic':
      return `${e.fn.name}${e.type === 'i64' || e.type === 'u64' ? 64 : 32}(${e.args.map(sub).join(', ')})`;
    case 'binary': {
      const [a, b] = [sub(e.a), sub(e.b)];
      const infix = INFIX[e.fn];
      const bits = e.type === 'i64' || e.type === 'u64' ? 63 : 31;
      if (infix && e.type.startsWith('i') && infix.length === 1 && '+-*'.includes(infix))
        return `(${C_TYPE[e.type]})((unsigned ${bits === 63 ? 'long long' : 'int'})${a} ${infix} (unsigned ${bits === 63 ? 'long long' : 'int'})${b})`;
      if (infix) return `(${a} ${infix} ${b})`;
      if (e.fn === 'shl')
        return `(${C_TYPE[e.type]})((unsigned ${bits === 63 ? 'long long' : 'int'})${a} << (${b} & ${bits}))`;
      if (e.fn === 'shr') return `(${a} >> (${b} & ${bits}))`;
      if (e.fn === 'mulhi') return bits === 63 ? `mulhi64(${a}, ${b})` : `mulhi32(${a}, ${b})`;
      if (e.fn === 'divApprox') return `approx_div(${a}, ${b})`;
      return `${e.fn}${e.type === 'f32' ? 'f' : ''}(${a}, ${b})`;
    }
    case 'compare':
      return `(${sub(e.a)} ${COMPARE[e.fn]} ${sub(e.b)})`;
    case 'select':
      return `(${sub(e.cond)} ? ${sub(e.a)} : ${sub(e.b)})`;
    case 'cast':
      return `(${C_TYPE[e.type]})(${sub(e.a)})`;
    case 'bitcast':
      return `as_${e.type}(${sub(e.a)})`;
    case 'fma':
      return `fma${e.type === 'f32' ? 'f' : ''}(${sub(e.a)}, ${sub(e.b)}, ${sub(e.c)})`;
    case 'load':
      return `${name}_${e.mem.array.name}[${sub(e.mem.index)}]`;
    default:
      throw new Error(`a body with a ${e.op}`);
  }
}

function literal(e: Expr & { op: 'const' }): string {
  const x = e.value;
  if (typeof x === 'boolean') return String(x);
  if (e.type === 'u32') return `${x}u`;
  if (e.type === 'u64') return `${x}ull`;
  if (e.type === 'i64') return x === -(2n ** 63n) ? '(-9223372036854775807ll-1)' : `${x}ll`;
  if (e.type === 'i32') return x === -(2 ** 31) ? '(-2147483647-1)' : String(x);
  const f = Number(x);
  const bits = new DataView(new ArrayBuffer(8));
  if (Number.isNaN(f) || !Number.isFinite(f) || Object.is(f, -0)) {
    bits.setFloat64(0, f);
    if (e.type === 'f64') return `as_f64(${bits.getBigInt64(0)}ll)`;
    bits.setFloat32(0, f);
    return `as_f32((int)${bits.getUint32(0)}u)`;
  }
  const digits = f.toExponential(e.type === 'f32' ? 9 : 17);
  return `(${digits}${e.type === 'f32' ? 'f' : ''})`;
}
