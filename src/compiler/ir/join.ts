/**
 * What a `console.log` of a kernel hands on: its words and values, of which some are one text.
 */

/** The arguments of the host's `console.log`: each is the text of so many parts; all stand for themselves where `joined` is undefined. */
export function joinParts<T>(parts: readonly T[], joined: readonly number[] | undefined): readonly (T | string)[] {
  if (joined === undefined) return parts;
  let at = 0;
  return joined.map((count) => {
    const group = parts.slice(at, at + count);
    at += count;
    return count === 1 ? (group[0] as T) : group.map(String).join('');
  });
}
