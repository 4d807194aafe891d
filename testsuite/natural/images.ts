/**
 * Natural kernels of images: pixels of canvases, filters, colours.
 */
import { bytes, floats, type Programs, program } from './program.ts';

const WIDTH = 24;
const HEIGHT = 17;
const PIXELS = WIDTH * HEIGHT;
const rgba = (): Uint8ClampedArray => Uint8ClampedArray.from(bytes(4 * PIXELS));

interface Rgb {
  r: number;
  g: number;
  b: number;
}

function luma({ r, g, b }: Rgb): number {
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function clamp(v: number, low: number, high: number): number {
  return Math.min(Math.max(v, low), high);
}

function hsvToRgb(h: number, s: number, v: number): [number, number, number] {
  const c = v * s;
  const x = c * (1 - Math.abs(((h / 60) % 2) - 1));
  const m = v - c;
  let [r, g, b] = [0, 0, 0];
  if (h < 60) [r, g] = [c, x];
  else if (h < 120) [r, g] = [x, c];
  else if (h < 180) [g, b] = [c, x];
  else if (h < 240) [g, b] = [x, c];
  else if (h < 300) [r, b] = [x, c];
  else [r, b] = [c, x];
  return [r + m, g + m, b + m];
}

export const images: Programs = {
  'greyscale of a canvas': program(PIXELS, [rgba()], (i, pixels) => {
    const p = 4 * i;
    const grey = luma({ r: pixels[p], g: pixels[p + 1], b: pixels[p + 2] });
    pixels[p] = pixels[p + 1] = pixels[p + 2] = grey;
  }),

  'invert in place': program(PIXELS, [rgba()], (i, pixels) => {
    for (let c = 0; c < 3; c++) pixels[4 * i + c] = 255 - pixels[4 * i + c];
  }),

  'sepia by a table of tables': program(
    PIXELS,
    [rgba()],
    (i, pixels) => {
      const tone = [
        [0.393, 0.769, 0.189],
        [0.349, 0.686, 0.168],
        [0.272, 0.534, 0.131],
      ];
      const from = [pixels[4 * i], pixels[4 * i + 1], pixels[4 * i + 2]];
      for (let c = 0; c < 3; c++) {
        let sum = 0;
        for (let k = 0; k < 3; k++) sum += tone[c][k] * from[k];
        pixels[4 * i + c] = sum;
      }
    },
    0.02,
  ),

  'brightness and contrast, clamped by hand': program(
    PIXELS,
    [bytes(PIXELS), 1.3, 12],
    (i, pixels, contrast, offset) => {
      pixels[i] = clamp(Math.round((pixels[i] - 128) * contrast + 128 + offset), 0, 255);
    },
  ),

  'threshold with a ternary': program(PIXELS, [bytes(PIXELS), bytes(PIXELS)], (i, from, to) => {
    to[i] = from[i] > 127 ? 255 : 0;
  }),

  'box blur that stays inside': program(
    PIXELS,
    [floats(PIXELS), new Float32Array(PIXELS), WIDTH, HEIGHT, 2],
    (i, from, to, width, height, radius) => {
      const x = i % width;
      const y = Math.floor(i / width);
      let sum = 0;
      let count = 0;
      for (let dy = -radius; dy <= radius; dy++) {
        for (let dx = -radius; dx <= radius; dx++) {
          if (x + dx < 0 || x + dx >= width || y + dy < 0 || y + dy >= height) continue;
          sum += from[(y + dy) * width + x + dx];
          count++;
        }
      }
      to[i] = sum / count;
    },
  ),

  'sobel with two small matrices': program(PIXELS, [floats(PIXELS), new Float32Array(PIXELS)], (i, from, to) => {
    const gx = [-1, 0, 1, -2, 0, 2, -1, 0, 1];
    const gy = [-1, -2, -1, 0, 0, 0, 1, 2, 1];
    const x = i % WIDTH;
    const y = (i / WIDTH) | 0;
    if (x === 0 || y === 0 || x === WIDTH - 1 || y === HEIGHT - 1) return;
    let sx = 0;
    let sy = 0;
    for (let k = 0; k < 9; k++) {
      const v = from[(y + ((k / 3) | 0) - 1) * WIDTH + x + (k % 3) - 1];
      sx += gx[k] * v;
      sy += gy[k] * v;
    }
    to[i] = Math.sqrt(sx * sx + sy * sy);
  }),

  'a colour wheel': program(PIXELS, [new Uint8ClampedArray(4 * PIXELS)], (i, pixels) => {
    const x = (i % WIDTH) - WIDTH / 2;
    const y = Math.floor(i / WIDTH) - HEIGHT / 2;
    const angle = (Math.atan2(y, x) * 180) / Math.PI + 180;
    const [r, g, b] = hsvToRgb(angle % 360, Math.min(1, Math.hypot(x, y) / 8), 1);
    // The angles where a colour turns are left out: there a rounding decides.
    if (Math.abs((angle / 60) % 1) < 1e-3) return;
    pixels[4 * i] = r > 0.5 ? 255 : 0;
    pixels[4 * i + 1] = g > 0.5 ? 255 : 0;
    pixels[4 * i + 2] = b > 0.5 ? 255 : 0;
    pixels[4 * i + 3] = 255;
  }),

  'alpha over': program(PIXELS, [floats(4 * PIXELS), floats(4 * PIXELS)], (i, below, above) => {
    const at = i * 4;
    const alpha = above[at + 3];
    for (let c = 0; c < 3; c++) below[at + c] = above[at + c] * alpha + below[at + c] * (1 - alpha);
    below[at + 3] = alpha + below[at + 3] * (1 - alpha);
  }),

  'packed pixels of 32 bits': program(PIXELS, [Uint32Array.from(bytes(PIXELS), (v) => v * 0x01010101)], (i, pixels) => {
    const pixel = pixels[i];
    const r = pixel & 0xff;
    const g = (pixel >> 8) & 0xff;
    const b = (pixel >> 16) & 0xff;
    pixels[i] = (255 << 24) | (r << 16) | (g << 8) | (b ^ 0x80);
  }),

  'bilinear resize': program(40 * 30, [floats(PIXELS), new Float32Array(40 * 30)], (i, from, to) => {
    const u = ((i % 40) / 39) * (WIDTH - 1);
    const v = (Math.floor(i / 40) / 29) * (HEIGHT - 1);
    const x0 = Math.floor(u);
    const y0 = Math.floor(v);
    const x1 = Math.min(x0 + 1, WIDTH - 1);
    const y1 = Math.min(y0 + 1, HEIGHT - 1);
    const at = (x: number, y: number) => from[y * WIDTH + x];
    const mix = (a: number, b: number, t: number) => a + (b - a) * t;
    to[i] = mix(mix(at(x0, y0), at(x1, y0), u - x0), mix(at(x0, y1), at(x1, y1), u - x0), v - y0);
  }),

  'ordered dither by a matrix of four rows': program(
    PIXELS,
    [floats(PIXELS), new Uint8Array(PIXELS)],
    (i, from, to) => {
      const bayer = [
        [0, 8, 2, 10],
        [12, 4, 14, 6],
        [3, 11, 1, 9],
        [15, 7, 13, 5],
      ];
      const x = i % WIDTH;
      const y = Math.floor(i / WIDTH);
      to[i] = from[i] > (bayer[y % 4][x % 4] + 0.5) / 16 ? 1 : 0;
    },
  ),

  'mirror and rotate': program(PIXELS, [bytes(PIXELS), new Uint8Array(PIXELS)], (i, from, to) => {
    const [x, y] = [i % WIDTH, Math.floor(i / WIDTH)];
    to[x * HEIGHT + (HEIGHT - 1 - y)] = from[i];
  }),

  'gamma, through a table of the kernel': program(PIXELS, [bytes(PIXELS), new Float32Array(PIXELS)], (i, from, to) => {
    const c = from[i] / 255;
    to[i] = c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  }),
};
