import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { stateFolder } from '../../../host/operating-system.ts'
import { SentHistory } from './history.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'throughline-history-'))
  vi.stubEnv('XDG_STATE_HOME', folder)
  vi.stubEnv('HOME', folder)
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true, force: true })
})

const file = () => join(stateFolder(), 'chat-history')
const lines = () => readFileSync(file(), 'utf8').split('\n')

/** Goes up until there is no more, from a draft. */
function all(history: SentHistory): string[] {
  const found: string[] = []
  for (let text = history.go(-1, 'draft'); text !== null; text = history.go(-1, 'other'))
    found.push(text)
  return found
}

it('goes back through what was sent, newest first, and forward to the draft', () => {
  const history = new SentHistory()
  expect(history.go(-1, 'draft')).toBeNull()
  for (const text of ['one', 'two\nlines', 'three']) history.add(text)
  expect(history.go(1, 'draft')).toBeNull()
  const steps = [-1, -1, -1, -1, 1, 1, 1, 1] as const
  expect(steps.map((step) => history.go(step, 'draft'))).toEqual([
    ...['three', 'two\nlines', 'one', null, 'two\nlines', 'three', 'draft', null],
  ])
})

it('begins at the newest again after each message', () => {
  const history = new SentHistory()
  for (const text of ['one', 'two']) history.add(text)
  expect(all(history)).toEqual(['two', 'one'])
  history.add('three')
  expect(history.go(-1, '')).toBe('three')
})

it('has each text once, and none that is blank', () => {
  const history = new SentHistory()
  for (const text of ['one', 'two', ' \n', '', 'one']) history.add(text)
  expect(all(history)).toEqual(['one', 'two'])
  expect(lines()).toEqual(['"one"', '"two"', ''])
})

it('is there in the next chat, for its user alone', () => {
  new SentHistory().add('two\nlines')
  expect(all(new SentHistory())).toEqual(['two\nlines'])
  expect(statSync(file()).mode & 0o777).toBe(0o600)
})

it('reads bare lines of earlier versions, and 500 at most', () => {
  mkdirSync(dirname(file()), { recursive: true })
  writeFileSync(file(), 'bare words\n\n5\n"quoted"\n')
  expect(all(new SentHistory())).toEqual(['bare words', '5', 'quoted'])
  writeFileSync(file(), Array.from({ length: 502 }, (_, at) => `"${at}"\n`).join(''))
  expect(all(new SentHistory())).toHaveLength(500)
  new SentHistory().add('newest')
  expect([lines().length, lines()[0], lines()[499]]).toEqual([501, '"newest"', '"498"'])
})

it('works without a place for it', () => {
  writeFileSync(join(folder, 'taken'), '')
  vi.stubEnv('XDG_STATE_HOME', join(folder, 'taken'))
  vi.stubEnv('HOME', join(folder, 'taken'))
  const history = new SentHistory()
  history.add('one')
  expect(all(history)).toEqual(['one'])
  expect(all(new SentHistory())).toEqual([])
})
