/**
 * `tsamba new`: a starter project, written from the templates of the package. Nothing is loaded from anywhere, and nothing is installed.
 */
import { nodeModule } from '../host/index.ts';
import { type Command, defineCommand, EXIT, oneOf, usageError } from './command-line.ts';
import { packageFolder, packageVersion } from './package.ts';

const TEMPLATES = ['node', 'vite', 'next'] as const;

/** What npm takes as the name of a package, without a scope. */
const NAME = /^[a-z0-9][a-z0-9._-]{0,213}$/;

export const newProject: Command = defineCommand({
  name: 'new',
  usage: '<folder> [--template node|vite|next]',
  summary: 'creates a starter project: a Node.js program, a page with Vite, or a Next.js application',
  options: { template: { value: TEMPLATES.join('|'), help: 'what kind of project (node)' } },
  words: 1,
  notes: 'The folder must be empty, or not exist yet. Nothing is installed: run npm install in it.',
  async run({ options, rest: [folder] }) {
    if (folder === undefined) throw usageError('name a folder: tsamba new my-app');
    const template = oneOf('--template', options.get('template') ?? 'node', TEMPLATES);
    const files = writeProject(folder, template);
    console.log(
      `${files.map((file) => `  ${file}`).join('\n')}\n\nNext:\n  cd ${folder}\n  npm install\n  npm ${START[template]}`,
    );
    return EXIT.ok;
  },
});

const START: Readonly<Record<(typeof TEMPLATES)[number], string>> = { node: 'start', vite: 'run dev', next: 'run dev' };

/** Writes a project, and gives the paths of its files. Throws TypeError where the folder is taken or has no name for a package. */
export function writeProject(folder: string, template: (typeof TEMPLATES)[number]): readonly string[] {
  const { basename, dirname, join, resolve } = nodeModule('node:path');
  const { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } = nodeModule('node:fs');
  const to = resolve(folder);
  const name = basename(to);
  if (!NAME.test(name))
    throw usageError(`${name} cannot be the name of a package: use lower-case letters, digits, - _ and .`);
  if (existsSync(to) && !(statSync(to).isDirectory() && readdirSync(to).length === 0)) {
    throw usageError(`${to} exists and is not an empty folder`);
  }
  const from = join(packageFolder(), 'templates', template);
  const values: Readonly<Record<string, string>> = { name, version: packageVersion() };
  const files = readdirSync(from, { recursive: true, encoding: 'utf8' }).filter((file) =>
    statSync(join(from, file)).isFile(),
  );
  return files.sort().map((file) => {
    // npm leaves files of that name out of packages.
    const own = file.replace(/(^|[\\/])_gitignore$/, '$1.gitignore');
    const text = readFileSync(join(from, file), 'utf8');
    mkdirSync(dirname(join(to, own)), { recursive: true });
    writeFileSync(
      join(to, own),
      text.replace(/\{\{(name|version)\}\}/g, (_, key: string) => values[key] ?? ''),
    );
    return own.replaceAll('\\', '/');
  });
}
