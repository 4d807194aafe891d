/**
 * The stream for copies and launches that must not block and were given no stream: one a context, made when it is first needed.
 *
 * What goes there comes after the work without a stream, and before later work without one: see `afterDefault`, `beforeDefault`.
 */
import type { StreamHandle } from '../driver/driver.ts';
import type { Context } from '../memory/context.ts';
import { noteDisposed } from '../memory/scope.ts';
import { Stream } from './stream.ts';

const streams = new WeakMap<Context, Stream>();

/** The stream of a context; a new one where it was disposed, as by a reset. */
function transferStream(context: Context): Stream {
  const known = streams.get(context);
  if (known !== undefined && !known.disposed) return known;
  const stream = new Stream(context, 'created');
  // It belongs to the context, and not to the `scope()` that happens to be in force.
  noteDisposed(stream);
  streams.set(context, stream);
  return stream;
}

/** The stream of a context, for what comes after all work without a stream. */
export function afterDefault(context: Context): Stream {
  const stream = transferStream(context);
  follow(context, undefined, stream.use());
  return stream;
}

/** Makes later work without a stream come after what is on this one now. */
export function beforeDefault(stream: Stream): void {
  follow(stream.context, stream.use(), undefined);
}

function follow({ driver }: Context, first: StreamHandle | undefined, second: StreamHandle | undefined): void {
  const event = driver.createEvent(false);
  try {
    driver.recordEvent(event, first);
    driver.waitEvent(event, second);
  } finally {
    driver.destroyEvent(event);
  }
}
