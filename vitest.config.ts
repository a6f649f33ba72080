import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['{packages/*/src,test,bench}/**/*.test.ts'],
    globalSetup: ['test/scratch.ts'],
    // Process tests wait for real children; a hung one must fail instead of holding the run.
    testTimeout: 120_000,
    // The first one may have to make a database server.
    hookTimeout: 120_000,
    // A condition that is waited for comes late on a busy machine, not never.
    expect: { poll: { timeout: 60_000 } },
  },
})
