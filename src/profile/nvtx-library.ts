/**
 * NVTX without its header: ranges, marks and names for a tool that watches the process, such as Nsight Systems.
 *
 * NVTX 3 is a C header, and no library that could be called: what programs include finds the tool's library by `NVTX_INJECTION64_PATH`, which the tool
 * has set, and has it fill tables of functions. This does the same through the FFI, by the names and numbers of `nvtxTypes.h` (NVIDIA, NVTX 3). Without that
 * variable nobody listens, also where an older libnvToolsExt could be loaded: it asks the same variable.
 */
import { variable } from '../environment.ts';
import type { Ffi } from '../ffi/ffi.ts';
import { loadFfi } from '../ffi/koffi.ts';
import { attempt, processId } from '../host/index.ts';

/** Functions of each module, by `NvtxCallbackModule`, the number 0 that is none included. */
const MODULES: readonly number[] = [0, 16, 9, 15, 7, 16, 7];
const [CORE, CUDA] = [1, 2];
/** Of `NvtxCallbackIdCore` and `NvtxCallbackIdCuda`. */
const MARK = 2;
const RANGE_START = 5;
const RANGE_END = 7;
const NAME_THREAD = 14;
const NAME_STREAM = 5;
/** Of `NvtxExportTableID`. */
const CALLBACKS = 1;
const VERSION_INFO = 3;
const NVTX_VERSION = 3n;

/** The tool's functions. Those that it does not have do nothing. */
export interface NvtxLibrary {
  mark(name: string): void;
  /** The range's number. */
  start(name: string): number | bigint;
  end(range: number | bigint): void;
  /** By a CUstream. */
  nameStream(stream: bigint, name: string): void;
  /** The calling thread. */
  nameThread(name: string): void;
}

let found: { readonly library: NvtxLibrary | undefined } | undefined;

/** What listens; undefined for nothing. Looks once. Never throws. */
export function nvtxLibrary(): NvtxLibrary | undefined {
  found ??= { library: attempt(find) };
  return found.library;
}

function find(): NvtxLibrary | undefined {
  const path = variable('NVTX_INJECTION64_PATH');
  if (path === undefined || path === '') return undefined;
  const { ffi } = loadFfi();
  const initialise = ffi?.load([path]).library?.function('int InitializeInjectionNvtx2(uintptr_t)');
  if (ffi === undefined || initialise === undefined) return undefined;
  const tables = new Tables(ffi);
  if (initialise(tables.getExportTable) === 0) return undefined;
  return libraryOf(ffi, tables);
}

/** The tables that the tool fills. They are never given back: the tool may keep their addresses. */
class Tables {
  readonly #ffi: Ffi;
  /** Words of memory that does not move: tables, then the slots that they point to. */
  readonly #words = new BigUint64Array(512);
  readonly #address: bigint;
  #used = 0;
  /** Where the table and the slots of each module begin. */
  readonly #modules: readonly { readonly table: number; readonly slots: number; readonly count: number }[];
  readonly getExportTable: number | bigint;

  constructor(ffi: Ffi) {
    this.#ffi = ffi;
    // Asking for the buffer keeps V8 from moving it.
    this.#words.buffer.slice(0, 0);
    this.#address = BigInt(ffi.address(this.#words));
    this.#modules = MODULES.map((count) => {
      const [table, slots] = [this.#take(count + 1), this.#take(count)];
      for (let k = 1; k < count; k++) this.#words[table + k] = this.#at(slots + k);
      return { table, slots, count };
    });
    const callbacks = this.#take(2);
    const getTable = ffi.callback('int (int, uintptr_t, uintptr_t)', (module, table, size) =>
      this.#give(Number(module), table as number | bigint, size as number | bigint),
    );
    this.#words.set([16n, BigInt(getTable)], callbacks);
    const version = this.#take(3);
    const setVersion = ffi.callback('void (uint32_t)', () => undefined);
    this.#words.set([24n, NVTX_VERSION, BigInt(setVersion)], version);
    this.getExportTable = ffi.callback('uintptr_t (uint32_t)', (id) =>
      id === CALLBACKS ? this.#at(callbacks) : id === VERSION_INFO ? this.#at(version) : 0,
    );
  }

  #take(words: number): number {
    const at = this.#used;
    this.#used += words;
    return at;
  }

  #at(word: number): bigint {
    return this.#address + BigInt(word) * 8n;
  }

  /** `GetModuleFunctionTable`. */
  #give(module: number, table: number | bigint, size: number | bigint): number {
    const known = module > 0 ? this.#modules[module] : undefined;
    if (known === undefined) return 0;
    if (Number(table) !== 0) new BigUint64Array(this.#ffi.view(table, 8))[0] = this.#at(known.table);
    if (Number(size) !== 0) new Uint32Array(this.#ffi.view(size, 4))[0] = known.count;
    return 1;
  }

  /** The tool's function; 0 where it has none. */
  functionOf(module: number, id: number): bigint {
    return this.#words[(this.#modules[module]?.slots ?? 0) + id] ?? 0n;
  }
}

function libraryOf(ffi: Ffi, tables: Tables): NvtxLibrary {
  const call = (module: number, id: number, prototype: string, ...args: readonly unknown[]): unknown => {
    const address = tables.functionOf(module, id);
    return address === 0n ? 0 : ffi.call(address, prototype, ...args);
  };
  return {
    mark: (name) => void call(CORE, MARK, 'void (const char *)', name),
    start: (name) => call(CORE, RANGE_START, 'uint64_t (const char *)', name) as number | bigint,
    end: (range) => void call(CORE, RANGE_END, 'void (uint64_t)', range),
    nameStream: (stream, name) => void call(CUDA, NAME_STREAM, 'void (uintptr_t, const char *)', stream, name),
    nameThread: (name) => void call(CORE, NAME_THREAD, 'void (uint32_t, const char *)', threadOf(ffi), name),
  };
}

/** The system's number of the calling thread. */
function threadOf(ffi: Ffi): unknown {
  const { library } = ffi.load(['libc.so.6']);
  return library?.function('int gettid()')?.() ?? processId();
}
