import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '#core/base/json'
import { loadConfig } from './load.ts'
import { variableOf } from './read/overlay.ts'
import { branchesOf, fieldsOf, listKeys, needsRestartAt } from './schema/walk.ts'

const guide = readFileSync(
  new URL('../../../../../docs/guides/configuration.md', import.meta.url),
  'utf8',
)

const TASKS = ['compaction', 'title', 'memory', 'vision']

/** One row per key, as the guide's tables have them. */
function expectedRows(): readonly string[] {
  const rows = listKeys()
    .filter(({ node }) => fieldsOf(node).size === 0 || branchesOf(node).length > 1)
    .map(({ path, node }) => {
      const isShared = path[0] === 'auxiliary' && defaultsOf(path.slice(2)).size === TASKS.length
      const documented = isShared ? ['auxiliary', 'TASK', ...path.slice(2)] : path
      const key = documented.join('.').replaceAll('*', 'NAME')
      const restart = needsRestartAt(path) ? 'restart' : 'at once'
      const usual = isShared ? sharedText(path.slice(2)) : defaultText(node)
      return `| \`${key}\` | ${usual} | ${restart} | ${node['description']} |`
    })
  return [...new Set(rows)]
}

/** The defaults of a task's key, for each task that has it. */
function defaultsOf(key: readonly string[]): ReadonlyMap<string, string> {
  const name = key.join('.')
  return new Map(
    listKeys()
      .filter(({ path }) => path[0] === 'auxiliary' && path.slice(2).join('.') === name)
      .map(({ path, node }) => [path[1] ?? '', defaultText(node)]),
  )
}

/** Compaction has its own defaults; the other tasks share theirs. */
function sharedText(key: readonly string[]): string {
  const defaults = defaultsOf(key)
  const own = defaults.get('compaction') ?? '-'
  const others = new Set([...defaults].filter(([task]) => task !== 'compaction').map(([, v]) => v))
  expect(others.size, key.join('.')).toBe(1)
  const [common = '-'] = others
  return own === common ? own : `${own} for compaction, else ${common}`
}

function defaultText({ default: value }: JsonObject): string {
  if (value === undefined) return '-'
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``
}

describe('the guide to the configuration', () => {
  it('lists every key with its default and its meaning, and no other', () => {
    const rows = guide.split('\n').filter((line) => /^\| `[a-z]/.test(line))
    expect(rows).toEqual(expectedRows())
  })

  it('lists the tasks and variables that exist', () => {
    const tasks = listKeys().filter(({ path }) => path.length === 2 && path[0] === 'auxiliary')
    expect(tasks.map(({ path }) => path[1])).toEqual(TASKS)
    for (const { path } of tasks) expect(guide).toContain(`\`${path[1]}\``)
    expect(guide).toContain(variableOf(['compaction', 'softShare']))
    expect(guide).toContain(variableOf(['agents', 'main', 'stepsMax']))
  })

  it('contains an example that works unchanged', () => {
    const [, text = ''] = /^```yaml\n([^`]+)```$/m.exec(guide) ?? []
    const folder = mkdtempSync(join(tmpdir(), 'throughline-guide-'))
    writeFileSync(join(folder, 'throughline.yaml'), text)
    writeFileSync(join(folder, 'night-watch.md'), 'You watch the servers.')
    const env = { ANTHROPIC_API_KEY: 'x', PGPASSWORD: 'x' }
    const result = loadConfig({ cwd: folder, env, flags: [] })
    rmSync(folder, { recursive: true })
    expect(result).toMatchObject({ kind: 'loaded', warnings: [] })
    expect(text.split('\n').length).toBeGreaterThan(30)
  })
})
