/**
 * What a device cannot run, as an error of the kernel: with its place in the author's file, and the name of the device.
 *
 * Drivers know neither; they say what the kernel asks for and what to write instead.
 */
import { fail } from '../compiler/frontend/diagnostics.ts';
import type { Pos } from '../compiler/source.ts';
import { NotSupportedError } from '../errors.ts';

/** Codes of what another kernel would not ask for. All others are about the machine: no compiler, no memory to map. */
const OF_KERNELS: ReadonlySet<string> = new Set(['E_ATOMIC64', 'E_COOPERATIVE', 'E_F64', 'E_WARP']);

const HELP = '  help: ';

/** Throws what a device threw when it was given a kernel: a KernelError where it is the kernel's. */
export function refused(error: unknown, device: string, pos: Pos): never {
  if (!(error instanceof NotSupportedError) || !OF_KERNELS.has(error.code)) throw error;
  const lines = error.message.split('\n');
  const help = lines.find((line) => line.startsWith(HELP))?.slice(HELP.length);
  const text = lines.filter((line) => !line.startsWith(HELP)).join('\n');
  fail(error.code, pos, `${device} cannot run this kernel: ${text}`, { help, cause: error });
}
