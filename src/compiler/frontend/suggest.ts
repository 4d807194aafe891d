/** "Did you mean": the known name nearest to one that was not found. */
import { editDistance } from '../../dtype/spelling.ts';

/** A sentence for the help line, or undefined when no known name is near. */
export function didYouMean(name: string, known: Iterable<string>): string | undefined {
  let best: string | undefined;
  let least = Math.max(1, Math.floor(name.length / 3)) + 1;
  for (const candidate of new Set(known)) {
    if (Math.abs(candidate.length - name.length) >= least || candidate === name) continue;
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best === undefined ? undefined : `did you mean ${best}?`;
}
