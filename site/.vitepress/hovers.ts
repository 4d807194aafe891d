/**
 * Types on hover, in the examples of the guide. What costs is not finding them but showing them: each is a component with markup of its own. So
 * a name has its type once in an example, with the first paragraph of its documentation, and names that everybody knows have none.
 */
import { fileURLToPath } from 'node:url';
import { transformerTwoslash } from '@shikijs/vitepress-twoslash';
import { createFileSystemTypesCache } from '@shikijs/vitepress-twoslash/cache-fs';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const KNOWN: ReadonlySet<string> = new Set(['console', 'log', 'Math', 'cuda', 'roc', 'length', 'of', 'from', 'fill']);

const entries = ['cuda', 'roc', 'parallel', 'nccl'];
const paths = Object.fromEntries(entries.map((name) => [`tsamba/${name}`, [at(`../../dist/${name}/index.d.ts`)]]));

type Cache = ReturnType<typeof createFileSystemTypesCache>;
type Types = NonNullable<Awaited<ReturnType<Cache['read']>>>;

/** Leaves in what is worth showing. */
function slim(types: Types): Types {
  const seen = new Set<string>();
  const nodes = types.nodes.filter((node) => {
    if (node.type !== 'hover') return true;
    const what = `${node.target} ${node.text}`;
    if (KNOWN.has(node.target) || seen.has(what)) return false;
    seen.add(what);
    node.docs = node.docs?.split(/\n\s*\n/)[0];
    node.tags = undefined;
    return true;
  });
  return Object.assign(types, { nodes });
}

/** What was found is kept, slim, in the site's cache: an example is checked again when its text changes. */
function slimCache(): Cache {
  const cache = createFileSystemTypesCache({ dir: at('./cache/twoslash') });
  return {
    ...cache,
    read: (...args) => {
      const types = cache.read(...args);
      return types && slim(types);
    },
    write: (code, types, ...rest) => cache.write(code, slim(types), ...rest),
  };
}

export function hovers(): ReturnType<typeof transformerTwoslash> {
  return transformerTwoslash({
    explicitTrigger: true,
    typesCache: slimCache(),
    twoslashOptions: {
      vfsRoot: at('../..'),
      handbookOptions: { noErrorValidation: true, noErrors: true },
      compilerOptions: {
        target: 10,
        lib: ['es2023', 'esnext.disposable', 'dom'],
        module: 99,
        moduleResolution: 100,
        strict: true,
        noUncheckedIndexedAccess: true,
        skipLibCheck: true,
        types: ['node'],
        typeRoots: [at('../../node_modules/@types')],
        paths: { tsamba: [at('../../dist/index.d.ts')], ...paths },
      },
    },
  });
}
