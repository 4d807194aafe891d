/**
 * `kernel.inspect`: the types that inference found, the IR, and the code that a device made of it, as text.
 */
import { withAuthorNames } from '../compiler/frontend/author-names.ts';
import { printKernel } from '../compiler/ir/print.ts';
import { NotSupportedError, TsambaRangeError, TsambaTypeError } from '../errors.ts';
import type { Context } from '../memory/context.ts';
import { show } from './show.ts';
import type { Specialisation } from './specialisation.ts';

const TARGETS = ['types', 'ir', 'wasm', 'js', 'ptx', 'opencl'];

/** All specialisations as text, each under its signature when there are several. */
export function inspectKernel(kernel: string, specialisations: Iterable<Specialisation>, options: unknown): string {
  const target = readTarget(options);
  const all = [...specialisations];
  if (all.length === 0) throw notCompiled(kernel);
  const texts = all.map((one) => inspectOne(one, target));
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

function readTarget(options: unknown): string {
  const target: unknown =
    typeof options === 'object' && options !== null
      ? ((options as { target?: unknown }).target ?? 'types')
      : (options ?? 'types');
  if (typeof target === 'string' && TARGETS.includes(target)) return target;
  throw new TsambaTypeError(
    'E_OPTION',
    `inspect has the targets ${TARGETS.map((name) => `'${name}'`).join(', ')}, got ${show(target)}`,
  );
}

function inspectOne({ compiled, executable, context }: Specialisation, target: string): string {
  const { source } = compiled.kernel.pos;
  if (target === 'ir') return withAuthorNames(printKernel(compiled.kernel), source);
  if (target === 'types') {
    const types = compiled.types.map((type) => ({ ...type, name: withAuthorNames(type.name, source) }));
    const widest = Math.max(0, ...types.map(({ name }) => name.length));
    return types
      .map(({ name, type, line }) => `${name.padEnd(widest)}  ${type}${line > 0 ? `  (line ${line})` : ''}`)
      .join('\n');
  }
  const text = executable.inspect(target);
  if (text !== undefined) return text;
  throw new NotSupportedError(
    'E_INSPECT',
    `${deviceOf(context)} makes no ${target} of kernels: ${offered(executable)}`,
  );
}

function deviceOf(context: Context): string {
  return `${context.info.name} (${context.kind})`;
}

function offered(executable: Specialisation['executable']): string {
  const known = TARGETS.filter(
    (target) => target !== 'types' && target !== 'ir' && executable.inspect(target) !== undefined,
  );
  return `there are ${['types', 'ir', ...known].map((name) => `'${name}'`).join(', ')}`;
}
