/**
 * `kernel.inspect`: the types that inference found, the IR, and the code that a device made of it, as text.
 */

import { printKernel, showTypes } from '../compiler/front.ts';
import { withAuthorNames } from '../compiler/frontend/author-names.ts';
import type { OfflineCode } from '../driver/driver.ts';
import { NotSupportedError, TsambaRangeError, TsambaTypeError } from '../errors.ts';
import type { Context } from '../memory/context.ts';
import { offlineCode } from '../memory/providers.ts';
import { readKeys } from '../options.ts';
import { show } from '../show.ts';
import { programOf } from './options.ts';
import type { Specialisation } from './specialisation.ts';
import type { KernelState } from './state.ts';

const TARGETS = ['types', 'ir', 'passes', 'wasm', 'js', 'ptx', 'opencl', 'wgsl', 'sass', 'amdgcn'];

/** What the compiler shows, whatever the device. */
const COMPILED = ['types', 'ir'];

function offlineFor(target: string): OfflineCode | undefined {
  return offlineCode().find((code) => code.target === target);
}

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
  const example = offlineFor(target)?.usualArch;
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
    return showTypes(compiled.types().map((type) => ({ ...type, name: withAuthorNames(type.name, source) })));
  }
  const text = arch === undefined ? executable.inspect(target) : undefined;
  if (text !== undefined) return target === 'passes' ? withAuthorNames(text, source) : text;
  const code = offlineFor(target);
  if (code !== undefined) {
    // A device with other defaults has compiled another kernel.
    const { kernel } = sameDefaults(code, context.driver) ? compiled : state.compiledFor(code, one);
    return code.show(programOf(state.options, kernel), arch);
  }
  throw new NotSupportedError(
    'E_INSPECT',
    `${deviceOf(context)} cannot show ${target} of kernels: ${offered(executable)}`,
  );
}

type Defaults = Pick<OfflineCode, 'checkedByDefault' | 'contractByDefault'>;

function sameDefaults(a: Defaults, b: Defaults): boolean {
  return a.checkedByDefault === b.checkedByDefault && a.contractByDefault === b.contractByDefault;
}

function deviceOf(context: Context): string {
  return `${context.info.name} (${context.kind})`;
}

function offered(executable: Specialisation['executable']): string {
  const always = [...COMPILED, ...offlineCode().map(({ target }) => target)];
  const known = TARGETS.filter((target) => !always.includes(target) && executable.inspect(target) !== undefined);
  return `there are ${[...always, ...known].map((name) => `'${name}'`).join(', ')}`;
}
