/**
 * Answers of a device that may come while a thread waits: promises whose listeners are called as soon as the answer is there, not by the event loop.
 *
 * The driver chains what it does behind an answer by `then` alone, so that promises of WebGPU serve as well.
 */

type Listener<T, R> = ((value: T) => R | PromiseLike<R>) | null | undefined;

export class Answer<T> implements PromiseLike<T> {
  #outcome: { readonly value: T } | { readonly error: unknown } | undefined;
  #listeners: (() => void)[] = [];

  give(value: T): void {
    this.#settle({ value });
  }

  fail(error: unknown): void {
    this.#settle({ error });
  }

  then<A = T, B = never>(onGiven?: Listener<T, A>, onFailed?: Listener<unknown, B>): Answer<A | B> {
    const next = new Answer<A | B>();
    const answer = (): void => {
      const outcome = this.#outcome as { readonly value: T } | { readonly error: unknown };
      try {
        if ('value' in outcome) {
          adopt(next, onGiven ? onGiven(outcome.value) : (outcome.value as unknown as A));
        } else if (onFailed) adopt(next, onFailed(outcome.error));
        else next.fail(outcome.error);
      } catch (error) {
        next.fail(error);
      }
    };
    if (this.#outcome === undefined) this.#listeners.push(answer);
    else answer();
    return next;
  }

  #settle(outcome: { readonly value: T } | { readonly error: unknown }): void {
    if (this.#outcome !== undefined) return;
    this.#outcome = outcome;
    for (const listener of this.#listeners.splice(0)) listener();
  }
}

function adopt<T>(answer: Answer<T>, value: T | PromiseLike<T>): void {
  if (!isPromise(value)) return answer.give(value);
  value.then(
    (given) => answer.give(given),
    (error: unknown) => answer.fail(error),
  );
}

function isPromise<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof (value as { readonly then?: unknown } | null)?.then === 'function';
}

/** Does one after the other, each behind the answer of the one before. */
export function inTurn(steps: readonly (() => PromiseLike<void>)[]): PromiseLike<void> {
  let all: PromiseLike<void> = given(undefined);
  for (const step of steps) all = all.then(step);
  return all;
}

/** An answer that is there. */
export function given<T>(value: T): Answer<T> {
  const answer = new Answer<T>();
  answer.give(value);
  return answer;
}
