/**
 * The versions of the documentation, as a page of any of them sees them. The list is one file in the root of the published site, written when the
 * site is put together (tools/site/versions.ts): a page that was built years ago learns from it what has been released since.
 */
/** The folder of what is not released: `main`. */
export const NEXT = 'next';

/** One version: `next`, or the newest release of a series such as `v1.2`. */
export interface Version {
  /** Its folder under the root of the site. */
  readonly name: string;
  /** The version of the package, `1.2.3`; absent for `next`. */
  readonly release?: string;
  /** Paths of its pages under its folder: `''`, `quickstart`, `api/`. */
  readonly pages: readonly string[];
}

/** `versions.json`: `next` first, then releases, newest first. */
export interface VersionList {
  readonly versions: readonly Version[];
}

/** What a build knows of itself (config.ts). */
export interface OwnVersion {
  readonly name: string;
  /** The root of the site, with a slash at its end. */
  readonly root: string;
}

/** An entry of the picker. */
export interface Choice {
  readonly label: string;
  readonly href: string;
  readonly current: boolean;
}

export interface Notice {
  readonly text: string;
  readonly link: string;
  readonly href: string;
}

/** The newest release; undefined before the first one. */
export function latestOf({ versions }: VersionList): Version | undefined {
  return versions.find(({ release }) => release !== undefined);
}

/** The path of a page from the path of its source: `api/index.md` is `api/`. */
export function pageOf(source: string): string {
  return source.replace(/(^|\/)index\.md$/, '$1').replace(/\.md$/, '');
}

/** Where a page is in a version; the version's first page where it has no such page. */
export function addressIn(version: Version, root: string, page: string): string {
  return `${root}${version.name}/${version.pages.includes(page) ? page : ''}`;
}

/** What a version is called. */
export function labelOf(list: VersionList, { name, release }: Version): string {
  if (release === undefined) return `${name} (unreleased)`;
  return name === latestOf(list)?.name ? `${release} (latest)` : release;
}

/** The picker's entries for a page. */
export function choices(list: VersionList, own: OwnVersion, page: string): Choice[] {
  return list.versions.map((version) => ({
    label: labelOf(list, version),
    href: addressIn(version, own.root, page),
    current: version.name === own.name,
  }));
}

/** What stands above a page that is not of the newest release; undefined where it is, or where nothing has been released. */
export function notice(list: VersionList, own: OwnVersion, page: string): Notice | undefined {
  const latest = latestOf(list);
  if (latest === undefined || latest.name === own.name) return undefined;
  const release = list.versions.find(({ name }) => name === own.name)?.release ?? own.name.replace(/^v/, '');
  const text =
    own.name === NEXT
      ? 'This page describes the next version of Tsamba, which is not released yet.'
      : `This page describes Tsamba ${release}, which is not the latest version.`;
  const there = latest.pages.includes(page) ? 'See this page' : 'See the documentation';
  return { text, link: `${there} for ${latest.release}`, href: addressIn(latest, own.root, page) };
}
