/**
 * PTX of kernels for an architecture that is named, without a device: what `inspect({ target: 'ptx', arch: 'sm_90' })` shows.
 */
import { describe } from '../../compiler/frontend/positions.ts';
import { TsambaRangeError } from '../../errors.ts';
import type { OfflineCode } from '../driver.ts';
import { kernelLabel } from '../launch-errors.ts';
import { ptxPipeline } from './compile.ts';

/** The architecture where none is named. */
const USUAL = 'sm_90';
const [OLDEST, NEWEST] = [50, 129];
/** CUDA 13.0. The text names an older version where that is enough. */
const ISA: readonly [number, number] = [9, 0];

/** PTX, as an NVIDIA device compiles kernels unless told otherwise. */
export const ptxCode: OfflineCode = {
  target: 'ptx',
  usualArch: USUAL,
  checkedByDefault: false,
  contractByDefault: true,
  show({ kernel, launchBounds, minBlocks, cluster, maxRegisters, lineInfo }, arch = USUAL) {
    const capability = Number(/^sm_(\d{2,3})[af]?$/.exec(arch)?.[1]);
    if (!(capability >= OLDEST && capability <= NEWEST)) {
      throw new TsambaRangeError(
        'E_OPTION',
        `arch must be an NVIDIA architecture from sm_${OLDEST} on, such as '${USUAL}', got '${arch}'`,
      );
    }
    const lines = lineInfo ? describe : undefined;
    const options = {
      name: kernelLabel(kernel),
      aliased: false,
      launchBounds,
      minBlocks,
      cluster,
      maxRegisters,
      lines,
    };
    return ptxPipeline.compile(kernel, { capability, isa: ISA }, options).text;
  },
};
