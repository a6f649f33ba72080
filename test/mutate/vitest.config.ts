import { join } from 'node:path'
import { mergeConfig } from 'vitest/config'
import base from '../../vitest.config.ts'

export default mergeConfig(base, {
  test: {
    root: join(import.meta.dirname, '../..'),
    runner: join(import.meta.dirname, 'runner.ts'),
    isolate: false,
    maxWorkers: 1,
  },
})
