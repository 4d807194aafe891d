/**
 * Where an object was disposed or allocated, and the error for using it afterwards.
 *
 * A site is a captured stack that is only turned into text when somebody reads it, so that disposing stays cheap.
 */
import { TsambaRangeError } from '../errors.ts';

/** A place in the user's program; `text` is worked out when it is asked for. */
export interface Site {
  readonly text: string;
}

/** Frames of this file and of its caller, which the capture begins with: constructor, `captureSite`, and who called that. */
const OWN_FRAMES = 3;

/**
 * The call stack of who called the function that calls this, `depth` frames of it. Few frames, since every dispose pays for
 * this: the user's is the first, or the third where `scope` disposes.
 */
export function captureSite(depth = 3): Site {
  return new CapturedSite(depth);
}

class CapturedSite implements Site {
  /** A plain Error: V8 makes one in two thirds of the time that `captureStackTrace` takes. */
  readonly #error: Error;

  constructor(depth: number) {
    const { stackTraceLimit } = Error;
    limitStack(depth + OWN_FRAMES);
    this.#error = new Error();
    limitStack(stackTraceLimit);
  }

  get text(): string {
    return firstUserFrame(this.#error.stack ?? '');
  }
}

function limitStack(frames: number): void {
  try {
    Error.stackTraceLimit = frames;
  } catch {
    // The built-ins are frozen: stacks are as long as they are.
  }
}

/** The first frame outside Tsamba itself, as `file:line:column`. */
function firstUserFrame(stack: string): string {
  const frames = stack
    .split('\n')
    .slice(1 + OWN_FRAMES)
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
