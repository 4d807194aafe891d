/**
 * A command: filters for PNG files.
 *
 *     npx tsx examples/apps/picture.ts blur --radius 4 photograph.png blurred.png
 *     npx tsx examples/apps/picture.ts edges photograph.png edges.png
 */
import { parseArgs } from 'node:util';
import { cuda, type f32, type In, type Mat, ndarray } from '../../src/index.ts';
import { type Picture, readPng, writePng } from '../tour/png.ts';

const USAGE = `picture FILTER [--radius n] INPUT.png OUTPUT.png
filters: blur (of --radius pixels, 3), edges, grey`;

type Plane = Mat<f32>;

/** The mean of a row's neighbours: a blur along one axis, which is done along both. */
const blurRows = cuda.jit((from: In<Plane>, to: Plane, radius: number) => {
  const [x, y] = cuda.grid(2);
  if (y >= to.shape[0] || x >= to.shape[1]) return;
  let [sum, count] = [0, 0];
  for (let k = Math.max(0, x - radius); k <= Math.min(to.shape[1] - 1, x + radius); k++) {
    sum += from[y][k];
    count++;
  }
  to[y][x] = sum / count;
});

/** Sobel's operator. */
const slopes = cuda.jit((from: In<Plane>, to: Plane) => {
  const [x, y] = cuda.grid(2);
  if (y >= to.shape[0] || x >= to.shape[1]) return;
  const at = (dy: number, dx: number): number =>
    from[Math.min(Math.max(y + dy, 0), to.shape[0] - 1)][Math.min(Math.max(x + dx, 0), to.shape[1] - 1)];
  const across = at(-1, 1) + 2 * at(0, 1) + at(1, 1) - at(-1, -1) - 2 * at(0, -1) - at(1, -1);
  const down = at(1, -1) + 2 * at(1, 0) + at(1, 1) - at(-1, -1) - 2 * at(-1, 0) - at(-1, 1);
  to[y][x] = Math.hypot(across, down);
});

/** Grey levels from 0 to 255, on the device. */
function greyOf({ width, height, channels, data }: Picture) {
  const colours = Math.min(channels, 3);
  const grey = Float32Array.from({ length: width * height }, (_, at) => {
    let sum = 0;
    for (let c = 0; c < colours; c++) sum += data[at * channels + c] as number;
    return sum / colours;
  });
  return cuda.toDevice(ndarray(grey, { shape: [height, width] }));
}

function filtered(picture: Picture, filter: string, radius: number): Picture {
  const { width, height } = picture;
  const threads = [width, height] as const;
  const grey = greyOf(picture);
  const other = cuda.deviceArrayLike(grey);
  if (filter === 'edges') slopes.launch({ threads }, grey, other);
  else if (filter === 'grey') other.copyToDevice(grey);
  else {
    blurRows.launch({ threads }, grey, other, radius);
    // Columns are the rows of the transposed arrays: views, of which nothing is copied.
    blurRows.launch({ threads: [height, width] }, other.T, grey.T, radius);
    other.copyToDevice(grey);
  }
  const data = Uint8ClampedArray.from(other.reshape(-1).copyToHost() as Float32Array);
  return { width, height, channels: 1, data };
}

function main(): void {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { radius: { type: 'string', default: '3' }, help: { type: 'boolean' } },
  });
  if (values.help) return console.log(USAGE);
  const [filter = '', input, output] = positionals;
  const radius = Number(values.radius);
  if (!['blur', 'edges', 'grey'].includes(filter) || input === undefined || output === undefined)
    throw new Error(USAGE);
  if (!Number.isInteger(radius) || radius < 1 || radius > 1000) throw new Error('--radius is a number from 1 to 1000');
  const picture = readPng(input);
  writePng(output, filtered(picture, filter, radius));
  console.log(
    `${picture.width} x ${picture.height} pixels, ${filter}, on ${cuda.currentDevice().name}; wrote ${output}`,
  );
}

try {
  main();
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
