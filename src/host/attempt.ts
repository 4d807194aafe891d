/**
 * Asking what may refuse: Deno throws where it has not been permitted, and stand-ins for `process` throw as they like.
 */

/** What `body` gives; undefined where it throws. */
export function attempt<T>(body: () => T): T | undefined {
  try {
    return body();
  } catch {
    return undefined;
  }
}
