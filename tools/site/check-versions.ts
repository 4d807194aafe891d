/**
 * What binds the versions of the built site together: canonical addresses and redirects lead to pages, the picker and the banner are on the
 * pages that want them and lead to the right ones, and a search finds pages of its own version.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { addressIn, choices, latestOf, notice, type VersionList } from '../../site/.vitepress/theme/versions.ts';
import type { Page } from '../../test/support/chromium.ts';
import { fileOfPage, redirects } from './versions.ts';

type Address = (name: string) => string;

/** Links of the files themselves. `fileOf` finds the file of a path under the root. */
export function checkVersionFiles(
  folder: string,
  list: VersionList,
  fileOf: (path: string) => string | undefined,
): string[] {
  const problems: string[] = [];
  const base = (process.env['SITE_BASE'] ?? '/').replace(/\/$/, '');
  for (const { name, pages } of list.versions) {
    for (const page of pages) {
      const text = readFileSync(join(folder, name, fileOfPage(page)), 'utf8');
      const [, address = '', ...more] = Array.from(text.matchAll(/<link rel="canonical" href="([^"]+)"/g), ([, href]) =>
        String(href),
      );
      const path = address.replace(/^https?:\/\/[^/]+/, '').slice(base.length);
      if (more.length > 0 || fileOf(path) === undefined)
        problems.push(`${name}/${page} is canonical at ${address || 'nothing'}`);
    }
  }
  for (const [from, to] of redirects(list)) {
    if (fileOf(`/${from}`) === undefined) problems.push(`${from} is missing`);
    if (fileOf(`/${to}`) === undefined) problems.push(`${from} leads to ${to}, which is missing`);
  }
  return problems;
}

/** The picker, the banner, the search and the redirects, in a browser. */
export async function checkVersionLinks(page: Page, list: VersionList, addressOf: Address): Promise<string[]> {
  const problems: string[] = [];
  const root = new URL(addressOf('')).pathname;
  const latest = latestOf(list);
  const expect = (what: string, found: unknown, wanted: unknown): void => {
    if (JSON.stringify(found) !== JSON.stringify(wanted)) {
      problems.push(`${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`);
    }
  };
  for (const version of list.versions) {
    const own = { name: version.name, root };
    // Of every layout, and one that only this version has.
    const lonely = version.pages.find((path) => !latest?.pages.includes(path));
    for (const path of ['', 'quickstart', 'api/', ...(lonely === undefined ? [] : [lonely])]) {
      const where = `${version.name}/${path}`;
      await page.go(addressOf(`${version.name}/${fileOfPage(path)}`));
      const links = `Array.from(document.querySelectorAll('.VPNavBar .versions a'), (a) => ({ label: a.textContent, href: a.getAttribute('href'), current: a.ariaCurrent === 'true' }))`;
      expect(`picker of ${where}`, await settled(page, links, list.versions.length), choices(list, own, path));
      const banner = notice(list, own, path);
      const links2 = `Array.from(document.querySelectorAll('.version-banner a'), (a) => [a.textContent, a.getAttribute('href')])`;
      expect(
        `banner of ${where}`,
        await settled(page, links2, banner === undefined ? 0 : 1),
        banner === undefined ? [] : [[banner.link, banner.href]],
      );
    }
  }
  for (const { name } of list.versions) {
    await page.go(addressOf(`${name}/quickstart.html`));
    const found = (await search(page, 'shared memory')) as readonly string[];
    const elsewhere = found.find((href) => !href.startsWith(`${root}${name}/`));
    if (found.length === 0 || elsewhere !== undefined)
      problems.push(`the search of ${name} finds ${elsewhere ?? 'nothing'}`);
  }
  const oldest = list.versions.at(-1);
  if (latest === undefined || oldest === undefined) return problems;
  // As a reader goes: from a page of the oldest version to the newest release, and back by the picker.
  await page.go(addressOf(`${oldest.name}/quickstart.html`));
  await settled(page, `document.querySelectorAll('.VPNavBar .versions a')`, list.versions.length);
  const path = async (): Promise<unknown> => page.run('return location.pathname + location.hash;');
  if (oldest !== latest) {
    await leave(page, `document.querySelector('.version-banner a')`);
    expect('the link of the banner', await path(), addressIn(latest, root, 'quickstart'));
    await settled(page, `document.querySelectorAll('.VPNavBar .versions a')`, list.versions.length);
    await leave(page, `document.querySelector('.VPNavBar .versions li:last-child a')`);
    expect('the last entry of the picker', await path(), addressIn(oldest, root, 'quickstart'));
  }
  await page.go(addressOf('latest/quickstart.html').concat('#x'));
  expect('latest/quickstart', await arrived(page, root, 'latest'), `${addressIn(latest, root, 'quickstart')}#x`);
  await page.go(addressOf(''));
  expect('the root', await arrived(page, root, ''), addressIn(latest, root, ''));
  return problems;
}

/** The value of an expression that gives a list, once it has this length, or after a while. */
async function settled(page: Page, expression: string, length: number): Promise<unknown> {
  return page.run(`let found; for (let turn = 0; turn < 40; turn++) {
    await new Promise((done) => setTimeout(done, 50));
    found = ${expression};
    if (turn > 3 && found.length === ${length}) break;
  }
  return Array.from(found, (value) => value instanceof Element ? '' : value);`);
}

/** The paths that the search box finds for some words. */
async function search(page: Page, words: string): Promise<unknown> {
  await page.run(`for (let turn = 0; turn < 100 && !document.querySelector('.VPLocalSearchBox input'); turn++) {
    if (turn % 20 === 0) document.querySelector('.VPNavBarSearch button')?.click();
    await new Promise((done) => setTimeout(done, 50));
  }
  const input = document.querySelector('.VPLocalSearchBox input');
  input.value = ${JSON.stringify(words)};
  input.dispatchEvent(new Event('input'));`);
  const links = `document.querySelectorAll('.VPLocalSearchBox a.result')`;
  return page.run(`for (let turn = 0; turn < 100 && ${links}.length === 0; turn++) await new Promise((done) => setTimeout(done, 50));
  return Array.from(${links}, (link) => link.getAttribute('href'));`);
}

/** Clicks on a link that leaves the page, and waits for the next one. */
async function leave(page: Page, element: string): Promise<void> {
  const href = String(await page.run(`return ${element}.href;`));
  await page.run(`setTimeout(() => ${element}.click(), 0);`);
  await waitFor(async () => (await page.run('return document.readyState + location.href;')) === `complete${href}`);
}

/** The path of the page that a redirect has led to. */
async function arrived(page: Page, root: string, from: string): Promise<unknown> {
  const path = async (): Promise<string> => String(await page.run('return location.pathname + location.hash;'));
  await waitFor(async () => {
    const now = await path();
    return now !== root && (from === '' || !now.startsWith(`${root}${from}/`));
  });
  return path();
}

async function waitFor(condition: () => Promise<boolean>): Promise<void> {
  for (let turn = 0; turn < 60; turn++) {
    // While a page is being left, there is none to ask.
    if (await condition().catch(() => false)) return;
    await new Promise((done) => setTimeout(done, 100));
  }
}
