/**
 * The stream for copies that must not block and were given no stream: one a context, made when it is first needed.
 */
import type { Context } from '../memory/context.ts';
import { noteDisposed } from '../memory/scope.ts';
import { Stream } from './stream.ts';

const streams = new WeakMap<Context, Stream>();

/** The stream of a context; a new one where it was disposed, as by a reset. */
export function transferStream(context: Context): Stream {
  const known = streams.get(context);
  if (known !== undefined && !known.disposed) return known;
  const stream = new Stream(context, 'created');
  // It belongs to the context, and not to the `scope()` that happens to be in force.
  noteDisposed(stream);
  streams.set(context, stream);
  return stream;
}
