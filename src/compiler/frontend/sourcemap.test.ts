import { expect, test } from 'vitest';
import { originalPosition, parseSourceMap } from './sourcemap.ts';

const map = (fields: object) =>
  parseSourceMap(
    JSON.stringify({ version: 3, sources: ['../src/a.ts'], names: [], mappings: '', ...fields }),
    'file:///app/dist/a.js.map',
  );

test('segments are decoded, with signs and continuation digits', () => {
  // Columns 0 and 16 of line 0 (VLQ "gB" is 16), then line 1, going back in the source.
  const decoded = map({ mappings: 'AAAA,gBAAgB;AACJ,CADA' });
  expect(decoded?.lines).toEqual([
    [
      { generatedColumn: 0, source: 0, line: 0, column: 0 },
      { generatedColumn: 16, source: 0, line: 0, column: 16 },
    ],
    [
      { generatedColumn: 0, source: 0, line: 1, column: 12 },
      { generatedColumn: 1, source: 0, line: 0, column: 12 },
    ],
  ]);
});

test('the covering segment is found, before the first it is the first', () => {
  const decoded = map({ mappings: 'EAAE,IAAI' });
  if (decoded === undefined) throw new Error('not decoded');
  const at = (column: number) => originalPosition(decoded, 0, column)?.column;
  expect([0, 2, 5, 6, 99].map(at)).toEqual([2, 2, 2, 6, 6]);
  expect(originalPosition(decoded, 1, 0)).toBe(undefined);
});

test('sources are resolved against the map, with the source root', () => {
  const decoded = map({ mappings: 'AAAA' });
  expect(decoded?.sources[0]?.url).toBe('file:///app/src/a.ts');
  expect(map({ sourceRoot: '/root/', sources: ['a b#c.ts'], mappings: 'AAAA' })?.sources[0]?.url).toBe(
    'file:///root/a%20b%23c.ts',
  );
  expect(map({ sources: ['webpack://app/./a.ts'], mappings: 'AAAA' })?.sources[0]?.url).toBe('webpack://app/a.ts');
});

test('contents travel with their sources', () => {
  expect(map({ sourcesContent: ['text'], mappings: 'AAAA' })?.sources[0]?.content).toBe('text');
});

test('index maps are flattened', () => {
  const section = (line: number, column: number, source: string) => ({
    offset: { line, column },
    map: { version: 3, sources: [source], names: [], mappings: 'AAAA;AACA' },
  });
  const decoded = map({ sections: [section(0, 0, 'a.ts'), section(1, 10, 'b.ts')] });
  if (decoded === undefined) throw new Error('not decoded');
  expect(originalPosition(decoded, 0, 3)).toMatchObject({ source: 'file:///app/dist/a.ts', line: 0 });
  expect(originalPosition(decoded, 1, 12)).toMatchObject({ source: 'file:///app/dist/b.ts', line: 0 });
  expect(originalPosition(decoded, 2, 0)).toMatchObject({ source: 'file:///app/dist/b.ts', line: 1 });
});

test.each(['', 'null', '{}', 'no json'])('%j is no source map', (text) => {
  expect(parseSourceMap(text, 'file:///a.map')).toBe(undefined);
});
