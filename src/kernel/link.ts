/**
 * What kernels are linked with: files by their endings, and texts or bytes that say what they are.
 */
import type { LinkCallback, LinkItem, LinkKind } from '../compiler/intrinsics/external.ts';
import { NotSupportedError, TsambaTypeError } from '../errors.ts';
import { nodeModule } from '../host/index.ts';
import { isPlainObject } from '../options.ts';
import { show } from '../show.ts';

/** Code in memory, or in a file: one of these, texts as strings. `name` is what messages call it. */
export interface LinkCode {
  /** A path, as where a string stands for all of this. */
  readonly file?: string;
  /** PTX. */
  readonly ptx?: string;
  /** Machine code of NVIDIA GPUs. */
  readonly cubin?: Uint8Array;
  /** A fat binary: code for several architectures (`nvcc -fatbin`). */
  readonly fatbin?: Uint8Array;
  /** An object file with relocatable device code (`nvcc -dc`). */
  readonly object?: Uint8Array;
  /** LTO-IR (`nvcc -dlto`), which nvJitLink links, where it is installed. */
  readonly ltoir?: Uint8Array;
  /** CUDA C++, which NVRTC compiles. */
  readonly cuda?: string;
  /** OpenCL C. */
  readonly opencl?: string;
  /** HIP C++. */
  readonly hip?: string;
  /** The name in messages. */
  readonly name?: string;
  /**
   * Called with each module that has the code, when a CUDA driver has loaded it and before a kernel of it runs: to set variables of it, say. Of code that is linked
   * twice those count that came first. Numba: the `setup_callback` of what `link` takes.
   */
  readonly setup?: LinkCallback;
  /** The same before the module is unloaded. Numba: `teardown_callback`. */
  readonly teardown?: LinkCallback;
}

/** A file, or code in memory. Paths are taken from the working folder; `new URL('./f.ptx', import.meta.url)` from the module's own. */
export type LinkInput = string | { readonly href: string } | LinkCode;

const ENDINGS: Readonly<Record<string, LinkKind>> = {
  ptx: 'ptx',
  cubin: 'cubin',
  fatbin: 'fatbin',
  o: 'object',
  obj: 'object',
  ltoir: 'ltoir',
  cu: 'cuda',
  cl: 'opencl',
  hip: 'hip',
};

const KINDS: readonly LinkKind[] = ['ptx', 'cubin', 'fatbin', 'object', 'ltoir', 'cuda', 'opencl', 'hip'];

/** Checks what was given as `link`. Files are looked for now, and read when a kernel is first linked with them. */
export function linkItems(what: string, given: unknown): readonly LinkItem[] {
  const list: readonly unknown[] = Array.isArray(given) ? given : [given];
  return list.map((one) => {
    if (typeof one === 'string') return fromFile(what, one);
    if (one instanceof URL) return fromFile(what, nodeModule('node:url').fileURLToPath(one));
    if (typeof one === 'object' && one !== null && isPlainObject(one)) return inMemory(what, one);
    throw unfit(what, one);
  });
}

function fromFile(what: string, path: string): LinkItem {
  const kind = ENDINGS[/\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? ''];
  if (kind === undefined) throw unfit(what, path);
  const { existsSync, readFileSync } = nodeModule('node:fs');
  if (!existsSync(path)) {
    throw new NotSupportedError(
      'E_LINK_FILE',
      `${what}: there is no file ${path} (from ${nodeModule('node:path').resolve()})`,
    );
  }
  let bytes: Uint8Array | undefined;
  return { kind, name: path, key: path, code: () => (bytes ??= readFileSync(path)) };
}

let binaries = 0;

function inMemory(what: string, given: object): LinkItem {
  const { name, setup, teardown, ...code } = given as Readonly<Record<string, unknown>>;
  for (const [which, callback] of Object.entries({ setup, teardown })) {
    if (callback !== undefined && typeof callback !== 'function')
      throw new TsambaTypeError('E_LINK', `${what}: ${which} takes a function, got ${show(callback)}`);
  }
  const callbacks = { setup: setup as LinkCallback | undefined, teardown: teardown as LinkCallback | undefined };
  if (typeof code['file'] === 'string' && Object.keys(code).length === 1)
    return { ...fromFile(what, code['file']), ...callbacks };
  const keys = Object.keys(code);
  const kind = KINDS.find((known) => known === keys[0]);
  const value = code[keys[0] ?? ''];
  if (kind === undefined || keys.length !== 1 || (name !== undefined && typeof name !== 'string')) {
    throw unfit(what, given);
  }
  const isText = kind === 'ptx' || kind === 'cuda' || kind === 'opencl' || kind === 'hip';
  if (isText ? typeof value !== 'string' : !(value instanceof Uint8Array)) {
    throw new TsambaTypeError(
      'E_LINK',
      `${what}: ${kind} takes ${isText ? 'a string' : 'a Uint8Array'}, got ${show(value)}`,
    );
  }
  const bytes = typeof value === 'string' ? new TextEncoder().encode(value) : (value as Uint8Array);
  const key = `${kind}\n${typeof value === 'string' ? value : ++binaries}`;
  return { kind, name: name ?? `a text of ${kind}`, key, ...callbacks, code: () => bytes };
}

function unfit(what: string, given: unknown): TsambaTypeError {
  return new TsambaTypeError(
    'E_LINK',
    `${what} takes files that end in ${Object.keys(ENDINGS)
      .map((e) => `.${e}`)
      .join(', ')}, or { ${KINDS.join(' | ')}: code }, got ${show(given)}`,
  );
}
