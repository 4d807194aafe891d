/**
 * Every public name has a docstring: what the entry points export, and the members of their classes and interfaces. `npm run check`.
 */
import { join, relative } from 'node:path';
import ts from 'typescript-5.9';

const ROOT = join(import.meta.dirname, '..');
const PLUGINS = ['eslint', 'vite', 'rollup', 'rolldown', 'webpack', 'rspack', 'esbuild', 'loader'];
const ENTRIES = [
  ...['index', 'cuda/index', 'roc/index', 'parallel/index', 'nccl/index'],
  ...PLUGINS.map((name) => `plugins/${name}`),
];

const files = ENTRIES.map((name) => join(ROOT, `src/${name}.ts`));
const program = ts.createProgram(files, {
  target: ts.ScriptTarget.ESNext,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  allowImportingTsExtensions: true,
  noEmit: true,
  strict: true,
  skipLibCheck: true,
  types: ['node'],
});
const checker = program.getTypeChecker();

/** `src/array/view.ts: View.shape`, of each public name without a docstring. */
function undocumented(): Set<string> {
  const found = new Set<string>();
  for (const file of files) {
    const source = program.getSourceFile(file);
    const module = source && checker.getSymbolAtLocation(source);
    if (module === undefined) throw new Error(`${relative(ROOT, file)} is no module`);
    for (const name of checker.getExportsOfModule(module)) visit(name, found);
  }
  return found;
}

function visit(exported: ts.Symbol, found: Set<string>): void {
  const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
  const declarations = (symbol.declarations ?? []).filter(isOurs);
  const [first] = declarations;
  if (first === undefined || ts.isSourceFile(first) || ts.isModuleDeclaration(first)) return;
  if (!isDocumented(symbol)) found.add(`${where(first)}: ${symbol.name}`);
  for (const declaration of declarations) {
    const hasMembers = ts.isClassDeclaration(declaration) || ts.isInterfaceDeclaration(declaration);
    if (!hasMembers) continue;
    for (const member of declaration.members) {
      const name = publicName(member);
      const own = member.name && checker.getSymbolAtLocation(member.name);
      if (name !== undefined && own !== undefined && !isDocumented(own)) {
        found.add(`${where(declaration)}: ${symbol.name}.${name}`);
      }
    }
  }
}

/** Undefined for what callers cannot reach. */
function publicName(member: ts.ClassElement | ts.TypeElement): string | undefined {
  const { name } = member;
  if (name === undefined || ts.isPrivateIdentifier(name) || ts.isComputedPropertyName(name)) return undefined;
  const hidden = ts.ModifierFlags.Private | ts.ModifierFlags.Protected;
  if (ts.getCombinedModifierFlags(member) & hidden) return undefined;
  return ts.getJSDocTags(member).some((tag) => tag.tagName.text === 'internal') ? undefined : name.getText();
}

function isDocumented(symbol: ts.Symbol): boolean {
  return symbol.getDocumentationComment(checker).length > 0 || symbol.getJsDocTags(checker).length > 0;
}

function isOurs(declaration: ts.Declaration): boolean {
  return declaration.getSourceFile().fileName.startsWith(join(ROOT, 'src').replaceAll('\\', '/'));
}

function where(declaration: ts.Declaration): string {
  return relative(ROOT, declaration.getSourceFile().fileName).replaceAll('\\', '/');
}

const found = undocumented();
for (const name of found) console.log(`${name} has no docstring`);
if (found.size > 0) process.exitCode = 1;
