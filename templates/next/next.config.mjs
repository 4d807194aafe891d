/** @type {import('next').NextConfig} */
export default {
  // Not bundled, so that it finds koffi, which calls the drivers of GPUs.
  serverExternalPackages: ['tsamba'],
  // Errors in kernels name your file and line.
  experimental: { serverSourceMaps: true },
};
