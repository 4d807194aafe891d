/**
 * In the process of its own: loads a file, finds the kernel that is meant among those that it makes, and shows its code.
 */
import { nearest } from '../dtype/spelling.ts';
import { nodeModule } from '../host/index.ts';
import type { Kernel } from '../kernel/kernel-types.ts';
import { TOOL_HOOK, type ToolView } from '../kernel/tool-hook.ts';
import type { Inspected, Inspection } from './inspect.ts';

/** A kernel and what it may be called by. */
interface Found extends ToolView {
  /** The name of its export, `default` or `filters.blur`; else its own. */
  readonly name: string;
}

/** Loads the file and shows the code. What the file throws is thrown; that a kernel does not compile is an answer. */
export async function inspectFile(asked: Inspection): Promise<Inspected> {
  const made: ToolView[] = [];
  Object.defineProperty(globalThis, TOOL_HOOK, { value: (view: ToolView) => made.push(view), configurable: true });
  const exports = (await import(nodeModule('node:url').pathToFileURL(asked.file).href)) as Record<string, unknown>;
  const kernels = named(exports, made);
  const chosen = choose(kernels, asked);
  if (typeof chosen === 'string') return { problem: chosen, isUsage: true };
  try {
    return compileFor(chosen, asked) ?? shown(chosen, asked);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const { code } = error as { readonly code?: unknown };
    return { problem: error.message, isUsage: code === 'E_SIGNATURE' || code === 'E_OPTION' };
  }
}

function shown({ name, kernel }: Found, { target, arch }: Inspection): Inspected {
  const text = kernel.inspect(arch === undefined ? { target } : { target, arch });
  return { kernel: name, signatures: kernel.stats.specialisations.map(({ signature }) => signature), text };
}

/** Kernels by the names of exports, and of members of exported objects; those that are not exported by their own. */
function named(exports: Readonly<Record<string, unknown>>, made: readonly ToolView[]): readonly Found[] {
  const names = new Map<unknown, string>();
  for (const [key, value] of Object.entries(exports)) {
    names.set(value, key);
    if (typeof value !== 'object' || value === null) continue;
    for (const [inner, member] of Object.entries(value)) if (!names.has(member)) names.set(member, `${key}.${inner}`);
  }
  return made.map((view) => ({ ...view, name: names.get(view.kernel) ?? view.kernel.name }));
}

/** The kernel that is meant, or why that is not known. */
function choose(kernels: readonly Found[], { file, name }: Inspection): Found | string {
  const list = (): string => kernels.map((found) => `\n  ${found.name}${describe(found)}`).join('');
  if (kernels.length === 0) return `${file} has no kernels: it passes nothing to jit`;
  if (name === undefined) {
    const [only] = kernels;
    if (only !== undefined && kernels.length === 1) return only;
    return `${file} has ${kernels.length} kernels; name one of them:${list()}`;
  }
  const found = kernels.find((one) => one.name === name) ?? kernels.find(({ kernel }) => kernel.name === name);
  if (found !== undefined) return found;
  const near = nearest(
    name,
    kernels.map((one) => one.name),
  );
  return `${file} has no kernel ${name}${near === undefined ? '.' : `; did you mean ${near}?`} It has:${list()}`;
}

/** `(a, x, y), compiled for (f32, f32[::1], f32[::1])`. */
function describe({ kernel, parameters }: Found): string {
  const list = `(${parameters()
    .map((name) => name ?? '{…}')
    .join(', ')})`;
  const known = kernel.stats.specialisations.map(({ signature }) => signature.slice(signature.indexOf('(')));
  return known.length === 0 ? list : `${list}, compiled for ${known.join(' and ')}`;
}

/** Has the kernel compiled; why that cannot be done. */
function compileFor(found: Found, { types }: Inspection): Inspected | undefined {
  const { kernel } = found;
  if (types === undefined) {
    if (kernel.stats.specialisations.length > 0) return undefined;
    const example = exampleTypes(found.parameters().length);
    return {
      problem: `give the types of the arguments of ${found.name}${describe(found)}: --types '${example}', or give jit a signature`,
      isUsage: true,
    };
  }
  kernelOnly(kernel);
  found.compile(signatureOf(types));
  return undefined;
}

function exampleTypes(count: number): string {
  return Array.from({ length: count }, (_, i) => (i === count - 1 && count > 1 ? 'i32' : 'f32[]')).join(', ');
}

/** What a program has launched by itself is not what was asked for. */
function kernelOnly(kernel: Kernel<readonly unknown[]>): void {
  if (kernel.stats.specialisations.length > 0) kernel.recompile();
}

/** `f32[], f32[][]` as the option `signature` spells it. */
export function signatureOf(types: string): string {
  const arrays = types.replace(
    /(?:\[\s*\])+/g,
    (brackets) =>
      `[${Array(brackets.split('[').length - 1)
        .fill(':')
        .join(', ')}]`,
  );
  return /^\s*(?:void|none)?\s*\(.*\)\s*$/s.test(arrays) ? arrays : `(${arrays})`;
}
