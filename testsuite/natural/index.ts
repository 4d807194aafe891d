/**
 * Chapters: natural kernels of many fields, each beside the JavaScript that it means.
 */
import { type ConformanceTest, chapter } from '../suite.ts';
import { algorithms } from './algorithms.ts';
import { buffers } from './buffers.ts';
import { byteKernels } from './bytes.ts';
import { choices } from './choices.ts';
import { codecs } from './codecs.ts';
import { games } from './games.ts';
import { geometry } from './geometry.ts';
import { images } from './images.ts';
import { physics } from './physics.ts';
import { signals } from './signals.ts';
import { statistics } from './statistics.ts';

export const natural: readonly ConformanceTest[] = [
  ...chapter('natural: images', images),
  ...chapter('natural: physics', physics),
  ...chapter('natural: statistics', statistics),
  ...chapter('natural: geometry', geometry),
  ...chapter('natural: bytes and texts', byteKernels),
  ...chapter('natural: formats', codecs),
  ...chapter('natural: games and sounds', games),
  ...chapter('natural: algorithms', algorithms),
  ...chapter('natural: buffers', buffers),
  ...chapter('natural: signals and graphs', signals),
  ...chapter('natural: choices and texts', choices),
];
