/**
 * `cuda.nvtx`: ranges, marks and names of the program's own, in profiles and traces of this library and in Nsight.
 */
import { TsambaTypeError } from '../errors.ts';
import { checkBody, exitAfter, isThenable, type Leavable } from '../memory/context-manager.ts';
import { unobserved } from '../profile/in-front.ts';
import { nvtxLibrary } from '../profile/nvtx-library.ts';
import { observing } from '../profile/observing.ts';
import { nameStream as remember } from '../profile/stream-names.ts';
import { watchProgram } from '../profile/whole-program.ts';
import { show } from '../show.ts';
import { Stream } from './stream.ts';

/** The result of `range` without a body: the range lasts until its `end()`, or to the end of the block with `using`. */
export interface NvtxRange extends Leavable {
  /** Ends the range. Calling it again does nothing. */
  end(): void;
}

/** Ranges, marks and names. */
export interface Nvtx {
  /** Whether a tool such as Nsight Systems listens. Ranges are in profiles of this library all the same. */
  readonly listening: boolean;
  /**
   * Marks from where to where the program does something: while `body` runs (sync or async), whose result it gives, or else until the result's `end()`. NVTX:
   * `nvtxRangeStart`, `nvtxRangeEnd`.
   * @throws TypeError for a name that is not a string, and what the body throws.
   * @example
   * const sum = cuda.nvtx.range('step', () => 1 + 2);
   * const range = cuda.nvtx.range('epoch');
   * range.end();
   */
  range(name: string): NvtxRange;
  range<R>(name: string, body: () => R): R;
  /**
   * Marks a moment. NVTX: `nvtxMark`.
   * @throws TypeError for a name that is not a string.
   * @example
   * cuda.nvtx.mark('converged');
   */
  mark(name: string): void;
  /**
   * What a stream is called from now on, in profiles and in Nsight. NVTX: `nvtxNameCuStream`.
   * @throws TypeError for anything that is not a stream, or a name that is not a string; RangeError for a stream that was disposed.
   * @example
   * const stream = cuda.stream();
   * cuda.nvtx.nameStream(stream, 'copies');
   */
  nameStream(stream: Stream, name: string): void;
  /**
   * What the calling thread is called in Nsight. NVTX: `nvtxNameOsThread`.
   * @throws TypeError for a name that is not a string.
   * @example
   * cuda.nvtx.nameThread('loader');
   */
  nameThread(name: string): void;
}

function checkName(call: string, name: unknown): string {
  if (typeof name === 'string') return name;
  throw new TsambaTypeError('E_OPTION', `nvtx.${call} takes a name, a string, got ${show(name)}`);
}

/** Begins a range; the function that it gives ends it. */
function open(name: string): (error?: unknown, nested?: boolean) => void {
  watchProgram();
  const library = nvtxLibrary();
  const number = library?.start(name);
  const seen = observing.current?.begin({ kind: 'range', name });
  return (error, nested) => {
    seen?.(error, nested);
    if (number !== undefined) library?.end(number);
  };
}

function range<R>(name: string, body?: () => R): NvtxRange | R {
  checkName('range', name);
  if (body === undefined) {
    let end: (() => void) | undefined = open(name);
    const once = (): void => {
      end?.();
      end = undefined;
    };
    return { end: once, dispose: once, [Symbol.dispose]: once };
  }
  checkBody('nvtx.range', body);
  const end = open(name);
  let nested = true;
  return exitAfter(
    () => end(undefined, nested),
    () => {
      const result = body();
      // What goes on while others run may overlap theirs.
      nested = !isThenable(result);
      return result;
    },
  );
}

function mark(name: string): void {
  checkName('mark', name);
  watchProgram();
  nvtxLibrary()?.mark(name);
  observing.current?.mark({ kind: 'mark', name });
}

function nameStream(stream: Stream, name: string): void {
  if (!(stream instanceof Stream)) {
    throw new TsambaTypeError('E_OPTION', `nvtx.nameStream takes a stream, got ${show(stream)}`);
  }
  checkName('nameStream', name);
  const handle = stream.use();
  if (handle === undefined) return;
  const { driver, info } = stream.context;
  remember(unobserved(driver), info.features.externalStreams, handle, name);
  if (info.kind === 'nvidia' && handle.address !== undefined) nvtxLibrary()?.nameStream(handle.address, name);
}

function nameThread(name: string): void {
  nvtxLibrary()?.nameThread(checkName('nameThread', name));
}

/**
 * Ranges, marks and names of your own: in `cuda.profile` and `TSAMBA_TRACE` on every device, and in Nsight where it watches the process. They cost next to nothing
 * where nobody looks. NVIDIA's NVTX.
 * @example
 * await cuda.nvtx.range('load', async () => cuda.toDevice(new Float32Array(8)));
 * cuda.nvtx.mark('loaded');
 */
export const nvtx: Nvtx = /* @__PURE__ */ Object.freeze({
  get listening() {
    return nvtxLibrary() !== undefined;
  },
  range: range as Nvtx['range'],
  mark,
  nameStream,
  nameThread,
});
