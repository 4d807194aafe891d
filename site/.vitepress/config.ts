/**
 * VitePress for `site/.pages`, which `tools/site` puts together from `docs/`. Dead links end the build.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';
import { hovers } from './hovers.ts';
import type { OwnVersion } from './theme/versions.ts';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const sidebar = JSON.parse(readFileSync(at('../.pages/sidebar.json'), 'utf8'));
const repository = process.env['SITE_REPOSITORY'];
const base = process.env['SITE_BASE'] ?? '/';
/** The folder of this version, where the site has several (tools/site/versions.ts): the last part of the base. */
const version = process.env['SITE_VERSION'];

/** Anchors as GitHub makes them, so that the links of `docs/` work in both places. */
const slugify = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M} _-]/gu, '')
    .replaceAll(' ', '-');

export default defineConfig({
  srcDir: '.pages',
  base,
  title: 'Tsamba',
  description: 'Numba for TypeScript: GPU kernels as ordinary TypeScript functions',
  lang: 'en',
  cleanUrls: true,
  lastUpdated: false,
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: `${base}logo.svg` }]],
  markdown: {
    // Comments say what a program prints: they are to be read.
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    anchor: { slugify },
    toc: { slugify },
    languages: ['ts', 'js', 'sh', 'json', 'python', 'cpp', 'html', 'glsl'],
    languageAlias: { ptx: 'txt', text: 'txt' },
    codeTransformers: [...(process.env['SITE_TYPES'] === '0' ? [] : [hovers()])],
  },
  themeConfig: {
    logo: '/logo.svg',
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Guide', link: '/quickstart', activeMatch: '^/(?!api|gallery|playground|cookbook|$)' },
      { text: 'Cookbook', link: '/cookbook', activeMatch: '^/cookbook' },
      { text: 'API', link: '/api/', activeMatch: '^/api/' },
      { text: 'Gallery', link: '/gallery', activeMatch: '^/gallery' },
      { text: 'Playground', link: '/playground' },
      ...(version === undefined ? [] : [{ component: 'VersionPicker' }]),
    ],
    ...(version === undefined
      ? {}
      : { version: { name: version, root: base.slice(0, -`${version}/`.length) } satisfies OwnVersion }),
    sidebar: { '/api/': sidebar.api, '/': sidebar.guide },
    ...(repository === undefined ? {} : { socialLinks: [{ icon: 'github', link: repository }] }),
  },
});
