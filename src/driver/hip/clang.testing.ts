/**
 * For tests: HIP C++ compiled by a plain clang for architectures newer than the ROCm that is installed. Of HIP's headers it declares what
 * the renderer's text uses; the functions that are not the compiler's own come from ROCm's device library.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isRequired } from '../../required.testing.ts';

const CLANG = 'clang-19';
/** What LLVM's tools of the same version have at the end of their names. */
export const CLANG_TOOLS = '-19';

const BITCODE = '/usr/lib/x86_64-linux-gnu/amdgcn/bitcode';
/** The functions, and what they ask of options and architecture: of one that the library does not know, of the newest of its kind. */
function library(arch: string): readonly string[] {
  const isNarrow = arch.startsWith('gfx1');
  const isa = [arch.slice(3), isNarrow ? '1030' : '90a'].map((version) => `oclc_isa_version_${version}`);
  const options = ['daz_opt_off', 'finite_only_off', 'unsafe_math_off', 'correctly_rounded_sqrt_on'];
  const all = [...options, `wavefrontsize64_${isNarrow ? 'off' : 'on'}`].map((name) => `oclc_${name}`);
  return ['ocml', ...all, isa.find((name) => existsSync(join(BITCODE, `${name}.bc`))) ?? ''];
}

const dim = (of: string): string =>
  `(tsamba_dim{${['x', 'y', 'z'].map((axis) => of.replaceAll('AXIS', axis)).join(', ')}})`;

const fence = (order: string, scope: string): string => `__builtin_amdgcn_fence(__ATOMIC_${order}, "${scope}")`;

/** A function of HIP's by one of the device library's, or by the compiler's. */
function declare(type: string, name: string, called: string, params: readonly string[]): string {
  const typed = params.map((p) => `${type} ${p}`).join(', ');
  const extern = called.startsWith('__ocml') ? `extern "C" __device__ ${type} ${called}(${typed});\n` : '';
  return `${extern}static inline __device__ ${type} ${name}(${typed}) { return ${called}(${params.join(', ')}); }`;
}

const HEADER = [
  ...['global', 'device', 'shared', 'constant'].map((name) => `#define __${name}__ __attribute__((${name}))`),
  '#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))',
  'struct tsamba_dim { unsigned x, y, z; };',
  'struct alignas(16) uint4 { unsigned x, y, z, w; };',
  `#define threadIdx ${dim('__builtin_amdgcn_workitem_id_AXIS()')}`,
  `#define blockIdx ${dim('__builtin_amdgcn_workgroup_id_AXIS()')}`,
  `#define blockDim ${dim('__builtin_amdgcn_workgroup_size_AXIS()')}`,
  `#define gridDim ${dim('__builtin_amdgcn_grid_size_AXIS() / __builtin_amdgcn_workgroup_size_AXIS()')}`,
  `#define __threadfence() ${fence('SEQ_CST', 'agent')}`,
  `#define __threadfence_block() ${fence('SEQ_CST', 'workgroup')}`,
  `#define __threadfence_system() ${fence('SEQ_CST', '')}`,
  `#define __syncthreads() (${fence('RELEASE', 'workgroup')}, __builtin_amdgcn_s_barrier(), ${fence('ACQUIRE', 'workgroup')})`,
  ...(['float', 'double'] as const).flatMap((type) => {
    const [end, width] = type === 'float' ? ['f', 'f32'] : ['', 'f64'];
    return [
      declare(type, `fmod${end}`, `__ocml_fmod_${width}`, ['a', 'b']),
      declare(type, `sqrt${end}`, `__builtin_sqrt${end}`, ['a']),
      declare(type, `rsqrt${end}`, `__ocml_rsqrt_${width}`, ['a']),
      declare(type, `tanh${end}`, `__ocml_tanh_${width}`, ['a']),
    ];
  }),
].join('\n');

/** Whether clang and the device library are installed. Throws where TSAMBA_TEST_REQUIRE names `rocm` and they are not. */
export function hasClang(): boolean {
  const missing = [CLANG, `llvm-objdump${CLANG_TOOLS}`, `ld.lld${CLANG_TOOLS}`].filter(
    (tool) => spawnSync(tool, ['--version']).status !== 0,
  );
  if (!existsSync(BITCODE)) missing.push("ROCm's device library");
  if (missing.length > 0 && isRequired('rocm'))
    throw new Error(`TSAMBA_TEST_REQUIRE names rocm: there is no ${missing.join(', ')}`);
  return missing.length === 0;
}

/** A code object of HIP C++ for an architecture that clang knows. */
export function compileWithClang(text: string, arch: string): Uint8Array {
  const folder = mkdtempSync(join(tmpdir(), 'tsamba-clang-'));
  try {
    const [source, code] = [join(folder, 'kernels.hip'), join(folder, 'kernels.o')];
    writeFileSync(source, `${HEADER}\n${text}`);
    const linked = library(arch).flatMap((name) => [
      '-Xclang',
      '-mlink-builtin-bitcode',
      '-Xclang',
      join(BITCODE, `${name}.bc`),
    ]);
    const where = ['--cuda-device-only', '--no-gpu-bundle-output', '-nogpuinc', '-nogpulib', '-nostdinc', ...linked];
    const how = ['-O1', '-ffp-contract=off', '-w'];
    const args = ['-x', 'hip', `--offload-arch=${arch}`, ...where, ...how, '-c', source, '-o', code];
    const run = spawnSync(CLANG, args, { encoding: 'utf8', maxBuffer: 2 ** 26 });
    if (run.status !== 0) throw new Error(`${CLANG} for ${arch}: ${run.stderr.slice(0, 4000)}`);
    return readFileSync(code);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
