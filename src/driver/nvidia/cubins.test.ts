import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { LinkItem } from '../../compiler/intrinsics/external.ts';
import { cString } from '../../ffi/out-parameters.ts';
import { CudaContext } from '../cuda-api/context.ts';
import { CudaModel } from '../cuda-api/cuda-model.testing.ts';
import { Cubins } from './cubins.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tsamba-cubins-'));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

const TEXT = cString('.version 7.0');

function setUp(capability = 90): {
  model: CudaModel;
  load: (text?: Uint8Array, link?: readonly LinkItem[]) => number | undefined;
} {
  const model = new CudaModel();
  const { cuda } = model;
  const context = new CudaContext(cuda, 0, 'a device');
  const cubins = new Cubins(cuda, capability, folder);
  return { model, load: (text = TEXT, link = []) => cubins.load(context, { entry: 'k', link }, text) };
}

/** Which calls a second process of the same program makes. */
function callsOfSecond(capability = 90): string[] {
  const { model, load } = setUp(capability);
  model.calls.length = 0;
  expect(load()).toBeGreaterThan(0);
  return model.calls;
}

describe('machine code of PTX', () => {
  it('is assembled once, and loaded from disk afterwards', () => {
    const { model, load } = setUp();
    expect(load()).toBeGreaterThan(0);
    expect(model.calls.filter((name) => name.startsWith('cuLink'))).toEqual([
      'cuLinkCreate',
      'cuLinkAddData',
      'cuLinkComplete',
      'cuLinkDestroy',
    ]);
    expect(readdirSync(folder)).toHaveLength(1);
    expect(callsOfSecond()).toEqual(['cuModuleLoadDataEx']);
  });

  it('is of one architecture and text', () => {
    setUp().load();
    expect(callsOfSecond(80)).toContain('cuLinkComplete');
    const { model, load } = setUp();
    load(cString('.version 7.1'));
    expect(model.calls).toContain('cuLinkComplete');
    expect(readdirSync(folder)).toHaveLength(3);
  });

  it('is assembled again where a file was cut short', () => {
    setUp().load();
    const file = join(folder, readdirSync(folder)[0] ?? '');
    writeFileSync(file, readFileSync(file).subarray(0, 40));
    expect(callsOfSecond()).toContain('cuLinkComplete');
    expect(callsOfSecond()).toEqual(['cuModuleLoadDataEx']);
  });

  it('is assembled again, and kept anew, where the driver does not load what was kept', () => {
    setUp().load();
    const { model, load } = setUp();
    // CUDA_ERROR_NO_BINARY_FOR_GPU: whatever the reason, until it is assembled anew.
    model.results.set('cuModuleLoadDataEx', 209);
    model.before.set('cuLinkCreate', () => model.results.clear());
    expect(load()).toBeGreaterThan(0);
    expect(model.calls.filter((name) => /Load|Complete/.test(name))).toEqual([
      'cuModuleLoadDataEx',
      'cuLinkComplete',
      'cuModuleLoadDataEx',
    ]);
    expect(readdirSync(folder)).toHaveLength(1);
  });

  it('depends on all that it is linked with, and on where one part ends', () => {
    const item = (name: string, text: string): LinkItem => ({
      kind: 'ptx',
      name,
      key: name + text,
      code: () => Buffer.from(text),
    });
    const links = [
      [item('a', 'xy'), item('b', 'z')],
      [item('a', 'x'), item('b', 'yz')],
      [item('b', 'xy'), item('a', 'z')],
      [item('a', 'xyz')],
    ];
    for (const link of links) setUp().load(TEXT, link);
    expect(readdirSync(folder)).toHaveLength(links.length);
    for (const link of links) {
      const { model, load } = setUp();
      expect(load(TEXT, link)).toBeGreaterThan(0);
      expect(model.calls).not.toContain('cuLinkCreate');
    }
  });

  it.each(['cuLinkCreate', 'cuLinkAddData', 'cuLinkComplete', 'cuModuleLoadDataEx'])(
    'leaves the text to the driver where %s fails, and frees what it took',
    (api) => {
      const { model, load } = setUp();
      model.results.set(api, 218);
      expect(load()).toBeUndefined();
      expect(readdirSync(folder)).toEqual([]);
      expect(model.calls.includes('cuLinkDestroy')).toBe(api !== 'cuLinkCreate');
    },
  );

  it('leaves the text to the driver where TSAMBA_CACHE is 0', () => {
    vi.stubEnv('TSAMBA_CACHE', '0');
    const model = new CudaModel();
    const context = new CudaContext(model.cuda, 0, 'a device');
    expect(new Cubins(model.cuda, 90).load(context, { entry: 'k' }, TEXT)).toBeUndefined();
    expect(model.calls.filter((name) => /Link|Module/.test(name))).toEqual([]);
  });
});
