/**
 * The body of a function that runs in a page that has `cuda`: draws `frames` frames of an animation by a kernel on WebGPU, after fifty for warming up, each by `call`, and times what the calls take of
 * the main thread.
 */

export interface AnimationFrames {
  /** Of each frame: from before the launch to when `present` has returned. */
  readonly milliseconds: readonly number[];
  /** Of the canvas, at the end. */
  readonly pixels: readonly number[];
  /** The number of the last frame. */
  readonly last: number;
  /** Calls of `queue.submit` for the last frame, before anybody waited. */
  readonly submissions: number;
}

export const ANIMATION = `
  const paint = cuda.jit((picture, frame) => {
    const [x, y] = cuda.grid(2);
    const [rows, columns] = picture.shape;
    if (x < columns && y < rows) picture[y][x] = 0xff000000 + (frame % 256) * 256 + (x % 256);
  });
  await cuda.open('webgpu');
  const canvas = document.body.appendChild(Object.assign(document.createElement('canvas'), { width: 320, height: 200 }));
  const picture = cuda.deviceArray([200, 320], 'u32');
  const shape = { threads: [320, 200] };
  const frameNumber = (n) => cuda.scalar('u32', n);
  await paint.launchAsync(shape, picture, frameNumber(0));
  await cuda.present(picture, canvas);
  let submissions = 0;
  const milliseconds = [];
  const last = frames + 50;
  // Tsamba has taken the function of the queue already: what it encodes is counted, one encoder for each submission.
  const finish = GPUCommandEncoder.prototype.finish;
  GPUCommandEncoder.prototype.finish = function (...given) { submissions++; return finish.apply(this, given); };
  await new Promise((resolve, reject) => {
    let n = 0;
    const frame = async () => {
      try {
        n++;
        submissions = 0;
        const began = performance.now();
        const painted = paint[call](shape, picture, frameNumber(n));
        const shown = cuda.present(picture, canvas);
        const took = performance.now() - began;
        const counted = submissions;
        if (n > 50) milliseconds.push(took);
        await shown;
        await painted;
        submissions = counted;
        if (n < last) requestAnimationFrame(frame);
        else resolve();
      } catch (error) { reject(error); }
    };
    requestAnimationFrame(frame);
  });
  GPUCommandEncoder.prototype.finish = finish;
  await cuda.present(picture, canvas);
  const plain = new OffscreenCanvas(320, 200).getContext('2d');
  plain.drawImage(canvas, 0, 0);
  const pixels = Array.from(plain.getImageData(0, 0, 320, 1).data);
  return { milliseconds, pixels, last, submissions };`;
