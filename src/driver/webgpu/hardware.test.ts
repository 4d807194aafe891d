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
  // As Deno says it.
  [{ vendor: '4318', device: '9009', description: 'NVIDIA H200', isFallbackAdapter: false }, 'gpu', 'nvidia'],
  [{ vendor: '4098', architecture: '', device: '29772', description: 'AMD Radeon RX 7900' }, 'gpu', 'amd'],
  [{ vendor: '32902', device: '22176', description: 'Intel(R) Arc(tm) Graphics' }, 'gpu', 'intel'],
  [{ vendor: '65541', device: '0', description: 'llvmpipe (LLVM 15.0.6)', isFallbackAdapter: true }, 'cpu', 'other'],
  [{ vendor: 'apple', architecture: 'metal-3' }, 'gpu', 'other'],
  [{ vendor: '', architecture: '', device: '', description: '' }, 'gpu', 'other'],
])('tells of %o that it is a %s', (info, type, vendor) => {
  expect(hardwareOf(info)).toEqual({ type, vendor });
});
