/**
 * Makes docs/images/tour.png, a strip of the pictures that the tour writes: `npx tsx examples/tour/montage.ts FOLDER [target.png]`,
 * where FOLDER is what the tour was given. Each picture is cut to a square around its middle and scaled down.
 */
import { join } from 'node:path';
import { type Picture, readPng, writePng } from './png.ts';

const SIDE = 216;
const GAP = 8;
/** GitHub's pages are light or dark: between the pictures stands a middle gray. */
const BACKGROUND = 128;

const root = join(import.meta.dirname, '../..');
const [folder, target = join(root, 'docs/images/tour.png')] = process.argv.slice(2);
if (folder === undefined) throw new Error('usage: npx tsx examples/tour/montage.ts FOLDER [target.png]');

const pictures = [
  join(root, 'examples/tour/coffee.png'),
  ...['coffee-blurred.png', 'coffee-edges.png', 'mandelbrot.png', 'heat.png'].map((name) => join(folder, name)),
].map(readPng);

const width = pictures.length * SIDE + (pictures.length - 1) * GAP;
const data = new Uint8Array(width * SIDE * 3).fill(BACKGROUND);
pictures.forEach((picture, k) => {
  for (let y = 0; y < SIDE; y++) {
    for (let x = 0; x < SIDE; x++) {
      for (let c = 0; c < 3; c++) data[(y * width + k * (SIDE + GAP) + x) * 3 + c] = mean(picture, x, y, c);
    }
  }
});
const bytes = writePng(target, { width, height: SIDE, channels: 3, data });
console.log(`wrote ${target} (${width}×${SIDE}, ${Math.round(bytes / 1024)} KiB)`);

/** The mean colour of the square of the picture that becomes one pixel. */
function mean({ width, height, channels, data }: Picture, x: number, y: number, c: number): number {
  const side = Math.min(width, height);
  const from = (at: number, whole: number) => Math.floor((whole - side) / 2 + (at * side) / SIDE);
  const channel = channels === 1 ? 0 : c;
  let sum = 0;
  let count = 0;
  for (let v = from(y, height); v < Math.max(from(y + 1, height), from(y, height) + 1); v++) {
    for (let u = from(x, width); u < Math.max(from(x + 1, width), from(x, width) + 1); u++) {
      sum += data[(v * width + u) * channels + channel];
      count++;
    }
  }
  return Math.round(sum / count);
}
