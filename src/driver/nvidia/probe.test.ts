import { describe, expect, it } from 'vitest';
import { pciBusId } from '../cuda-api/description.ts';
import { nvidiaProvider } from './index.ts';
import { isaOf } from './info.ts';
import { initReason } from './probe.ts';

describe('why there is no NVIDIA device', () => {
  it('is told without throwing, whatever the machine', () => {
    const { count, reason } = nvidiaProvider.probe();
    if (count > 0) return;
    expect(reason).toMatch(/driver|koffi|device|GPU/);
    expect(() => nvidiaProvider.open(0)).toThrow(/there is no NVIDIA GPU to use/);
  });

  it('is CUDA_VISIBLE_DEVICES, permissions, or that there is none', () => {
    const said = 'CUDA_ERROR_NO_DEVICE (100): no CUDA-capable device is detected';
    expect(initReason(100, said, 13000, '', undefined)).toBe(
      "CUDA_VISIBLE_DEVICES='' leaves no device visible: unset it",
    );
    expect(initReason(100, said, 13000, '7', undefined)).toMatch(/^CUDA_VISIBLE_DEVICES=7 /);
    expect(initReason(100, said, 13000, undefined, '/dev/nvidiactl')).toMatch(
      /^no permission to open \/dev\/nvidiactl/,
    );
    expect(initReason(100, said, 13000, undefined, undefined)).toMatch(/there is no NVIDIA GPU, or this container/);
  });

  it('is a driver of two versions, a stub, or a service that does not run', () => {
    expect(initReason(803, 'X (803)', 12080, undefined, undefined)).toMatch(/different versions.*reboot.*CUDA 12\.8/);
    expect(initReason(34, 'X (34)', 12080, undefined, undefined)).toMatch(/stub/);
    expect(initReason(802, 'X (802)', 12080, undefined, undefined)).toMatch(/fabricmanager/);
    expect(initReason(804, 'X (804)', 12080, undefined, undefined)).toMatch(/cuda-compat/);
    expect(initReason(999, 'X (999)', 12080, undefined, undefined)).toMatch(/kernel module is not loaded/);
  });
});

describe('what a device says of itself', () => {
  it('has a PTX version that its driver reads', () => {
    expect(isaOf(13000)).toEqual([9, 0]);
    expect(isaOf(12040)).toEqual([8, 4]);
    expect(isaOf(12060)).toEqual([8, 5]);
    expect(isaOf(11000)).toEqual([7, 0]);
    // One that is newer than this table reads what the newest in it does.
    expect(isaOf(15000)).toEqual([9, 1]);
  });

  it('has a bus id as nvidia-smi has it', () => {
    expect(pciBusId(0, 0x3b, 0)).toBe('0000:3b:00.0');
  });
});
