/**
 * Texts that several commands print.
 */

/** Two columns. */
export function rowsText(rows: readonly (readonly [string, string])[], indent = ''): string {
  const width = Math.max(0, ...rows.map(([name]) => name.length));
  return rows.map(([name, text]) => `${indent}${name.padEnd(width)}  ${text}`).join('\n');
}

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** `139.8 GiB`. */
export function bytesText(bytes: number): string {
  const step = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** step;
  return `${step === 0 ? value : value.toFixed(1)} ${UNITS[step]}`;
}

/** A number to at least so many significant digits, without an exponent: `2150` where `toPrecision(3)` gives `2.15e+3`. */
export function digitsText(value: number, digits: number): string {
  const text = value.toPrecision(digits);
  return text.includes('e+') ? value.toFixed(0) : text;
}
