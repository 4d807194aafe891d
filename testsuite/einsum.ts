/**
 * Chapter: sums of products over labelled axes, `cuda.einsum`, and `cuda.dot`. All subscripts are held against loops over all labels; whole numbers, so that results are exact.
 */
import { cuda, type DeviceNDArray, ndarray, roc } from '../src/index.ts';
import { type Element, indicesOf, plainText, plus, Random, type Sample, sample, times } from './array-samples.ts';
import { elementsOf, type Listed, same, sameElements, throws } from './assert.ts';
import { blocking, type ConformanceTest, chapter } from './suite.ts';
import { read, settled } from './waiting.ts';

type Sizes = Readonly<Record<string, number>>;
type Sum = (subscripts: string, ...operands: readonly unknown[]) => Promise<DeviceNDArray>;

const einsum = (...given: Parameters<Sum>): Promise<DeviceNDArray> => (cuda.einsum.async as unknown as Sum)(...given);

function zeroOf(dtype: string): Element {
  if (dtype.startsWith('complex')) return { re: 0, im: 0 };
  return dtype === 'int64' ? 0n : 0;
}

/** What a sum has to be: an element for each index of the output, of products at each index of the other labels. Axes of length 1 are read at 0. */
function expected(
  inputs: readonly string[],
  output: string,
  given: readonly Sample[],
  dtype: string,
  sizes: Sizes,
): Element[] {
  const summed = [...new Set(inputs.join(''))].filter((label) => !output.includes(label));
  const lengths = (labels: readonly string[]): number[] => labels.map((label) => sizes[label] as number);
  return indicesOf(lengths([...output])).map((outer) =>
    indicesOf(lengths(summed)).reduce<Element>((sum, inner) => {
      const at = (label: string): number =>
        output.includes(label) ? (outer[output.indexOf(label)] as number) : (inner[summed.indexOf(label)] as number);
      const factors = given.map(({ at: element, shape }, k) =>
        element([...(inputs[k] as string)].map((label, axis) => (shape[axis] === 1 ? 0 : at(label)))),
      );
      return plus(sum, factors.reduce(times));
    }, zeroOf(dtype)),
  );
}

/** Products of matrices, batches, sums of axes that one operand has, diagonals, outer products, chains. */
const SUBSCRIPTS = [
  'ij,jk->ik',
  'ij,kj->ki',
  'ijb,kbj->bki',
  'abij,jk->abik',
  'ijkl,klm->mij',
  'ij,ij->ij',
  'ij,ij->i',
  'i,j->ij',
  'ii->i',
  'iji,jk->ik',
  'ijk->kji',
  'ij,jk,kl->il',
  'ij,k,jk,l->li',
  'i,i,i->i',
  'ab,bc,ca->',
] as const;
const DTYPES = ['float32', 'int64', 'complex64', 'uint8', 'float16'];

const whole = (shape: readonly number[], from = 0): DeviceNDArray => {
  const data = Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, k) => ((k + from) % 7) - 3);
  return cuda.toDevice(ndarray(data, { shape })) as DeviceNDArray;
};

const listOf = async (result: unknown): Promise<unknown[]> =>
  typeof result === 'object' && result !== null && 'copyToHostAsync' in result
    ? elementsOf((await read(result as DeviceNDArray)) as Listed)
    : [result];

export const labelledSums: readonly ConformanceTest[] = chapter('einsum', {
  'random sizes, types and layouts': async () => {
    const random = new Random(5);
    for (const [round, subscripts] of SUBSCRIPTS.entries()) {
      const dtype = DTYPES[round % DTYPES.length] as string;
      const [left, output] = subscripts.split('->') as [string, string];
      const inputs = left.split(',');
      const sizes = Object.fromEntries(
        [...left.replaceAll(',', '')].map((label) => [label, random.pick([1, 2, 3, 5])]),
      );
      const given = inputs.map((labels) =>
        sample(
          [...labels].map((label) => sizes[label] as number),
          dtype,
          random,
        ),
      );
      const result = await einsum(subscripts, ...given.map(({ array }) => array));
      if (output !== '')
        sameElements(
          result.shape,
          [...output].map((label) => sizes[label] as number),
          'length',
        );
      sameElements(
        (await listOf(result)).map(plainText),
        expected(inputs, output, given, dtype, sizes).map(plainText),
        `${subscripts} of ${dtype}, ${JSON.stringify(sizes)}: element`,
      );
    }
  },

  'outputs that are implied, ellipses, axes of length 1': async () => {
    const random = new Random(8);
    const [a, b] = [sample([2, 3], 'float32', random), sample([3, 4], 'float32', random)];
    const sizes = { a: 2, b: 3, c: 4, i: 2, j: 3 };
    const matrix = expected(['ab', 'bc'], 'ac', [a, b], 'float32', sizes);
    // In the order of the alphabet: the result is turned.
    const turned = await einsum('cb,ba', a.array, b.array);
    sameElements(turned.shape, [4, 2]);
    sameElements(await listOf(turned.T), matrix);
    sameElements(await listOf(await einsum(' a b , b c ', a.array, b.array)), matrix);
    const stacked = sample([2, 3, 1, 3], 'float32', random);
    const flat = expected(['ijxk', 'kc'], 'ijxc', [stacked, b], 'float32', { i: 2, j: 3, x: 1, k: 3, c: 4 });
    const batches = await einsum('...k,kc', stacked.array, b.array);
    sameElements(batches.shape, [2, 3, 1, 4]);
    sameElements(await listOf(batches), flat);
    // Broadcast: [2, 1, 3] and [4, 3].
    const [x, y] = [sample([2, 1, 3], 'float32', random), sample([4, 3], 'float32', random)];
    const pairs = await einsum('...k,...k->...', x.array, y.array);
    sameElements(pairs.shape, [2, 4]);
    sameElements(await listOf(pairs), expected(['iok', 'jk'], 'ij', [x, y], 'float32', { i: 2, o: 1, j: 4, k: 3 }));
    const row = sample([1, 3], 'float32', random);
    sameElements(
      await listOf(await einsum('ij,ij->i', a.array, row.array)),
      expected(['ij', 'ij'], 'i', [a, row], 'float32', sizes),
    );
    sameElements(await listOf(await einsum('ij->', whole([0, 3]))), [0]);
    sameElements(await listOf(await einsum('ij,jk->ik', whole([2, 0]), whole([0, 2]))), [0, 0, 0, 0]);
  },

  'results go to an array': async () => {
    const [a, b] = [whole([3, 4]), whole([4, 3], 2)];
    const product = await listOf(await cuda.matmul.async(a, b));
    const out = cuda.deviceArray([3, 6], 'float64');
    out.set(9);
    const every = out.slice(':', '::2');
    same((await cuda.einsum.async('ij,jk->ik', a, b, { out: every })) === every, true);
    sameElements(await listOf(every), product);
    sameElements(
      (await listOf(out)).filter((_, k) => k % 2 === 1),
      product.map(() => 9),
    );
    const square = whole([3, 3]);
    const before = await listOf(square);
    await cuda.einsum.async('ij->ji', square, { out: square });
    sameElements(await listOf(square.T), before);
    same(await cuda.einsum.async('i,i->', [1, 2, 3], [4, 5, 6]), 32);
    await settled();
  },

  'dot: numbers, vectors, matrices and more axes': async () => {
    const random = new Random(3);
    const [x, y] = [sample([2, 3], 'float64', random), sample([2, 3, 4], 'float64', random)];
    const sizes = { i: 2, k: 3, j: 2, n: 4 };
    const result = (await cuda.dot.async(x.array, y.array)) as DeviceNDArray;
    sameElements(result.shape, [2, 2, 4]);
    sameElements(await listOf(result), expected(['ik', 'jkn'], 'ijn', [x, y], 'float64', sizes));
    const vector = sample([3], 'float64', random);
    sameElements(
      await listOf(await cuda.dot.async(vector.array, y.array)),
      expected(['k', 'jkn'], 'jn', [vector, y], 'float64', sizes),
    );
    sameElements(
      await listOf(await cuda.dot.async(x.array, vector.array)),
      expected(['ik', 'k'], 'i', [x, vector], 'float64', sizes),
    );
    same(await cuda.dot.async([1, 2, 3], [4, 5, 6]), 32);
    const matrix = whole([2, 2]);
    sameElements(await listOf(await cuda.dot.async(3, matrix)), [-9, -6, -3, 0]);
    same(((await cuda.dot.async(matrix, 2)) as DeviceNDArray).dtype.name, 'f32');
    await settled();
  },

  'the same on the devices of roc': async () => {
    const a = roc.toDevice(ndarray(Float32Array.of(1, 2, 3, 4), { shape: [2, 2] }));
    const lists = await Promise.all(
      [
        await roc.matmul.async(a, a.T),
        await roc.dot.async(a, a.T),
        await roc.einsum.async('ij,kj->ik', a, a),
        await roc.fuse.async(a.add(a.T).mul(a)),
      ].map(listOf),
    );
    for (const product of lists.slice(0, 3)) sameElements(product, [5, 11, 11, 25]);
    sameElements(lists[3] as unknown[], [2, 10, 15, 32]);
    // Methods of expressions know whose arrays they are of.
    same(await a.add(1).sum().getAsync(), 14);
  },

  'what cannot be read is refused': blocking(() => {
    const a = whole([2, 3]);
    const sum = cuda.einsum as unknown as (...given: readonly unknown[]) => unknown;
    const refused = (why: RegExp, ...given: readonly unknown[]): void => throws(() => sum(...given), why, 'E_EINSUM');
    refused(/in 'ij,j1->i', operand 2, 'j1', has '1'/, 'ij,j1->i', a, a);
    refused(/operand 1, 'i\.\.j', has '\.'/, 'i..j', a);
    refused(/subscripts for 1 operand, and 2 operands given/, 'ij', a, a);
    refused(/operand 1 has subscripts 'ijk', and 2 axes: its shape is \[2, 3\]/, 'ijk', a);
    refused(/the output has 'k', which no operand has/, 'ij->k', a);
    refused(/the output has 'i' twice/, 'ij->ii', a);
    refused(/'j' is 3 in operand 1 and 2 in operand 2/, 'ij,jk', a, a);
    refused(/'i' is 2 in operand 1 and 3 in operand 1/, 'ii', a);
    refused(/'\.\.\.' stands for 1 of the axes, and the output has no/, '...j->j', a);
    refused(/more than one '->'/, 'ij->j->', a);
    refused(/must be subscripts such as 'ij,jk->ik', got 3/, 3, a);
    throws(() => sum('ij,', a, 3), /operand 2 must be an array, got 3/, 'E_MATMUL');
    throws(
      () => cuda.dot(a, whole([2, 2, 2])),
      /dot: shapes .* cannot be multiplied: rows have 3 elements/,
      'E_MATMUL',
    );
  }),
});
