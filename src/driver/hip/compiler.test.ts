/**
 * HIP without an AMD GPU: why there is no device, where libraries are looked for, and what ROCm's own compiler makes of our text.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DriverError } from '../../errors.ts';
import { PARAMETERS, UNITS } from '../copies/launches.ts';
import { entryName } from '../cuda-api/copies/kernel-runner.ts';
import { hasRocm, inspectCode } from './amd.testing.ts';
import { compileHip } from './compiler.ts';
import { copyText } from './copy-kernels.ts';
import { HipModel } from './hip-model.testing.ts';
import { hipProvider } from './index.ts';
import { versionText } from './info.ts';
import { bindHip, type HipOrReason, libraryNames } from './library.ts';
import { askLibrary, failureReason } from './probe.ts';

function modelled(options: ConstructorParameters<typeof HipModel>[0]): () => HipOrReason {
  const model = new HipModel(options);
  return () => bindHip(model.ffi, model);
}

describe('why there is no HIP device', () => {
  it('is told without throwing, whatever the machine', () => {
    const { count, reason } = hipProvider.probe();
    if (count > 0) return;
    expect(reason).toMatch(/kfd|ROCm|koffi|HIP/);
    expect(() => hipProvider.open(0)).toThrow(/there is no HIP device to use/);
  });

  it('is the same whether initialising says so, as ROCm 5 and 6 do by different numbers, or only counting', () => {
    for (const init of [0, 100, 101]) {
      expect(askLibrary(modelled({ devices: 0, init })).reason).toMatch(/^hipError100 .*finds no AMD GPU/);
    }
    expect(askLibrary(modelled({ devices: 2 }))).toMatchObject({ count: 2 });
    expect(askLibrary(modelled({ devices: 1, init: 3 })).reason).toMatch(/^hipError3 .*rocminfo/);
  });

  it('is a variable that hides devices', () => {
    expect(failureReason(100, 'none', { HIP_VISIBLE_DEVICES: '' })).toBe(
      "HIP_VISIBLE_DEVICES='' leaves no device visible: unset it",
    );
    expect(failureReason(101, 'none', {})).toMatch(/^none: ROCm's runtime finds no AMD GPU/);
  });
});

describe('the library', () => {
  it('is looked for by the names of three versions, newest first, and where ROCm puts itself', () => {
    expect(libraryNames('libamdhip64', { ROCM_PATH: '/opt/rocm-6.4.3' }, 'linux')).toEqual([
      ...[7, 6, 5].map((major) => `/opt/rocm-6.4.3/lib/libamdhip64.so.${major}`),
      ...['libamdhip64.so.7', 'libamdhip64.so.6', 'libamdhip64.so.5'],
      ...[7, 6, 5].map((major) => `/opt/rocm/lib/libamdhip64.so.${major}`),
    ]);
    expect(libraryNames('libhiprtc', {}, 'darwin')).toEqual([]);
  });

  it('is looked for in the packages of the Python environment that is active', () => {
    const root = mkdtempSync(join(tmpdir(), 'tsamba-venv-'));
    try {
      mkdirSync(join(root, 'lib', 'python3.12'), { recursive: true });
      mkdirSync(join(root, 'lib', 'other'));
      const packages = join(root, 'lib', 'python3.12', 'site-packages');
      for (const name of ['VIRTUAL_ENV', 'CONDA_PREFIX']) {
        const found = libraryNames('libhiprtc', { [name]: root }, 'linux').slice(6);
        expect(found).toEqual(
          ['_rocm_sdk_core/lib', 'torch/lib'].flatMap((at) =>
            ['.so.7', '.so.6', '.so.5', '.so'].map((end) => join(packages, at, `libhiprtc${end}`)),
          ),
        );
      }
    } finally {
      rmSync(root, { recursive: true });
    }
  });

  it('of the compiler is of the runtime’s version, and beside it before anywhere else', () => {
    const runtime = { file: '/opt/rocm-7.0/lib/libamdhip64.so.7', version: 70043484 };
    const env = { ROCM_PATH: '/opt/rocm-6.4.3', VIRTUAL_ENV: '/venv' };
    expect(libraryNames('libhiprtc', env, 'linux', runtime)).toEqual([
      ...['/opt/rocm-7.0/lib/libhiprtc.so.7', '/opt/rocm-7.0/lib/libhiprtc.so', '/opt/rocm-6.4.3/lib/libhiprtc.so.7'],
      ...['libhiprtc.so.7', '/opt/rocm/lib/libhiprtc.so.7'],
    ]);
    expect(() => compileHip('', { name: 'k', arch: 'gfx90a', runtime: { ...runtime, version: 990000000 } })).toThrow(
      /hiprtc\) is not installed, or not found.*\n.*same version as the runtime, \/opt\/rocm-7\.0\/lib\/libamdhip64\.so\.7 \(HIP 99\./,
    );
  });

  it.skipIf(spawnSync('cc', ['--version']).status !== 0)(
    'of the compiler is refused where it says another minor version',
    () => {
      const root = mkdtempSync(join(tmpdir(), 'tsamba-hiprtc-'));
      try {
        const refusal = (says: string, version: number): string => {
          const code = `int hiprtcVersion(int *major, int *minor) { *major = ${says.replace('.', '; *minor = ')}; return 0; }`;
          const made = spawnSync('cc', ['-shared', '-fPIC', '-xc', '-', '-o', join(root, 'libhiprtc.so.7')], {
            input: code,
          });
          expect(made.status, String(made.stderr)).toBe(0);
          try {
            compileHip('', { name: 'k', arch: 'gfx90a', runtime: { file: join(root, 'libamdhip64.so.7'), version } });
            return '';
          } catch (error) {
            return String(error);
          }
        };
        expect(refusal('7.1', 70043484)).toMatch(
          /libhiprtc\.so\.7: is of ROCm 7\.1\)\n {2}.*same version as the runtime.*HIP 7\.0/,
        );
        // The right one, and one that does not say: what is missing is found later.
        for (const says of ['7.0', '9.0']) expect(refusal(says, 70043484)).not.toMatch(/is of ROCm|not installed/);
      } finally {
        rmSync(root, { recursive: true });
      }
    },
  );

  it('says its version in one number', () => {
    expect(versionText(50221153)).toBe('HIP 5.2.21153');
  });

  it.skipIf(!hasRocm())(
    'of ROCm itself has all functions, and says that there is no device',
    { timeout: 300_000 },
    () => {
      // In a process of its own: its LLVM would abort this one if PoCL's came in.
      const code = `
      import { loadHip } from '${new URL('library.ts', import.meta.url).href}';
      import { askLibrary } from '${new URL('probe.ts', import.meta.url).href}';
      process.stdout.write(JSON.stringify(askLibrary(loadHip).reason ?? 'there is one'));`;
      const tsx = import.meta.resolve('tsx');
      const { stdout, stderr } = spawnSync(process.execPath, ['--import', tsx, '--input-type=module', '-e', code], {
        encoding: 'utf8',
      });
      expect(stdout, stderr).toMatch(/finds no AMD GPU|there is one|VISIBLE_DEVICES/);
    },
  );
});

describe.skipIf(!hasRocm())("ROCm's compiler", () => {
  it('takes the copy kernels, whose parameters are one block of bytes', { timeout: 300_000 }, () => {
    const kernels = inspectCode(compileHip(copyText(), { name: 'copies', arch: 'gfx90a', options: ['-O3'] }), 'gfx90a');
    expect(kernels.size).toBe(2 * UNITS.length);
    for (const unit of UNITS) {
      const copy = kernels.get(entryName('copy', unit));
      expect(copy?.args).toEqual([{ offset: 0, size: PARAMETERS.bytes, kind: 'by_value' }]);
      expect(copy?.instructions).toMatch(/global_load/);
      expect(copy?.instructions).not.toMatch(/flat_/);
    }
  });

  it('says where the text is wrong, and of what kernel', { timeout: 300_000 }, () => {
    const wrong = (): unknown =>
      compileHip('extern "C" __global__ void k() { nonsense; }', { name: 'k', arch: 'gfx906' });
    expect(wrong).toThrow(DriverError);
    expect(wrong).toThrow(/does not accept the code of kernel k for gfx906/);
    expect(wrong).toThrow(/:1:34: error: use of undeclared identifier/);
  });

  it('may crash without harm', { timeout: 300_000 }, () => {
    expect(() => compileHip('extern "C" __global__ void k() {}', { name: 'k', arch: 'gfx1' })).toThrow(
      /kernel k for gfx1|does not accept/,
    );
  });

  it('is asked once for the same text: the code is kept on disk', { timeout: 300_000 }, () => {
    const folder = mkdtempSync(join(tmpdir(), 'tsamba-cache-'));
    const before = process.env['TSAMBA_CACHE_DIR'];
    process.env['TSAMBA_CACHE_DIR'] = folder;
    try {
      const request = { name: 'k', arch: 'gfx906', identity: 'test' };
      const first = compileHip('extern "C" __global__ void k() {}', request);
      const [file = ''] = readdirSync(join(folder, 'hip'));
      expect(compileHip('extern "C" __global__ void k() {}', request)).toEqual(first);
      // A file that was cut short is no hit.
      writeFileSync(join(folder, 'hip', file), first.subarray(0, 100));
      expect(compileHip('extern "C" __global__ void k() {}', request)).toEqual(first);
    } finally {
      if (before === undefined) delete process.env['TSAMBA_CACHE_DIR'];
      else process.env['TSAMBA_CACHE_DIR'] = before;
      rmSync(folder, { recursive: true });
    }
  });
});
