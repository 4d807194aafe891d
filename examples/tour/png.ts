/**
 * PNG files, read and written with Node's own zlib: 8-bit gray, RGB and RGBA without interlacing, which is all the tour needs.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { deflateSync, inflateSync } from 'node:zlib';

export interface Picture<D = Uint8Array | Uint8ClampedArray> {
  readonly width: number;
  readonly height: number;
  /** 1 gray, 3 RGB, 4 RGBA. */
  readonly channels: 1 | 3 | 4;
  /** Rows from the top, `channels` bytes a pixel. */
  readonly data: D;
}

const SIGNATURE = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);
const COLOR_TYPE = { 1: 0, 3: 2, 4: 6 } as const;

/** Reads a PNG file. Throws an Error for kinds of PNG that the tour does not use. */
export function readPng(path: string): Picture<Uint8Array> {
  const file = readFileSync(path);
  if (SIGNATURE.some((b, k) => file[k] !== b)) throw new Error(`${path} is not a PNG file`);
  let width = 0;
  let height = 0;
  let channels: 1 | 3 | 4 = 3;
  const parts: Uint8Array[] = [];
  for (let at = 8; at < file.length; ) {
    const length = file.readUInt32BE(at);
    const type = file.toString('latin1', at + 4, at + 8);
    const body = file.subarray(at + 8, at + 8 + length);
    if (type === 'IHDR') {
      width = body.readUInt32BE(0);
      height = body.readUInt32BE(4);
      const color = body[9];
      channels = color === 0 ? 1 : color === 2 ? 3 : 4;
      if (body[8] !== 8 || body[12] !== 0 || (color !== 0 && color !== 2 && color !== 6))
        throw new Error(`${path} is not 8-bit gray, RGB or RGBA`);
    } else if (type === 'IDAT') parts.push(body);
    at += length + 12;
  }
  const raw = inflateSync(Buffer.concat(parts));
  const stride = width * channels;
  const data = new Uint8Array(stride * height);
  for (let y = 0; y < height; y++) unfilter(raw, y * (stride + 1), data, y * stride, stride, channels, y === 0);
  return { width, height, channels, data };
}

/** Undoes the filter of one row (PNG specification, section 9). */
function unfilter(
  raw: Uint8Array,
  from: number,
  out: Uint8Array,
  to: number,
  stride: number,
  channels: number,
  first: boolean,
): void {
  const filter = raw[from];
  for (let x = 0; x < stride; x++) {
    const left = x >= channels ? out[to + x - channels] : 0;
    const up = first ? 0 : out[to + x - stride];
    const corner = first || x < channels ? 0 : out[to + x - stride - channels];
    let guess = 0;
    if (filter === 1) guess = left;
    else if (filter === 2) guess = up;
    else if (filter === 3) guess = (left + up) >> 1;
    else if (filter === 4) {
      const p = left + up - corner;
      const [a, b, c] = [Math.abs(p - left), Math.abs(p - up), Math.abs(p - corner)];
      guess = a <= b && a <= c ? left : b <= c ? up : corner;
    }
    out[to + x] = raw[from + 1 + x] + guess;
  }
}

/** Writes a PNG file and returns its size in bytes. */
export function writePng(path: string, picture: Picture): number {
  const { width, height, channels, data } = picture;
  const stride = width * channels;
  const raw = Buffer.alloc((stride + 1) * height);
  for (let y = 0; y < height; y++) raw.set(data.subarray(y * stride, (y + 1) * stride), y * (stride + 1) + 1);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, COLOR_TYPE[channels], 0, 0, 0], 8);
  const file = Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(raw, { level: 6 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
  writeFileSync(path, file);
  return file.length;
}

function chunk(type: string, body: Buffer): Buffer {
  const out = Buffer.alloc(body.length + 12);
  out.writeUInt32BE(body.length, 0);
  out.write(type, 4, 'latin1');
  out.set(body, 8);
  out.writeUInt32BE(crc(out.subarray(4, 8 + body.length)), 8 + body.length);
  return out;
}

const CRC = Uint32Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  return c;
});

function crc(bytes: Uint8Array): number {
  let c = 0xffffffff;
  for (const b of bytes) c = CRC[(c ^ b) & 255] ^ (c >>> 8);
  return (c ^ 0xffffffff) >>> 0;
}
