/**
 * Where an object was disposed or allocated, and the error for using it afterwards.
 *
 * A site is a captured stack that is only turned into text when somebody reads it, so that disposing stays cheap.
 */
import { TsambaRangeError, withStackDepth } from '../errors.ts';

/** A place in the user's program; `text` is worked out when it is asked for. */
export interface Site {
  readonly text: string;
}

/**
 * The call stack here, `depth` frames of it, without those of `inside` and what it called. Few frames, since every dispose
 * pays for this.
 */
export function captureSite(inside: (...args: never[]) => unknown, depth = 5): Site {
  const holder: { stack?: string } = {};
  withStackDepth(depth, () => Error.captureStackTrace?.(holder, inside));
  return {
    get text(): string {
      return firstUserFrame(holder.stack ?? '');
    },
  };
}

/** The first frame outside Tsamba itself, as `file:line:column`. */
function firstUserFrame(stack: string): string {
  const frames = stack
    .split('\n')
    .slice(1)
    .map((line) => line.trim().replace(/^at /, ''));
  const outside = frames.find((frame) => !isOwnFrame(frame)) ?? frames[0];
  return outside === undefined ? 'an unknown place' : outside;
}

const OWN_FOLDER: string = new URL('..', import.meta.url).href;

function isOwnFrame(frame: string): boolean {
  if (/\.test\.[jt]s/.test(frame)) return false;
  const path = OWN_FOLDER.startsWith('file://') ? decodeURI(OWN_FOLDER.slice('file://'.length)) : OWN_FOLDER;
  return frame.includes(OWN_FOLDER) || frame.includes(path) || frame.startsWith('node:') || frame.includes('(node:');
}

/** The error for using something that was disposed, or whose context is gone. */
export function disposedError(what: string, site: Site | undefined, remedy: string): TsambaRangeError {
  const where = site === undefined ? '' : ` at ${site.text}`;
  return new TsambaRangeError('E_DISPOSED', `this ${what} was disposed${where}; ${remedy}`);
}
