/**
 * One tree for one text; a tree that is changed is nobody else's.
 */
import { describe, expect, it } from 'vitest';
import { captureFunction } from './capture.ts';
import { syntaxOf } from './syntax.ts';

const scaled = (gain: number) => (y: number[]) => {
  y[0] = gain;
};

describe('syntax trees', () => {
  it('are shared by the functions of one factory, whose captured values differ', () => {
    const [one, two] = [captureFunction(scaled(1) as never), captureFunction(scaled(2) as never)];
    expect(one.node).toBe(two.node);
    expect([one, two].map(({ captures }) => captures.get('gain'))).toEqual([
      { found: true, value: 1 },
      { found: true, value: 2 },
    ]);
  });

  it('are left alone where output for ES5 is taken back', () => {
    const text =
      'function (a) { var b = arguments.length > 1 && arguments[1] !== undefined ? arguments[1] : 3; a[0] = b; }';
    const fn = new Function(`return ${text}`)() as (...args: never[]) => unknown;
    const plain = syntaxOf({ text: fn.toString(), name: 'f' });
    const read = captureFunction(fn);
    expect(read.node).not.toBe(plain.node);
    expect(read.node.params).toHaveLength(2);
    expect(plain.node.params).toHaveLength(1);
  });

  it('are not kept without end', () => {
    const first = syntaxOf({ text: '(a) => a', name: 'f' });
    expect(syntaxOf({ text: '(a) => a', name: 'g' })).toBe(first);
    for (let k = 0; k < 100; k++) syntaxOf({ text: `(a) => a + ${k}`, name: 'f' });
    expect(syntaxOf({ text: '(a) => a', name: 'f' })).not.toBe(first);
  });
});
