/**
 * HIP C++ to a code object for one architecture, by ROCm's compiler (hiprtc) in a process of its own; kept on disk.
 *
 * No GPU is needed: this also serves `kernel.inspect` and cross-compilation. Nothing is loaded into this process.
 */

import type { SpawnSyncReturns } from 'node:child_process';
import { plainName } from '../../compiler/render/names.ts';
import { DriverError, NotSupportedError } from '../../errors.ts';
import { packagePath } from '../../ffi/package-path.ts';
import { nodeModule } from '../../host/index.ts';
import { BinaryCache, cacheFolder } from '../binary-cache.ts';
import { COMPILER_CODE, type CompileJob, EXIT, RESULT } from './compiler-code.ts';
import { versionParts, versionText } from './info.ts';
import { libraryNames, type Runtime } from './library.ts';

/** Milliseconds after which a compilation has failed. */
const PATIENCE = 120_000;
const MOST_BYTES = 2 ** 28;

/** What is not the text. */
export interface CompileRequest {
  /** What messages call the program. */
  readonly name: string;
  /** `gfx90a`, or with features as a device has them: `gfx90a:sramecc+:xnack-`. */
  readonly arch: string;
  /** Of the compiler, beside the architecture. */
  readonly options?: readonly string[];
  /** Names the compiler's version: code objects are kept on disk under it. Undefined: nothing is kept. */
  readonly identity?: string | undefined;
  /** The runtime that loads the code: the compiler has to be of its version. */
  readonly runtime?: Runtime | undefined;
}

/**
 * Compiles HIP C++ to a code object (an ELF file). Synchronous; takes some tenths of a second where it is not on disk.
 * @throws NotSupportedError where ROCm's compiler is not installed, DriverError for what it does not accept.
 */
export function compileHip(text: string, request: CompileRequest): Uint8Array {
  const { arch, identity, options = [] } = request;
  const all = [`--gpu-architecture=${arch}`, ...options];
  const cache = identity === undefined ? undefined : cacheOf(identity);
  const key = `${all.join('\n')}\n${text}`;
  const kept = cache?.read(key);
  if (kept !== undefined) return kept;
  const code = runCompiler(text, request, all);
  cache?.write(key, () => code);
  return code;
}

function cacheOf(identity: string): BinaryCache | undefined {
  const folder = cacheFolder('hip');
  return folder === undefined ? undefined : new BinaryCache(folder, identity);
}

function runCompiler(text: string, { name, arch, runtime }: CompileRequest, options: readonly string[]): Uint8Array {
  const job: CompileJob = {
    koffi: koffiFile(),
    // Before ROCm 5.3 the compiler's functions are in the runtime itself.
    libraries: (['libhiprtc', 'libamdhip64'] as const).flatMap((library) =>
      libraryNames(library, undefined, process.platform, runtime),
    ),
    version: runtime === undefined || runtime.version === 0 ? undefined : versionParts(runtime.version),
    name: `${plainName(name)}.hip`,
    text,
    options,
  };
  const run = nodeModule('node:child_process').spawnSync(process.execPath, ['-e', COMPILER_CODE], {
    input: JSON.stringify(job),
    stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
    maxBuffer: MOST_BYTES,
    timeout: PATIENCE,
    env: { ...process.env, NODE_OPTIONS: '', ELECTRON_RUN_AS_NODE: '1' },
  });
  const bytes = run.output?.[RESULT] as Buffer | undefined;
  if (run.status === EXIT.done && bytes !== undefined && bytes.length > 0) {
    // In memory of its own, which does not move: the driver is given its address.
    const code = new Uint8Array(new ArrayBuffer(Math.max(128, bytes.length)), 0, bytes.length);
    code.set(bytes);
    return code;
  }
  if (run.status === EXIT.noCompiler) throw noCompiler(String(bytes), runtime);
  throw new DriverError('E_HIP_REJECTED', rejection(run, bytes, `${name} for ${arch}`), {
    api: 'hiprtcCompileProgram',
  });
}

function rejection(run: SpawnSyncReturns<Buffer>, bytes: Buffer | undefined, what: string): string {
  const indented = (text: string): string => text.trim().split('\n').slice(0, 40).join('\n  ');
  if (run.status === EXIT.rejected && bytes !== undefined) {
    return (
      `HIP C++ rejected: ROCm's compiler does not accept the code of kernel ${what}\n  ${indented(String(bytes))}\n` +
      '  help: an architecture that it does not know needs a newer ROCm; otherwise report it as a fault of Tsamba, with this message and the kernel'
    );
  }
  const end = run.error?.message ?? (run.signal === null ? `exit code ${run.status}` : `signal ${run.signal}`);
  const said = run.stderr === undefined || run.stderr === null ? '' : `\n  ${indented(String(run.stderr))}`;
  return `ROCm's compiler ended abnormally on kernel ${what} (${end})${said}\n  help: this also happens for an architecture that it does not know, which needs a newer ROCm`;
}

function noCompiler(reason: string, runtime: Runtime | undefined): NotSupportedError {
  const beside =
    runtime === undefined
      ? ''
      : `\n  it must have the same version as the runtime, ${runtime.file} (${versionText(runtime.version)})`;
  return new NotSupportedError(
    'E_NO_HIPRTC',
    `ROCm's compiler (hiprtc) is not installed, or not found (${reason})${beside}\n` +
      '  help: install it (Debian and Ubuntu: libamdhip64-5, or libhiprtc-6 and newer), or set ROCM_PATH',
  );
}

function koffiFile(): string {
  try {
    return packagePath('koffi');
  } catch {
    throw new NotSupportedError(
      'E_NO_HIPRTC',
      'koffi, which calls native libraries, is not installed: npm install koffi',
    );
  }
}
