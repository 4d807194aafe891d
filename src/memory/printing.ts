/**
 * How handles print: `console.log(stream)` says what it is, not what it is made of, and so does JSON.
 */

/** Makes `util.inspect` and `JSON.stringify` use the `toString` of a class. */
export function printAs(prototype: object): void {
  const value = function (this: object): string {
    return this.toString();
  };
  // Not class members: isolated declarations allow no computed names of other files' symbols.
  Object.defineProperties(prototype, {
    [Symbol.for('nodejs.util.inspect.custom')]: { value },
    toJSON: { value },
  });
}
