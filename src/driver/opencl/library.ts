/**
 * The OpenCL functions that Tsamba calls, declared and typed: those of the ICD loader (`libOpenCL.so.1`, `OpenCL.dll`, the
 * framework of macOS), or of one implementation that `TSAMBA_OPENCL_LIBRARY` names.
 *
 * All of them are in OpenCL 1.2. Functions that make something return its handle and write a result code to a cell; all
 * others return the code, 0 for success. Handles are 64-bit integers, as numbers. Importing this file loads nothing.
 */
import { variable } from '../../environment.ts';
import type { Address, AsyncNativeFunction, Ffi, NativeLibrary } from '../../ffi/ffi.ts';
import { loadFfi } from '../../ffi/koffi.ts';
import { platformName } from '../../host/index.ts';

/** Memory of the host, in place: a view, or an address. */
export type HostBytes = Uint8Array | Address | null;

type Call<A extends readonly unknown[]> = (...args: A) => number;

/** Parameters in C: `p` is a pointer, a handle or a size as an integer, `n` a 32-bit integer, `host` memory of the host. */
interface ArgTypes {
  readonly p: Address;
  readonly n: number;
  readonly host: HostBytes;
}
type Arg<S extends string> = S extends keyof ArgTypes ? ArgTypes[S] : never;
type Args<S extends string> = S extends `${infer First}, ${infer Rest}` ? [Arg<First>, ...Args<Rest>] : [Arg<S>];

const FUNCTIONS = {
  clGetPlatformIDs: 'n, p, p',
  /** Platform, which, result, size, size needed. */
  clGetPlatformInfo: 'p, n, p, host, p',
  clGetDeviceIDs: 'p, p, n, p, p',
  clGetDeviceInfo: 'p, n, p, host, p',

  /** Properties, number of devices, devices, callback, its data, result. */
  clCreateContext: 'p, n, p, p, p, p',
  clReleaseContext: 'p',
  /** Context, device, properties, result. */
  clCreateCommandQueue: 'p, p, p, p',
  clReleaseCommandQueue: 'p',
  clFlush: 'p',
  clFinish: 'p',

  /** Context, flags, size, host memory, result. */
  clCreateBuffer: 'p, p, p, host, p',
  clReleaseMemObject: 'p',

  /** Context, number of texts, their addresses, their lengths, result. */
  clCreateProgramWithSource: 'p, n, p, p, p',
  /** Context, number of devices, devices, lengths, binaries, status of each, result. */
  clCreateProgramWithBinary: 'p, n, p, p, p, p, p',
  /** Program, number of devices, devices, options, callback, its data. */
  clBuildProgram: 'p, n, p, host, p, p',
  clGetProgramInfo: 'p, n, p, host, p',
  clGetProgramBuildInfo: 'p, p, n, p, host, p',
  clReleaseProgram: 'p',
  /** Program, name, result. */
  clCreateKernel: 'p, host, p',
  clReleaseKernel: 'p',
  /** Kernel, index, size, where the value is. */
  clSetKernelArg: 'p, n, p, p',
  /** Kernel, device, which, size, result, size needed. */
  clGetKernelWorkGroupInfo: 'p, p, n, p, host, p',

  /** Queue, kernel, dimensions, offsets, global size, local size, events to wait for, event. */
  clEnqueueNDRangeKernel: 'p, p, n, p, p, p, n, p, p',
  /** Queue, buffer, blocking, offset, size, host memory, events to wait for, event. */
  clEnqueueReadBuffer: 'p, p, n, p, p, host, n, p, p',
  clEnqueueWriteBuffer: 'p, p, n, p, p, host, n, p, p',
  /** Queue, buffer, blocking, origins (buffer, host), region, pitches (buffer: row, slice; host: row, slice), host memory, events. */
  clEnqueueReadBufferRect: 'p, p, n, p, p, p, p, p, p, p, host, n, p, p',
  clEnqueueWriteBufferRect: 'p, p, n, p, p, p, p, p, p, p, host, n, p, p',
  /** Queue, source, target, their offsets, size, events. */
  clEnqueueCopyBuffer: 'p, p, p, p, p, p, n, p, p',
  /** Queue, buffer, pattern, its size, offset, size, events. */
  clEnqueueFillBuffer: 'p, p, host, p, p, p, n, p, p',
  /** Queue, buffer, blocking, flags, offset, size, events, result; the address. */
  clEnqueueMapBuffer: 'p, p, n, p, p, p, n, p, p, p',
  clEnqueueUnmapMemObject: 'p, p, p, n, p, p',
  clEnqueueMarkerWithWaitList: 'p, n, p, p',
  clEnqueueBarrierWithWaitList: 'p, n, p, p',

  clWaitForEvents: 'n, p',
  clGetEventInfo: 'p, n, p, host, p',
  clGetEventProfilingInfo: 'p, n, p, host, p',
  clReleaseEvent: 'p',
} as const;

type Functions = { readonly [K in keyof typeof FUNCTIONS]: Call<Args<(typeof FUNCTIONS)[K]>> };

/** The functions of one library. */
export interface OpenCL extends Functions {
  readonly ffi: Ffi;
  readonly library: NativeLibrary;
}

/** What is tried, in order. */
export function libraryNames(
  platform: string = platformName(),
  override: string | undefined = namedLibrary(),
): readonly string[] {
  if (override !== undefined && override !== '') return [override];
  if (platform === 'win32') return ['OpenCL.dll'];
  if (platform === 'darwin') return ['/System/Library/Frameworks/OpenCL.framework/OpenCL'];
  return ['libOpenCL.so.1', 'libOpenCL.so'];
}

/** The file that the environment names. */
function namedLibrary(): string | undefined {
  return variable('TSAMBA_OPENCL_LIBRARY')?.trim() || undefined;
}

/** The library, or why it cannot be used. */
export type OpenCLOrReason =
  | { readonly cl: OpenCL; readonly reason?: undefined }
  | { readonly cl?: undefined; readonly reason: string };

let loaded: OpenCLOrReason | undefined;

/** Loads the library, once; asks it nothing. Never throws. */
export function loadOpenCL(): OpenCLOrReason {
  loaded ??= load(libraryNames());
  return loaded;
}

/** Loads the first of these libraries that there is. */
export function load(names: readonly string[]): OpenCLOrReason {
  const { ffi, reason } = loadFfi();
  if (ffi === undefined) return { reason };
  const { library, reasons } = ffi.load(names);
  if (library === undefined) {
    if (names[0] === namedLibrary()) {
      return {
        reason: `TSAMBA_OPENCL_LIBRARY=${names[0]} cannot be loaded (${reasons[0]}): name another file, or unset it`,
      };
    }
    return {
      reason:
        `no OpenCL loader is installed, or this process cannot see it (${reasons[0] ?? names[0]}): it comes with the driver of a GPU, ` +
        'or as a package (Debian: ocl-icd-libopencl1)',
    };
  }
  return bind(ffi, library);
}

/** Declares the functions of a library that has been loaded. */
export function bind(ffi: Ffi, library: NativeLibrary): OpenCLOrReason {
  const functions: Record<string, AsyncNativeFunction> = {};
  for (const [name, parameters] of Object.entries(FUNCTIONS)) {
    const found = library.function(prototypeOf(name, parameters));
    if (found === undefined) {
      return { reason: `OpenCL 1.2 is needed, and ${library.name} has no ${name}: install a newer driver` };
    }
    functions[name] = found;
  }
  // One call for each name in the table, with the parameters that stand there.
  return { cl: { ...functions, ffi, library } as unknown as OpenCL };
}

/** `int32_t clFinish(uint64_t a0)`. */
export function prototypeOf(name: string, parameters: string): string {
  const types: Readonly<Record<string, string>> = { p: 'uint64_t', n: 'uint32_t', host: 'void *' };
  const list = parameters.split(', ').map((type, i) => `${types[type] ?? type} a${i}`);
  // Those that make something give its handle, and mapping gives an address.
  const makes = name.startsWith('clCreate') || name === 'clEnqueueMapBuffer';
  return `${makes ? 'uint64_t' : 'int32_t'} ${name}(${list.join(', ')})`;
}
