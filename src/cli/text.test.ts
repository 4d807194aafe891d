import { describe, expect, it } from 'vitest';
import { bytesText, digitsText, rowsText } from './text.ts';

describe('texts of commands', () => {
  it('write numbers without exponents', () => {
    const texts = [0.41234, 8.2, 58.81, 999.4, 999.6, 2150, 123456].map((value) => digitsText(value, 3));
    expect(texts).toEqual(['0.412', '8.20', '58.8', '999', '1000', '2150', '123456']);
    expect(digitsText(116.2, 2)).toBe('116');
    expect(digitsText(0.079, 2)).toBe('0.079');
  });

  it('write sizes in the unit that fits', () => {
    expect([0, 512, 1536, 4 * 2 ** 20, 3 * 2 ** 40].map(bytesText)).toEqual([
      '0 bytes',
      '512 bytes',
      '1.5 KiB',
      '4.0 MiB',
      '3.0 TiB',
    ]);
  });

  it('align columns', () => {
    expect(
      rowsText(
        [
          ['a', 'x'],
          ['long', 'y'],
        ],
        ' ',
      ),
    ).toBe(' a     x\n long  y');
  });
});
