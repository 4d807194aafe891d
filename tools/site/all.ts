/**
 * Builds the site with all its versions in `site/.vitepress/versions`: `npm run site:versions`. `next` is this working tree; each release is
 * built from a work tree of its tag, by its own tools, once: the result is kept as `docs-TAG.tar.gz`.
 *
 *   --kept FOLDER   where those archives are, and new ones go (`.cache/site`)
 *   --keep TAG      only makes the archive of this release
 *
 * `SITE_BASE` is the path of the root, with a slash at its end (`/`); `SITE_ORIGIN` (`https://…`) goes before it in canonical addresses, which are paths
 * where it is not known.
 */
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { latestOf, NEXT, type Version, type VersionList } from '../../site/.vitepress/theme/versions.ts';
import { ROOT } from './stage.ts';
import {
  canonicalOf,
  fileOfPage,
  pageOfFile,
  type Release,
  redirectPage,
  redirects,
  releasesOf,
  withCanonical,
} from './versions.ts';

const OUTPUT = join(ROOT, 'site/.vitepress/versions');
const BASE = process.env['SITE_BASE'] ?? '/';
const ORIGIN = process.env['SITE_ORIGIN'] ?? '';
const KEPT = resolve(option('--kept') ?? join(ROOT, '.cache/site'));
/** What says, in an archive, how it was built. */
const STAMP = 'site.json';

if (!BASE.startsWith('/') || !BASE.endsWith('/')) throw new Error(`SITE_BASE must begin and end with a slash: ${BASE}`);
const releases = releasesOf(git('tag', '--list', 'v*').split('\n'));
const only = option('--keep');
if (only !== undefined) {
  // A release of an old series, too, but not one that a later one of its series has replaced.
  const release = releases.find(({ tag }) => tag === only);
  if (release === undefined)
    console.log(`${only} is a prerelease, or replaced in its series: the site does not have it`);
  else keep(release);
} else {
  rmSync(OUTPUT, { recursive: true, force: true });
  mkdirSync(OUTPUT, { recursive: true });
  buildIn(ROOT, NEXT, 'main', join(OUTPUT, NEXT));
  for (const release of releases) {
    if (!unpack(release, join(OUTPUT, release.name))) {
      keep(release);
      if (!unpack(release, join(OUTPUT, release.name)))
        throw new Error(`the archive of ${release.tag} is not what was built`);
    }
  }
  compose([{ name: NEXT }, ...releases]);
}

/** Builds the site of a tree as one version. */
function buildIn(tree: string, name: string, ref: string, to: string): void {
  console.log(`Building ${name} …`);
  execFileSync('npm', ['run', 'site'], {
    cwd: tree,
    stdio: 'inherit',
    shell: process.platform === 'win32',
    env: { ...process.env, SITE_BASE: `${BASE}${name}/`, SITE_VERSION: name, SITE_REF: ref },
  });
  const built = join(tree, 'site/.vitepress/dist');
  cpSync(built, to, { recursive: true });
}

/** Builds a release from a work tree of its tag, and keeps it. */
function keep({ tag, name }: Release): void {
  const folder = mkdtempSync(join(tmpdir(), 'tsamba-site-'));
  const tree = join(folder, 'tree');
  git('worktree', 'add', '--detach', tree, tag);
  try {
    const built = join(folder, 'built');
    buildIn(tree, name, tag, built);
    writeFileSync(join(built, STAMP), stampOf(tag));
    mkdirSync(KEPT, { recursive: true });
    // Written beside it and renamed: an archive that is there is whole.
    const archive = archiveOf(tag);
    execFileSync('tar', ['-czf', `${archive}.part`, '-C', built, '.']);
    renameSync(`${archive}.part`, archive);
    console.log(`Kept ${archive}`);
  } finally {
    git('worktree', 'remove', '--force', tree);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Unpacks what is kept of a release; false where there is nothing, or it was built for another address. */
function unpack({ tag }: Release, to: string): boolean {
  const archive = archiveOf(tag);
  if (!existsSync(archive)) return false;
  mkdirSync(to, { recursive: true });
  execFileSync('tar', ['-xzf', archive, '-C', to]);
  if (existsSync(join(to, STAMP)) && readFileSync(join(to, STAMP), 'utf8') === stampOf(tag)) return true;
  console.log(`${archive} was built for another address: building it again`);
  rmSync(to, { recursive: true });
  return false;
}

function stampOf(tag: string): string {
  return JSON.stringify({ tag, base: BASE, repository: process.env['SITE_REPOSITORY'] ?? null });
}

function archiveOf(tag: string): string {
  return join(KEPT, `docs-${tag}.tar.gz`);
}

/** Writes what binds the built versions together. */
function compose(versions: readonly { readonly name: string; readonly release?: string }[]): void {
  const list: VersionList = {
    versions: versions.map(({ name, release }) => ({
      name,
      ...(release === undefined ? {} : { release }),
      pages: pagesOf(name),
    })),
  };
  put('versions.json', JSON.stringify(list));
  for (const { name, pages } of list.versions) for (const page of pages) markCanonical(list, name, page);
  for (const [file, path] of redirects(list)) put(file, redirectPage(`${BASE}${path}`, `${ORIGIN}${BASE}${path}`));
  // Hosts have one page for what is not there, and readers of llms.txt look for it in the root.
  const main: Version | undefined = latestOf(list) ?? list.versions[0];
  for (const file of ['404.html', 'llms.txt', 'llms-full.txt']) {
    copyFileSync(join(OUTPUT, main?.name ?? NEXT, file), join(OUTPUT, file));
  }
  console.log(`${versions.map(({ name }) => name).join(', ')}: ${OUTPUT}`);
}

function pagesOf(name: string): string[] {
  return readdirSync(join(OUTPUT, name), { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.html') && file !== '404.html')
    .map(pageOfFile)
    .sort();
}

function markCanonical(list: VersionList, name: string, page: string): void {
  const file = join(OUTPUT, name, fileOfPage(page));
  const address = `${ORIGIN}${BASE}${canonicalOf(list, name, page)}`;
  writeFileSync(file, withCanonical(readFileSync(file, 'utf8'), address));
}

function put(name: string, text: string): void {
  const file = join(OUTPUT, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}

function option(name: string): string | undefined {
  const at = process.argv.indexOf(name);
  return at < 0 ? undefined : process.argv[at + 1];
}
