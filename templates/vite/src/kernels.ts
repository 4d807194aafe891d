import { cuda, type Mat, type u32 } from 'tsamba';

/** Rounds after which a point counts as inside. */
const ROUNDS = 200;

/** The Mandelbrot set around a point, as pixels: red, green, blue and alpha in the bytes of a u32. */
export const mandelbrot = cuda.jit((picture: Mat<u32>, centreX: number, centreY: number, width: number) => {
  const [x, y] = cuda.grid(2);
  const [rows, columns] = picture.shape;
  if (x >= columns || y >= rows) return;
  const step = width / columns;
  const re = centreX + (x - columns / 2) * step;
  const im = centreY + (y - rows / 2) * step;
  let a = 0;
  let b = 0;
  let round = 0;
  while (round < ROUNDS && a * a + b * b < 4) {
    const next = a * a - b * b + re;
    b = 2 * a * b + im;
    a = next;
    round++;
  }
  const shade = round === ROUNDS ? 0 : Math.trunc((255 * round) / ROUNDS);
  picture[y]![x] = 0xff000000 + shade * 0x10000 + Math.min(255, shade * 3) * 0x100 + Math.min(255, shade * 2);
});
