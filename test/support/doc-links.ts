/**
 * The links of the Markdown pages: whether a relative one leads to a file, and its anchor to a heading of that file. And their tables:
 * whether each row has as many cells as the head, for what is too much is not shown.
 *
 * Links to other sites are not followed. Links out of a block of code do not count.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** What is wrong with the links of a page, one line each; `page` is relative to `root`. */
export function brokenLinks(root: string, page: string): string[] {
  const text = prose(readFileSync(join(root, page), 'utf8'));
  const wrong: string[] = [];
  for (const [, target] of text.matchAll(/\[[^\]]*\]\(([^)\s]+)\)/g)) {
    if (/^[a-z]+:/.test(target)) continue;
    const [path, anchor] = target.split('#');
    const file = path === '' ? join(root, page) : join(root, dirname(page), decodeURI(path));
    if (!existsSync(file)) wrong.push(`${page}: ${target}: there is no ${relative(root, file)}`);
    else if (anchor !== undefined && (statSync(file).isDirectory() || !anchorsOf(file).has(anchor))) {
      wrong.push(`${page}: ${target}: ${relative(root, file)} has no heading #${anchor}`);
    }
  }
  return wrong;
}

/** The anchors of a page's headings, as GitHub makes them: lower case, no punctuation, a hyphen for each space. */
function anchorsOf(file: string): Set<string> {
  const seen = new Map<string, number>();
  const anchors = new Set<string>();
  for (const [, heading] of prose(readFileSync(file, 'utf8')).matchAll(/^#{1,6} +(.+?) *$/gm)) {
    const slug = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M} _-]/gu, '')
      .replaceAll(' ', '-');
    const count = seen.get(slug) ?? 0;
    seen.set(slug, count + 1);
    anchors.add(count === 0 ? slug : `${slug}-${count}`);
  }
  return anchors;
}

/** A page without its blocks of code. */
/** The rows of tables that have another number of cells than their head, as `page: row`. */
export function brokenRows(root: string, page: string): string[] {
  let width: number | undefined;
  return prose(readFileSync(join(root, page), 'utf8'))
    .split('\n')
    .filter((line) => {
      const cells = line.startsWith('|') ? line.match(/(?<!\\)\|/g)?.length : undefined;
      width = cells === undefined ? undefined : (width ?? cells);
      return cells !== width;
    })
    .map((line) => `${page}: ${line}`);
}

function prose(text: string): string {
  return text.replace(/^```[\s\S]*?^```$/gm, '').replace(/`[^`\n]*`(?!\])/g, (code) => code.replace(/\]\(/g, ''));
}
