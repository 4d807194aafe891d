import { expect, it } from 'vitest';
import { hardwareOf } from './hardware.ts';

it.each([
  [{ vendor: 'google', architecture: 'swiftshader', description: 'SwiftShader Device (Subzero)' }, 'cpu', 'other'],
  [{ vendor: 'mesa', architecture: '', description: 'llvmpipe (LLVM 19.1.7, 256 bits)' }, 'cpu', 'other'],
  [{ vendor: 'microsoft', device: '0x008c', description: 'Microsoft Basic Render Driver' }, 'cpu', 'other'],
  [{ vendor: 'intel', architecture: 'gen-12lp', isFallbackAdapter: true }, 'cpu', 'other'],
  [{ vendor: 'nvidia', architecture: 'lovelace', isFallbackAdapter: false }, 'gpu', 'nvidia'],
  [{ vendor: 'amd', architecture: 'rdna-3' }, 'gpu', 'amd'],
  [{ vendor: 'intel', architecture: 'xe', description: 'Intel(R) Arc(TM) Graphics' }, 'gpu', 'intel'],
  [{ vendor: 'apple', architecture: 'metal-3' }, 'gpu', 'other'],
  [{ vendor: '', architecture: '', device: '', description: '' }, 'gpu', 'other'],
])('tells of %o that it is a %s', (info, type, vendor) => {
  expect(hardwareOf(info)).toEqual({ type, vendor });
});
