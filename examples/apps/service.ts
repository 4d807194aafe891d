/**
 * A service: the nearest of many vectors by HTTP. The vectors stay on the device; a request sends its query there, and waits without blocking others.
 *
 *     npx tsx examples/apps/service.ts [port] [vectors] [dimensions]
 *     curl localhost:8080/search -d '{"query": [1, 0, 0, 0, 0, 0, 0, 0], "count": 3}'
 */
import { createServer, type IncomingMessage } from 'node:http';
import { cuda, type f32, type In, type Mat, ndarray, type Vec } from '../../src/index.ts';
import { topK } from '../../src/parallel/index.ts';

const [port = 8080, count = 200_000, dimensions = 8] = process.argv.slice(2).map(Number);
/** Bytes of a request's body, at most. */
const LONGEST = 1 << 20;

/** Says what is wrong with a request, which is its sender's to mend. */
class BadRequest extends Error {}

const distances = cuda.jit((vectors: In<Mat<f32>>, query: In<Vec<f32>>, result: Vec<f32>) => {
  const i = cuda.grid(1);
  if (i >= result.length) return;
  let sum = 0;
  for (let k = 0; k < query.length; k++) sum += (vectors[i][k] - query[k]) ** 2;
  // The nearest has the largest.
  result[i] = -Math.sqrt(sum);
});

// Whatever numbers there are; a real service loads its own.
const numbers = Float32Array.from({ length: count * dimensions }, (_, k) => Math.sin(k * 12.9898) % 1);
const vectors = cuda.toDevice(ndarray(numbers, { shape: [count, dimensions] }));

async function search(query: readonly number[], wanted: number): Promise<object> {
  // Disposed of at the end, whatever happens.
  using onDevice = cuda.toDevice(Float32Array.from(query));
  using result = cuda.deviceArray(count, 'float32');
  await distances.launchAsync({ threads: count }, vectors, onDevice, result);
  const found = topK(result, wanted);
  using values = found.values;
  using indices = found.indices;
  const [far, which] = [await values.copyToHostAsync(), await indices.copyToHostAsync()];
  return { nearest: Array.from(which, (index, k) => ({ index: Number(index), distance: -Number(far[k]) })) };
}

async function bodyOf(
  request: IncomingMessage,
): Promise<{ readonly query: readonly number[]; readonly count: number }> {
  let text = '';
  for await (const piece of request.setEncoding('utf8')) {
    text += piece;
    if (text.length > LONGEST) throw new BadRequest('the body is too long');
  }
  let body: { readonly query?: unknown; readonly count?: unknown };
  try {
    body = JSON.parse(text) as typeof body;
  } catch {
    throw new BadRequest('the body is not JSON');
  }
  const { query, count: wanted = 5 } = body;
  if (!Array.isArray(query) || query.length !== dimensions || !query.every(Number.isFinite))
    throw new BadRequest(`query must be ${dimensions} numbers`);
  if (!Number.isInteger(wanted) || (wanted as number) < 1 || (wanted as number) > Math.min(100, count))
    throw new BadRequest('count must be an integer from 1 to 100');
  return { query, count: wanted as number };
}

const server = createServer(async (request, response) => {
  const answer = (status: number, body: object): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(`${JSON.stringify(body)}\n`);
  };
  try {
    if (request.method === 'GET' && request.url === '/health')
      return answer(200, { device: cuda.currentDevice().name, vectors: count });
    if (request.method !== 'POST' || request.url !== '/search') return answer(404, { error: 'POST /search' });
    const { query, count: wanted } = await bodyOf(request);
    answer(200, await search(query, wanted));
  } catch (error) {
    if (error instanceof BadRequest) return answer(400, { error: error.message });
    console.error(error);
    answer(500, { error: 'the search failed' });
  }
});

// The first request should not wait for the compiler.
await search(new Array(dimensions).fill(0), 1);
server.listen(port, '127.0.0.1', () => {
  const address = server.address();
  console.log(`listening on ${typeof address === 'object' ? address?.port : address} (${cuda.currentDevice().name})`);
});
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    server.close(() => {
      vectors.dispose();
      console.log('closed');
    });
    server.closeIdleConnections();
  });
