/**
 * Which files of tests share a process and its modules, so that the compiler is imported once for all of them and not for each: units whose
 * text does nothing that the next file could notice. All others have a process each.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What outlives the test that does it, or sees what others did: variables, globals, listeners, the device in use, spies, threads, collections. */
const NOTICED =
  /\bvi\.(?!fn\b)|process\.(env(?!\.WASM_)|on|once|chdir|argv|exit|emit)|globalThis|defineProperty\(|selectDevice|child_process|worker_threads|import\('|\bgc\b/;

/** Which do so out of sight. */
const OWN: readonly string[] = [];

/** The files of tests that share a process, as paths from the root of the repository. */
export function filesThatShare(): string[] {
  return readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => join('src', file).replaceAll('\\', '/'))
    .filter((file) => !OWN.includes(file) && !NOTICED.test(readFileSync(file, 'utf8')))
    .sort();
}

/** Files in an order that depends on a seed alone. */
export function shuffled<T extends { readonly moduleId: string }>(files: readonly T[], seed: number): T[] {
  const key = ({ moduleId }: T) => createHash('sha256').update(`${seed}:${moduleId}`).digest('hex');
  return files.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
}
