/**
 * Natural kernels of formats: compression, encodings, parsers and generators of random numbers as they are found on the web.
 */
import { bytes, integers, type Programs, program, text } from './program.ts';

/** Places of up to 16 bytes for each line. */
const lines = (list: readonly string[], width = 16): Uint8Array => {
  const out = new Uint8Array(list.length * width);
  list.forEach((line, k) => {
    out.set(text(line), k * width);
  });
  return out;
};

const EXPRESSIONS = ['1+2*3', '(1+2)*3', '2*(3+4)*5', '10-4-3', '((7))', '8*8-1', '100/7', '-3+5'];

export const codecs: Programs = {
  'varints of protocol buffers': program(
    16,
    [integers(16, 0, 2 ** 30), new Uint8Array(16 * 5), new Int32Array(16)],
    (i, values, out, lengths) => {
      let v = values[i] >>> 0;
      let n = 0;
      while (v > 0x7f) {
        out[5 * i + n++] = (v & 0x7f) | 0x80;
        v >>>= 7;
      }
      out[5 * i + n++] = v;
      lengths[i] = n;
    },
  ),

  'words of the other byte order': program(10, [bytes(40)], (i, words) => {
    words.subarray(4 * i, 4 * i + 4).reverse();
  }),

  'zigzag, there and back': program(
    40,
    [integers(40, -1e9, 1e9), new Int32Array(40), new Int32Array(40)],
    (i, x, to, back) => {
      const z = (x[i] << 1) ^ (x[i] >> 31);
      to[i] = z;
      back[i] = (z >>> 1) ^ -(z & 1);
    },
  ),

  'LZ4 blocks, unpacked': program(
    2,
    [
      // Literals `abc`, a match 3 back of 9, then `xyz`; and `0123456789abcdef!`, a match 4 back of 6, and `.`.
      Uint8Array.of(
        0x35,
        97,
        98,
        99,
        3,
        0,
        0x30,
        120,
        121,
        122,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0xf2,
        2,
        ...text('0123456789abcdef!'),
        4,
        0,
        0x10,
        46,
      ),
      Int32Array.of(0, 10, 24, 47),
      new Uint8Array(64),
      new Int32Array(2),
    ],
    (i, src, ends, dst, lengths) => {
      let s = ends[2 * i];
      const end = ends[2 * i + 1];
      const start = i * 32;
      let d = start;
      while (s < end) {
        const token = src[s++];
        let length = token >> 4;
        if (length === 15) {
          let more: number;
          do {
            more = src[s++];
            length += more;
          } while (more === 255);
        }
        for (let k = 0; k < length; k++) dst[d++] = src[s++];
        if (s >= end) break;
        const offset = src[s] | (src[s + 1] << 8);
        s += 2;
        let match = (token & 15) + 4;
        if (match === 19) {
          let more: number;
          do {
            more = src[s++];
            match += more;
          } while (more === 255);
        }
        for (let from = d - offset; match-- > 0; ) dst[d++] = dst[from++];
      }
      lengths[i] = d - start;
    },
  ),

  'PackBits, unpacked': program(
    2,
    [Uint8Array.of(254, 170, 2, 128, 0, 42, 253, 170, 0, 7, 3, 1, 2, 3, 4, 129, 9, 128, 0, 5), new Uint8Array(300)],
    (i, src, dst) => {
      let d = i * 150;
      for (let s = i * 10; s < i * 10 + 10; ) {
        const n = (src[s++] << 24) >> 24;
        if (n >= 0) for (let k = 0; k <= n && s < 20; k++) dst[d++] = src[s++];
        else if (n !== -128) {
          const v = src[s++];
          for (let k = 0; k < 1 - n; k++) dst[d++] = v;
        }
      }
    },
  ),

  'QOI hashes and differences': program(
    30,
    [bytes(124), new Uint8Array(30), new Int8Array(90)],
    (i, px, slot, diff) => {
      const [r, g, b, a] = [px[4 * i], px[4 * i + 1], px[4 * i + 2], px[4 * i + 3]];
      slot[i] = (r * 3 + g * 5 + b * 7 + a * 11) % 64;
      const wrap = (x: number) => (x << 24) >> 24;
      diff[3 * i] = wrap(px[4 * i + 4] - r);
      diff[3 * i + 1] = wrap(px[4 * i + 5] - g);
      diff[3 * i + 2] = wrap(px[4 * i + 6] - b);
    },
  ),

  'base64, decoded by a switch of ranges': program(
    16,
    [text('VGhlIHF1aWNrIGJyb3duIGZveCBqdW1wcyBvdmVyIHRoZSBsYXp5IGRvZy4h+/+/'), new Uint8Array(48)],
    (i, s, out) => {
      const sextet = (c: number): number => {
        if (c >= 65 && c <= 90) return c - 65;
        if (c >= 97 && c <= 122) return c - 71;
        if (c >= 48 && c <= 57) return c + 4;
        return c === 43 ? 62 : 63;
      };
      let word = 0;
      for (const k of [0, 1, 2, 3]) word = (word << 6) | sextet(s[4 * i + k]);
      out[3 * i] = word >> 16;
      out[3 * i + 1] = word >> 8;
      out[3 * i + 2] = word;
    },
  ),

  'base58 of bytes': program(
    6,
    [bytes(24), new Uint8Array(36), text('123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz')],
    (i, from, to, alphabet) => {
      const digits = [0, 0, 0, 0, 0, 0];
      for (const byte of from.subarray(4 * i, 4 * i + 4)) {
        let carry = byte;
        for (let k = 0; k < digits.length; k++) {
          carry += digits[k] * 256;
          digits[k] = carry % 58;
          carry = Math.floor(carry / 58);
        }
      }
      digits.reverse();
      digits.forEach((d, k) => {
        to[6 * i + k] = alphabet[d];
      });
    },
  ),

  'a calculator of two stacks': program(
    EXPRESSIONS.length,
    [lines(EXPRESSIONS), new Int32Array(EXPRESSIONS.length)],
    (i, src, out) => {
      const values = new Int32Array(8);
      const ops = new Uint8Array(8);
      let [nv, no] = [0, 0];
      const rank = (op: number) => (op === 42 || op === 47 ? 2 : op === 43 || op === 45 ? 1 : 0);
      const apply = () => {
        const op = ops[--no];
        const b = values[--nv];
        const a = values[--nv];
        values[nv++] = op === 43 ? a + b : op === 45 ? a - b : op === 42 ? a * b : Math.trunc(a / b);
      };
      for (let k = 0; k < 16; k++) {
        const c = src[16 * i + k];
        if (c === 0) break;
        if (c >= 48 && c <= 57) {
          const digit = c - 48;
          const goesOn = k > 0 && src[16 * i + k - 1] >= 48 && src[16 * i + k - 1] <= 57;
          if (goesOn) values[nv - 1] = values[nv - 1] * 10 + digit;
          else values[nv++] = digit;
        } else if (c === 40) ops[no++] = c;
        else if (c === 41) {
          while (ops[no - 1] !== 40) apply();
          no--;
        } else {
          if (k === 0) values[nv++] = 0;
          while (no > 0 && rank(ops[no - 1]) >= rank(c)) apply();
          ops[no++] = c;
        }
      }
      while (no > 0) apply();
      out[i] = values[0];
    },
  ),

  'addresses of four bytes': program(
    5,
    [lines(['192.168.0.1', '10.0.0.255', '1.2.3', '256.1.1.1', '8.8.8.8']), new Uint32Array(5), new Uint8Array(5)],
    (i, src, out, valid) => {
      let [address, octet, digits, dots] = [0, 0, 0, 0];
      for (let k = 0; k <= 16; k++) {
        const c = k < 16 ? src[16 * i + k] : 0;
        if (c >= 48 && c <= 57) {
          octet = octet * 10 + c - 48;
          digits++;
        } else {
          if (digits === 0 || octet > 255) return;
          address = ((address << 8) | octet) >>> 0;
          octet = digits = 0;
          if (c !== 46) break;
          dots++;
        }
      }
      if (dots !== 3) return;
      out[i] = address;
      valid[i] = 1;
    },
  ),

  'brackets that match, with a stack': program(
    5,
    [lines(['([]{})', '([)]', '((', '', '{[()()]}']), new Uint8Array(5)],
    (i, src, ok) => {
      const stack: number[] = new Array(16).fill(0);
      let top = 0;
      for (const c of src.subarray(16 * i, 16 * i + 16)) {
        switch (c) {
          case 40:
          case 91:
          case 123:
            stack[top++] = c;
            break;
          case 41:
          case 93:
          case 125:
            if (top === 0 || c - stack[--top] > 2) return;
        }
      }
      if (top === 0) ok[i] = 1;
    },
  ),

  'glob patterns with stars': program(
    4,
    [lines(['*.ts', 'a?c*', 'src/*/x*', '*']), lines(['index.ts', 'abcdef', 'src/lib/y.js', '']), new Uint8Array(4)],
    (i, pattern, name, matches) => {
      const [p0, s0] = [16 * i, 16 * i];
      let [p, s, star, mark] = [0, 0, -1, 0];
      while (name[s0 + s] !== 0) {
        const c = pattern[p0 + p];
        if (c === 63 || c === name[s0 + s]) {
          p++;
          s++;
        } else if (c === 42) {
          star = p++;
          mark = s;
        } else if (star >= 0) {
          p = star + 1;
          s = ++mark;
        } else return;
      }
      while (pattern[p0 + p] === 42) p++;
      matches[i] = pattern[p0 + p] === 0 ? 1 : 0;
    },
  ),

  'xorshift128+, with bigints': program(8, [new BigUint64Array(8), new BigUint64Array([1n, 2n])], (i, out, seed) => {
    let s1 = seed[0] + BigInt(i);
    let s0 = seed[1];
    let sum = 0n;
    for (let k = 0; k < 5; k++) {
      const x = s1;
      s1 = s0;
      const t = BigInt.asUintN(64, x ^ (x << 23n));
      s0 = t ^ s1 ^ (t >> 17n) ^ (s1 >> 26n);
      sum = BigInt.asUintN(64, sum + s0 + s1);
    }
    out[i] = sum;
  }),

  'sfc32 of a closure': program(12, [new Float64Array(12)], (i, out) => {
    const sfc32 = (a: number, b: number, c: number, d: number) => () => {
      const t = (((a + b) | 0) + d) | 0;
      d = (d + 1) | 0;
      a = b ^ (b >>> 9);
      b = (c + (c << 3)) | 0;
      c = (c << 21) | (c >>> 11);
      c = (c + t) | 0;
      return (t >>> 0) / 4294967296;
    };
    const random = sfc32(0x9e3779b9, 0x243f6a88, 0xb7e15162, i ^ 0xdeadbeef);
    for (let k = 0; k < 15; k++) random();
    out[i] = random();
  }),

  'sip hash, a round of its own': program(6, [new BigUint64Array(6), new BigUint64Array([7n, 13n])], (i, out, key) => {
    const rotl = (x: bigint, n: bigint) => BigInt.asUintN(64, (x << n) | (x >> (64n - n)));
    const v = [
      key[0] ^ 0x736f6d6570736575n,
      key[1] ^ 0x646f72616e646f6dn,
      key[0] ^ 0x6c7967656e657261n,
      key[1] ^ 0x7465646279746573n,
    ];
    v[3] ^= BigInt(i);
    for (let round = 0; round < 2; round++) {
      v[0] = BigInt.asUintN(64, v[0] + v[1]);
      v[1] = rotl(v[1], 13n) ^ v[0];
      v[0] = rotl(v[0], 32n);
      v[2] = BigInt.asUintN(64, v[2] + v[3]);
      v[3] = rotl(v[3], 16n) ^ v[2];
      v[0] = BigInt.asUintN(64, v[0] + v[3]);
      v[3] = rotl(v[3], 21n) ^ v[0];
      v[2] = BigInt.asUintN(64, v[2] + v[1]);
      v[1] = rotl(v[1], 17n) ^ v[2];
      v[2] = rotl(v[2], 32n);
    }
    out[i] = v[0] ^ v[1] ^ v[2] ^ v[3];
  }),
};
