/**
 * Histogram equalisation of a photograph: the grey levels are counted, the counts summed up, and every pixel goes through the table that this makes.
 *
 *     npx tsx examples/equalise.ts [picture.png] [result.png]
 */
import { join } from 'node:path';
import { cuda, type In, type Mat, ndarray, type u8, type Vec } from '../src/index.ts';
import { bincount, inclusiveScan, reduce } from '../src/parallel/index.ts';
import { readPng, writePng } from './tour/png.ts';

const [path = join(import.meta.dirname, 'tour', 'coffee.png'), result = 'equalised.png'] = process.argv.slice(2);
const { width, height, channels, data } = readPng(path);
const pixels = cuda.toDevice(ndarray(data, { shape: [width * height, channels] }));

const toGrey = cuda.jit((pixels: In<Mat<u8>>, grey: Vec<u8>) => {
  const i = cuda.grid(1);
  if (i >= grey.length) return;
  const [red, green, blue] = [pixels[i][0], pixels[i][1], pixels[i][2]];
  grey[i] = (77 * red + 150 * green + 29 * blue) >> 8;
});

/** `below[level]`: how many pixels are not brighter. */
const spread = cuda.jit((grey: Vec<u8>, below: In<Vec<number>>) => {
  const i = cuda.grid(1);
  if (i >= grey.length) return;
  const darkest = below[0];
  grey[i] = Math.round((255 * (below[grey[i]] - darkest)) / Math.max(1, grey.length - darkest));
});

const grey = cuda.deviceArray(width * height, 'uint8');
toGrey.launch({ threads: grey.size }, pixels, grey);
const before = reduce(grey, 'sum') / grey.size;
const counts = bincount(grey, { length: 256 });
spread.launch({ threads: grey.size }, grey, inclusiveScan(counts, 'sum'));
const after = reduce(grey, 'sum') / grey.size;

writePng(result, { width, height, channels: 1, data: grey.copyToHost() });
console.log(
  `${width} x ${height} pixels, mean grey ${before.toFixed(1)} before, ${after.toFixed(1)} after; wrote ${result}`,
);
