/**
 * What is said of a call that neither a device's code nor a fallback stands for.
 */
import { type ExternalFunction, type LinkKind, showExternal } from '../../intrinsics/external.ts';
import type { MissingExternal } from './externals.ts';

/** How users name code for a device. */
const EXAMPLES: Readonly<Partial<Record<LinkKind, string>>> = {
  ptx: "'name.ptx', 'name.cubin' or 'name.cu'",
  opencl: "'name.cl'",
  hip: "'name.hip'",
};

/** `device`: what messages call it, which can make calls of code of these kinds; `place`: where the call is. */
export function describeMissing(
  kernel: string,
  { fn }: MissingExternal,
  kinds: readonly LinkKind[],
  device: string,
  place: string,
): string {
  if ('native' in fn) {
    return (
      `kernel ${kernel} calls ${fn.name}, which ${device} has no instruction for\n  --> ${place}\n` +
      '  help: give defineIntrinsic the same in TypeScript, as `expand`'
    );
  }
  if (fn.texts !== undefined) {
    return (
      `kernel ${kernel} calls ${fn.name}, and ${device} has no addresses that a kernel could use\n  --> ${place}\n` +
      '  help: use indices; NVIDIA GPUs and HIP devices have addresses'
    );
  }
  return (
    `kernel ${kernel} calls ${showExternal(fn)}, for which ${device} has ${kinds.length === 0 ? 'no code: it only runs TypeScript' : `no code: ${linked(fn)}`}\n` +
    `  --> ${place}\n` +
    `  help: ${kinds[0] === undefined ? '' : `link ${EXAMPLES[kinds[0]]}, or `}give a fallback in TypeScript: cuda.declareDevice(…, { fallback: (…) => … })`
  );
}

function linked({ link }: ExternalFunction): string {
  return link.length === 0 ? 'nothing is linked' : `it is linked with ${link.map(({ name }) => name).join(', ')}`;
}
