/**
 * Checks the published declarations as users meet them: builds them into the node_modules of an empty project and compiles
 * `test/types/consumer/` there, under TypeScript 5.9 and 7, strict and not, with `skipLibCheck: false` and nothing else installed.
 *
 * Usage: tsx tools/check-types.ts [--keep]. Exit code 1 when a combination fails.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The compilers, by the packages that hold them. */
const COMPILERS = ['typescript-5.9', 'typescript'];

interface Combination {
  readonly name: string;
  /** `rows.ts` writes `A[i][j]`, which `noUncheckedIndexedAccess` refuses. */
  readonly files: readonly string[];
  readonly options: Readonly<Record<string, unknown>>;
}

const ALL = ['kernels.ts', 'roc.ts', 'errors.ts', 'suite.ts', 'rows.ts'];
const INDEXED = ['kernels.ts', 'roc.ts', 'errors.ts', 'suite.ts'];
const COMBINATIONS: readonly Combination[] = [
  { name: 'not strict', files: ALL, options: { strict: false } },
  { name: 'strict', files: ALL, options: { strict: true } },
  {
    name: 'strict, exactOptionalPropertyTypes',
    files: ALL,
    options: { strict: true, exactOptionalPropertyTypes: true },
  },
  {
    name: 'strict, noUncheckedIndexedAccess',
    files: INDEXED,
    options: { strict: true, noUncheckedIndexedAccess: true },
  },
  {
    name: 'strict, both, bundler resolution',
    files: INDEXED,
    options: {
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      module: 'esnext',
      moduleResolution: 'bundler',
    },
  },
  { name: 'not strict, browser libraries', files: ALL, options: { strict: false, lib: ['es2022', 'dom'] } },
  { name: 'the conformance suite alone', files: ['suite.ts'], options: { strict: true } },
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
  const config = {
    compilerOptions: {
      target: 'es2022',
      lib: ['es2022'],
      module: 'nodenext',
      moduleResolution: 'nodenext',
      types: [],
      skipLibCheck: false,
      noEmit: true,
      ...options,
    },
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
