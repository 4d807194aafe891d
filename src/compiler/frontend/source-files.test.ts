import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { lineOf, readText } from './source-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'tsamba-sources-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the text of a file', () => {
  it('is what stands there now, however often it was asked for', () => {
    const path = join(folder, 'kernel.ts');
    writeFileSync(path, 'one');
    expect([readText(path), readText(path)]).toEqual(['one', 'one']);
    writeFileSync(path, 'longer');
    expect(readText(path)).toBe('longer');
    writeFileSync(path, 'anew..');
    utimesSync(path, 1, 2);
    expect(readText(pathToFileURL(path).href)).toBe('anew..');
    rmSync(path);
    expect(readText(path)).toBeUndefined();
  });

  it('is that of each of two files in turns', () => {
    const [a, b] = [join(folder, 'a.ts'), join(folder, 'b.ts')];
    writeFileSync(a, 'a');
    writeFileSync(b, 'b');
    expect([a, b, a, b].map(readText)).toEqual(['a', 'b', 'a', 'b']);
  });
});

describe('a line of a text', () => {
  it('ends at any of the ends that JavaScript knows', () => {
    const text = 'a\nb\r\nc\rd\u2028e\u2029f';
    expect([0, 1, 2, 3, 4, 5, 6].map((line) => lineOf(text, line))).toEqual(['a', 'b', 'c', 'd', 'e', 'f', undefined]);
  });

  it('is that of the text that is asked', () => {
    expect([lineOf('a\nb', 1), lineOf('c\nd', 1), lineOf('a\nb', 0)]).toEqual(['b', 'd', 'a']);
  });
});
