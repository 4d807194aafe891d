/**
 * Building OpenCL C: programs by their text, shared within the process, and their binaries on disk.
 *
 * What the compiler says goes into the error when it refuses. OpenCL API specification, section "Program Objects".
 */
import { DriverError } from '../../errors.ts';
import { cString, textOf } from '../../ffi/out-parameters.ts';
import type { BinaryCache } from '../binary-cache.ts';
import type { OpenCLContext } from './context.ts';
import { CL_BUILD_PROGRAM_FAILURE, describeResult, isOutOfMemory } from './result.ts';

const PROGRAM_BUILD_LOG = 0x1183;
const PROGRAM_BINARY_SIZES = 0x1165;
const PROGRAM_BINARIES = 0x1166;

/** A program that has been built. */
export interface BuiltProgram {
  readonly key: string;
  /** The cl_program. */
  readonly handle: number;
  users: number;
}

/** The programs of one context. */
export class Programs {
  readonly #context: OpenCLContext;
  readonly #cache: BinaryCache | undefined;
  readonly #built = new Map<string, BuiltProgram>();

  constructor(context: OpenCLContext, cache: BinaryCache | undefined) {
    this.#context = context;
    this.#cache = cache;
  }

  /** Builds a program, or takes one that was built from the same text. `label`: what messages call its kernel. */
  build(text: string, options: string, label: string): BuiltProgram {
    const key = `${options}\n${text}`;
    let program = this.#built.get(key);
    if (program === undefined) {
      program = { key, handle: this.#fromCache(key, options) ?? this.#fromSource(key, text, options, label), users: 0 };
      this.#built.set(key, program);
    }
    program.users++;
    return program;
  }

  /** A kernel of a program, to be released by the caller. */
  kernel(program: BuiltProgram, entry: string): number {
    const { cl, out } = this.#context;
    const kernel = cl.clCreateKernel(program.handle, cString(entry), out.at(0));
    this.#context.check(out.int(0), 'clCreateKernel', { about: `kernel ${entry}` });
    return kernel;
  }

  /** One user fewer; the last one releases it. */
  release(program: BuiltProgram): void {
    program.users--;
    if (program.users > 0) return;
    this.#built.delete(program.key);
    this.#context.cl.clReleaseProgram(program.handle);
  }

  #fromSource(key: string, text: string, options: string, label: string): number {
    const { cl, out, handle } = this.#context;
    const source = cString(text);
    // Addresses of small arrays hold only once their buffer has been asked for.
    const bytes = new Uint8Array(new ArrayBuffer(source.length + 128)).subarray(0, source.length);
    bytes.set(source);
    out.set(1, BigInt(cl.ffi.address(bytes)));
    const program = cl.clCreateProgramWithSource(handle, 1, out.at(1), 0, out.at(0));
    this.#context.check(out.int(0), 'clCreateProgramWithSource');
    const result = this.#compile(program, options);
    if (result !== 0) {
      const error = this.#rejected(result, program, label, text);
      cl.clReleaseProgram(program);
      throw error;
    }
    if (this.#cache !== undefined) this.#cache.write(key, () => this.#binary(program));
    return program;
  }

  #compile(program: number, options: string): number {
    const { cl, out, id } = this.#context;
    out.set(1, BigInt(id));
    return cl.clBuildProgram(program, 1, out.at(1), cString(options), 0, 0);
  }

  /** The program from its binary; undefined where there is none, or none that this driver takes any more. */
  #fromCache(key: string, options: string): number | undefined {
    const binary = this.#cache?.read(key);
    if (binary === undefined) return undefined;
    const { cl, out, handle, id } = this.#context;
    out.set(1, BigInt(id));
    out.set(2, BigInt(binary.length));
    out.set(3, BigInt(cl.ffi.address(binary)));
    out.set(4, 0n);
    const program = cl.clCreateProgramWithBinary(handle, 1, out.at(1), out.at(2), out.at(3), out.at(4), out.at(0));
    if (out.int(0) !== 0 || out.int(4) !== 0) {
      if (program !== 0) cl.clReleaseProgram(program);
      return undefined;
    }
    if (this.#compile(program, options) === 0) return program;
    cl.clReleaseProgram(program);
    return undefined;
  }

  #binary(program: number): Uint8Array | undefined {
    const { cl, out } = this.#context;
    if (cl.clGetProgramInfo(program, PROGRAM_BINARY_SIZES, 8, out.at(0), 0) !== 0) return undefined;
    const length = out.long(0);
    if (length === 0) return undefined;
    const bytes = new Uint8Array(new ArrayBuffer(Math.max(length, 128)), 0, length);
    out.set(0, BigInt(cl.ffi.address(bytes)));
    return cl.clGetProgramInfo(program, PROGRAM_BINARIES, 8, out.at(0), 0) === 0 ? bytes : undefined;
  }

  #rejected(result: number, program: number, label: string, text: string): DriverError {
    if (isOutOfMemory(result)) return this.#context.failure(result, 'clBuildProgram');
    const { cl, id, name } = this.#context;
    const bytes = new Uint8Array(65_536);
    const said =
      cl.clGetProgramBuildInfo(program, id, PROGRAM_BUILD_LOG, bytes.length, bytes, 0) === 0
        ? textOf(bytes).trim()
        : '';
    const why = result === CL_BUILD_PROGRAM_FAILURE && said !== '' ? said : `${describeResult(result)}\n${said}`.trim();
    return new DriverError(
      'E_BUILD_FAILED',
      `the OpenCL compiler of ${name} does not accept the code of kernel ${label}\n  ` +
        `${why.split('\n').join('\n  ')}${faultyLines(said, text)}\n  help: report it as a fault of Tsamba, with this message and the kernel`,
      { api: 'clBuildProgram' },
    );
  }

  /** Releases all; failures do not matter any more. */
  close(): void {
    for (const { handle } of this.#built.values()) this.#context.cl.clReleaseProgram(handle);
    this.#built.clear();
  }
}

/** The lines of the text that the compiler names. */
function faultyLines(log: string, text: string): string {
  const lines = text.split('\n');
  const numbers = new Set([...log.matchAll(/:(\d+):\d+: error/g)].slice(0, 3).map(([, line]) => Number(line)));
  return [...numbers].map((line) => `\n  ${line} | ${lines[line - 1]?.trim() ?? ''}`).join('');
}
