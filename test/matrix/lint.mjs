/**
 * `tsamba/eslint` under what was installed beside it: ESLint with the parser of typescript-eslint, or oxlint with plugins in JavaScript, as
 * `node lint.mjs eslint|oxlint FOLDER`. The wrong file has each mistake that the rules know, on lines that say which; the right one has none.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const WRONG = `import { cuda, type f32, type i32, type Mat, type Vec } from 'tsamba';

export const divergent = cuda.jit((x: Vec<f32>) => {
  const tile = cuda.shared.array(32, 'f32');
  const t = cuda.threadIdx.x;
  if (t < 16) cuda.syncThreads(); // divergent-barrier
  tile[t] = x[t]!;
});
export const unguarded = cuda.jit((y: Vec<f32>, x: Vec<f32>) => {
  const i = cuda.grid(1); // missing-guard
  y[i] = 2 * x[i]!;
});
export const columns = cuda.jit((a: Mat<f32>) => {
  const [x, y] = cuda.grid(2);
  if (x < a.shape[0] && y < a.shape[1]) a[x]![y] = 1; // uncoalesced-access
});
export const apart = cuda.jit((v: Vec<f32>, n: i32) => {
  for (let k = 0; k < n; k++) v[cuda.threadIdx.x * n + k] = 0; // uncoalesced-access
});
export const wide = cuda.jit((counts: Vec<i32>) => {
  const i = cuda.grid(1);
  if (i < counts.length) counts[i] = Math.floor(counts[i]! * 0.7); // accidental-f64
});
`;

const RIGHT = `import { cuda, f32, type i32, type Mat, type Vec } from 'tsamba';

export const guarded = cuda.jit((y: Vec<f32>, x: Vec<f32>) => {
  const i = cuda.grid(1);
  if (i < y.length) y[i] = 2 * x[i]!;
});
export const tile = cuda.jit((x: Vec<f32>) => {
  const part = cuda.shared.array(32, 'f32');
  const t = cuda.threadIdx.x;
  part[t] = x[t]!;
  cuda.syncThreads();
  if (t < 16) part[t]! += part[t + 16]!;
  cuda.syncThreads();
  x[t] = part[0]!;
});
export const rows = cuda.jit((a: Mat<f32>) => {
  const [x, y] = cuda.grid(2);
  if (y < a.shape[0] && x < a.shape[1]) a[y]![x] = 1;
});
export const scaled = cuda.jit((counts: Vec<i32>) => {
  const i = cuda.grid(1);
  if (i < counts.length) counts[i] = Math.floor(counts[i]! * f32(0.7));
});
`;

const [tool, folder] = process.argv.slice(2);
writeFileSync(join(folder, 'wrong.ts'), WRONG);
writeFileSync(join(folder, 'right.ts'), RIGHT);
const wanted = WRONG.split('\n').flatMap((line, k) => {
  const rule = / \/\/ ([\w-]+)$/.exec(line)?.[1];
  return rule === undefined ? [] : [`wrong.ts:${k + 1} ${rule}`];
});
const found = tool === 'eslint' ? eslint() : oxlint();
if (wanted.join('\n') === found.sort(byLine).join('\n')) console.log('LINTED');
else throw new Error(`${tool} reported\n${found.join('\n')}\ninstead of\n${wanted.join('\n')}`);

function byLine(a, b) {
  return a.localeCompare(b, 'en', { numeric: true });
}

function eslint() {
  writeFileSync(
    join(folder, 'eslint.config.js'),
    `import parser from '@typescript-eslint/parser';
import tsamba from 'tsamba/eslint';
export default [{ files: ['**/*.ts'], languageOptions: { parser } }, tsamba.configs.recommended];
`,
  );
  const files = JSON.parse(output('eslint', ['--format', 'json', 'wrong.ts', 'right.ts']));
  return files.flatMap(({ filePath, messages }) => messages.map((m) => line(filePath, m.line, m.ruleId ?? m.message)));
}

function oxlint() {
  const rules = ['divergent-barrier', 'missing-guard', 'uncoalesced-access', 'accidental-f64'];
  const configuration = {
    categories: { correctness: 'off' },
    jsPlugins: ['tsamba/eslint'],
    rules: Object.fromEntries(rules.map((rule) => [`tsamba/${rule}`, 'error'])),
  };
  writeFileSync(join(folder, '.oxlintrc.json'), JSON.stringify(configuration));
  const { diagnostics } = JSON.parse(output('oxlint', ['--format', 'json', 'wrong.ts', 'right.ts']));
  return diagnostics.map(({ filename, code, labels }) => line(filename, labels[0].span.line, code));
}

function line(path, number, rule) {
  return `${path.replaceAll('\\', '/').split('/').at(-1)}:${number} ${rule.replace(/^tsamba[/(]([\w-]+)\)?$/, '$1')}`;
}

/** What a linter prints: it fails where it has something to report. */
function output(command, args) {
  try {
    return execFileSync(command, args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  } catch (error) {
    return error.stdout;
  }
}
