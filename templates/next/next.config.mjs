/** @type {import('next').NextConfig} */
export default {
  // Not bundled, so that it finds koffi, which calls the drivers of GPUs.
  serverExternalPackages: ['tsamba'],
  // Reads what kernels capture that run in the browser, in components with 'use client'.
  turbopack: {
    rules: {
      '*.{ts,tsx,js,jsx}': { condition: { all: ['browser', { not: 'foreign' }] }, loaders: ['tsamba/webpack-loader'] },
    },
  },
  // Errors in kernels name your file and line.
  experimental: { serverSourceMaps: true },
};
