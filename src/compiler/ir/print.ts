/**
 * Readable text of a kernel, one line a statement: what `inspect({ target: 'ir' })` shows and internal errors quote.
 *
 * Types stand where symbols are declared and on constants; those of all other expressions follow from them. The text is
 * stable: the same kernel prints the same, and names are numbered only where two symbols share one.
 */
import type { ArraySym, BinaryOp, CompareOp, Expr, Kernel, MemRef, Param, Stmt, Var } from './ops.ts';
import { ELEM_SIZE } from './ops.ts';

/** The text of a whole kernel, ending in a newline. */
export function printKernel(kernel: Kernel): string {
  const names = new Names(kernel);
  const params = kernel.params.map((p) => `${names.param(p.index)}: ${p.type}`).join(', ');
  const options = [
    `index${kernel.indexBits}`,
    kernel.checked && 'checked',
    kernel.contract && 'contract',
    kernel.fastMath && 'fastMath',
  ].filter(Boolean);
  const lines = [`kernel ${kernel.name}(${params}) ${options.join(' ')} {`];
  for (const a of kernel.arrays) lines.push(`  ${arrayLine(a, names)}`);
  for (const v of kernel.vars) lines.push(`  var ${names.variable(v)}: ${v.type}`);
  lines.push(...stmtLines(kernel.body, names, '  '), '}', '');
  return lines.join('\n');
}

/** The text of one statement (with those inside it), as it would stand in `printKernel`. */
export function printStmt(s: Stmt, kernel?: Kernel): string {
  return stmtLines([s], new Names(kernel), '').join('\n');
}

export function printExpr(e: Expr, kernel?: Kernel): string {
  return exprText(e, new Names(kernel), 0);
}

/** Names of symbols: as the user wrote them where that is unambiguous, else with their number. */
class Names {
  readonly #shared: ReadonlySet<string>;
  readonly #params: readonly Param[];

  constructor(kernel?: Kernel) {
    const count = new Map<string, number>();
    const arrays = kernel?.arrays ?? [];
    this.#params = kernel?.params ?? [];
    const values = this.#params.filter((p) => p.type !== 'ptr');
    for (const { name } of [...(kernel?.vars ?? []), ...arrays, ...values]) count.set(name, (count.get(name) ?? 0) + 1);
    this.#shared = new Set([...count].filter(([, n]) => n > 1).map(([name]) => name));
  }

  variable(v: Var): string {
    return this.#shared.has(v.name) || v.name === '%t' ? `${v.name}.${v.id}` : v.name;
  }

  array(a: ArraySym): string {
    return this.#shared.has(a.name) ? `${a.name}#${a.id}` : a.name;
  }

  param(index: number): string {
    const p = this.#params[index];
    if (p === undefined) return `param${index}`;
    return this.#shared.has(p.name) ? `${p.name}$${index}` : p.name;
  }
}

function arrayLine(a: ArraySym, names: Names): string {
  const size = a.dynamic ? '[dynamic]' : a.length === undefined ? '[]' : `[${a.length}]`;
  const base = a.param === undefined ? '' : ` at param ${a.param}`;
  const align = a.align === ELEM_SIZE[a.elem] ? '' : ` align ${a.align}`;
  return `${a.space} ${names.array(a)}: ${a.elem}${size}${base}${align}`;
}

// ---------------------------------------------------------------- statements

function stmtLines(list: readonly Stmt[], names: Names, indent: string): string[] {
  return list.flatMap((s) => lines(s, names, indent));
}

function lines(s: Stmt, names: Names, indent: string): string[] {
  const text = (e: Expr): string => exprText(e, names, 0);
  const inner = (list: readonly Stmt[]): string[] => stmtLines(list, names, `${indent}  `);
  const line = (t: string): string[] => [indent + t];
  switch (s.op) {
    case 'assign':
      return line(`${names.variable(s.var)} = ${text(s.value)}`);
    case 'store':
      return line(`${memText(s.mem, names)} = ${text(s.value)}`);
    case 'atomic': {
      const result = s.result ? `${names.variable(s.result)} = ` : '';
      const how = [s.order, s.scope].map((x) => (x === undefined ? '' : `.${x}`)).join('');
      return line(`${result}atomic.${s.fn}${how} ${[memText(s.mem, names), ...s.args.map(text)].join(', ')}`);
    }
    case 'if': {
      const otherwise = s.else.length > 0 ? [`${indent}} else {`, ...inner(s.else)] : [];
      return [`${indent}if ${text(s.cond)} {`, ...inner(s.then), ...otherwise, `${indent}}`];
    }
    case 'loop': {
      const update = s.update.length > 0 ? [`${indent}} update {`, ...inner(s.update)] : [];
      return [`${indent}loop L${s.label} {`, ...inner(s.body), ...update, `${indent}}`];
    }
    case 'block': {
      const of = s.inlined === undefined ? '' : ` inlined ${s.inlined}`;
      return [`${indent}block L${s.label}${of} {`, ...inner(s.body), `${indent}}`];
    }
    case 'break':
    case 'continue':
      return line(`${s.op} L${s.label}`);
    case 'return':
      return line('return');
    case 'barrier': {
      const result = s.result ? `${names.variable(s.result)} = ` : '';
      return line(
        s.pred === undefined
          ? s.kind === 'sync'
            ? 'barrier'
            : `barrier.${s.kind}`
          : `${result}barrier.${s.kind} ${text(s.pred)}`,
      );
    }
    case 'warp': {
      const result = s.result ? `${names.variable(s.result)} = ` : '';
      const operands = [...(s.mask ? [s.mask] : []), ...s.args].map(text);
      return line(`${result}warp.${s.fn}${operands.length > 0 ? ` ${operands.join(', ')}` : ''}`);
    }
    case 'extern': {
      const result = s.result ? `${names.variable(s.result)} = ` : '';
      return line(`${result}extern ${s.fn.name}(${s.args.map(text).join(', ')})`);
    }
    case 'rest':
      return line(`rest ${text(s.nanoseconds)}`);
    case 'fence':
      return line(`fence ${s.scope}`);
    case 'print':
      return line(`print ${s.parts.map((p) => (typeof p === 'string' ? JSON.stringify(p) : text(p))).join(', ')}`);
    case 'trap':
      return line(`trap ${JSON.stringify(s.message)}`);
  }
}

// ---------------------------------------------------------------- expressions

const INFIX: Readonly<Partial<Record<BinaryOp | CompareOp, readonly [symbol: string, level: number]>>> = {
  or: ['|', 1],
  xor: ['^', 2],
  and: ['&', 3],
  eq: ['==', 4],
  ne: ['!=', 4],
  lt: ['<', 5],
  le: ['<=', 5],
  gt: ['>', 5],
  ge: ['>=', 5],
  shl: ['<<', 6],
  shr: ['>>', 6],
  add: ['+', 7],
  sub: ['-', 7],
  mul: ['*', 8],
  div: ['/', 8],
  rem: ['%', 8],
};

/** `level`: how tightly the place binds; a weaker operator is put in parentheses. */
function exprText(e: Expr, names: Names, level: number): string {
  const text = (x: Expr): string => exprText(x, names, 0);
  switch (e.op) {
    case 'const':
      return constantText(e);
    case 'var':
      return names.variable(e.var);
    case 'param':
      return names.param(e.param);
    case 'special':
      return e.name;
    case 'unary':
      if (e.fn === 'neg') return `-${exprText(e.a, names, 9)}`;
      return e.fn === 'not' ? `!${exprText(e.a, names, 9)}` : `${e.fn}(${text(e.a)})`;
    case 'binary':
    case 'compare': {
      const [symbol, own] = INFIX[e.fn] ?? ['', 0];
      if (symbol === '') return `${e.fn}(${text(e.a)}, ${text(e.b)})`;
      const t = `${exprText(e.a, names, own)} ${symbol} ${exprText(e.b, names, own + 1)}`;
      return own < level ? `(${t})` : t;
    }
    case 'select':
      return `select(${text(e.cond)}, ${text(e.a)}, ${text(e.b)})`;
    case 'cast':
      return `${e.to}${e.checked ? '!' : ''}(${text(e.a)})`;
    case 'bitcast':
      return `bits.${e.type}(${text(e.a)})`;
    case 'fma':
      return `fma${e.to === undefined ? '' : `.${e.to}`}(${text(e.a)}, ${text(e.b)}, ${text(e.c)})`;
    case 'call':
      return `${e.fn}.${e.type}(${e.args.map(text).join(', ')})`;
    case 'intrinsic':
      return `${e.fn.name}(${e.args.map(text).join(', ')})`;
    case 'load':
      return memText(e.mem, names);
    case 'native': {
      const otherwise = e.otherwise === undefined ? '' : ` or ${text(e.otherwise)}`;
      return `${e.fn.name}.${e.type}(${e.args.map(text).join(', ')}${otherwise})`;
    }
    case 'address':
      return `&${memText(e.mem, names)}`;
    case 'available':
      return `available(${e.fn.name})`;
  }
}

/** i32 and bool constants are bare, all others carry their type: `1.5f32`, `-0f64`, `7u32`. */
function constantText(e: Expr & { op: 'const' }): string {
  const digits = Object.is(e.value, -0) ? '-0' : String(e.value);
  return e.type === 'i32' || e.type === 'bool' ? digits : `${digits}${e.type}`;
}

/** `x[i]`; with a scale or element type that is not the array's, or a displacement: `x[i : f64 *8 +16]`. */
function memText(mem: MemRef, names: Names): string {
  const text = (x: Expr): string => exprText(x, names, 0);
  const plain = mem.elem === mem.array.elem && mem.scale === ELEM_SIZE[mem.elem] && mem.disp === 0;
  const access = plain ? '' : ` : ${mem.elem} *${mem.scale} ${mem.disp < 0 ? mem.disp : `+${mem.disp}`}`;
  const checks = mem.checks.map((c) => `${text(c.index)} < ${text(c.extent)}`).join(', ');
  return `${names.array(mem.array)}[${text(mem.index)}${access}${checks && ` where ${checks}`}]`;
}
