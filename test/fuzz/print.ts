/**
 * Programs as kernel source: the text that a user would have written.
 */
import { type ArrayDecl, type BinOp, type Expr, type FuncDecl, type Program, type Stmt, type Val } from './program.ts';

const INFIX: Readonly<Partial<Record<BinOp, string>>> = {
  add: '+', sub: '-', mul: '*', div: '/', rem: '%', and: '&', or: '|', xor: '^', shl: '<<', shr: '>>', ushr: '>>>', pow: '**',
};
const CALL: Readonly<Partial<Record<BinOp, string>>> = {
  min: 'Math.min', max: 'Math.max', fmin: 'cuda.fmin', fmax: 'cuda.fmax', imul: 'Math.imul', copysign: 'cuda.copysign',
};
const CMP = { eq: '===', ne: '!==', lt: '<', le: '<=', gt: '>', ge: '>=' } as const;
const UNARY: Readonly<Record<string, string>> = {
  abs: 'Math.abs', sign: 'Math.sign', sqrt: 'Math.sqrt', floor: 'Math.floor', ceil: 'Math.ceil', trunc: 'Math.trunc', round: 'Math.round',
  rint: 'cuda.rint', clz: 'cuda.clz', popc: 'cuda.popc', ffs: 'cuda.ffs', brev: 'cuda.brev', clz32: 'Math.clz32', isNaN: 'Number.isNaN', isFinite: 'Number.isFinite', isInteger: 'Number.isInteger',
};

function number(v: Val): string {
  if (typeof v === 'bigint') return v < 0n ? `(${v}n)` : `${v}n`;
  if (typeof v === 'boolean') return String(v);
  if (Number.isNaN(v)) return 'NaN';
  if (!Number.isFinite(v)) return v > 0 ? 'Infinity' : '(-Infinity)';
  return v < 0 || Object.is(v, -0) ? `(${Object.is(v, -0) ? '-0' : v})` : String(v);
}

export function printExpr(e: Expr): string {
  switch (e.k) {
    case 'lit': return e.weak || e.t === 'bool' ? number(e.v) : `${e.t}(${number(e.v)})`;
    case 'var': return e.name;
    case 'thread': return e.what === 'grid' ? 'i32(k)' : `i32(cuda.${e.what})`;
    case 'load': return element(e.array, e.index);
    case 'bin': {
      const infix = INFIX[e.op];
      return infix === undefined ? `${CALL[e.op] ?? ''}(${printExpr(e.a)}, ${printExpr(e.b)})` : `(${printExpr(e.a)} ${infix} ${printExpr(e.b)})`;
    }
    case 'quotient': {
      const q = `${printExpr(e.a)} / ${printExpr(e.b)}`;
      return e.op === 'or0' ? `((${q}) ${e.t === 'u32' ? '>>> 0' : '| 0'})` : `Math.${e.op}(${q})`;
    }
    case 'un':
      if (e.op === 'neg') return `(-${printExpr(e.a)})`;
      if (e.op === 'not') return e.t === 'bool' ? `!${printExpr(e.a)}` : `(~${printExpr(e.a)})`;
      return `${UNARY[e.op] ?? ''}(${printExpr(e.a)})`;
    case 'cmp': return `(${printExpr(e.a)} ${CMP[e.op]} ${printExpr(e.b)})`;
    case 'logic': return `(${printExpr(e.a)} ${e.op === 'and' ? '&&' : '||'} ${printExpr(e.b)})`;
    case 'sel': return `(${printExpr(e.c)} ? ${printExpr(e.a)} : ${printExpr(e.b)})`;
    case 'cast': return `${e.to}(${printExpr(e.a)})`;
    case 'fma': return `cuda.fma(${printExpr(e.a)}, ${printExpr(e.b)}, ${printExpr(e.c)})`;
    case 'call': return `${e.fn.name}(${e.args.map(printExpr).join(', ')})`;
  }
}

function element(a: ArrayDecl, index: readonly Expr[]): string {
  return `${a.name}${index.map((i) => `[${printExpr(i)}]`).join('')}`;
}

function lines(list: readonly Stmt[], indent: string): string {
  return list.map((s) => statement(s, indent)).join('');
}

function block(list: readonly Stmt[], indent: string): string {
  return `{\n${lines(list, `${indent}  `)}${indent}}`;
}

function statement(s: Stmt, i: string): string {
  switch (s.k) {
    case 'let': return `${i}let ${s.name} = ${printExpr(s.value)};\n`;
    case 'set': {
      const infix = s.op === undefined ? '' : INFIX[s.op];
      return `${i}${s.name} ${infix ?? ''}= ${printExpr(s.value)};\n`;
    }
    case 'store': {
      const infix = s.op === undefined ? '' : INFIX[s.op];
      return `${i}${element(s.array, s.index)} ${infix ?? ''}= ${printExpr(s.value)};\n`;
    }
    case 'if': return `${i}if (${printExpr(s.c)}) ${block(s.then, i)}${s.else.length > 0 ? ` else ${block(s.else, i)}` : ''}\n`;
    case 'for': {
      const test = s.step > 0 ? '<' : '>';
      const step = s.step === 1 ? `${s.name}++` : s.step === -1 ? `${s.name}--` : `${s.name} += ${s.step}`;
      return `${i}${s.label === undefined ? '' : `${s.label}: `}for (let ${s.name} = i32(${number(s.from)}); ${s.name} ${test} ${number(s.to)}; ${step}) ${block(s.body, i)}\n`;
    }
    case 'while': {
      const test = `${s.fuelName}++ < ${s.fuel} && ${printExpr(s.c)}`;
      const head = `${i}let ${s.fuelName} = i32(0);\n${i}${s.label === undefined ? '' : `${s.label}: `}`;
      return s.post ? `${head}do ${block(s.body, i)} while (${test});\n` : `${head}while (${test}) ${block(s.body, i)}\n`;
    }
    case 'switch': {
      const cases = s.cases.map((c) => `${i}  ${c.test === undefined ? 'default' : `case ${number(c.test)}`}: {\n${lines(c.body, `${i}    `)}${i}  }${c.falls ? '' : ' break;'}\n`).join('');
      return `${i}switch (${printExpr(s.on)}) {\n${cases}${i}}\n`;
    }
    case 'break': case 'continue': return `${i}${s.k}${s.label === undefined ? '' : ` ${s.label}`};\n`;
    case 'return': return `${i}return${s.value === undefined ? '' : ` ${printExpr(s.value)}`};\n`;
    case 'barrier': return `${i}cuda.syncThreads();\n`;
    case 'vote': return `${i}const ${s.name} = i32(cuda.syncThreads${s.kind}(${printExpr(s.pred)}));\n`;
    case 'atomic': {
      const index = s.index.length === 1 && s.index[0] !== undefined ? printExpr(s.index[0]) : `[${s.index.map(printExpr).join(', ')}]`;
      const call = `cuda.atomic.${s.op}(${s.array.name}, ${index}, ${s.args.map(printExpr).join(', ')})`;
      return s.name === undefined ? `${i}${call};\n` : `${i}const ${s.name} = ${call};\n`;
    }
  }
}

function printFunction(f: FuncDecl, i: string): string {
  return `${i}function ${f.name}(${f.params.map((p) => p.name).join(', ')}) ${block(f.body, i)}\n`;
}

/** The kernel as a function expression. Its parameters are the arrays that are arguments, then the scalars. */
export function printProgram(p: Program): string {
  const args = p.arrays.filter((a) => a.space === 'in' || a.space === 'out' || a.space === 'atomic').map((a) => a.name);
  const made = p.arrays.filter((a) => a.space === 'shared' || a.space === 'local').map((a) =>
    `  const ${a.name} = cuda.${a.space}.array(${a.shape.length === 1 ? a.shape[0] : `[${a.shape.join(', ')}]`}, ${a.elem});\n`);
  return `function kernel(${[...args, ...p.scalars.map((s) => s.name)].join(', ')}) {\n${p.functions.map((f) => printFunction(f, '  ')).join('')}  const k = ${
    p.block[1] > 1 ? '(cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y) * cuda.blockDim.x + cuda.threadIdx.x' : 'cuda.grid(1)'};\n${made.join('')}${lines(p.body, '  ')}}`;
}

