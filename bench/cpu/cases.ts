/**
 * All cases of the CPU benchmark, in the order of its table.
 */
import type { Case } from './case.ts';
import { arithmetic } from './kernels/arithmetic.ts';
import { collectives } from './kernels/collectives.ts';
import { coordinates } from './kernels/coordinates.ts';
import { images } from './kernels/images.ts';
import { integers } from './kernels/integers.ts';
import { irregular } from './kernels/irregular.ts';
import { linearAlgebra } from './kernels/linear-algebra.ts';
import { stencils } from './kernels/stencils.ts';
import { tables } from './kernels/tables.ts';
import { tiles } from './kernels/tiles.ts';

export const cases: readonly Case[] = [
  ...linearAlgebra,
  ...stencils,
  ...images,
  ...collectives,
  ...tiles,
  ...tables,
  ...irregular,
  ...coordinates,
  ...arithmetic,
  ...integers,
];
