import { expect, test } from 'vitest';
import type { Pos } from '../source.ts';
import { captureFunction } from './capture.ts';
import { describe as describePos } from './positions.ts';
import { readText, splitLines } from './source-files.ts';

// Lines above the functions, and types within them, make the loaded text differ from this file.
interface Point {
  x: number;
  y: number;
}

type AnyFunction = (...args: never[]) => unknown;
const lines = splitLines(readText(import.meta.url) ?? '');

/** Where the mark stands in this file: 1-based line and column. */
function written(mark: string): { line: number; column: number } {
  const line = lines.findIndex((text) => text.includes(mark) && !text.includes('find('));
  return { line: line + 1, column: (lines[line] ?? '').indexOf(mark) + 1 };
}

function find(fn: AnyFunction, mark: string): Pos {
  const { source } = captureFunction(fn);
  const start = source.text.indexOf(mark);
  if (start < 0) throw new Error(`${mark} is not in ${source.text}`);
  return { source, start, end: start + mark.length };
}

const arrow = (p: Point): number => {
  const arrowMark: number = p.x;
  return arrowMark as number;
};
function declared(p: Point): number {
  const declaredMark = p.y as number;
  return declaredMark;
}
const methods = {
  short(p: Point): number {
    return p.x + Math.abs(shortMark);
  },
  'quoted name'(p: Point) {
    return p.x + Math.abs(quotedMark);
  },
  get(p: Point) {
    return p.x + Math.abs(getMark);
  },
  // biome-ignore format: the place of the parameters counts here
  longHead: function /* ( */ inner
    (p: Point) { return p.x + Math.abs(longMark); },
};
class Holder {
  readonly kept = 1;
  static method(p: Point): number {
    return p.x + Math.abs(classMark);
  }
  // biome-ignore format: a nested function on one line
  static nested = (p: Point) => (q: number): number => { return p.x + q + nestedMark; };
}
const shortMark = 1;
const quotedMark = 1;
const getMark = 1;
const longMark = 1;
const classMark = 1;
const nestedMark = 1;

test.each<[string, AnyFunction, string]>([
  ['an arrow function', arrow as AnyFunction, 'arrowMark'],
  ['a declaration', declared as AnyFunction, 'declaredMark'],
  ['a method', methods.short as AnyFunction, 'shortMark)'],
  ['a method with a quoted name', methods['quoted name'] as AnyFunction, 'quotedMark)'],
  ['a method called get', methods.get as AnyFunction, 'getMark)'],
  ['a function whose parameters begin on another line', methods.longHead as AnyFunction, 'longMark)'],
  ['a static method', Holder.method as AnyFunction, 'classMark)'],
  ['a function returned by another', Holder.nested({ x: 1, y: 2 }) as AnyFunction, 'nestedMark;'],
])('positions in %s are those of the file', (_, fn, mark) => {
  const place = describePos(find(fn, mark));
  expect(place.file).toBe(new URL(import.meta.url).pathname);
  expect({ line: place.line, column: place.column }).toEqual(written(mark));
  expect(place.text).toBe(lines[place.line - 1]);
});

test('a range covers the same words as in the file', () => {
  const pos = find(arrow as AnyFunction, 'return arrowMark');
  const { text, column, length } = describePos(pos);
  expect(text.slice(column - 1, column - 1 + length)).toBe('return arrowMark');
});

test('the place in the script leads back to the text', () => {
  const { source } = captureFunction(arrow as AnyFunction);
  expect(source.script?.url).toMatch(/positions\.test\.ts$/);
});

test('without a script a position is one in the function itself', () => {
  const fn = new Function('y', '  y[0] = 1;') as AnyFunction;
  const place = describePos(find(fn, 'y[0]'));
  expect(place).toEqual({ file: undefined, line: 3, column: 3, text: '  y[0] = 1;', length: 4 });
});
