/**
 * Files of sources, and places in their texts.
 */
import { findNodeModule } from '../../host/index.ts';

/** Lines as JavaScript counts them. */
export function splitLines(text: string): string[] {
  return text.split(/\r\n|[\n\r\u2028\u2029]/);
}

/** The text that lines were last asked of, and its lines: a bundle has megabytes, and each error asks several times. Kept until memory is wanted. */
let lastLines: WeakRef<{ readonly text: string; readonly lines: readonly string[] }> | undefined;

/** A line of a long text, from 0; undefined behind the last. */
export function lineOf(text: string, line: number): string | undefined {
  let known = lastLines?.deref();
  if (known?.text !== text) {
    known = { text, lines: splitLines(text) };
    lastLines = new WeakRef(known);
  }
  return known.lines[line];
}

/** Line and column of an offset, from 0. */
export function lineColumn(text: string, offset: number): { readonly line: number; readonly column: number } {
  const before = splitLines(text.slice(0, offset));
  return { line: before.length - 1, column: before.at(-1)?.length ?? 0 };
}

/** The path of a file URL; other names as they are. */
export function asPath(url: string): string {
  if (!url.startsWith('file:')) return url;
  try {
    return findNodeModule('node:url')?.fileURLToPath(url) ?? url;
  } catch {
    return url;
  }
}

/** The file that was last read, as it was. */
let lastFile: WeakRef<{ readonly path: string; readonly stamp: string; readonly text: string }> | undefined;

/** The text of a file, or undefined when it cannot be read. */
export function readText(url: string): string | undefined {
  const path = asPath(url);
  try {
    const fs = findNodeModule('node:fs');
    if (fs === undefined) return undefined;
    const { mtimeMs, size } = fs.statSync(path);
    const stamp = `${mtimeMs} ${size}`;
    const known = lastFile?.deref();
    if (known?.path === path && known.stamp === stamp) return known.text;
    const text = fs.readFileSync(path, 'utf8');
    lastFile = new WeakRef({ path, stamp, text });
    return text;
  } catch {
    return undefined;
  }
}
