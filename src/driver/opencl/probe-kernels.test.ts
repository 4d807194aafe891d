/**
 * Probes of the compiler, on the implementation that is installed: what they say is compared with what a kernel of the pattern computes
 * when nothing is done about it.
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { BinaryCache } from '../binary-cache.ts';
import type { OpenCLDriver } from './device.ts';
import { PATTERNS, type Pattern } from './miscompiled.ts';
import { hasOpenCL, openTestDevice } from './opencl.testing.ts';
import { cureFor, type ProbeHost } from './probe-kernels.ts';

const folders: string[] = [];

afterEach(() => {
  vi.unstubAllEnvs();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'tsamba-probe-'));
  folders.push(made);
  return made;
}

function withDevice(body: (driver: OpenCLDriver) => void): void {
  const driver = openTestDevice();
  try {
    body(driver);
  } finally {
    driver.close();
  }
}

function hostOf({ context, queues }: OpenCLDriver, cache?: BinaryCache): ProbeHost {
  return { context, queues, cache };
}

/** A pattern that is right only in the ways of `right`. The number makes it one that was not asked before. */
function pattern(right: 'always' | 'hidden' | 'never', number: number): Pattern {
  const value = { always: '7', hidden: 'is_hidden ? 7 : 6', never: '6' }[right];
  // Where nothing is hidden, HIDE(zero) is known to the preprocessor's pasting alone: it is compared as text.
  const text = `#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
kernel void probe(global const int *from, global int *to, int zero) {
  const int is_hidden = sizeof(TEXT(HIDE(a))) > 4;
  to[0] = ${value};
  to[1] = from[${number}];
}`;
  return { name: `pattern ${number}`, concerns: () => true, workItems: 1, text, expected: [7, number] };
}

describe.runIf(hasOpenCL())('probes of the OpenCL compiler', () => {
  it('finds nothing where all is right', () => {
    withDevice((driver) => expect(cureFor(hostOf(driver), [pattern('always', 1)])).toBeUndefined());
  });

  it('takes the first cure that helps', () => {
    withDevice((driver) => {
      expect(cureFor(hostOf(driver), [pattern('always', 2), pattern('hidden', 3)])?.name).toBe('hidden masks');
    });
  });

  it('asks nobody whom no pattern concerns', () => {
    withDevice((driver) => {
      const text = 'this does not compile';
      const unasked: Pattern = { ...pattern('never', 4), text, concerns: ({ hardware }) => hardware === 'gpu' };
      if (driver.device.listed.hardware !== 'gpu') expect(cureFor(hostOf(driver), [unasked])).toBeUndefined();
    });
  });

  it('asks GPUs for what any kernel relies on, which is right here as well', () => {
    const [basics] = PATTERNS.filter(({ concerns }) => concerns({ hardware: 'gpu' }));
    if (basics === undefined) throw new Error('GPUs are asked nothing');
    expect(basics.expected).toHaveLength(66);
    withDevice((driver) => {
      const asked = { ...basics, concerns: () => true };
      expect(cureFor(hostOf(driver), [asked])).toBeUndefined();
      const expected = basics.expected.with(65, 0);
      expect(() => cureFor(hostOf(driver), [{ ...asked, expected }])).toThrow(/barriers, atomic sums and floats wrong/);
    });
  });

  it('refuses a device that nothing helps, unless the user insists', () => {
    withDevice((driver) => {
      const wrong = [pattern('never', 5), pattern('always', 6)];
      const refused = expect.objectContaining({
        code: 'E_MISCOMPILED',
        message: expect.stringMatching(/computes wrong numbers: its compiler gets pattern 5 wrong/),
      });
      expect(() => cureFor(hostOf(driver), wrong)).toThrow(refused);
      const warning = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
      vi.stubEnv('TSAMBA_OPENCL_MISCOMPILED', '1');
      expect(cureFor(hostOf(driver), wrong)).toBeUndefined();
      expect(warning).toHaveBeenCalledOnce();
      warning.mockRestore();
    });
  });

  it('keeps what it found on disk, and asks again when the file is damaged', () => {
    const at = folder();
    withDevice((driver) => {
      const host = hostOf(driver, new BinaryCache(at, driver.device.identity));
      const built = vi.spyOn(driver.context.cl, 'clBuildProgram');
      const ask = (): string | undefined => cureFor(host, [pattern('hidden', 8)], new Map())?.name;
      expect(ask()).toBe('hidden masks');
      expect(built).toHaveBeenCalledTimes(2);
      expect(ask()).toBe('hidden masks');
      expect(built).toHaveBeenCalledTimes(2);
      const [file = '', ...others] = readdirSync(at);
      expect(others).toEqual([]);
      writeFileSync(join(at, file), 'damaged');
      expect(ask()).toBe('hidden masks');
      expect(built).toHaveBeenCalledTimes(4);
      // Whole files with a right digest, of something else.
      for (const text of ['not JSON', 'null', '3', '{"wrong":3}', '{"wrong":[],"cure":"prayer"}']) {
        const data = Buffer.from(text);
        writeFileSync(join(at, file), Buffer.concat([createHash('sha256').update(data).digest(), data]));
        built.mockClear();
        expect(ask()).toBe('hidden masks');
        expect(built).toHaveBeenCalledTimes(2);
      }
    });
  });

  it('has patterns whose numbers are right where nothing is optimised', () => {
    withDevice((driver) => {
      // With what the device needs, all are right; what it is is the device's own business.
      expect(() => cureFor(hostOf(driver), PATTERNS)).not.toThrow();
      expect(driver.info.workarounds ?? []).toEqual(
        [cureFor(hostOf(driver), PATTERNS)?.name].filter((name) => name !== undefined),
      );
    });
  });
});
