/**
 * Machine code of PTX, by the driver's own linker, kept on disk: what one process has assembled, later ones load in a thirtieth of a millisecond
 * where assembling takes ten to thirty.
 *
 * Nothing depends on it: where the linker is missing or refuses, or the driver does not load what was kept, the PTX is loaded as it is, and
 * what is wrong with it is said there. A text that calls functions of other code is always linked.
 */

import type { LinkItem } from '../../compiler/intrinsics/external.ts';
import type { PtxModule } from '../../compiler/render/ptx/module.ts';
import { attempt, nodeModule } from '../../host/index.ts';
import { trace, traceTime } from '../../trace.ts';
import { BinaryCache, cacheFolder } from '../binary-cache.ts';
import type { CudaContext } from '../cuda-api/context.ts';
import type { Cuda } from '../cuda-api/functions.ts';
import { inputsOf, link, linkError, ptxInput } from './linker.ts';
import { linkLto } from './nvjitlink.ts';

type LinkedModule = Pick<PtxModule, 'entry' | 'lineInfo' | 'link'>;

/** The machine code of kernels on one device. */
export class Cubins {
  readonly #cuda: Cuda;
  readonly #capability: number;
  /** Names the device's architecture and its driver. */
  readonly #identity: string;
  readonly #folder: string | undefined;

  /** `folder` of the files; undefined for the user's. */
  constructor(cuda: Cuda, capability: number, folder?: string) {
    this.#cuda = cuda;
    this.#capability = capability;
    this.#identity = `sm_${capability} CUDA ${cuda.version} ${driverBuild()}`;
    this.#folder = folder;
  }

  /** Loads a text, which ends in a zero; the CUmodule, undefined where the driver has to be asked to load the text itself. */
  load(context: CudaContext, module: LinkedModule, text: Uint8Array): number | undefined {
    const { entry: name, link: items = [] } = module;
    // Read at every kernel, as other variables about kernels are.
    const folder = this.#folder ?? attempt(() => cacheFolder('nvidia'));
    if (folder === undefined && items.length === 0) return undefined;
    const cache = folder === undefined ? undefined : new BinaryCache(folder, this.#identity);
    // What CUDA C++ includes may have changed since.
    const inputs = items.some(includes) ? inputsOf(items, this.#capability) : undefined;
    const key = keyOf(text, inputs?.map(({ bytes }) => bytes) ?? items.map(({ code }) => code()), items);
    const kept = traceTime(
      'compile',
      () => `${name}: looking for machine code on disk`,
      () => cache?.read(key),
    );
    const { out } = context;
    const load = (code: Uint8Array): number => this.#cuda.cuModuleLoadDataEx(out.at(0), code, 0, 0, 0);
    if (kept !== undefined) {
      if (load(kept) === 0) return out.long(0);
      trace('compile', () => `${name}: the driver does not load what was kept`);
    }
    const code = traceTime(
      'compile',
      () => `${name}: assembling PTX`,
      () => this.#code(context, module, text, inputs),
    );
    if (code === undefined) return undefined;
    const result = load(code);
    if (result !== 0) {
      if (items.length > 0) throw linkError(context, name, items, { api: 'cuModuleLoadDataEx', result, log: '' });
      trace('compile', () => `${name}: the driver does not load what it linked`);
      return undefined;
    }
    const handle = out.long(0);
    cache?.write(key, () => code);
    return handle;
  }

  /** The machine code; undefined where that fails and the driver can be asked to load the text itself, which calls nothing. */
  #code(
    context: CudaContext,
    { entry, lineInfo = false, link: items = [] }: LinkedModule,
    text: Uint8Array,
    inputs = inputsOf(items, this.#capability),
  ): Uint8Array | undefined {
    // The driver's own linker does not know LTO-IR.
    const linked = items.some(({ kind }) => kind === 'ltoir')
      ? linkLto([ptxInput(text), ...inputs], { entry, capability: this.#capability, lineInfo })
      : link(context, [ptxInput(text), ...inputs], lineInfo);
    if (linked?.code !== undefined || items.length === 0) return linked?.code;
    throw linkError(
      context,
      entry,
      items,
      linked?.failed ?? { api: 'cuLinkCreate', result: 0, log: 'the driver has no linker' },
    );
  }
}

/** All that machine code depends on: the text, and what it is linked with. */
function keyOf(text: Uint8Array, codes: readonly Uint8Array[], items: readonly LinkItem[]): Uint8Array {
  if (items.length === 0) return text;
  const titles = items.map(({ kind, name }, k) => `${kind} ${name} ${codes[k]?.length}`);
  // With the lengths, so that no two programs are the same bytes.
  return Buffer.concat([Buffer.from(`${text.length} ${JSON.stringify(titles)}\0`), text, ...codes]);
}

/** CUDA C++ that reads other files. */
function includes({ kind, code }: LinkItem): boolean {
  return kind === 'cuda' && Buffer.from(code()).includes('include');
}

/** What tells two builds of the driver apart that know the same CUDA; empty where the system does not say. */
function driverBuild(): string {
  return attempt(() => nodeModule('node:fs').readFileSync('/sys/module/nvidia/version', 'latin1').trim()) ?? '';
}
