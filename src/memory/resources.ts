/**
 * What a context holds besides memory: streams, events and loaded kernels, which die with it, and streams with work left on them.
 */

/** A stream, an event or a loaded kernel: holds no counted memory, but dies with the context. */
export interface Resource {
  destroy(): void;
}

/** A stream that was destroyed with work left on it. */
export interface Outliving {
  /** Whether the work has been done; gives up what was kept for it. */
  finished(): boolean;
}

/** A stream for which host memory is kept alive. */
export interface Holder {
  /** Gives up what was kept: all work has been done. */
  release(): void;
}
