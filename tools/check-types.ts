/**
 * Checks the published declarations as users meet them: builds them into the node_modules of an empty project and compiles
 * `test/types/consumer/` there, under TypeScript 5.9 and 7, by the configuration that `tsc --init` writes and by others, with `skipLibCheck: false` and
 * nothing else installed.
 *
 * Usage: tsx tools/check-types.ts [--keep]. Exit code 1 when a combination fails.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The compilers, by the packages that hold them. */
const COMPILERS = ['typescript-5.9', 'typescript'];

interface Combination {
  readonly name: string;
  /** `rows.ts` writes `A[i][j]`, which `noUncheckedIndexedAccess` refuses; `editor.ts` expects what only strict compilers see. */
  readonly files: readonly string[];
  /** Beside those that `tsc --init` writes, or instead of them. */
  readonly options: Readonly<Record<string, unknown>>;
}

const LOOSE = ['kernels.ts', 'roc.ts', 'errors.ts', 'suite.ts'];
const STRICT = [...LOOSE, 'library.ts', 'editor.ts', 'exported.ts'];
const UNCHECKED = { noUncheckedIndexedAccess: false };
const NOT_STRICT = { ...UNCHECKED, strict: false, exactOptionalPropertyTypes: false };
const COMBINATIONS: readonly Combination[] = [
  { name: 'as tsc --init has it', files: STRICT, options: {} },
  { name: 'without noUncheckedIndexedAccess', files: [...STRICT, 'rows.ts'], options: UNCHECKED },
  { name: 'without exactOptionalPropertyTypes', files: STRICT, options: { exactOptionalPropertyTypes: false } },
  {
    name: 'without verbatimModuleSyntax and isolatedModules',
    files: STRICT,
    options: { verbatimModuleSyntax: false, isolatedModules: false, moduleDetection: 'auto' },
  },
  { name: 'without the DOM', files: STRICT, options: { target: 'es2022', lib: ['es2022'] } },
  { name: 'pages', files: ['pages.ts'], options: { target: 'es2022', lib: ['es2022', 'dom'] } },
  { name: 'bundler resolution', files: STRICT, options: { module: 'esnext', moduleResolution: 'bundler' } },
  { name: 'not strict', files: [...LOOSE, 'rows.ts'], options: NOT_STRICT },
  {
    name: 'not strict, browser libraries',
    files: [...LOOSE, 'rows.ts'],
    options: { ...NOT_STRICT, lib: ['es2022', 'dom'] },
  },
  { name: 'the conformance suite alone', files: ['suite.ts'], options: {} },
];

function run(command: string, args: readonly string[], cwd: string): { readonly ok: boolean; readonly output: string } {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  return { ok: status === 0, output: `${stdout}${stderr}` };
}

function compiler(name: string): string {
  return join(root, 'node_modules', name, 'bin', 'tsc');
}

/** An empty project in which this package is installed: its package.json and its declarations, nothing else. */
function makeProject(): string {
  const project = mkdtempSync(join(tmpdir(), 'tsamba-types-'));
  const installed = join(project, 'node_modules', 'tsamba');
  mkdirSync(installed, { recursive: true });
  cpSync(join(root, 'package.json'), join(installed, 'package.json'));
  const built = run(
    process.execPath,
    [join(root, 'tools/emit.mjs'), join(installed, 'dist'), '--emitDeclarationOnly', '--sourceMap', 'false'],
    root,
  );
  if (!built.ok) {
    failures++;
    console.error(`building the declarations failed:\n${built.output}`);
  }
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'consumer', type: 'module', private: true }));
  for (const file of readdirSync(join(root, 'test', 'types', 'consumer'))) {
    cpSync(join(root, 'test', 'types', 'consumer', file), join(project, file));
  }
  return project;
}

function check(project: string, name: string, { files, options }: Combination): string | undefined {
  const init = join(project, name);
  if (!existsSync(init)) {
    mkdirSync(init);
    run(process.execPath, [compiler(name), '--init'], init);
  }
  const config = {
    extends: `./${name}/tsconfig.json`,
    compilerOptions: { skipLibCheck: false, noEmit: true, ...options },
    files,
  };
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(config));
  const { ok, output } = run(process.execPath, [compiler(name), '-p', '.', '--pretty', 'false'], project);
  return ok ? undefined : output;
}

let failures = 0;
const project = makeProject();
for (const name of COMPILERS) {
  for (const combination of COMBINATIONS) {
    const errors = check(project, name, combination);
    console.log(`${errors === undefined ? 'ok    ' : 'FAILED'} ${name}: ${combination.name}`);
    if (errors === undefined) continue;
    failures++;
    console.log(errors.split('\n').slice(0, 40).join('\n'));
  }
}
if (process.argv.includes('--keep')) console.log(`kept: ${project}`);
else rmSync(project, { recursive: true });
process.exitCode = failures === 0 ? 0 : 1;
