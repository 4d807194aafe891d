/**
 * Workflows, issue forms and the steps of a release: they are YAML that can be read, and name scripts, files and commands that there are.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const { load } = createRequire(import.meta.url)('js-yaml') as { load(text: string): unknown };
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> };

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
}

interface Job {
  readonly 'runs-on': string;
  readonly 'timeout-minutes'?: number;
  readonly needs?: string;
  readonly container?: string;
  readonly steps: readonly Step[];
  readonly permissions?: Readonly<Record<string, string>>;
  readonly strategy?: { readonly matrix: Readonly<Record<string, readonly string[]>> };
}

interface Workflow {
  readonly name: string;
  readonly permissions: unknown;
  readonly jobs: Readonly<Record<string, Job>>;
}

function read<T>(folder: string): readonly (readonly [string, T])[] {
  return readdirSync(join(root, '.github', folder))
    .filter((name) => name.endsWith('.yml'))
    .map((name) => [name, load(readFileSync(join(root, '.github', folder, name), 'utf8')) as T]);
}

/** What a line of a workflow starts that is not there. */
function missing(line: string): string | undefined {
  const [, script] = /^npm (?:run )?([\w:]+)/.exec(line) ?? [];
  const isNpms = /^npm (?:publish|ci|install)/.test(line);
  if (script !== undefined && !isNpms && scripts[script] === undefined) return `npm run ${script}`;
  const [, file] =
    /^(?:node|\.\/|bun|deno run -A --node-modules-dir=manual) ?((?:tools|\.ci|src)\/\S+)/.exec(line) ?? [];
  return file === undefined || existsSync(join(root, file)) ? undefined : file;
}

const workflows = read<Workflow>('workflows');

describe.each(workflows)('%s', (_, { jobs, permissions, name }) => {
  const steps = Object.values(jobs).flatMap((job) => job.steps);

  it('has jobs of steps, and permissions', () => {
    expect(name).toBeTruthy();
    expect(permissions).toBeTruthy();
    for (const job of Object.values(jobs)) {
      expect(job['runs-on']).toBeTruthy();
      for (const step of job.steps) expect((step.uses === undefined) !== (step.run === undefined)).toBe(true);
    }
  });

  it('names scripts and files that there are, and versions of actions', () => {
    const lines = steps.flatMap(({ run = '' }) => run.split('\n').map((line) => line.trim()));
    expect(lines.map(missing).filter((what) => what !== undefined)).toEqual([]);
    for (const { uses } of steps) if (uses !== undefined) expect(uses).toMatch(/^[\w-]+\/[\w-]+@v\d+$/);
  });

  it('uses values of its matrix only', () => {
    for (const { strategy, steps: own } of Object.values(jobs)) {
      const used = Array.from(JSON.stringify(own).matchAll(/matrix\.(\w+)/g), ([, key]) => key);
      for (const key of used) expect(Object.keys(strategy?.matrix ?? {})).toContain(key);
    }
  });
});

it('tests on each system with each Node.js', () => {
  const { jobs } = Object.fromEntries(workflows)['ci.yml'];
  expect(jobs.test.strategy?.matrix).toEqual({
    os: ['ubuntu-latest', 'macos-latest', 'windows-latest'],
    node: ['20', '22', '24', '26'],
  });
  expect(jobs.runtimes.strategy?.matrix.runtime).toEqual(['bun', 'deno']);
});

it("installs Debian's packages on Debian", () => {
  const all = workflows.flatMap(([, { jobs }]) => Object.values(jobs));
  const installing = all.filter(({ steps }) => steps.some(({ run }) => run?.includes('.ci/run')));
  expect(installing.length).toBeGreaterThan(0);
  for (const { container } of installing) expect(container).toMatch(/-bookworm$/);
});

it('runs other programs and operations each night', () => {
  const { jobs } = Object.fromEntries(workflows)['nightly.yml'];
  const lines = Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ run }) => run ?? []));
  for (const line of lines.filter((each) => /npm run (fuzz|soak)/.test(each))) {
    expect(line).toContain('--seed ${{ github.run_number }}');
  }
  expect(lines.filter((each) => each.startsWith('npm run soak'))[0]).toMatch(/--minutes [2-5]\d /);
});

it('gives each job a limit of time, and writes to nothing but what its permissions name', () => {
  for (const [file, { jobs, permissions }] of workflows) {
    for (const [name, job] of Object.entries(jobs)) {
      // What stands in the workflow's permissions holds for every job.
      const granted = { ...(permissions as Record<string, string>), ...job.permissions };
      const run = job.steps.map((step) => step.run ?? '').join('\n');
      const wanted: [RegExp, string, string][] = [
        [/gh release create|git push/, 'contents', 'write'],
        [/gh workflow run/, 'actions', 'write'],
        [/gh pr create/, 'pull-requests', 'write'],
        [/--provenance/, 'id-token', 'write'],
      ];
      for (const [command, permission, level] of wanted) {
        if (command.test(run)) expect(granted[permission], `${file}, ${name}: ${permission}`).toBe(level);
      }
      if (/\bgh /.test(run)) {
        for (const step of job.steps) if (/\bgh /.test(step.run ?? '')) expect(step.env?.GH_TOKEN).toBeTruthy();
      }
      expect(job['timeout-minutes'], `${file}, ${name}`).toBeGreaterThan(0);
    }
  }
});

it('writes no value of an event into a script, where it would be run', () => {
  for (const [file, { jobs }] of workflows) {
    for (const { steps } of Object.values(jobs)) {
      for (const { run = '' } of steps) {
        const values = Array.from(run.matchAll(/\$\{\{\s*([\w.-]+)/g), ([, value]) => value);
        for (const value of values) expect(value, file).toMatch(/^(matrix\.\w+|github\.run_number)$/);
      }
    }
  }
});

it('builds the site at each change, with all versions, under the path that it is published under', () => {
  const { build, deploy } = Object.fromEntries(workflows)['site.yml'].jobs;
  const [made, checked] = ['npm run site:versions', 'npm run site:check -- --versions'].map((line) =>
    build.steps.find(({ run }) => run === line),
  );
  expect(checked?.env?.SITE_BASE).toBe(made?.env?.SITE_BASE);
  expect(checked?.env?.SITE_BASE).toContain('steps.pages.outputs.base_path');
  expect(build.permissions).toEqual({ contents: 'read', pages: 'read' });
  expect(deploy.permissions).toEqual({ pages: 'write', 'id-token': 'write' });
});

it('publishes with provenance', () => {
  const { publish } = Object.fromEntries(workflows)['release.yml'].jobs;
  expect(publish.permissions?.['id-token']).toBe('write');
  const lines = publish.steps.map(({ run = '' }) => run);
  expect(lines.indexOf('npm run release:fields')).toBeGreaterThan(lines.indexOf('npm test'));
  expect(lines.at(-1)).toBe('npm publish --provenance --access public');
});

it('keeps the documentation of a release, built for the path that the site is published under, and has it published', () => {
  const all = Object.fromEntries(workflows);
  const { docs } = all['release.yml'].jobs;
  expect(docs.needs).toBe('publish');
  expect(docs.permissions).toEqual({ contents: 'write', actions: 'write', pages: 'read' });
  const kept = docs.steps.find(({ run }) => run?.startsWith('npm run site:versions -- --keep'));
  const published = all['site.yml'].jobs.build.steps.find(({ run }) => run === 'npm run site:versions');
  expect(kept?.env).toEqual(published?.env);
  expect(docs.steps.at(-1)?.run).toBe('gh workflow run site.yml --ref main');
  expect(JSON.stringify(all['site.yml'])).toContain('docs-$tag.tar.gz');
});

it('has issue forms of fields that GitHub knows', () => {
  for (const [name, form] of read<{ name: string; body: { type: string; id: string }[] }>('ISSUE_TEMPLATE')) {
    if (name === 'config.yml') continue;
    expect(form.name).toBeTruthy();
    const ids = form.body.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { type } of form.body) expect(['textarea', 'input', 'dropdown', 'checkboxes']).toContain(type);
  }
  expect(readFileSync(join(root, '.github/ISSUE_TEMPLATE/bug.yml'), 'utf8')).toContain('npx tsamba info');
});

describe('a release', async () => {
  const { checkTag, notesOf, publicFields, releaseChangelog } = (await import(join(root, 'tools/release.mjs'))) as {
    checkTag(version: string, env: Record<string, string>): void;
    notesOf(text: string, version: string): string;
    publicFields(known: Record<string, string | null>, env: Record<string, string>): Record<string, unknown>;
    releaseChangelog(text: string, version: string, date: string): string;
  };

  it('makes what is unreleased a version', () => {
    const text = '# Changelog\n\n## [Unreleased]\n\n### Added\n- a $& b\n\n## [0.1.0] - 2026-01-01\n- c\n';
    const released = releaseChangelog(text, '0.2.0', '2026-02-03');
    expect(released).toContain('## [Unreleased]\n\n## [0.2.0] - 2026-02-03\n\n### Added\n- a $& b\n\n## [0.1.0]');
    expect(() => releaseChangelog(released, '0.3.0', '')).toThrow('nothing under Unreleased');
    expect(() => releaseChangelog(text, '0.1.0', '')).toThrow('already');
    expect(notesOf(released, '0.2.0')).toBe('### Added\n- a $& b\n');
    expect(notesOf(released, '0.1.0')).toBe('- c\n');
    expect(() => notesOf(released, '0.1')).toThrow('says nothing of 0.1');
    expect(() => notesOf('## [0.2.0] - 2026\n\n## [0.1.0]\n- c\n', '0.2.0')).toThrow('says nothing');
  });

  it('knows public addresses from one place, and invents none', () => {
    const unknown = JSON.parse(readFileSync(join(root, 'tools/public.json'), 'utf8')) as Record<string, null>;
    expect(() => publicFields(unknown, {})).toThrow('tools/public.json');
    const env = { GITHUB_SERVER_URL: 'https://forge.test', GITHUB_REPOSITORY: 'a/b' };
    expect(publicFields({ repository: null, homepage: null, issues: null }, env)).toEqual({
      repository: { type: 'git', url: 'git+https://forge.test/a/b.git' },
      homepage: 'https://forge.test/a/b#readme',
      bugs: { url: 'https://forge.test/a/b/issues' },
    });
  });

  it('refuses a tag that is not the version', () => {
    expect(() => checkTag('1.2.3', { GITHUB_REF_TYPE: 'tag', GITHUB_REF_NAME: 'v1.2.4' })).toThrow('the tag is v1.2.4');
    checkTag('1.2.3', { GITHUB_REF_TYPE: 'tag', GITHUB_REF_NAME: 'v1.2.3' });
  });
});
