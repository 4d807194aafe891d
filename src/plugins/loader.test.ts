/**
 * The loader of webpack's kind where it is given files as they were written, as by Turbopack: types and JSX are taken out by the TypeScript of the project.
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import * as library from '../index.ts';
import loader, { type LoaderContext } from './loader.ts';

const { cuda } = library;
cuda.selectDevice('cpu');

const root = realpathSync(mkdtempSync(join(tmpdir(), 'tsamba-loader-')));
const bare = realpathSync(mkdtempSync(join(tmpdir(), 'tsamba-loader-bare-')));
mkdirSync(join(root, 'node_modules'));
const typescript = fileURLToPath(new URL('../../node_modules/typescript-5.9', import.meta.url));
symlinkSync(typescript, join(root, 'node_modules/typescript'));
afterAll(() => {
  for (const folder of [root, bare]) rmSync(folder, { recursive: true, force: true });
});

const KERNELS = `import { cuda, type Vec, type f64 } from 'tsamba';

const gain: number = 3;
export const scale = cuda.jit((y: Vec<f64>, by: number): void => {
  const i: number = cuda.grid(1);
  if (i < y.length) y[i]! += gain * by;
});
export const wrong = cuda.jit((y: Vec<f64>): void => {
  const i: number = cuda.grid(1);
  y[i] = (gain as any).nothing(i);
});
`;

interface Loaded {
  readonly code: string;
  readonly map: unknown;
  readonly warnings: readonly string[];
}

function loaded(folder: string, name: string, text: string, map?: unknown): Loaded {
  const path = join(folder, name);
  writeFileSync(path, text);
  const warnings: string[] = [];
  let out: Loaded | undefined;
  const context: LoaderContext = {
    resourcePath: path,
    rootContext: folder,
    getOptions: () => ({}),
    emitWarning: ({ message }) => warnings.push(message),
    callback: (_, code = '', made) => {
      out = { code, map: made, warnings };
    },
  };
  loader.call(context, text, map);
  return out as Loaded;
}

/** What a module exports, its imports resolved to the library of the test. */
function run(code: string): Record<string, never> {
  const exported: string[] = [];
  const body = code
    .replace(/^import \{([^}]*)\} from 'tsamba';/m, 'const {$1} = library;')
    .replace(/^export const (\w+)/gm, (_, name: string) => {
      exported.push(name);
      return `const ${name}`;
    });
  return new Function('library', `${body}; return { ${exported.join()} };`)(library) as Record<string, never>;
}

describe('a file with types', () => {
  it('becomes JavaScript with what kernels capture, and errors name its own lines', () => {
    const { code, warnings } = loaded(root, 'kernels.ts', KERNELS);
    expect(warnings).toEqual([]);
    const { scale, wrong } = run(code) as unknown as Record<string, { launch(shape: object, ...a: unknown[]): void }>;
    const y = new Float64Array(2);
    scale?.launch({ threads: 2 }, cuda.InOut(y), 2);
    expect([...y]).toEqual([6, 6]);
    expect(() => wrong?.launch({ threads: 1 }, y)).toThrow(/kernels\.ts:10:/);
  });

  it('may have JSX', () => {
    const page = `'use client';\n${KERNELS}\nexport const Page = ({ n }: { n: number }) => <p>{n}</p>;\n`;
    const { code, warnings } = loaded(root, 'page.tsx', page);
    expect(warnings).toEqual([]);
    expect(code).toContain('tsamba.source');
    expect(code.trimStart()).toMatch(/^'use client'/);
  });

  it('is left alone where it has no kernels', () => {
    const text = 'export const Page = () => <p>one</p>;\nexport interface Props { readonly n: number }\n';
    expect(loaded(root, 'plain.tsx', text)).toMatchObject({ code: text, warnings: [] });
  });

  it('is left alone, and said so, where nothing takes its types out', () => {
    const text = `${KERNELS}export const Page = () => <p>one</p>;\n`;
    const { code, warnings } = loaded(bare, 'page.tsx', text);
    expect(code).toBe(text);
    expect(warnings).toEqual([expect.stringContaining('npm install --save-dev typescript@5')]);
  });
});

describe('members of cuda', () => {
  const pages = join(root, 'dist/page');
  mkdirSync(join(pages, 'cuda'), { recursive: true });
  writeFileSync(join(pages, 'index.js'), '');
  writeFileSync(join(pages, 'cuda/index.js'), 'const [jit, grid] = []; export { jit, grid };');
  const text = `import { cuda } from 'tsamba';\nexport const k = cuda.jit((y) => { y[cuda.grid(1)] = 1; });\n`;

  const transformed = (compiler: LoaderContext['_compiler']): Promise<string> =>
    new Promise((resolve, reject) => {
      const context: LoaderContext = {
        resourcePath: join(root, 'app.js'),
        rootContext: root,
        ...(compiler && { _compiler: compiler }),
        getResolve: () => async (_, source) => join(pages, source === 'tsamba' ? 'index.js' : 'cuda/index.js'),
        async: () => undefined,
        getOptions: () => ({}),
        emitWarning: reject,
        callback: (error, code = '') => (error === null ? resolve(code) : reject(error)),
      };
      loader.call(context, text);
    });

  // The third as Next.js has it.
  it.each([[undefined], [[]], [['next']], [{ react: 'React' }], [[/^node:/, { koffi: true }]], [{ tsamba: false }]])(
    'are imported where a build takes the library into its bundle: %o',
    async (externals) => {
      expect(await transformed({ options: { externals } })).toContain('from "tsamba/cuda"');
    },
  );

  it('are imported where no compiler says what it leaves out, as under Turbopack', async () => {
    expect(await transformed(undefined)).toContain('from "tsamba/cuda"');
  });

  it.each([
    ['tsamba'],
    [['react', 'tsamba/cuda']],
    [{ tsamba: 'Tsamba' }],
    [/^tsa/],
    [[({ request }: { readonly request: string }) => request]],
    [{ byLayer: () => ({}) }],
  ])('are not where it may leave the library out: %o', async (externals) => {
    expect(await transformed({ options: { externals } })).not.toContain('tsamba/cuda');
  });
});
