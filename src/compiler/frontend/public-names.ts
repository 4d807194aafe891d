/**
 * What names stand for where nobody can see to what they are bound: Tsamba's own, by the names under which it exports them.
 *
 * Only for runtimes without an inspector. There a kernel that says `cuda` or `f32` means these in all likelihood; a local variable of the
 * same name cannot be told from them. Bundlers number names that meet in one file (`cuda2`, `f32$1`), which are known as well; those that a
 * minifier has made are not. What is captured by name always goes before.
 */
import { c64, c128, SCALAR_TOKENS } from '../../dtype/index.ts';
import type { Captured } from './captured.ts';

const names = new Map<string, unknown>([...Object.entries(SCALAR_TOKENS), ['c64', c64], ['c128', c128]]);

/** Makes a namespace known by its name, and returns it. */
export function offerName<T>(name: string, value: T): T {
  names.set(name, value);
  return value;
}

/** What a name stands for by itself; undefined where it is none of these. A global of that name that is something else leaves it open. */
export function publicValue(name: string): Captured | undefined {
  const known = [name, name.replace(/\$\d+$/, ''), name.replace(/\d$/, '')].find((spelling) => names.has(spelling));
  if (known === undefined) return undefined;
  const value = names.get(known);
  return name in globalThis && Reflect.get(globalThis, name) !== value ? { found: false } : { found: true, value };
}
