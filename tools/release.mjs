#!/usr/bin/env node
/**
 * Steps of a release (docs/releasing.md).
 *
 *   node tools/release.mjs version   the version that changesets have raised becomes a heading of CHANGELOG.md and goes into package-lock.json
 *   node tools/release.mjs fields    the public addresses go into package.json; refuses if one is not known, if the tag is not the version, and if CHANGELOG.md says nothing of it
 *   node tools/release.mjs notes     prints what CHANGELOG.md says of this version
 *
 * Public addresses are in tools/public.json and nowhere else. What is null there comes from the workflow that runs this, which knows its repository.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** A changelog whose unreleased part has become that of a version. Throws where there is nothing to release. */
export function releaseChangelog(text, version, date) {
  const [, unreleased = ''] = /^## \[Unreleased\]\n([\s\S]*?)(?=^## \[|(?![\s\S]))/m.exec(text) ?? [];
  if (unreleased.trim() === '') throw new Error('CHANGELOG.md has nothing under Unreleased');
  if (text.includes(`## [${version}]`)) throw new Error(`CHANGELOG.md has a version ${version} already`);
  return text.replace('## [Unreleased]\n', () => `## [Unreleased]\n\n## [${version}] - ${date}\n`);
}

/** What the changelog says of a version, without its heading. Throws where it says nothing. */
export function notesOf(text, version) {
  const parts = text.split(/^(?=## \[)/m);
  const part = parts.find((each) => each.startsWith(`## [${version}]`));
  const notes = part?.slice(part.indexOf('\n') + 1).trim();
  if (!notes) throw new Error(`CHANGELOG.md says nothing of ${version}`);
  return `${notes}\n`;
}

/** The fields of package.json that are public addresses. Throws where the repository is not known. */
export function publicFields({ repository, homepage, issues }, env) {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: name } = env;
  const url = repository ?? (server && name ? `${server}/${name}` : null);
  if (url === null)
    throw new Error('the address of the repository is not known: set "repository" in tools/public.json');
  return {
    repository: { type: 'git', url: `git+${url}.git` },
    homepage: homepage ?? `${url}#readme`,
    bugs: { url: issues ?? `${url}/issues` },
  };
}

/** Throws where a tag is not that of the version. */
export function checkTag(version, { GITHUB_REF_TYPE: type, GITHUB_REF_NAME: tag }) {
  if (type === 'tag' && tag !== `v${version}`) throw new Error(`the tag is ${tag}, and the version ${version}`);
}

const read = (file) => JSON.parse(readFileSync(join(root, file), 'utf8'));
const write = (file, value) => writeFileSync(join(root, file), `${JSON.stringify(value, undefined, 2)}\n`);

function version() {
  const { version: now } = read('package.json');
  const changelog = join(root, 'CHANGELOG.md');
  writeFileSync(
    changelog,
    releaseChangelog(readFileSync(changelog, 'utf8'), now, new Date().toISOString().slice(0, 10)),
  );
  const lock = read('package-lock.json');
  lock.version = now;
  lock.packages[''].version = now;
  write('package-lock.json', lock);
}

function fields() {
  const own = read('package.json');
  checkTag(own.version, process.env);
  // The notes of the release are wanted once the package is published: too late to find that there are none.
  if (process.env.GITHUB_REF_TYPE === 'tag') notesOf(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), own.version);
  write('package.json', { ...own, ...publicFields(read('tools/public.json'), process.env) });
}

function notes() {
  process.stdout.write(notesOf(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), read('package.json').version));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const steps = { version, fields, notes };
  const [, , step = ''] = process.argv;
  if (!Object.hasOwn(steps, step)) throw new Error(`which step? ${Object.keys(steps).join(', ')}`);
  steps[step]();
}
