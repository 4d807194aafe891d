/**
 * The versions that the published site has, and what binds them together: which tags are documented, the list that pages read, canonical
 * addresses, and the pages of `latest/` that lead to the newest release. Pure functions; all.ts builds by them.
 *
 *     index.html      leads to the newest release
 *     versions.json   the list
 *     next/           main
 *     v1.2/           the newest release of this series
 *     latest/         every page, leading to the newest release that has it
 */
import { latestOf, type VersionList } from '../../site/.vitepress/theme/versions.ts';

/** A release that the site documents. */
export interface Release {
  /** `v1.2.3` */
  readonly tag: string;
  /** The folder of its series: `v1.2`. */
  readonly name: string;
  /** `1.2.3` */
  readonly release: string;
}

/** The newest release of each minor series, newest first. Tags that are no releases, and prereleases, are left out: `next` documents these. */
export function releasesOf(tags: readonly string[]): Release[] {
  const found = new Map<string, readonly [number, number, number]>();
  for (const tag of tags) {
    const [, major, minor, patch] = /^v(\d+)\.(\d+)\.(\d+)$/.exec(tag) ?? [];
    if (patch === undefined) continue;
    const version = [Number(major), Number(minor), Number(patch)] as const;
    const name = `v${version[0]}.${version[1]}`;
    const other = found.get(name);
    if (other === undefined || other[2] < version[2]) found.set(name, version);
  }
  return [...found]
    .sort(([, a], [, b]) => b[0] - a[0] || b[1] - a[1])
    .map(([name, version]) => ({ tag: `v${version.join('.')}`, name, release: version.join('.') }));
}

/** The path of a page from the name of its file: `api/index.html` is `api/`. */
export function pageOfFile(file: string): string {
  return file.replace(/(^|\/)index\.html$/, '$1').replace(/\.html$/, '');
}

/** The file of a page, under the folder of its version. */
export function fileOfPage(page: string): string {
  return `${page === '' || page.endsWith('/') ? `${page}index` : page}.html`;
}

/** The path under the root at which search engines are to know a page: its own in the newest release that has it. */
export function canonicalOf(list: VersionList, version: string, page: string): string {
  const newest = list.versions.find(({ release, pages }) => release !== undefined && pages.includes(page));
  return `${newest?.name ?? version}/${page}`;
}

/** A page that says where it is canonical. One that says so already is left alone. */
export function withCanonical(html: string, address: string): string {
  if (html.includes('<link rel="canonical"')) return html;
  return html.replace('</head>', () => `<link rel="canonical" href="${address}"></head>`);
}

/** Pages that only lead elsewhere, by their file: the path under the root that each leads to. */
export function redirects(list: VersionList): ReadonlyMap<string, string> {
  const found = new Map([['index.html', `${(latestOf(list) ?? list.versions[0])?.name ?? ''}/`]]);
  for (const { name, release, pages } of list.versions) {
    if (release === undefined) continue;
    for (const page of pages) {
      const file = `latest/${fileOfPage(page)}`;
      if (!found.has(file)) found.set(file, `${name}/${page}`);
    }
  }
  return found;
}

/** The text of such a page. The part behind `#` goes along. */
export function redirectPage(path: string, canonical: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Tsamba</title>
<link rel="canonical" href="${canonical}">
<noscript><meta http-equiv="refresh" content="0; url=${path}"></noscript>
<script>location.replace('${path}' + location.search + location.hash);</script>
</head>
<body><h1>Tsamba</h1><p>This page is at <a href="${path}">${path}</a>.</p></body>
</html>
`;
}
