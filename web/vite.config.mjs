// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0
import { rmSync, readdirSync } from 'node:fs';
import { defineConfig } from 'vitest/config';

// dist/.gitkeep is committed, so that the Go build works without Node; Vite's own emptying would delete it.
const emptyDist = {
  name: 'empty-dist',
  apply: 'build',
  buildStart() {
    try {
      for (const entry of readdirSync('dist')) if (entry !== '.gitkeep') rmSync(`dist/${entry}`, { recursive: true });
    } catch (error) {
      if (error.code !== 'ENOENT') throw error;
    }
  },
};

export default defineConfig({
  plugins: [emptyDist],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: 'dist',
    emptyOutDir: false,
    target: 'es2022',
    // The page's Content-Security-Policy allows no inline code and no data: addresses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: { proxy: { '/api': 'http://127.0.0.1:8087' } },
  test: { environment: 'happy-dom', include: ['test/**/*.test.{ts,tsx}'], restoreMocks: true },
});
