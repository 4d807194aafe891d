import tsamba from 'tsamba/vite';
import { defineConfig } from 'vite';

// With these headers the CPU device may use all cores. WebGPU does not need them.
const headers = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};

export default defineConfig({
  // Reads what kernels capture, and replaces an edited kernel in the running page.
  plugins: [tsamba()],
  server: { headers },
  preview: { headers },
});
