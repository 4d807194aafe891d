/**
 * What is wrong in calls about memory, options and parts of values: the words, and what to write instead.
 */
import { expect, it } from 'vitest';
import { cuda } from '../cuda/index.ts';
import { c64, f32, i32 } from '../dtype/index.ts';
import { type RefusalCase as Case, compileFor } from './testing.ts';

type V = { [k: number]: number; length: number };
type M = { [k: number]: V };

const bytes = new Uint8Array(8);
const ints = new Int32Array(4);
const vec = new Float32Array(4);

const cases: readonly Case[] = [
  {
    what: 'an atomic on bytes seen as words, which may begin anywhere',
    fn: (a: { view(of: unknown): never }) => {
      cuda.atomic.add(a.view(i32), 0, 1);
    },
    args: [bytes],
    code: 'K337',
    message: /a may lie anywhere: cuda\.atomic\.add of i32 needs an address that is a multiple of 4 bytes/,
    help: /cuda\.assumeAligned\(a, 4\)\.view\(i32\)/,
  },
  {
    what: 'a load with a hint of such',
    fn: (a: { view(of: unknown): never }, y: V) => {
      y[0] = cuda.ldcv(a.view(f32), 0);
    },
    args: [bytes, vec],
    code: 'K337',
    message: /cuda\.ldcv of f32 needs/,
  },
  {
    what: 'a load with a hint from local memory',
    fn: (y: V) => {
      const t = cuda.local.array(4, f32);
      y[0] = cuda.ldcv(t, 0);
    },
    args: [vec],
    code: 'K334',
    message: /cuda\.ldcv has no use there/,
  },
  {
    what: 'options that are no object',
    fn: (a: V) => {
      cuda.atomic.add(a as never, 0, 1, 'acquire' as never);
    },
    args: [ints],
    code: 'K342',
    message: /the options of cuda\.atomic\.add are an object, not "acquire"/,
    help: /\{ order: …, scope: … \}/,
  },
  {
    what: 'a name that a namespace does not have',
    fn: (a: V) => {
      (cuda.atomic as unknown as { compareAndSwap(a: V, i: number): void }).compareAndSwap(a, 0);
    },
    args: [ints],
    code: 'K312',
    message: /has no property compareAndSwap/,
    help: /it has add, .*cas/,
  },
  {
    what: 'a part of a complex number in a variable',
    fn: (y: V) => {
      const z = c64(1, 2) as unknown as { re: number; im: number };
      z.re = 3;
      y[0] = z.re;
    },
    args: [vec],
    code: 'K240',
    message: /a complex number in a variable is a value: its part re cannot be stored to/,
    help: /z = c64\(re, z\.im\)/,
  },
  {
    what: 'no shape',
    fn: (a: { reshape(...n: number[]): V }, y: V) => {
      y[0] = a.reshape()[0];
    },
    args: [vec, vec],
    code: 'K246',
    message: /reshape of a needs a shape/,
  },
  {
    what: 'a negative length',
    fn: (a: { reshape(...n: number[]): M }, y: V) => {
      y[0] = a.reshape(-2, -2)[0][0];
    },
    args: [vec, vec],
    code: 'K246',
    message: /the length -2 of a shape is negative/,
  },
];

it.each(cases)('$what', ({ fn, args, code, message, help = /(?:)/ }) => {
  expect(() => compileFor(fn, args)).toThrow(
    expect.objectContaining({ code, message: expect.stringMatching(message) }),
  );
  expect(() => compileFor(fn, args)).toThrow(help);
});
