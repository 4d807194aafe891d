/**
 * The rules for kernels, over the trees that typescript-eslint's parser would give (Babel's, in that form), and over all kernels of the examples.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from '@babel/core';
import { describe, expect, it } from 'vitest';
import plugin from '../eslint.ts';
import { kernelOf } from './kernels.ts';
import type { Report } from './rule.ts';
import { type Node, walk } from './tree.ts';

interface Hit {
  readonly line: number;
  readonly message: string;
}

function parse(text: string): Node {
  const parserOpts = { plugins: ['typescript', 'estree', 'explicitResourceManagement'] as const, ranges: true };
  const file = parseSync(text, {
    configFile: false,
    babelrc: false,
    parserOpts: { ...parserOpts, plugins: [...parserOpts.plugins] },
  });
  return file?.program as unknown as Node;
}

function lint(rule: string, text: string, tree: Node = parse(text)): readonly Hit[] {
  const hits: Hit[] = [];
  const { create, meta } = plugin.rules[rule] ?? {};
  if (create === undefined) throw new Error(`there is no rule ${rule}`);
  const getText = (node?: Node): string => text.slice(Number(node?.start), Number(node?.end));
  const report = ({ node, messageId, data = {} }: Report): void => {
    const message = String(meta?.messages[messageId]).replace(/\{\{(\w+)\}\}/g, (_, key: string) => String(data[key]));
    hits.push({ line: (node.loc as { start: { line: number } }).start.line, message });
  };
  const { CallExpression } = create({ sourceCode: { getText }, report });
  walk(tree, (node) => {
    if (node.type === 'CallExpression') CallExpression(node);
  });
  return hits;
}

const jit = (params: string, body: string, options = ''): string =>
  `const k = cuda.jit((${params}) => {\n${body}\n}${options});`;

interface Cases {
  readonly valid: readonly string[];
  /** Each with a part of its message. */
  readonly invalid: readonly (readonly [code: string, message: string])[];
}

const X = 'x: Vec<f32>';

const cases: Readonly<Record<string, Cases>> = {
  'divergent-barrier': {
    valid: [
      jit(X, 'cuda.syncThreads();'),
      jit(X, 'const t = cuda.threadIdx.x; if (t < 16) x[t] = 0; cuda.syncThreads();'),
      jit(`${X}, n: number`, 'for (let k = 0; k < n; k++) cuda.syncThreads();'),
      jit(X, 'if (cuda.blockIdx.x === 0) cuda.syncThreads();'),
      jit(
        X,
        'const s = cuda.shared.array(1, i32); if (cuda.threadIdx.x === 0) s[0]! = 1; while (s[0]! > 0) cuda.syncThreads();',
      ),
      jit(
        X,
        'for (let step = x.length; step > 0; step >>= 1) { if (cuda.threadIdx.x < step) x[0] = 1; cuda.syncThreads(); }',
      ),
      jit(X, 'if (cuda.syncThreadsOr(x[cuda.threadIdx.x]! > 0)) cuda.syncThreads();'),
      'function host() { if (threadIdx.x) syncThreads(); }',
    ],
    invalid: [
      [jit(X, 'if (cuda.threadIdx.x < 16) cuda.syncThreads();'), '`cuda.threadIdx.x < 16` depends on the thread'],
      [jit(X, 'const { x: t } = cuda.threadIdx; if (t) { cuda.syncThreads(); }'), 'out of the branch'],
      [jit(X, 'const i = cuda.grid(1); if (x[i]! > 0) cuda.syncThreads();'), '`x[i]! > 0`'],
      [jit(X, 'for (let i = cuda.grid(1); i < x.length; i += 5) cuda.syncThreads();'), 'out of the loop'],
      [jit(X, 'let n = 0; if (cuda.threadIdx.x > 3) n = 1; while (n-- > 0) cuda.syncThreads();'), '`n-- > 0`'],
      [jit(X, 'cuda.threadIdx.x < 3 && cuda.syncThreads();'), 'the expression'],
      ['const k = roc.jit((x) => { if (roc.getLocalId(0) > 1) roc.barrier(); });', 'getLocalId'],
      [
        'const k = cuda.jit(({ cuda }) => (x) => { if (cuda.grid(1) > 1) cuda.syncThreads(); }, { captures: { cuda } });',
        'grid',
      ],
    ],
  },
  'missing-guard': {
    valid: [
      jit(X, 'const i = cuda.grid(1); if (i < x.length) x[i] = 1;'),
      jit(X, 'const i = cuda.grid(1); if (i >= x.length) return; x[i] = 1;'),
      jit(X, 'for (let i = cuda.grid(1); i < x.length; i += cuda.gridSize(1)) x[i] = 1;'),
      jit(X, 'const i = cuda.grid(1); x[i % x.length] = 1;'),
      jit(X, 'const i = cuda.grid(1); const at = 2 * i; if (at + 1 < x.length) x[at] = 1;'),
      jit('a: Mat<f32>', 'const [x, y] = cuda.grid(2); if (x < a.shape[1] && y < a.shape[0]) a[y]![x] = 1;'),
      jit('a: Mat<f32>', 'const [x, y] = cuda.grid(2); if (inside(x, y, a)) a[y]![x] = 1;'),
      jit(X, 'const s = cuda.shared.array(32, f32); const i = cuda.grid(1); s[0] = x[i]!;'),
      jit(X, 'const i = cuda.grid(1); cuda.atomic.add(x, 0, i);'),
    ],
    invalid: [
      [jit(X, 'const i = cuda.grid(1);\nx[i] = 1;'), 'Write `if (i < x.length)`'],
      [jit(X, 'const i = cuda.grid(1); x[i]! += Math.sqrt(i);'), '`i` indexes `x`'],
      [jit('a: Mat<f32>', 'const [x, y] = cuda.grid(2); if (y < a.shape[0]) a[y]![x] = 1;'), '`x` indexes `a`'],
      ['const k = roc.jit((x) => { const i = roc.getGlobalId(0); x[i + 1] = 0; });', '`i` indexes `x`'],
    ],
  },
  'uncoalesced-access': {
    valid: [
      jit(X, 'const i = cuda.grid(1); x[i] = x[i + 1]!;'),
      jit('x: Vec<f32>, n: number', 'x[cuda.blockIdx.x * n + cuda.threadIdx.x] = 1;'),
      jit('a: Mat<f32>', 'const [x, y] = cuda.grid(2); a[y]![x] = 1;'),
      jit('p: Mat<u8>', 'const i = cuda.grid(1); for (let c = 0; c < 3; c++) p[i]![c] = p[i]![3]!;'),
      jit('p: Vec<u8>', 'const i = 4 * cuda.grid(1); p[i + 3] = 255;'),
      jit(`${X}, at: Vec<i32>`, 'const i = cuda.grid(1); x[at[i]!] = 1;'),
      jit('a: Mat<f32>', 'const t = cuda.shared.array([16, 16], f32); t[cuda.threadIdx.x]![0] = a[0]![0]!;'),
      jit('a: Mat<f32>', 'const [x, y] = cuda.grid(2); a[(x + y) % 7]![0] = 1;'),
    ],
    invalid: [
      [jit('a: Mat<f32>', 'const [x, y] = cuda.grid(2); a[x]![y] = 1;'), '`x` follows x and is not the last index'],
      [
        jit('a: Mat<f32>, n: number', 'const i = cuda.grid(1); for (let k = 0; k < n; k++) a[i]![k] = 1;'),
        'different rows of `a`',
      ],
      [jit('x: Vec<f32>, n: number', 'x[cuda.threadIdx.x * n + 1] = 1;'), '`n` apart'],
      [jit(X, 'const i = cuda.grid(1) * 64; x[i] = 1;'), '`64` apart'],
      ['const k = roc.jit((x, n) => { x[n * roc.getGlobalId(0)] = 1; });', '`n` apart'],
    ],
  },
  'accidental-f64': {
    valid: [
      jit(X, 'x[0] = 0.5;'),
      jit('n: Vec<i32>, s: number', 'n[0] = 5 / 2;'),
      jit('n: Vec<i32>', 'const a = f32(0.5); n[0] = a * 3;'),
      jit('n: Vec<i32>', 'n[0] = 0.5;', ", { defaultFloat: 'f64' }"),
      jit('n', 'n[0] = 0.5;'),
      jit('n: Vec<i32>, o: Options', 'n[0] = 0.5;'),
      jit('s: number', 'const a = 0.5 * s;'),
    ],
    invalid: [
      [jit('n: Vec<i32>', 'n[0] = Math.floor(n[0]! * 0.5);'), '`0.5` is computed in f64'],
      [jit('px: Mat<u8>, s: number', 'px[0]![0] = 255 * Math.sqrt(s);'), '`f32(Math.sqrt(s))`'],
    ],
  },
};

describe.each(Object.entries(cases))('%s', (rule, { valid, invalid }) => {
  it.each(valid)('accepts %s', (code) => {
    expect(lint(rule, code)).toEqual([]);
  });

  it.each(invalid)('reports %s', (code, message) => {
    const hits = lint(rule, code);
    expect(hits).toHaveLength(1);
    expect(hits[0]?.message).toContain(message);
    expect(hits[0]?.message).not.toMatch(/\{\{|undefined/);
  });
});

it('turns all rules on', () => {
  const { rules, plugins } = plugin.configs.recommended;
  expect(Object.keys(rules)).toEqual(Object.keys(plugin.rules).map((name) => `tsamba/${name}`));
  expect(plugins.tsamba).toMatchObject({ rules: plugin.rules });
});

it('finds no divergent barrier and no accidental f64 in the examples', () => {
  const folder = join(import.meta.dirname, '../../../examples');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  let kernels = 0;
  for (const name of files) {
    const text = readFileSync(join(folder, name), 'utf8');
    const tree = parse(text);
    walk(tree, (node) => {
      if (node.type === 'CallExpression' && kernelOf(node) !== undefined) kernels++;
    });
    for (const rule of ['divergent-barrier', 'accidental-f64']) expect(lint(rule, text, tree), name).toEqual([]);
  }
  expect(kernels).toBeGreaterThan(20);
});
