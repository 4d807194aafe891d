import { expect, test } from 'vitest';
import { KernelError } from '../../errors.ts';
import type { Pos } from '../source.ts';
import { captureFunction } from './capture.ts';
import { type Diagnostic, fail } from './diagnostics.ts';

type AnyFunction = (...args: never[]) => unknown;

function report(pos: Pos, summary: string, diagnostic: Diagnostic = {}): KernelError {
  try {
    fail('K203', pos, summary, diagnostic);
  } catch (error) {
    if (error instanceof KernelError) return error;
    throw error;
  }
}

function at(fn: AnyFunction, mark: string, caller?: Pos): Pos {
  const { source } = captureFunction(fn);
  const start = source.text.indexOf(mark);
  return { source, start, end: start + mark.length, caller };
}

const lerp = (a: number, b: number) => {
  return a + (b - a) * 0.5;
};
const step = (y: number[], x: number[], n: number[]) => {
  y[0] = lerp(x[0] as number, 2);
  y[1] = (x[1] as number) + (n[1] as number);
};
// From a string, so that its lines are the same under every loader.
const made = new Function('return function made(y, x, n) {\n  y[i] = x[i] + n[i];\n\ty[i] = 1;\n}')() as AnyFunction;

test('the frame shows the line of this file', () => {
  const error = report(at(lerp as AnyFunction, 'a + (b'), 'cannot do that', { help: 'do this' });
  expect(error.message).toBe(`K203: cannot do that
  --> src/compiler/frontend/diagnostics.test.ts:25:10   in kernel "lerp"
   25 |   return a + (b - a) * 0.5;
      |          ^^^^^^
  help: do this`);
  expect(error).toMatchObject({ code: 'K203', summary: 'cannot do that', help: 'do this' });
  expect(error.location).toEqual({ file: new URL(import.meta.url).pathname, line: 25, column: 10 });
});

test('labels underline what they name', () => {
  const whole = at(made, 'x[i] + n[i]');
  const label = (mark: string, text: string) => {
    const start = whole.source.text.indexOf(mark);
    return { pos: { source: whole.source, start, end: start + mark.length }, text };
  };
  const { message } = report(whole, 'cannot add i32 and u32', {
    labels: [label('x[i]', 'i32'), label('n[i]', 'u32')],
    help: 'write x[i] + i32(n[i])',
  });
  expect(message).toBe(`K203: cannot add i32 and u32
  --> line 2:10   in kernel "made"
   2 |   y[i] = x[i] + n[i];
     |          ^^^^   ^^^^ u32
     |          i32
  help: write x[i] + i32(n[i])`);
});

test('a device function names its calls, with positions', () => {
  const call = at(step as AnyFunction, 'lerp(');
  const { message } = report(at(lerp as AnyFunction, 'b - a', call), 'no');
  expect(message).toBe(`K203: no
  --> src/compiler/frontend/diagnostics.test.ts:25:15   in function "lerp"
   25 |   return a + (b - a) * 0.5;
      |               ^^^^^
  called from src/compiler/frontend/diagnostics.test.ts:28:10   in kernel "step"
   28 |   y[0] = lerp(x[0] as number, 2);
      |          ^^^^^`);
});

test('long chains are counted', () => {
  let caller: Pos | undefined;
  for (let i = 0; i < 9; i++) caller = at(made, 'y[i]', caller);
  const { message } = report(at(made, 'x[i]', caller), 'no');
  expect(message.match(/called from/g)).toHaveLength(6);
  expect(message).toContain('… and 3 calls more');
});

test('a position where types were written falls on the same words', () => {
  const { location, message } = report(at(step as AnyFunction, 'n[1]'), 'no');
  expect(location).toMatchObject({ line: 29, column: 30 });
  expect(message).toContain('^^^^');
});

test('a kernel without a name is called what it is assigned to', () => {
  const cuda = { jit: (fn: (y: number[]) => void): AnyFunction => fn };
  const scale = cuda.jit((y) => {
    y[0] = 1;
  });
  const made = [cuda.jit((y) => void y)];
  expect(report(at(scale, 'y[0]'), 'no').message).toContain('in kernel "scale"');
  expect(report(at(made[0] as AnyFunction, 'void'), 'no').message).toContain('in a kernel\n');
});

test('very long lines are cropped around the caret', () => {
  const text = `return function bundled(y) { ${'y[0] = 1; '.repeat(400)} y[0] = mark; ${'y[0] = 2; '.repeat(400)}}`;
  const { message } = report(at(new Function(text)() as AnyFunction, 'mark'), 'no');
  const [, , line, carets] = message.split('\n');
  expect(line?.length).toBeLessThan(140);
  expect(line?.slice(carets?.indexOf('^'), (carets?.lastIndexOf('^') ?? 0) + 1)).toBe('mark');
});

test('a cause is kept', () => {
  const cause = new Error('deeper');
  expect(report(at(made, 'y'), 'no', { cause }).cause).toBe(cause);
});
