/**
 * The command `tsamba`: how it reads its arguments, what it says and with which exit code it ends; the built command in processes of its own, one of which
 * crashes as a driver may; and the projects that it writes, which are run where all tests are.
 */
import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { oneOf, readArguments } from '../src/cli/command-line.ts';
import { COMMANDS } from '../src/cli/commands.ts';
import { signatureOf } from '../src/cli/inspect-file.ts';
import { writeProject } from '../src/cli/new.ts';
import { bytesText } from '../src/cli/text.ts';
import { isThorough } from '../src/required.testing.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'tsamba-cli-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function tsamba(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  const command = [join(root, 'dist/cli/main.js'), ...args];
  return new Promise((resolve) => {
    execFile(process.execPath, command, { env: { ...process.env, ...env } }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

describe('the command line', () => {
  const table = { device: { value: 'kind', help: '' }, json: { help: '' } };

  it('has options with values, switches and words', () => {
    const { options, rest } = readArguments('x', ['a', '--device', 'cpu', '--json', 'b'], table, 2);
    expect([...options]).toEqual([
      ['device', 'cpu'],
      ['json', ''],
    ]);
    expect(rest).toEqual(['a', 'b']);
    expect(readArguments('x', ['--device=a=b'], table, 0).options.get('device')).toBe('a=b');
  });

  it.each([
    [['--devise', 'cpu'], 'there is no option --devise; did you mean --device?'],
    [['-q'], 'there is no option -q; see tsamba x --help'],
    [['--toString'], 'there is no option --toString; see tsamba x --help'],
    [['--device'], '--device needs a value: --device kind'],
    [['--json=1'], '--json takes no value, got 1'],
    [['a', 'b'], 'unexpected: b; see tsamba x --help'],
  ])('refuses %j', (args, message) => {
    expect(() => readArguments('x', args, table, 1)).toThrow(message);
  });

  it('names the nearest of some words', () => {
    expect(() => oneOf('--target', 'wsgl', ['wgsl', 'ptx'])).toThrow('did you mean wgsl? It is one of wgsl, ptx');
  });

  it('has help for each command', () => {
    for (const [name, { help, summary }] of Object.entries(COMMANDS)) {
      expect(help).toContain(`tsamba ${name}`);
      expect(help).toContain(summary);
      expect(help).toContain('--help');
    }
  });

  it('has what the documentation calls', () => {
    const pages = [
      'docs/command-line.md',
      'README.md',
      'docs/quickstart.md',
      'docs/several-gpus.md',
      'CONTRIBUTING.md',
    ];
    const calls = pages.flatMap((page) => {
      const text = readFileSync(join(root, page), 'utf8');
      return Array.from(text.matchAll(/npx tsamba (\w[^`#\n]*)/g), ([, call = '']) => call);
    });
    expect(calls.length).toBeGreaterThan(20);
    for (const call of calls) {
      const [name = '', ...rest] = call.trim().split(/\s+/);
      expect(Object.keys(COMMANDS), call).toContain(name);
      const options = rest.filter((word) => word.startsWith('--')).map((word) => word.split('=')[0]);
      for (const option of options) expect(COMMANDS[name]?.help, call).toContain(`${option}`);
    }
  });

  it('spells types as TypeScript does', () => {
    expect(signatureOf('f32[], f32[][], i32')).toBe('(f32[:], f32[:, :], i32)');
    expect(signatureOf('void(f32[:])')).toBe('void(f32[:])');
    expect(signatureOf('(f32, f32), i32')).toBe('((f32, f32), i32)');
  });

  it('prints sizes', () => {
    expect([0, 1023, 1024, 150_050_111_488].map(bytesText)).toEqual(['0 bytes', '1023 bytes', '1.0 KiB', '139.7 GiB']);
  });
});

describe('the built command', () => {
  it('runs kernels on a device', async () => {
    const { code, stdout } = await tsamba(['doctor', '--device', 'cpu', '--json']);
    const { healthy, devices } = JSON.parse(stdout) as {
      healthy: boolean;
      devices: { verdict: string; attempts: unknown[] }[];
    };
    expect(devices.map(({ verdict, attempts }) => [verdict, attempts.length])).toEqual([['works', 6]]);
    expect([healthy, code]).toEqual([true, 0]);
  });

  it('outlives a driver that crashes, and names a remedy', async () => {
    const crash = `if (process.argv[3] === 'try') process.kill(process.pid, 'SIGKILL')`;
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(crash)}`;
    const { code, stdout } = await tsamba(['doctor', '--device', 'cpu'], { NODE_OPTIONS });
    expect(stdout).toMatch(/^FAIL cpu 0 .*\n.*(crashed|exit code).*\n +remedy: TSAMBA_CPU_THREADS=1/m);
    expect(code).toBe(1);
  });

  it('shows the code of kernels in a file, and lists them', async () => {
    const file = join(folder, 'kernels.mjs');
    writeFileSync(
      file,
      `import { cuda } from ${JSON.stringify(new URL('../dist/index.js', import.meta.url).href)};
       export const scale = cuda.jit((y, k) => { const i = cuda.grid(1); if (i < y.length) y[i] *= k; }, { name: 'scale' });
       export const broken = cuda.jit((y) => { y[0] = 'x'; }, { name: 'broken' });`,
    );
    const [ptx, none, bad] = await Promise.all([
      tsamba(['inspect', file, 'scale', '--types', 'f32[], f32', '--target', 'ptx', '--arch', 'sm_80']),
      tsamba(['inspect', file, 'scall']),
      tsamba(['inspect', file, 'broken', '--types', 'f32[]']),
    ]);
    expect(ptx.stdout).toContain('.target sm_80');
    expect(ptx.stdout).toContain('mul.f32');
    expect(none.stderr).toMatch(/did you mean scale\? It has:\n {2}scale\(\w+, \w+\)\n {2}broken\(\w+\)/);
    expect(bad.stderr).toContain('K221');
    expect([ptx.code, none.code, bad.code]).toEqual([0, 2, 1]);
  });

  it('refuses commands that there are not', async () => {
    const { code, stderr } = await tsamba(['docter']);
    expect([code, stderr.split('\n')[0]]).toEqual([2, 'tsamba has no command docter; did you mean doctor?']);
  });
});

describe('projects', () => {
  it.each(['node', 'vite', 'next'] as const)('%s is written with its name and the version', (template) => {
    const at = join(folder, template);
    const files = writeProject(at, template);
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    const project = JSON.parse(readFileSync(join(at, 'package.json'), 'utf8')) as {
      name: string;
      dependencies: Record<string, string>;
    };
    expect([project.name, project.dependencies.tsamba]).toEqual([template, `^${version}`]);
    for (const file of ['.gitignore', 'README.md', 'tsconfig.json']) expect(files).toContain(file);
    for (const file of files) expect(readFileSync(join(at, file), 'utf8')).not.toMatch(/\{\{\w+\}\}/);
    expect(() => writeProject(at, template)).toThrow('not an empty folder');
    expect(() => writeProject(join(folder, 'My App'), template)).toThrow('cannot be the name of a package');
  });

  it.runIf(isThorough())(
    'node and vite run on the built library',
    () => {
      const packages = ['tsx', 'typescript', 'vite', '@types'];
      for (const template of ['node', 'vite'] as const) {
        const at = join(folder, `${template}-run`);
        writeProject(at, template);
        mkdirSync(join(at, 'node_modules'));
        symlinkSync(root, join(at, 'node_modules/tsamba'), 'junction');
        for (const name of packages)
          symlinkSync(join(root, 'node_modules', name), join(at, 'node_modules', name), 'junction');
        const run = (...args: string[]): string =>
          execFileSync(process.execPath, args, {
            cwd: at,
            encoding: 'utf8',
            env: { ...process.env, TSAMBA_DEVICE: 'cpu' },
          });
        run(join(root, 'node_modules/typescript/bin/tsc'));
        if (template === 'node') {
          expect(run('--import', 'tsx', 'src/main.ts')).toMatch(/saxpy: 2 3 4 5 6\nheat: \d/);
          run('--import', 'tsx', '--test', 'src/kernels.test.ts');
        } else {
          run(join(root, 'node_modules/vite/bin/vite.js'), 'build', '--logLevel', 'error');
          // What pages load when it is needed is in files of its own.
          expect(readdirSync(join(at, 'dist/assets'))).toContainEqual(expect.stringMatching(/^index-.*\.js$/));
        }
      }
    },
    300_000,
  );
});
