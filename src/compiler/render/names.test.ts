import { describe, expect, it } from 'vitest';
import { plainName } from './names.ts';

describe('names in generated code', () => {
  it('are those of the author where these are plain', () => {
    expect(plainName('saxpy')).toBe('saxpy');
    expect(plainName('a_1')).toBe('a_1');
    expect(plainName('k'.repeat(64))).toBe('k'.repeat(64));
  });

  it('have nothing but ASCII letters, digits, and what the language allows', () => {
    expect(plainName('größe')).toBe('gr__e');
    expect(plainName('𝑥y')).toBe('__y');
    expect(plainName('$a%b c')).toBe('_a_b_c');
    expect(plainName('$a%b c', '$')).toBe('$a_b_c');
  });

  it('are short, and differ where the long ones do', () => {
    const names = ['a', 'b', 'c'].map((last) => plainName(`${'k'.repeat(10_000)}${last}`));
    expect(new Set(names).size).toBe(3);
    for (const name of names) expect(name).toMatch(/^k{55}_[0-9a-f]{8}$/);
  });
});
