/**
 * The versions of the documentation: which tags have one, where pages lead from one to another, and what the published site is made of.
 */
import { describe, expect, it } from 'vitest';
import {
  addressIn,
  choices,
  labelOf,
  latestOf,
  notice,
  pageOf,
  type VersionList,
} from '../site/.vitepress/theme/versions.ts';
import {
  canonicalOf,
  fileOfPage,
  pageOfFile,
  redirectPage,
  redirects,
  releasesOf,
  withCanonical,
} from '../tools/site/versions.ts';

const list: VersionList = {
  versions: [
    { name: 'next', pages: ['', 'api/', 'new', 'quickstart'] },
    { name: 'v0.10', release: '0.10.2', pages: ['', 'api/', 'quickstart'] },
    { name: 'v0.9', release: '0.9.0', pages: ['', 'api/', 'old', 'quickstart'] },
  ],
};
const unreleased: VersionList = { versions: [{ name: 'next', pages: ['', 'quickstart'] }] };

describe('tags', () => {
  it('are documented as the newest release of each series, newest first, by number', () => {
    const tags = [
      'v0.9.0',
      'v0.10.0',
      'v0.10.10',
      'v0.10.9',
      'v1.0.0-rc.1',
      'v2',
      'nightly',
      'v0.11.0.1',
      '',
      'v1.0.0',
    ];
    expect(releasesOf(tags)).toEqual([
      { tag: 'v1.0.0', name: 'v1.0', release: '1.0.0' },
      { tag: 'v0.10.10', name: 'v0.10', release: '0.10.10' },
      { tag: 'v0.9.0', name: 'v0.9', release: '0.9.0' },
    ]);
    expect(releasesOf([''])).toEqual([]);
  });
});

describe('pages', () => {
  it('have the same path by source and by file, and a file by path', () => {
    for (const page of ['', 'quickstart', 'api/', 'api/tsamba-cuda/math', 'myindex', 'deep/myindex']) {
      const file = fileOfPage(page);
      expect(pageOfFile(file)).toBe(page);
      expect(pageOf(file.replace(/html$/, 'md'))).toBe(page);
    }
    expect(fileOfPage('api/')).toBe('api/index.html');
  });
});

describe('the picker', () => {
  it('leads to the same page, or to the first one of a version without it', () => {
    expect(choices(list, { name: 'v0.9', root: '/base/' }, 'old')).toEqual([
      { label: 'next (unreleased)', href: '/base/next/', current: false },
      { label: '0.10.2 (latest)', href: '/base/v0.10/', current: false },
      { label: '0.9.0', href: '/base/v0.9/old', current: true },
    ]);
    const [next] = list.versions;
    if (next === undefined) throw new Error('no version');
    expect(addressIn(next, '/', 'new')).toBe('/next/new');
    expect(addressIn(next, '/', 'api/')).toBe('/next/api/');
  });

  it('calls nothing the latest before there is a release', () => {
    expect(latestOf(unreleased)).toBeUndefined();
    expect(unreleased.versions.map((version) => labelOf(unreleased, version))).toEqual(['next (unreleased)']);
  });
});

describe('the banner', () => {
  it('is on pages of old and unreleased versions, and leads to the newest release', () => {
    expect(notice(list, { name: 'next', root: '/' }, 'quickstart')).toEqual({
      text: 'This page describes the next version of Tsamba, which is not released yet.',
      link: 'See this page for 0.10.2',
      href: '/v0.10/quickstart',
    });
    expect(notice(list, { name: 'v0.9', root: '/' }, 'old')).toEqual({
      text: 'This page describes Tsamba 0.9.0, which is not the latest version.',
      link: 'See the documentation for 0.10.2',
      href: '/v0.10/',
    });
  });

  it('is not on pages of the newest release, nor before there is one', () => {
    expect(notice(list, { name: 'v0.10', root: '/' }, 'quickstart')).toBeUndefined();
    expect(notice(unreleased, { name: 'next', root: '/' }, 'quickstart')).toBeUndefined();
  });

  it('knows a version that the list has dropped', () => {
    expect(notice(list, { name: 'v0.1', root: '/' }, '')?.text).toContain('Tsamba 0.1, which is not the latest');
  });
});

describe('the published site', () => {
  it('has each page canonical in the newest release that has it, else where it is', () => {
    expect(canonicalOf(list, 'next', 'quickstart')).toBe('v0.10/quickstart');
    expect(canonicalOf(list, 'v0.9', 'quickstart')).toBe('v0.10/quickstart');
    expect(canonicalOf(list, 'v0.9', 'old')).toBe('v0.9/old');
    expect(canonicalOf(list, 'next', 'new')).toBe('next/new');
    expect(canonicalOf(unreleased, 'next', '')).toBe('next/');
    const html = withCanonical('<head><title>$&</title></head><body></head></body>', 'https://x.test/$1');
    expect(html).toBe(
      '<head><title>$&</title><link rel="canonical" href="https://x.test/$1"></head><body></head></body>',
    );
    expect(withCanonical(html, 'other')).toBe(html);
  });

  it('leads from its root and from latest/ to releases', () => {
    expect([...redirects(list)]).toEqual([
      ['index.html', 'v0.10/'],
      ['latest/index.html', 'v0.10/'],
      ['latest/api/index.html', 'v0.10/api/'],
      ['latest/quickstart.html', 'v0.10/quickstart'],
      ['latest/old.html', 'v0.9/old'],
    ]);
    expect([...redirects(unreleased)]).toEqual([['index.html', 'next/']]);
    expect(redirectPage('/v1.0/x', 'https://a.test/v1.0/x')).toMatch(/location\.replace\('\/v1\.0\/x' \+ location/);
  });
});
