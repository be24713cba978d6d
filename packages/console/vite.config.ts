import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
  // Chunks find each other by relative addresses. The server makes those in index.html absolute.
  base: './',
  plugins: [react()],
  build: {
    outDir: '../server/console',
    emptyOutDir: true,
    target: 'es2022',
    // The policy of the page allows no data: scripts or fonts.
    assetsInlineLimit: 0,
    manifest: true,
    chunkSizeWarningLimit: 1600, // Swagger UI
    rolldownOptions: {
      input: ['index.html', 'reference.html'].map((name) => join(import.meta.dirname, name)),
    },
    modulePreload: { polyfill: false },
  },
  worker: { format: 'es' },
});
