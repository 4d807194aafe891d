/**
 * Puts the pages of the site together in `site/.pages`: `docs/` is the source, and links out of it are turned into links of the site.
 *
 * A link to a file that is no page leads to the repository where its address is known (`SITE_REPOSITORY`, which the workflow sets), and is
 * plain text where it is not: no address is invented.
 */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, posix, relative } from 'node:path';
import { galleryPages } from './gallery.ts';
import { GUIDE } from './guide.ts';
import { type SidebarItem, type SitePage, summaryOf, titleOf } from './page.ts';
import { withTwoslash } from './twoslash.ts';

export const ROOT: string = join(import.meta.dirname, '../..');
export const STAGE: string = join(ROOT, 'site/.pages');

/** Pages of the repository's root, by the path that they have on the site. */
const ROOT_PAGES: Readonly<Record<string, string>> = {
  'FEATURES.md': 'features',
  'CHANGELOG.md': 'changelog',
  'CONTRIBUTING.md': 'contributing',
  'SECURITY.md': 'security',
};

/** Every page of `docs/` and of the root, as it is on the site. */
export function sitePages(): SitePage[] {
  const docs = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => name.endsWith('.md'))
    .sort();
  const sources = [...docs.map((name) => `docs/${name}`), ...Object.keys(ROOT_PAGES)];
  return sources.map((source) => {
    const text = withSiteLinks(readFileSync(join(ROOT, source), 'utf8'), source);
    const path = sitePath(source) ?? source;
    return { path, title: titleOf(text), text, summary: summaryOf(text) };
  });
}

/** Where a file of the repository is on the site, without `.md`; undefined when it is not there. */
function sitePath(file: string): string | undefined {
  if (file === 'README.md') return 'index';
  if (ROOT_PAGES[file] !== undefined) return ROOT_PAGES[file];
  if (file === 'examples') return 'gallery';
  if (/^examples\/[\w/-]+\.ts$/.test(file)) return `gallery/${file.slice('examples/'.length, -'.ts'.length)}`;
  return /^docs\/.*\.md$/.test(file) ? file.slice('docs/'.length, -'.md'.length) : undefined;
}

/** A page's text with the links of the site. Code is left alone. */
function withSiteLinks(text: string, source: string): string {
  const here = posix.dirname(sitePath(source) ?? '');
  const parts = text.split(/(^```[\s\S]*?^```$)/m);
  return parts.map((part, at) => (at % 2 === 1 ? part : prose(part))).join('');

  function prose(part: string): string {
    return part.replace(/(!?)\[([^\]]*)\]\(([^)\s]+)\)/g, (whole, image, label, target: string) => {
      if (/^[a-z]+:/.test(target) || target.startsWith('#') || image !== '') return whole;
      const [path = '', anchor] = target.split('#');
      const file = posix.normalize(posix.join(posix.dirname(source), path)).replace(/\/$/, '');
      const page = sitePath(file);
      const hash = anchor === undefined || page === 'index' ? '' : `#${anchor}`;
      if (page !== undefined) {
        const to = posix.relative(here, `${page}.md`);
        return `[${label}](${to.startsWith('.') ? to : `./${to}`}${hash})`;
      }
      const repository = process.env['SITE_REPOSITORY'];
      if (repository === undefined || !existsSync(join(ROOT, file))) return label;
      const kind = statSync(join(ROOT, file)).isDirectory() ? 'tree' : 'blob';
      return `[${label}](${repository}/${kind}/${process.env['SITE_REF'] ?? 'main'}/${file})`;
    });
  }
}

/** The guide's sidebar. */
export function guideSidebar(pages: readonly SitePage[]): SidebarItem[] {
  const byPath = new Map(pages.map((page) => [page.path, page]));
  const left = new Set(byPath.keys());
  const item = (name: string): SidebarItem[] => {
    const path = name.startsWith('../') ? (ROOT_PAGES[`${name.slice(3)}.md`] ?? '') : name;
    const page = byPath.get(path);
    if (page === undefined) return [];
    left.delete(path);
    return [{ text: page.title, link: `/${path}` }];
  };
  const chapters = GUIDE.map(({ title, pages: names, collapsed = false }) => ({
    text: title,
    collapsed,
    items: names.flatMap(item),
  }));
  const more = [...left].flatMap(item);
  return more.length === 0 ? chapters : [...chapters, { text: 'More', collapsed: true, items: more }];
}

/** Empties the folder, and writes all pages, pictures and the built library to it. Gives the pages. */
export function stage(): SitePage[] {
  rmSync(STAGE, { recursive: true, force: true });
  const pages = [...sitePages(), ...galleryPages(ROOT)];
  for (const { path, text } of pages) put(`${path}.md`, withTwoslash(text));
  copyFolder(join(ROOT, 'docs/images'), join(STAGE, 'images'));
  copyFolder(join(ROOT, 'site/pages'), STAGE);
  copyFolder(join(ROOT, 'site/public'), join(STAGE, 'public'));
  // What runs in pages is the package as it is published.
  for (const name of libraryFiles(['index.js', 'parallel/index.js'])) {
    copyFileTo(join(ROOT, 'dist', name), join(STAGE, 'public/tsamba', name));
  }
  return pages;
}

/** The files of `dist` that some of them lead to, themselves included. */
function libraryFiles(names: readonly string[]): ReadonlySet<string> {
  const found = new Set(names);
  for (const name of found) {
    const text = readFileSync(join(ROOT, 'dist', name), 'utf8');
    for (const [, path] of text.matchAll(/^(?:import|export) .*?"(\.[^"]+\.js)";$/gm)) {
      found.add(posix.join(posix.dirname(name), String(path)));
    }
  }
  return found;
}

/** Writes a file of the site. */
export function put(name: string, text: string): void {
  const file = join(STAGE, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

function copyFileTo(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
}

function copyFolder(from: string, to: string): void {
  for (const entry of readdirSync(from, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    if (entry.isFile()) copyFileTo(file, join(to, relative(from, file)));
  }
}
