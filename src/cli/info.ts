/**
 * `tsamba info`: what this machine has for kernels, and why a device is not used; to read, and to put into an issue. Numba: `numba -s`.
 */
import { type CachedFolder, cachedFolders } from '../driver/binary-cache.ts';
import { WebAssembly } from '../driver/cpu/webassembly.ts';
import { DEVICE_KINDS, KIND_NAMES } from '../driver/driver.ts';
import { loadFfi } from '../ffi/koffi.ts';
import { packagePath } from '../ffi/package-path.ts';
import { attempt, nodeModule } from '../host/index.ts';
import { processors, whyNoThreads } from '../host/threads.ts';
import { type Command, defineCommand, EXIT } from './command-line.ts';
import { type DeviceRow, describeAll, type KindReport } from './describe.ts';
import { packageFolder, packageVersion } from './package.ts';
import { typescriptBy } from './program.ts';
import { bytesText, rowsText } from './text.ts';

/** All that `info` says, as `--json` prints it. */
export interface Report {
  readonly tsamba: { readonly version: string; readonly folder: string };
  readonly runtime: {
    readonly name: string;
    readonly version: string;
    readonly engine: string;
    readonly platform: string;
    readonly arch: string;
    readonly system: string;
    readonly typescript: string;
  };
  readonly processor: { readonly name: string; readonly cores: number; readonly memoryBytes: number };
  readonly koffi: {
    readonly usable: boolean;
    readonly version?: string | undefined;
    readonly reason?: string | undefined;
  };
  readonly webassembly: {
    readonly simd: boolean;
    readonly relaxedSimd: boolean;
    readonly memory64: boolean;
    /** Threads that kernels of the CPU device run on. */
    readonly threads: number;
    readonly whyNoThreads?: string | undefined;
  };
  readonly caches: readonly CachedFolder[];
  /** Variables that are set and concern Tsamba. */
  readonly environment: Readonly<Record<string, string>>;
  readonly kinds: readonly KindReport[];
}

/** Modules of one function each, with an instruction that only engines with the feature take. */
const PROBES = {
  simd: [0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11],
  relaxedSimd: [
    0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 15, 1, 13, 0, 65, 1, 253, 15, 65, 2, 253, 15,
    253, 128, 2, 11,
  ],
  memory64: [0, 97, 115, 109, 1, 0, 0, 0, 5, 3, 1, 4, 1],
} as const;

const SHOWN =
  /^(?:TSAMBA_|NUMBA_CUDA_|CUDA_(?:VISIBLE_DEVICES|HOME|PATH|CACHE)|HIP_VISIBLE|ROCR_VISIBLE|OCL_ICD|NODE_OPTIONS$)/;
/** Never printed: what all ranks of a job know and nobody else. */
const SECRET = /TOKEN/;

/** Looks at everything. */
export async function makeReport(): Promise<Report> {
  return {
    tsamba: { version: packageVersion(), folder: packageFolder() },
    runtime: runtime(),
    processor: processor(),
    koffi: koffi(),
    webassembly: webassembly(),
    caches: cachedFolders(),
    environment: variables(),
    kinds: await describeAll(KIND_NAMES),
  };
}

function runtime(): Report['runtime'] {
  const { versions, platform, arch } = process;
  const [name, version] = (
    [
      ['Bun', versions['bun']],
      ['Deno', versions['deno']],
    ] as const
  ).find(([, found]) => found !== undefined) ?? ['Node.js', versions.node];
  const os = nodeModule('node:os');
  return {
    name,
    version: version ?? '',
    engine: versions.v8 === undefined ? 'JavaScriptCore' : `V8 ${versions.v8}`,
    platform,
    arch,
    system: `${os.type()} ${os.release()}`,
    typescript: typescriptBy(nodeModule('node:path').join(process.cwd(), 'file.ts')),
  };
}

function processor(): Report['processor'] {
  const os = nodeModule('node:os');
  return {
    name: os.cpus()[0]?.model.trim() ?? 'unknown',
    cores: os.availableParallelism(),
    memoryBytes: os.totalmem(),
  };
}

function koffi(): Report['koffi'] {
  const { reason } = loadFfi();
  if (reason !== undefined) return { usable: false, reason };
  const { dirname, join } = nodeModule('node:path');
  const version = attempt(() => {
    const file = join(dirname(packagePath('koffi')), 'package.json');
    return (JSON.parse(nodeModule('node:fs').readFileSync(file, 'utf8')) as { readonly version: string }).version;
  });
  return { usable: true, version };
}

function webassembly(): Report['webassembly'] {
  const takes = (bytes: readonly number[]): boolean => WebAssembly.validate(Uint8Array.from(bytes));
  const reason = whyNoThreads();
  return {
    simd: takes(PROBES.simd),
    relaxedSimd: takes(PROBES.relaxedSimd),
    memory64: takes(PROBES.memory64),
    threads: reason === undefined ? processors() : 1,
    whyNoThreads: reason,
  };
}

function variables(): Record<string, string> {
  const set = Object.entries(process.env).filter(([name]) => SHOWN.test(name));
  return Object.fromEntries(set.map(([name, value = '']) => [name, SECRET.test(name) ? '(set)' : value]));
}

/** A report as text. */
export function reportText(report: Report): string {
  const { tsamba, runtime: on, processor: chip, koffi: ffi, webassembly: wasm, caches, environment } = report;
  const yes = (is: boolean): string => (is ? 'yes' : 'no');
  const facts: [string, string][] = [
    ['Tsamba', `${tsamba.version} (${tsamba.folder})`],
    ['Runtime', `${on.name} ${on.version}, ${on.engine}, ${on.platform} ${on.arch} (${on.system})`],
    ['TypeScript', on.typescript],
    ['Processor', `${chip.name}, ${chip.cores} threads, ${bytesText(chip.memoryBytes)}`],
    ['koffi', ffi.usable ? (ffi.version ?? 'usable') : `not usable: ${ffi.reason}`],
    [
      'WebAssembly',
      `SIMD ${yes(wasm.simd)}, relaxed SIMD ${yes(wasm.relaxedSimd)}, 64-bit memory ${yes(wasm.memory64)}, ` +
        `threads ${wasm.threads}${wasm.whyNoThreads === undefined ? '' : ` (${wasm.whyNoThreads})`}`,
    ],
    ...(caches.length === 0 ? [['Cache', 'off (TSAMBA_CACHE=0)'] as [string, string]] : caches.map(cacheFact)),
    ...Object.entries(environment).map(([name, value]): [string, string] => [name, value]),
  ];
  const devices = report.kinds.flatMap(({ kind, devices: rows, reason }) => [
    ...rows.map((row): [string, string] => [`${kind} ${row.index}`, deviceText(row)]),
    ...(rows.length > 0 && reason === undefined
      ? []
      : [[kind, `no ${DEVICE_KINDS[kind].name}: ${reason ?? 'none was found'}`] as [string, string]]),
  ]);
  return `${rowsText(facts)}\n\nDevices\n${rowsText(devices, '  ')}`;
}

function cacheFact({ kind, folder, files, bytes }: CachedFolder): [string, string] {
  return [`Cache, ${kind}`, `${folder}: ${files} ${files === 1 ? 'file' : 'files'}, ${bytesText(bytes)}`];
}

function deviceText(row: DeviceRow): string {
  const { kind, name, computeCapability, memoryBytes, multiprocessors, driver, f64, pciBusId, restriction } = row;
  const facts = [name];
  if (computeCapability !== undefined) facts.push(`compute capability ${computeCapability}`);
  facts.push(bytesText(memoryBytes), `${multiprocessors} multiprocessor${multiprocessors === 1 ? '' : 's'}`);
  if (driver !== undefined) facts.push(kind === 'opencl' ? driver : `driver for ${driver}`);
  if (pciBusId !== undefined) facts.push(`PCI ${pciBusId}`);
  if (!f64) facts.push('no f64');
  if (restriction !== undefined) facts.push(restriction);
  return facts.join(', ');
}

export const info: Command = defineCommand({
  name: 'info',
  usage: '[--json]',
  summary: 'lists the devices of this machine, versions and settings, and says why a device is not used',
  options: { json: { help: 'prints JSON' } },
  async run({ options }) {
    const report = await makeReport();
    console.log(options.has('json') ? JSON.stringify(report, undefined, 2) : reportText(report));
    return EXIT.ok;
  },
});
