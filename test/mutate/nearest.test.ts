import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { TestGraph } from './nearest.ts'

const graph = new TestGraph(join(import.meta.dirname, '../..'))

describe('the tests near a source', () => {
  it('include those of a program whose file name is put together when it starts', () => {
    const tests = graph.testsOf('packages/server/src/tools/process/guard.ts')
    expect(tests).toContain('packages/server/src/tools/process/processes.test.ts')
  })

  it('include those that import it by the name of its package', () => {
    const tests = graph.testsOf('packages/core/src/adapters/mastra.ts')
    expect(tests).toContain('test/library/compaction-hosts.full.test.ts')
  })
})
