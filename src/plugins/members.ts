/**
 * The members of `cuda` that a module uses, so that bundlers leave out the others: `cuda` of `tsamba` is one object, of which they keep all. Where a module only ever writes `cuda.name`, it can
 * import the members of `tsamba/cuda` instead, and its kernels capture an object of those that they name.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type AnyNode, type Node, type Program, parse } from 'acorn';
import { walk } from '../compiler/frontend/walk.ts';

/** A name that a module has for `cuda`, and where it uses which member. */
export interface Members {
  /** The module's name for it. */
  readonly local: string;
  /** Whether it is the object, and not the namespace `tsamba/cuda`. */
  readonly isObject: boolean;
  readonly uses: readonly { readonly start: number; readonly end: number; readonly member: string }[];
}

/** What a module imports as `cuda` and uses by known members alone. */
export function membersOf(program: Program, known: ReadonlySet<string>): Members[] {
  return importsOf(program).flatMap(({ local, isObject }) => {
    const uses = usesOf(program, local, known);
    return uses === undefined || uses.length === 0 ? [] : [{ local, isObject, uses }];
  });
}

function importsOf(program: Program): Pick<Members, 'local' | 'isObject'>[] {
  return program.body.flatMap((node) => {
    if (node.type !== 'ImportDeclaration' || !/^tsamba(?:\/cuda)?$/.test(String(node.source.value))) return [];
    return node.specifiers.flatMap((specifier): Pick<Members, 'local' | 'isObject'>[] => {
      const local = specifier.local.name;
      if (specifier.type === 'ImportNamespaceSpecifier')
        return node.source.value === 'tsamba/cuda' ? [{ local, isObject: false }] : [];
      const isCuda = specifier.type === 'ImportSpecifier' && (specifier.imported as { name?: string }).name === 'cuda';
      return isCuda ? [{ local, isObject: true }] : [];
    });
  });
}

/** Where a module writes `local.member`; undefined where it does anything else with the name, or has it for something else in a scope. */
function usesOf(program: Program, local: string, known: ReadonlySet<string>): Members['uses'] | undefined {
  const uses: Members['uses'][number][] = [];
  const allowed = new Set<Node>();
  const named: Node[] = [];
  let isWritten = false;
  const isOurs = (node: AnyNode | null | undefined): boolean => node?.type === 'Identifier' && node.name === local;
  const isTarget = (of: Node | null): boolean => {
    const node = of as AnyNode | null;
    switch (node?.type) {
      case 'MemberExpression':
        return isOurs(node.object as AnyNode);
      case 'ArrayPattern':
        return node.elements.some(isTarget);
      case 'ObjectPattern':
        return node.properties.some((property) => isTarget(property.type === 'Property' ? property.value : property));
      case 'AssignmentPattern':
        return isTarget(node.left);
      case 'RestElement':
        return isTarget(node.argument);
      default:
        return false;
    }
  };
  walk(program, (of) => {
    const node = of as AnyNode;
    if (node.type === 'ImportDeclaration') return false;
    if (node.type === 'Identifier' && node.name === local) named.push(node);
    if (node.type === 'MemberExpression' && !node.computed) {
      const { object, property } = node;
      allowed.add(property);
      if (isOurs(object as AnyNode) && property.type === 'Identifier' && known.has(property.name)) {
        allowed.add(object);
        uses.push({ start: object.start, end: object.end, member: property.name });
      }
    }
    if (node.type === 'Property' && !node.computed && !node.shorthand) allowed.add(node.key);
    if ((node.type === 'MethodDefinition' || node.type === 'PropertyDefinition') && !node.computed)
      allowed.add(node.key);
    // What may not be written to is no matter of bundlers.
    const target =
      node.type === 'AssignmentExpression' || node.type === 'ForInStatement' || node.type === 'ForOfStatement'
        ? node.left
        : node.type === 'UpdateExpression' || (node.type === 'UnaryExpression' && node.operator === 'delete')
          ? node.argument
          : undefined;
    if (target !== undefined && isTarget(target)) isWritten = true;
    return undefined;
  });
  return isWritten || named.some((node) => !allowed.has(node)) ? undefined : uses;
}

/** What a bundler resolves an import to. */
export interface Resolved {
  readonly path: string;
  readonly external: boolean;
}

const members = new Map<string, ReadonlySet<string>>();

/** Whether it can matter which members a module uses. */
export function mayUseMembers(code: string): boolean {
  return /['"]tsamba(?:\/cuda)?['"]/.test(code) && /\bcuda\b/.test(code);
}

/**
 * The names of all members, where a bundler takes the build for pages, a file a module, into its bundle: elsewhere nothing could be left out, and what is resolved in another way may be another copy.
 */
export async function knownMembers(
  resolve: (source: string) => Promise<Resolved | undefined>,
): Promise<ReadonlySet<string> | undefined> {
  const [whole, apart] = await Promise.all(['tsamba', 'tsamba/cuda'].map((source) => resolve(source)));
  if (whole === undefined || apart === undefined || whole.external || apart.external) return undefined;
  const path = apart.path.replaceAll('\\', '/');
  if (!path.endsWith('/dist/page/cuda/index.js')) return undefined;
  if (join(dirname(whole.path), 'cuda', 'index.js') !== join(apart.path)) return undefined;
  const found = members.get(path) ?? exportsOf(readFileSync(path, 'utf8'));
  members.set(path, found);
  return found;
}

/** The names that a module exports in lists. */
function exportsOf(code: string): ReadonlySet<string> {
  const { body } = parse(code, { ecmaVersion: 'latest', sourceType: 'module' });
  const lists = body.flatMap((node) => (node.type === 'ExportNamedDeclaration' ? node.specifiers : []));
  return new Set(lists.flatMap(({ exported }) => (exported.type === 'Identifier' ? [exported.name] : [])));
}
