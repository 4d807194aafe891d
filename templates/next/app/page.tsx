import { cuda } from 'tsamba';
import { waves } from './kernels';

// Computed on the server at each request, on its GPU or its CPU.
export const dynamic = 'force-dynamic';

async function compute(): Promise<{ readonly heights: readonly number[]; readonly device: string }> {
  const y = cuda.toDevice(new Float32Array(256));
  try {
    await waves.launchAsync({ threads: y.size }, y, 20);
    return { heights: Array.from(await y.copyToHostAsync()), device: cuda.currentDevice().name };
  } finally {
    y.dispose();
  }
}

export default async function Page() {
  const { heights, device } = await compute();
  const points = heights.map((height, x) => `${2 * x},${64 - 30 * height}`).join(' ');
  return (
    <main>
      <h1>{"{{name}}"}</h1>
      <svg width="512" height="128" role="img" aria-label="two waves that meet">
        <polyline points={points} fill="none" stroke="currentColor" />
      </svg>
      <p>computed on {device}</p>
    </main>
  );
}
