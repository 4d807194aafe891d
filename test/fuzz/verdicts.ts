/**
 * What keeps a program from having a result that devices must give.
 */

/** A program that runs for too long, or (a mistake of the generator's) has no meaning. */
export class Discarded extends Error {}

/** An index that checked mode must refuse: what the device has to say of it. */
export class Refused extends Error {
  readonly parts: readonly string[];
  constructor(parts: readonly string[]) {
    super(parts.join(', '));
    this.parts = parts;
  }
}

/** A use of a value that is not there, which the compiler must have refused. */
export class Absent extends Error {}
