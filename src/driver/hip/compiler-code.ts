/**
 * The program of the process that compiles HIP C++: AMD's compiler brings an LLVM that must not meet another one in a process, and a
 * crash of it must not be the user's.
 *
 * The program is a string, so that no bundler can lose it. It reads a job as JSON on its standard input, and writes what comes of it to
 * descriptor 3: the code object, or words. Functions are those of hiprtc (HIP runtime API reference, section "HIP RTC").
 */

/** What the process is asked to do. */
export interface CompileJob {
  /** The file of koffi's module. */
  readonly koffi: string;
  /** Libraries that may have hiprtc, in order. */
  readonly libraries: readonly string[];
  /** Of the runtime that is to load the code: its major and minor version; absent for any. */
  readonly version?: readonly [major: number, minor: number] | undefined;
  readonly name: string;
  readonly text: string;
  readonly options: readonly string[];
}

/** Exit codes. */
export const EXIT = { done: 0, rejected: 10, noCompiler: 11 } as const;
/** The descriptor of the result. */
export const RESULT = 3;

export const COMPILER_CODE: string = `'use strict';
const { readFileSync, writeSync } = require('node:fs');

function leave(code, bytes) {
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(${RESULT}, bytes, at);
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
    }
  }
  process.exit(code);
}

const job = JSON.parse(readFileSync(0, 'utf8'));
const koffi = require(job.koffi);
koffi.config({ ...koffi.config(), sync_stack_size: 16 * 1024 * 1024 });
const reasons = [];
let library;
for (const name of job.libraries) {
  try {
    const found = koffi.load(name);
    const [major, minor] = [[0], [0]];
    found.func('int hiprtcVersion(_Out_ int *major, _Out_ int *minor)')(major, minor);
    // Older compilers all say 9.0, which tells nothing.
    if (job.version !== undefined && major[0] === job.version[0] && minor[0] !== job.version[1]) {
      throw new Error('is of ROCm ' + major[0] + '.' + minor[0]);
    }
    library = found;
    break;
  } catch (error) {
    reasons.push(name + ': ' + String(error.message).split('\\n', 1)[0]);
  }
}
if (library === undefined) leave(${EXIT.noCompiler}, Buffer.from(reasons[0] ?? 'no library is known for this platform'));

const create = library.func(
  'int hiprtcCreateProgram(_Out_ void **program, const char *text, const char *name, int n, const char **headers, const char **names)');
const compile = library.func('int hiprtcCompileProgram(void *program, int n, const char **options)');
const words = library.func('const char *hiprtcGetErrorString(int result)');
const program = [null];
const made = create(program, job.text, job.name, 0, null, null);
if (made !== 0) leave(${EXIT.rejected}, Buffer.from('hiprtcCreateProgram: ' + words(made)));
const result = compile(program[0], job.options.length, job.options);
const [what, code] = result === 0 ? ['Code', ${EXIT.done}] : ['ProgramLog', ${EXIT.rejected}];
const size = [0];
library.func('int hiprtcGet' + what + 'Size(void *program, _Out_ size_t *bytes)')(program[0], size);
const bytes = Buffer.alloc(Math.max(1, Number(size[0])));
library.func('int hiprtcGet' + what + '(void *program, _Out_ uint8_t *bytes)')(program[0], bytes);
if (result === 0) leave(code, bytes);
leave(code, Buffer.from((words(result) + '\\n' + bytes.toString('utf8').replace(/\\0[^]*$/, '')).trim()));
`;
