import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

it("only this folder imports providers' packages, and only on demand", () => {
  const source = join(import.meta.dirname, '..', '..')
  const files = globSync('**/*.ts', { cwd: source }).filter((file) => !file.endsWith('.test.ts'))
  const importing = files.filter((file) =>
    /from '@ai-sdk\/|import\('@ai-sdk\//.test(readFileSync(join(source, file), 'utf8')),
  )
  expect(importing.map((file) => file.replaceAll('\\', '/')).sort()).toEqual([
    'model/providers/open.ts',
    'model/providers/options.ts',
    'model/providers/parts.ts',
  ])
  for (const file of importing) {
    const text = readFileSync(join(source, file), 'utf8')
    expect(text).not.toMatch(/^import (?!type ).*'@ai-sdk\//m)
  }
})
