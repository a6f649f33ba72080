import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

/** The page as files that the server sends: one script, one style sheet, nothing inline. */
// biome-ignore lint/style/noDefaultExport: Vite asks for one
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact', development: false } },
  build: {
    outDir: '../server/page',
    emptyOutDir: true,
    target: 'es2023',
    // Data addresses and the preload script are inline; the page's policy has no room for them.
    assetsInlineLimit: 0,
    modulePreload: false,
    reportCompressedSize: false,
  },
})
