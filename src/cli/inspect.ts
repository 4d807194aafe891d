/**
 * `tsamba inspect`: the code of a kernel in a file of the user's, for a device that need not be there.
 *
 * The file is loaded in a process of its own, as Node.js or tsx loads it, and all kernels that it makes are seen.
 */
import { nodeModule } from '../host/index.ts';
import { inChild } from './children.ts';
import { type Command, defineCommand, EXIT, oneOf, usageError } from './command-line.ts';
import { loaderOptions } from './program.ts';

/** What can be shown, as `kernel.inspect` names it. */
const TARGETS = ['types', 'ir', 'passes', 'wasm', 'js', 'ptx', 'opencl', 'wgsl', 'sass', 'amdgcn'] as const;
type Target = (typeof TARGETS)[number];

/** What the child is asked. */
export interface Inspection {
  readonly file: string;
  /** The name of an export, or of a kernel; the only one there is, unless given. */
  readonly name: string | undefined;
  readonly target: Target;
  readonly arch: string | undefined;
  /** Types of the arguments: `f32[], i32`. */
  readonly types: string | undefined;
}

/** What it answers. */
export type Inspected =
  | {
      readonly kernel: string;
      readonly signatures: readonly string[];
      readonly text: string;
      readonly problem?: undefined;
    }
  | { readonly problem: string; readonly isUsage: boolean };

/** Loading the file may run a program. */
const TIMEOUT = 300_000;
/** What devices show and no other part of the compiler. */
const DEVICES: Partial<Readonly<Record<Target, string>>> = { wasm: 'cpu', js: 'simulator' };

export const inspect: Command = defineCommand({
  name: 'inspect',
  usage: "file.ts [export] [--target name] [--types 'f32[], i32'] [--arch sm_90] [--json]",
  summary: 'shows the types, the intermediate code or the device code of a kernel in a file',
  options: {
    target: { value: TARGETS.join('|'), help: 'what to show (types)' },
    types: {
      value: 'list',
      help: "types of the arguments: 'f32[], f32[][], i32'; not needed for kernels that have a signature",
    },
    arch: { value: 'name', help: 'for ptx and amdgcn: sm_90, gfx90a' },
    json: { help: 'prints JSON' },
  },
  words: 2,
  notes:
    'The file is loaded, and so executed. TypeScript is run by tsx if the project has it, otherwise by Node.js 22.18 or newer.\n' +
    'Exit code 1: the kernel does not compile, or the file cannot be loaded. 2: the file, kernel or target does not exist, or the types are missing.',
  async run({ options, rest: [file, name] }) {
    if (file === undefined) throw usageError('name a file: tsamba inspect file.ts [export]');
    const target = oneOf('--target', options.get('target') ?? 'types', TARGETS);
    const asked: Inspection = {
      file: nodeModule('node:path').resolve(file),
      name,
      target,
      arch: options.get('arch'),
      types: options.get('types'),
    };
    const answer = await inspectInChild(asked);
    if (answer.problem !== undefined) {
      console.error(`tsamba inspect: ${answer.problem}`);
      return answer.isUsage ? EXIT.usage : EXIT.failed;
    }
    if (!options.has('json')) console.log(answer.text);
    else console.log(JSON.stringify({ ...answer, target, arch: asked.arch }, undefined, 2));
    return EXIT.ok;
  },
});

/** `npm init` writes projects whose files are CommonJS. */
function helpFor(file: string, problem: string): string {
  if (!/import statement|Unexpected token 'export'/.test(problem)) return '';
  const extension = /\.tsx?$/.test(file) ? '.mts' : '.mjs';
  return `  help: the project's package.json says that its files are CommonJS: npm pkg set type=module, or name the file *${extension}`;
}

async function inspectInChild(asked: Inspection): Promise<Inspected> {
  const device = DEVICES[asked.target];
  const { TSAMBA_DEVICE: cuda = 'cpu', TSAMBA_ROC_DRIVER: roc = 'cpu' } = process.env;
  const env = { TSAMBA_DEVICE: device ?? cuda, TSAMBA_ROC_DRIVER: device ?? roc };
  const nodeOptions = loaderOptions(asked.file);
  const outcome = await inChild<Inspected>('inspect', asked, { timeout: TIMEOUT, env, nodeOptions });
  if (outcome.problem === undefined) return outcome.value;
  const said = outcome.said.trim();
  const problem = `${asked.file}: loading it ${outcome.crashed ? outcome.problem : `failed: ${outcome.problem}`}`;
  const help = helpFor(asked.file, outcome.problem);
  return { problem: [problem, help, said].filter((line) => line !== '').join('\n'), isUsage: false };
}
