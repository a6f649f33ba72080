import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

/** Builds the page into files for the server: one script, one style sheet, nothing inline. */
// biome-ignore lint/style/noDefaultExport: Vite asks for one
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: './',
  resolve: {
    // What markdown-it needs elsewhere, but not in a browser: 17 KB compressed.
    alias: {
      entities: fileURLToPath(new URL('replaced/entities.ts', import.meta.url)),
      'linkify-it': fileURLToPath(new URL('replaced/linkify-it.ts', import.meta.url)),
    },
  },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact', development: false } },
  build: {
    outDir: '../server/page',
    emptyOutDir: true,
    target: 'es2023',
    // Data addresses and the preload script would be inline, which the page's policy forbids.
    assetsInlineLimit: 0,
    modulePreload: false,
    reportCompressedSize: false,
  },
})
