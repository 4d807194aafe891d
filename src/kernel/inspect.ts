/**
 * `kernel.inspect`: the types that inference found, the IR, and the code that a device made of it, as text.
 */
import { showTypes } from '../compiler/compile.ts';
import { withAuthorNames } from '../compiler/frontend/author-names.ts';
import { printKernel } from '../compiler/ir/print.ts';
import { NVIDIA_DEFAULTS, ptxFor } from '../driver/nvidia/offline.ts';
import { amdgcnFor, OPENCL_DEFAULTS, openclFor } from '../driver/opencl/offline.ts';
import { NotSupportedError, TsambaRangeError, TsambaTypeError } from '../errors.ts';
import type { Context } from '../memory/context.ts';
import { readKeys } from '../options.ts';
import { show } from '../show.ts';
import type { Specialisation } from './specialisation.ts';
import type { KernelState } from './state.ts';

const TARGETS = ['types', 'ir', 'passes', 'wasm', 'js', 'ptx', 'opencl', 'amdgcn'];

/** What can be had of any device, since it is made without one. */
const OFFLINE = ['types', 'ir', 'ptx', 'opencl', 'amdgcn'];

/** Targets whose code is for an architecture, with an example of one. */
const WITH_ARCH: Readonly<Record<string, string>> = { ptx: 'sm_90', amdgcn: 'gfx90a' };

/** All specialisations as text, each under its signature when there are several. */
export function inspectKernel(state: KernelState, options: unknown): string {
  const wanted = wantedBy(options);
  const all = [...state.specialisations];
  if (all.length === 0) throw notCompiled(state.name);
  const texts = all.map((one) => inspectOne(state, one, wanted));
  if (texts.length === 1) return texts.join('');
  return all
    .map((one, i) => `// ${one.signature}, ${one.indexBits}-bit indices, ${one.context.info.name}\n${texts[i]}`)
    .join('\n\n');
}

/** The error for asking about a kernel of which nothing has been compiled. */
export function notCompiled(kernel: string): TsambaRangeError {
  return new TsambaRangeError(
    'E_NOT_COMPILED',
    `${kernel} has not been compiled yet: launch it, or call ${kernel}.compile(…) with sample arguments`,
  );
}

interface Wanted {
  readonly target: string;
  readonly arch: string | undefined;
}

function wantedBy(options: unknown): Wanted {
  const isObject = typeof options === 'object' && options !== null;
  const { target = 'types', arch } = isObject ? readKeys('inspect', options, ['target', 'arch']) : { target: options };
  if (typeof target !== 'string' || !TARGETS.includes(target)) {
    throw new TsambaTypeError(
      'E_OPTION',
      `inspect has the targets ${TARGETS.map((name) => `'${name}'`).join(', ')}, got ${show(target)}`,
    );
  }
  const example = WITH_ARCH[target];
  if (arch !== undefined && (typeof arch !== 'string' || example === undefined)) {
    throw new TsambaTypeError(
      'E_OPTION',
      `inspect takes arch as a string with target '${example === undefined ? "ptx' or 'amdgcn" : target}', such as '${example ?? 'sm_90'}', ` +
        `got ${show(arch)} with '${target}'`,
    );
  }
  return { target, arch };
}

function inspectOne(state: KernelState, one: Specialisation, { target, arch }: Wanted): string {
  const { compiled, executable, context } = one;
  const { source } = compiled.kernel.pos;
  if (target === 'ir') return withAuthorNames(printKernel(compiled.kernel), source);
  if (target === 'types') {
    return showTypes(compiled.types.map((type) => ({ ...type, name: withAuthorNames(type.name, source) })));
  }
  const text = arch === undefined ? executable.inspect(target) : undefined;
  if (text !== undefined) return target === 'passes' ? withAuthorNames(text, source) : text;
  if (target === 'ptx') {
    // Another device has compiled it with its own defaults.
    const { kernel } = context.kind === 'nvidia' ? compiled : state.compiledFor(NVIDIA_DEFAULTS, one);
    return ptxFor(kernel, arch, state.options);
  }
  if (target === 'opencl') return openclFor(state.compiledFor(OPENCL_DEFAULTS, one).kernel);
  if (target === 'amdgcn') {
    const { kernel } = context.kind === 'hip' ? compiled : state.compiledFor(OPENCL_DEFAULTS, one);
    return amdgcnFor(kernel, arch);
  }
  throw new NotSupportedError(
    'E_INSPECT',
    `${deviceOf(context)} makes no ${target} of kernels: ${offered(executable)}`,
  );
}

function deviceOf(context: Context): string {
  return `${context.info.name} (${context.kind})`;
}

function offered(executable: Specialisation['executable']): string {
  const known = TARGETS.filter((target) => !OFFLINE.includes(target) && executable.inspect(target) !== undefined);
  return `there are ${[...OFFLINE, ...known].map((name) => `'${name}'`).join(', ')}`;
}
