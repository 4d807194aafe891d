/**
 * VitePress for `site/.pages`, which `tools/site` puts together from `docs/`. Dead links end the build.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';
import { hovers } from './hovers.ts';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const sidebar = JSON.parse(readFileSync(at('../.pages/sidebar.json'), 'utf8'));
const repository = process.env['SITE_REPOSITORY'];

/** Anchors as GitHub makes them, so that the links of `docs/` work in both places. */
const slugify = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M} _-]/gu, '')
    .replaceAll(' ', '-');

export default defineConfig({
  srcDir: '.pages',
  base: process.env['SITE_BASE'] ?? '/',
  title: 'Tsamba',
  description: 'Numba for TypeScript: GPU kernels as ordinary TypeScript functions',
  lang: 'en',
  cleanUrls: true,
  lastUpdated: false,
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: `${process.env['SITE_BASE'] ?? '/'}logo.svg` }]],
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
    ],
    sidebar: { '/api/': sidebar.api, '/': sidebar.guide },
    ...(repository === undefined ? {} : { socialLinks: [{ icon: 'github', link: repository }] }),
  },
});
