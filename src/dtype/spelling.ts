/**
 * The nearest of some known names to one that was mistyped, for `did you mean` in messages.
 */

/** The known name with the smallest edit distance, if that is small enough to be a slip. */
export function nearest(text: string, names: Iterable<string>): string | undefined {
  const wanted = text.toLowerCase();
  let best: string | undefined;
  let bestDistance = Math.min(3, Math.max(1, Math.floor(text.length / 2)) + 1);
  for (const name of names) {
    // So many edits it takes at least; and the time grows with the product of both lengths.
    if (Math.abs(name.length - text.length) >= bestDistance + (best === undefined ? 0 : 1)) continue;
    const distance = editDistance(wanted, name.toLowerCase());
    // Of two that are as near, a letter that is another one is likelier than one that is missing.
    const other = distance === bestDistance && best !== undefined && best.length !== text.length;
    if (distance < bestDistance || (other && name.length === text.length)) {
      best = name;
      bestDistance = distance;
    }
  }
  return best;
}

/** Edits between two words: a letter more, less or other, or two neighbours swapped (Damerau's distance, restricted). */
export function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substituted = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      let least = Math.min(substituted, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        least = Math.min(least, (before[j - 2] ?? 0) + 1);
      }
      next.push(least);
    }
    before = row;
    row = next;
  }
  return row[b.length] ?? 0;
}
