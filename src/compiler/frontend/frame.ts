/**
 * Draws code frames: a line of source with its number, carets under ranges of it, and a word beside or below each caret.
 */
import type { Place } from './positions.ts';

/** One underlined range of a frame; `main` ranges get carets, others dashes. */
export interface Mark {
  readonly place: Place;
  readonly text: string | undefined;
  readonly main: boolean;
}

/** Longest stretch of a line shown: minified bundles are one line. */
const WIDTH = 110;

/** The lines of a frame. Marks on one line of one file share it; the lines stand in the order of their first mark. */
export function drawFrame(marks: readonly Mark[]): string[] {
  const digits = Math.max(...marks.map(({ place }) => String(place.line).length));
  const gutter = ' '.repeat(digits + 3);
  const drawn: string[] = [];
  const groups = new Map<string, Mark[]>();
  for (const mark of marks) {
    const key = `${mark.place.file}:${mark.place.line}`;
    groups.set(key, [...(groups.get(key) ?? []), mark]);
  }
  for (const group of groups.values()) {
    const [first] = group;
    if (first === undefined) continue;
    const shown = crop(first.place);
    drawn.push(`   ${String(first.place.line).padStart(digits)} | ${shown.text}`.trimEnd());
    for (const row of underline(group, shown)) drawn.push(`${gutter} | ${row}`.trimEnd());
  }
  return drawn;
}

interface Shown {
  readonly text: string;
  /** Columns cut off on the left, less what stands for them. */
  readonly shift: number;
}

function crop({ text, length, ...place }: Place): Shown {
  const column = place.textColumn ?? place.column;
  const plain = text.replaceAll('\t', ' ').trimEnd();
  if (plain.length <= WIDTH) return { text: plain, shift: 0 };
  const from = Math.max(0, Math.min(column - 1 - 30, plain.length - WIDTH, column - 1));
  const to = Math.min(plain.length, Math.max(from + WIDTH, Math.min(column - 1 + length, from + WIDTH)));
  const left = from > 0 ? '…' : '';
  return { text: `${left}${plain.slice(from, to)}${to < plain.length ? '…' : ''}`, shift: from - left.length };
}

/**
 * The rows under a line. The first has all carets, and the word of the rightmost mark; each other mark with a word
 * gets a row of its own, from right to left, so that no word runs into a caret.
 */
function underline(marks: readonly Mark[], shown: Shown): string[] {
  const placed = marks
    .map(({ place, text, main }) => {
      const from = Math.max(0, (place.textColumn ?? place.column) - 1 - shown.shift);
      const length = Math.max(1, Math.min(place.length, shown.text.length - from));
      return { from, length, text, main };
    })
    .sort((a, b) => a.from - b.from || a.length - b.length);
  const row: string[] = [];
  for (const { from, length, main } of placed) {
    for (let i = from; i < from + length; i++) if (main || row[i] === undefined) row[i] = main ? '^' : '-';
  }
  let carets = Array.from(row, (character) => character ?? ' ').join('');
  const words = placed.filter(({ text }) => text !== undefined && text !== '');
  const last = words.at(-1);
  if (last !== undefined && last.from + last.length >= carets.length) {
    carets += ` ${words.pop()?.text ?? ''}`;
  }
  const below = words.reverse().map(({ from, text }) => ' '.repeat(from) + (text ?? ''));
  return [carets, ...below];
}
