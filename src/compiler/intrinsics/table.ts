/**
 * The table of intrinsics, by name: the rows of all families, and those without a public name.
 */
import { type Row, rowsOf } from './define.ts';
import * as integers from './integers.ts';
import * as operations from './operations.ts';

export const INTRINSICS: ReadonlyMap<string, Row> = new Map(
  [...Object.values(operations), ...rowsOf(Object.values(integers))].map((row) => [row.name, row]),
);
