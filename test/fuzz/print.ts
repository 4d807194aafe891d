/**
 * Programs as kernel source: the text that a user would have written.
 */
import {
  type ArrayDecl,
  type BinOp,
  type Choice,
  type Expr,
  type FuncDecl,
  isBig,
  type LValue,
  type Maybe,
  type Program,
  type QuotientOp,
  type Shown,
  type Stmt,
  type UnOp,
  type Val,
} from './program.ts';

const INFIX: Readonly<Partial<Record<BinOp, string>>> = {
  add: '+',
  sub: '-',
  mul: '*',
  div: '/',
  rem: '%',
  and: '&',
  or: '|',
  xor: '^',
  shl: '<<',
  shr: '>>',
  ushr: '>>>',
  pow: '**',
};
const CALL: Readonly<Partial<Record<BinOp, string>>> = {
  min: 'Math.min',
  max: 'Math.max',
  fmin: 'cuda.fmin',
  fmax: 'cuda.fmax',
  imul: 'Math.imul',
  copysign: 'cuda.copysign',
};
const CMP = { eq: '===', ne: '!==', lt: '<', le: '<=', gt: '>', ge: '>=' } as const;
const UNARY: Readonly<Partial<Record<UnOp, string>>> = {
  abs: 'Math.abs',
  sign: 'Math.sign',
  sqrt: 'Math.sqrt',
  floor: 'Math.floor',
  ceil: 'Math.ceil',
  trunc: 'Math.trunc',
  round: 'Math.round',
  rint: 'cuda.rint',
  clz: 'cuda.clz',
  popc: 'cuda.popc',
  brev: 'cuda.brev',
  uniform: 'cuda.uniform',
  isNaN: 'Number.isNaN',
  isFinite: 'Number.isFinite',
  isInteger: 'Number.isInteger',
};

function literal(v: Val): string {
  if (typeof v === 'bigint') return v < 0n ? `(${v}n)` : `${v}n`;
  if (typeof v === 'boolean') return String(v);
  if (Number.isNaN(v)) return 'NaN';
  if (!Number.isFinite(v)) return v > 0 ? 'Infinity' : '(-Infinity)';
  return v < 0 || Object.is(v, -0) ? `(${Object.is(v, -0) ? '-0' : v})` : String(v);
}

/** Operators of integers whose operands stay integers, whatever becomes of the result. */
const ITSELF: ReadonlySet<BinOp> = new Set(['add', 'sub', 'and', 'or', 'xor']);

/** A power of integers that a float might be computed of, were it not cut to an integer. */
function isWholePower(e: Expr): boolean {
  return e.k === 'bin' && e.op === 'pow' && (e.t === 'i32' || e.t === 'u32') && e.b.k !== 'lit';
}

/** As an operand that is an integer anyway. */
function printPlain(e: Expr): string {
  if (e.k !== 'bin' || !isWholePower(e)) return printExpr(e);
  return `(${printExpr(e.a)} ** ${printExpr(e.b)})`;
}

export function printExpr(e: Expr): string {
  switch (e.k) {
    case 'lit':
      return e.polymorphic || e.t === 'bool' ? literal(e.v) : `${e.t}(${literal(e.v)})`;
    case 'var':
      return e.name;
    case 'thread':
      return `i32(${e.what.length === 1 ? e.what : `cuda.${e.what}`})`;
    case 'length':
      return `i32(${e.array.name}.length)`;
    case 'load':
      return element(e.array, e.at);
    case 'bin': {
      const infix = INFIX[e.op];
      const part = ITSELF.has(e.op) && !/^f/.test(e.t) ? printPlain : printExpr;
      const [a, b] = [part(e.a), part(e.b)];
      if (isWholePower(e)) return `((${a} ** ${b}) ${e.t === 'u32' ? '>>> 0' : '| 0'})`;
      return infix === undefined ? `${CALL[e.op] ?? ''}(${a}, ${b})` : `(${a} ${infix} ${b})`;
    }
    case 'quotient': {
      return rounded(e.op, e.t, `${printExpr(e.a)} / ${printExpr(e.b)}`);
    }
    case 'un':
      return unary(e.op, e.t, printExpr(e.a));
    case 'cmp':
      return `(${printExpr(e.a)} ${CMP[e.op]} ${printExpr(e.b)})`;
    case 'logic':
      return `(${printExpr(e.a)} ${e.op === 'and' ? '&&' : '||'} ${printExpr(e.b)})`;
    case 'sel': {
      const [c, a, b] = [printExpr(e.c), printExpr(e.a), printExpr(e.b)];
      return e.selp ? `cuda.selp(${c}, ${a}, ${b})` : `(${c} ? ${a} : ${b})`;
    }
    case 'cast':
      return `${e.to}(${printExpr(e.a)})`;
    case 'fma':
    case 'dp4a':
      return `cuda.${e.k}(${printExpr(e.a)}, ${printExpr(e.b)}, ${printExpr(e.c)})`;
    case 'call':
      return `${e.fn.name}(${e.args.map(printExpr).join(', ')})`;
    case 'absent':
      return test(printMaybe(e.of), e.of.nothing, e.how);
    case 'coalesce':
      return `(${printMaybe(e.of)} ?? ${printExpr(e.otherwise)})`;
  }
}

function printMaybe(m: Maybe): string {
  switch (m.k) {
    case 'of':
      return printExpr(m.value);
    case 'none':
      return m.nothing;
    case 'name':
      return m.name;
    case 'ask':
      return `${m.fn.name}(${m.args.map(printMaybe).join(', ')})`;
    case 'choice':
      return `(${printExpr(m.c)} ? ${printMaybe(m.a)} : ${printMaybe(m.b)})`;
  }
}

function printShown(shown: Shown): string {
  switch (shown.k) {
    case 'value':
      return printExpr(shown.e);
    case 'word':
      return JSON.stringify(shown.text);
    case 'text': {
      if (!shown.template)
        return shown.parts.map((x) => (typeof x === 'string' ? JSON.stringify(x) : printExpr(x))).join(' + ');
      return `\`${shown.parts.map((x) => (typeof x === 'string' ? x : `\${${printExpr(x)}}`)).join('')}\``;
    }
    case 'items':
      return `[${shown.of.map(printShown).join(', ')}]`;
    case 'fields':
      return `{ ${shown.of.map(([name, value]) => `${name}: ${printShown(value)}`).join(', ')} }`;
  }
}

function test(x: string, nothing: string, how: 'strict' | 'loose' | 'typeof' | 'falsy'): string {
  if (how === 'falsy') return `!${x}`;
  if (how === 'loose') return `(${x} == null)`;
  return how === 'typeof' && nothing === 'undefined' ? `(typeof ${x} === 'undefined')` : `(${x} === ${nothing})`;
}

function rounded(op: QuotientOp, t: string, q: string): string {
  if (op === 'or0') return `((${q}) ${t === 'u32' ? '>>> 0' : '| 0'})`;
  return op === 'rint' ? `cuda.rint(${q})` : `Math.${op}(${q})`;
}

function unary(op: UnOp, t: string, a: string): string {
  switch (op) {
    case 'neg':
      return `(-${a})`;
    case 'not':
      return t === 'bool' ? `!${a}` : `(~${a})`;
    case 'or0':
      return `(${a} | 0)`;
    case 'ushr0':
      return `(${a} >>> 0)`;
    case 'square':
      return `(${a} ** 2)`;
    // Their results have no type of their own.
    case 'ffs':
      return `i32(cuda.ffs(${a}))`;
    case 'clz32':
      return `i32(Math.clz32(${a}))`;
    default:
      return `${UNARY[op] ?? ''}(${a})`;
  }
}

/** The indices of an element, one an axis. */
function indices(a: ArrayDecl, at: LValue): string[] {
  switch (at.form) {
    case 'counter':
      return [at.name];
    case 'raw':
      return at.index.map(printExpr);
    case 'any':
      return at.index.map((e, d) => `${printExpr(e)} & ${(a.shape[d] ?? 1) - 1}`);
    case 'own': {
      const id = a.space === 'shared' || a.space === 'dynamic' ? 't' : 'k';
      const scaled = at.scale === 1 ? id : `${id} * ${at.scale}`;
      const fixed = at.offset === 0 ? scaled : `${scaled} + ${at.offset}`;
      const forward = at.counter === undefined ? fixed : `${fixed} + ${at.counter}`;
      const n = a.shape.reduce((x, y) => x * y, 1);
      const linear = at.reverse ? `${n - 1} - (${forward})` : forward;
      if (a.shape.length === 1) return [linear];
      const inner = a.shape[1] ?? 1;
      return [`(${linear}) >> ${Math.log2(inner)}`, `(${linear}) & ${inner - 1}`];
    }
  }
}

function element(a: ArrayDecl, at: LValue): string {
  return `${a.name}${indices(a, at)
    .map((i) => `[${i}]`)
    .join('')}`;
}

function lines(list: readonly Stmt[], indent: string): string {
  return list.map((s) => statement(s, indent)).join('');
}

function block(list: readonly Stmt[], indent: string): string {
  return `{\n${lines(list, `${indent}  `)}${indent}}`;
}

function assigned(op: BinOp | undefined, t: string): string {
  if (op === undefined) return '';
  if (t === 'bool') return op === 'and' ? '&&' : '||';
  return INFIX[op] ?? '';
}

function choice(c: Choice): string {
  switch (c.k) {
    case 'array':
      return c.array.name;
    case 'either': {
      const [test, a, b] = [printExpr(c.c), choice(c.a), choice(c.b)];
      return c.call ? `pick(${test}, ${a}, ${b})` : `(${test} ? ${a} : ${b})`;
    }
    case 'nth':
      return `[${c.of.map(choice).join(', ')}][${printExpr(c.index)} & ${c.of.length - 1}]`;
  }
}

function statement(s: Stmt, i: string): string {
  switch (s.k) {
    case 'let':
      return `${i}let ${s.name} = ${printExpr(s.value)};\n`;
    case 'ratio': {
      const { other } = s;
      const x = other && `${printExpr(other.a)}${other.b === undefined ? '' : ` / ${printExpr(other.b)}`}`;
      const change = other && `${i}if (${printExpr(other.c)}) ${s.name} = ${x};\n`;
      const uses = s.uses.map((u) => `${i}let ${u.name} = ${rounded(u.op, s.t, s.name)};\n`);
      return `${i}let ${s.name} = ${printExpr(s.a)} / ${printExpr(s.b)};\n${change ?? ''}${uses.join('')}`;
    }
    case 'set':
      return `${i}${s.name} ${assigned(s.op, s.t)}= ${printExpr(s.value)};\n`;
    case 'arrays': {
      const [names, values] = [s.to.map((x) => x.name.name).join(', '), s.to.map((x) => choice(x.of)).join(', ')];
      const together = s.to.length === 1 ? `${names} = ${values}` : `[${names}] = [${values}]`;
      return `${i}${s.how === 'let' ? 'let ' : ''}${together};\n`;
    }
    case 'store':
      return `${i}${element(s.array, s.at)} ${assigned(s.op, s.array.elem)}= ${printExpr(s.value)};\n`;
    case 'bump': {
      const [place, op] = [element(s.array, s.at), s.up ? '++' : '--'];
      return `${i}const ${s.name} = ${s.prefix ? `${op}${place}` : `${place}${op}`};\n`;
    }
    case 'if':
      return `${i}if (${printExpr(s.c)}) ${block(s.then, i)}${s.else.length > 0 ? ` else ${block(s.else, i)}` : ''}\n`;
    case 'for': {
      const bound = (b: number | Expr): string => (typeof b === 'number' ? literal(b) : printExpr(b));
      const test = s.shift === 'right' || (typeof s.step === 'number' && s.step < 0) ? '>' : '<';
      const step = s.shift
        ? `${s.name} ${s.shift === 'left' ? '<<=' : '>>='} ${bound(s.step)}`
        : s.step === 1
          ? `${s.name}++`
          : s.step === -1
            ? `${s.name}--`
            : `${s.name} += ${bound(s.step)}`;
      const head = `for (let ${s.name} = i32(${bound(s.from)}); ${s.name} ${test} ${bound(s.to)}; ${step})`;
      return `${i}${s.label === undefined ? '' : `${s.label}: `}${head} ${block(s.body, i)}\n`;
    }
    case 'while': {
      const test = `${s.fuelName}++ < ${s.fuel} && ${printExpr(s.c)}`;
      const head = `${i}let ${s.fuelName} = i32(0);\n${i}${s.label === undefined ? '' : `${s.label}: `}`;
      return s.post
        ? `${head}do ${block(s.body, i)} while (${test});\n`
        : `${head}while (${test}) ${block(s.body, i)}\n`;
    }
    case 'switch': {
      const cases = s.cases.map((c) => {
        const test = c.test === undefined ? 'default' : `case ${literal(isBig(s.on.t) ? BigInt(c.test) : c.test)}`;
        return `${i}  ${test}: {\n${lines(c.body, `${i}    `)}${i}  }${c.falls ? '' : ' break;'}\n`;
      });
      return `${i}switch (${printExpr(s.on)}) {\n${cases.join('')}${i}}\n`;
    }
    case 'break':
    case 'continue':
      return `${i}${s.k}${s.label === undefined ? '' : ` ${s.label}`};\n`;
    case 'maybe':
      return `${i}${s.how} ${s.name}${s.value === undefined ? '' : ` = ${printMaybe(s.value)}`};\n`;
    case 'give':
      return `${i}${s.name} ${s.ifNone ? '??' : ''}= ${printMaybe(s.value)};\n`;
    case 'return':
      if (s.maybe !== undefined) return `${i}return ${printMaybe(s.maybe)};\n`;
      return `${i}return${s.value === undefined ? '' : ` ${printExpr(s.value)}`};\n`;
    case 'print': {
      const made = s.args.map((shown, n) =>
        s.names[n] === undefined ? '' : `${i}const ${s.names[n]} = ${printShown(shown)};\n`,
      );
      const args = s.args.map((shown, n) => s.names[n] ?? printShown(shown));
      return `${made.join('')}${i}console.log(${['i32(k)', ...args].join(', ')});\n`;
    }
    case 'barrier':
      return `${i}cuda.syncThreads();\n`;
    case 'vote':
      return `${i}const ${s.name} = i32(cuda.syncThreads${s.kind}(${printExpr(s.pred)}));\n`;
    case 'exchange': {
      const by = s.fn.startsWith('shfl') ? `, ${printExpr(s.by)}` : '';
      // The second item says whether there is a mask.
      const made = s.fn === 'matchAllSync' ? `[${s.name}]` : s.name;
      return `${i}const ${made} = cuda.${s.fn}(${printExpr(s.mask)}, ${printExpr(s.value)}${by});\n`;
    }
    case 'atomic': {
      const index = indices(s.array, s.at);
      const at = index.length === 1 ? index[0] : `[${index.join(', ')}]`;
      const call = `cuda.atomic.${s.op}(${s.array.name}, ${at}, ${s.args.map(printExpr).join(', ')})`;
      return s.name === undefined ? `${i}${call};\n` : `${i}const ${s.name} = ${call};\n`;
    }
  }
}

function printFunction(f: FuncDecl, i: string): string {
  return `${i}function ${f.name}(${f.params.map((p) => (p.preset === undefined ? p.name : `${p.name} = ${printExpr(p.preset)}`)).join(', ')}) ${block(f.body, i)}\n`;
}

/** The arrays that are arguments, in their order. */
export function argumentsOf(p: Program): readonly ArrayDecl[] {
  return p.arrays.filter((a) => a.space === 'in' || a.space === 'out' || a.space === 'atomic');
}

/** The kernel as a function expression. Its parameters are the arrays that are arguments, then the scalars. */
export function printProgram(p: Program): string {
  const made = p.arrays.flatMap((a) => {
    const shape = a.shape.length === 1 ? a.shape[0] : `[${a.shape.join(', ')}]`;
    switch (a.space) {
      case 'shared':
      case 'local':
        return `  const ${a.name} = cuda.${a.space}.array(${shape}, ${a.elem});\n`;
      case 'dynamic':
        return `  const ${a.name} = cuda.shared.array(0, ${a.elem});\n`;
      default:
        return [];
    }
  });
  const flat = p.block[1] === 1;
  const head = [
    `  const k = ${flat ? 'cuda.grid(1)' : '(cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y) * cuda.blockDim.x + cuda.threadIdx.x'};\n`,
    `  const t = ${flat ? 'cuda.threadIdx.x' : 'cuda.threadIdx.y * cuda.blockDim.x + cuda.threadIdx.x'};\n`,
  ];
  const parameters = [...argumentsOf(p), ...p.scalars].map((a) => a.name).join(', ');
  const picks = p.arrays.some((a) => a.space === 'name') ? '  const pick = (c, a, b) => (c ? a : b);\n' : '';
  return `function kernel(${parameters}) {\n${picks}${p.functions.map((f) => printFunction(f, '  ')).join('')}${head.join('')}${made.join('')}${lines(p.body, '  ')}}`;
}
