/**
 * The records of `bench/results`, and how their numbers are written in tables of Markdown.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT: string = join(import.meta.dirname, '../..');

/** A record and the path that pages name. */
export interface Found<T> {
  readonly path: string;
  readonly record: T;
}

/** The newest record, by its own date, whose file begins with the name and a date, and that `suits`. Throws where there is none. */
export function newest<T extends { readonly date: string }>(name: string, suits: (record: T) => boolean): Found<T> {
  const pattern = new RegExp(`^${name}-\\d{4}-\\d\\d-\\d\\d-[\\w+]+\\.json$`);
  const found = readdirSync(join(ROOT, 'bench/results'))
    .filter((file) => pattern.test(file))
    .map((file) => `bench/results/${file}`)
    .map((path) => ({ path, record: JSON.parse(readFileSync(join(ROOT, path), 'utf8')) as T }))
    .filter(({ record }) => suits(record))
    .sort((a, b) => b.record.date.localeCompare(a.record.date))[0];
  if (found === undefined) throw new Error(`bench/results has no record of ${name} that a table could be made of`);
  return found;
}

export function geomean(list: readonly number[]): number {
  return Math.exp(list.reduce((sum, value) => sum + Math.log(value), 0) / list.length);
}

/** A number with so many digits after the point; nothing where there is none. */
export function fixed(value: number | undefined | null, digits: number): string {
  return value === undefined || value === null || Number.isNaN(value) ? '' : value.toFixed(digits);
}

/** Two significant digits, three from 10 on: enough for an overview. */
export function short(value: number | undefined): string {
  if (value === undefined) return '';
  return value.toFixed(value >= 100 ? 0 : value >= 1 ? 1 : 2);
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** `1.26, 2.3 and 4`. */
export function listed(items: readonly string[]): string {
  return items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`;
}
