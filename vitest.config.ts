import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['{src,test,bench}/**/*.test.ts'],
    globalSetup: ['test/scratch.ts'],
    // Process tests wait for real children; a hung one must fail instead of holding the run.
    testTimeout: 30_000,
  },
})
