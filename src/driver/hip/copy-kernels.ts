/**
 * Strided copies and fills on a HIP device, and copies of blocks between host and device.
 *
 * The kernels are those of OpenCL in HIP C++, all in one module: the compiler is a process, and starting it takes longest. A thread
 * takes every n-th unit: index → (quotient, remainder) by multiplication (`divider` in copies/launches.ts), remainder × stride added
 * to both addresses. The parameters come by value, as `pack` writes them.
 */
import type { Block } from '../copies/blocks.ts';
import { MAX_AXES, UNITS, type Unit } from '../copies/launches.ts';
import type { BlockSide, CopyPlatform } from '../cuda-api/copies/device.ts';
import { entryName } from '../cuda-api/copies/kernel-runner.ts';
import type { Hip } from './library.ts';

/** HIP_LAUNCH_PARAM_END. */
export const END_OF_EXTRA = 3n;

/** hipMemcpyKind. */
const HOST_TO_DEVICE = 1;
const DEVICE_TO_HOST = 2;

const TYPES: Record<Unit, string> = {
  1: 'unsigned char',
  2: 'unsigned short',
  4: 'unsigned int',
  8: 'unsigned long',
  16: 'unit16_t',
};

/** The text of all copies and fills. */
export function copyText(): string {
  const kernels = UNITS.flatMap((unit) => [kernelText('copy', unit), kernelText('fill', unit)]);
  return `#define GLOBAL __attribute__((address_space(1)))
typedef unsigned int unit16_t __attribute__((ext_vector_type(4)));
struct axis_t { unsigned int n, multiplier, shift, unused; long t, s; };
struct parameters_t { unsigned long target, source; unsigned int count, rank; unsigned long unused; unit16_t pattern; axis_t axes[${MAX_AXES}]; };
${kernels.join('')}`;
}

function kernelText(kind: 'copy' | 'fill', unit: Unit): string {
  const type = TYPES[unit];
  const copies = kind === 'copy';
  return `
extern "C" __global__ void __launch_bounds__(256) ${entryName(kind, unit)}(const parameters_t p) {
${copies ? '' : `  union { unit16_t whole; ${type} unit; } pattern;\n  pattern.whole = p.pattern;\n`}\
  const unsigned int step = gridDim.x * blockDim.x;
  for (unsigned int i = blockIdx.x * blockDim.x + threadIdx.x; i < p.count; i += step) {
    unsigned long t = p.target${copies ? ', s = p.source' : ''};
    unsigned int rest = i;
    for (unsigned int a = 0; a < p.rank; a++) {
      const unsigned int high = (unsigned int)(((unsigned long)rest * p.axes[a].multiplier) >> 32);
      const unsigned int q = (high + rest) >> p.axes[a].shift;
      const long k = rest - q * p.axes[a].n;
      t += (unsigned long)(k * p.axes[a].t);
${copies ? '      s += (unsigned long)(k * p.axes[a].s);\n' : ''}      rest = q;
    }
    *(GLOBAL ${type} *)t = ${copies ? `*(const GLOBAL ${type} *)s` : 'pattern.unit'};
  }
}
`;
}

/** Copies by HIP; `compile` makes a code object of the kernels' text, once. */
export function hipCopies(hip: Hip, compile: (text: string) => Uint8Array): CopyPlatform {
  let code: Uint8Array | undefined;
  return {
    endOfExtra: END_OF_EXTRA,
    module() {
      code ??= compile(copyText());
      return code;
    },
    copyBlock: (block, to, from, on) => copyBlock(hip, block, to, from, on),
  };
}

/** Layer by layer: the struct of HIP's copies in three dimensions is not the same in all versions. */
function copyBlock(hip: Hip, block: Block, to: BlockSide, from: BlockSide, on: number): number {
  const kind = to.memory === 'device' ? HOST_TO_DEVICE : DEVICE_TO_HOST;
  const { width, height, depth, tPitch, sPitch, tHeight, sHeight } = block;
  for (let layer = 0; layer < depth; layer++) {
    const target = to.address + layer * tPitch * tHeight;
    const source = from.address + layer * sPitch * sHeight;
    const result = hip.hipMemcpy2DAsync(target, tPitch, source, sPitch, width, height, kind, on);
    if (result !== 0) return result;
  }
  return 0;
}
