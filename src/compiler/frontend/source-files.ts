/**
 * Files of sources, and places in their texts.
 */
import { findNodeModule } from '../../host/index.ts';

/** Lines as JavaScript counts them. */
export function splitLines(text: string): string[] {
  return text.split(/\r\n|[\n\r\u2028\u2029]/);
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

/** The text of a file, or undefined when it cannot be read. */
export function readText(url: string): string | undefined {
  const path = asPath(url);
  try {
    return findNodeModule('node:fs')?.readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
