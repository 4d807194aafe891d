/**
 * Natural kernels of bytes and texts: encodings, checksums, searching, dates.
 */
import { bytes, integers, type Programs, program, text } from './program.ts';

const LINE = text('The quick brown fox jumps over the lazy dog; the DOG sleeps. 0123456789 +-*/ !');
const BASE64 = text('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/');

const isUpper = (c: number): boolean => c >= 65 && c <= 90;
const isLetter = (c: number): boolean => isUpper(c & ~32);

export const byteKernels: Programs = {
  'lower case': program(LINE.length, [LINE], (i, s) => {
    if (isUpper(s[i])) s[i] += 32;
  }),

  rot13: program(LINE.length, [LINE], (i, s) => {
    const c = s[i];
    if (!isLetter(c)) return;
    const base = c < 97 ? 65 : 97;
    s[i] = ((c - base + 13) % 26) + base;
  }),

  vigenere: program(LINE.length, [LINE, text('LEMON')], (i, s, key) => {
    if (isLetter(s[i])) s[i] = 65 + (((s[i] & 31) - 1 + (key[i % key.length] - 65)) % 26);
  }),

  base64: program(20, [bytes(60), new Uint8Array(80), BASE64], (i, from, to, alphabet) => {
    const [a, b, c] = [from[3 * i], from[3 * i + 1], from[3 * i + 2]];
    const word = (a << 16) | (b << 8) | c;
    for (let k = 0; k < 4; k++) to[4 * i + k] = alphabet[(word >> (18 - 6 * k)) & 63];
  }),

  'hex, by characters': program(30, [bytes(30), new Uint8Array(60)], (i, from, to) => {
    const digit = (v: number) => (v < 10 ? 48 + v : 97 + v - 10);
    to[2 * i] = digit(from[i] >> 4);
    to[2 * i + 1] = digit(from[i] & 15);
  }),

  'a naive search': program(LINE.length, [LINE, text('the'), new Uint8Array(LINE.length)], (i, s, word, found) => {
    if (i + word.length > s.length) return;
    for (let k = 0; k < word.length; k++) {
      if (s[i + k] !== word[k]) return;
    }
    found[i] = 1;
  }),

  'a search with a label': program(LINE.length, [LINE, new Int32Array(LINE.length)], (i, s, next) => {
    let at = -1;
    search: for (let k = i; k < s.length; k++) {
      for (const v of [97, 101, 105, 111, 117]) {
        if (s[k] === v) {
          at = k;
          break search;
        }
      }
    }
    next[i] = at;
  }),

  'words begin': program(LINE.length, [LINE, new Uint8Array(LINE.length)], (i, s, begins) => {
    begins[i] = isLetter(s[i]) && (i === 0 || !isLetter(s[i - 1])) ? 1 : 0;
  }),

  'vowels, with includes': program(LINE.length, [LINE, new Uint8Array(LINE.length)], (i, s, vowel) => {
    const vowels = [97, 101, 105, 111, 117];
    vowel[i] = vowels.includes(s[i] | 32) ? 1 : 0;
  }),

  'luhn digits': program(
    12,
    [Uint8Array.from({ length: 12 * 16 }, (_, k) => (k * 7 + (k >> 3)) % 10), new Uint8Array(12)],
    (i, digits, valid) => {
      let sum = 0;
      for (let k = 0; k < 16; k++) {
        let d = digits[16 * i + 15 - k];
        if (k % 2 === 1) {
          d *= 2;
          if (d > 9) d -= 9;
        }
        sum += d;
      }
      valid[i] = sum % 10 === 0 ? 1 : 0;
    },
  ),

  'adler of blocks': program(6, [bytes(60), new Uint32Array(6)], (i, data, out) => {
    let a = 1;
    let b = 0;
    for (let k = 10 * i; k < 10 * (i + 1); k++) {
      a = (a + data[k]) % 65521;
      b = (b + a) % 65521;
    }
    out[i] = ((b << 16) | a) >>> 0;
  }),

  'fletcher of blocks': program(6, [bytes(60), new Uint16Array(6)], (i, data, out) => {
    let [lo, hi] = [0, 0];
    for (const byte of data.subarray(10 * i, 10 * i + 10)) {
      lo = (lo + byte) % 255;
      hi = (hi + lo) % 255;
    }
    out[i] = (hi << 8) | lo;
  }),

  'weekday of a date': program(40, [integers(40, 1900, 2100), new Uint8Array(40)], (i, years, weekday) => {
    const [month, day] = [(i % 12) + 1, (i % 28) + 1];
    const t = [0, 3, 2, 5, 0, 3, 5, 1, 4, 6, 2, 4];
    let y = years[i];
    if (month < 3) y -= 1;
    weekday[i] = (y + Math.floor(y / 4) - Math.floor(y / 100) + Math.floor(y / 400) + t[month - 1] + day) % 7;
  }),

  'leap years': program(60, [integers(60, 1800, 2400), new Uint8Array(60)], (i, years, leap) => {
    const y = years[i];
    leap[i] = (y % 4 === 0 && y % 100 !== 0) || y % 400 === 0 ? 1 : 0;
  }),

  'days from the epoch to a date': program(30, [integers(30, 0, 20000), new Int32Array(90)], (i, days, date) => {
    const z = days[i] + 719468;
    const era = Math.floor(z / 146097);
    const doe = z - era * 146097;
    const yoe = Math.floor((doe - Math.floor(doe / 1460) + Math.floor(doe / 36524) - Math.floor(doe / 146096)) / 365);
    const doy = doe - (365 * yoe + Math.floor(yoe / 4) - Math.floor(yoe / 100));
    const mp = Math.floor((5 * doy + 2) / 153);
    const month = mp < 10 ? mp + 3 : mp - 9;
    date[3 * i] = yoe + era * 400 + (month <= 2 ? 1 : 0);
    date[3 * i + 1] = month;
    date[3 * i + 2] = doy - Math.floor((153 * mp + 2) / 5) + 1;
  }),

  'numbers of a column of text': program(5, [text('  12 -407  993    0-9999'), new Int32Array(5)], (i, s, out) => {
    let value = 0;
    let sign = 1;
    for (let k = 0; k < 5; k++) {
      const c = i * 5 + k < s.length ? s[i * 5 + k] : 32;
      if (c === 45) sign = -1;
      else if (c >= 48 && c <= 57) value = value * 10 + (c - 48);
    }
    out[i] = sign * value;
  }),

  'run lengths': program(50, [bytes(50).map((v) => v >> 6), new Uint8Array(50)], (i, data, lengths) => {
    if (i > 0 && data[i - 1] === data[i]) return;
    let end = i + 1;
    while (end < data.length && data[end] === data[i]) end++;
    lengths[i] = end - i;
  }),

  'utf-8 to code points': program(1, [text('aé€😀z'), new Uint32Array(5)], (_, s, out) => {
    let k = 0;
    let n = 0;
    while (k < s.length) {
      const c = s[k];
      let size = 1;
      let point = c;
      if (c >= 0xf0) [size, point] = [4, c & 7];
      else if (c >= 0xe0) [size, point] = [3, c & 15];
      else if (c >= 0xc0) [size, point] = [2, c & 31];
      for (let j = 1; j < size; j++) point = (point << 6) | (s[k + j] & 63);
      out[n++] = point;
      k += size;
    }
  }),
};
