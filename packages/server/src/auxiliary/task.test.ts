import { expect, it } from 'vitest'
import { settingsOf } from './task.ts'

const LONG = { connectMs: 10_000, firstByteMs: 120_000, idleMs: 60_000, totalMs: 600_000 }
const BRIEF = { connectMs: 10_000, firstByteMs: 30_000, idleMs: 20_000, totalMs: 60_000 }

it.each([
  ['compaction', { deadlines: LONG, onInterrupt: 'defer', outputTokensMax: 16_000 }],
  ['title', { deadlines: BRIEF, onInterrupt: 'stop', outputTokensMax: 1_000 }],
  ['memory', { deadlines: BRIEF, onInterrupt: 'stop', outputTokensMax: 4_000 }],
  ['vision', { deadlines: BRIEF, onInterrupt: 'stop', outputTokensMax: 4_000 }],
  ['a task of a plugin', { deadlines: BRIEF, onInterrupt: 'stop', outputTokensMax: 4_000 }],
  ['constructor', { deadlines: BRIEF, onInterrupt: 'stop', outputTokensMax: 4_000 }],
])('%s has its deadlines, its answer to an interrupt and its limit', (task, settings) => {
  expect(settingsOf(task, {})).toEqual(settings)
})

it('the settings of the configuration win, each for itself and for its own task', () => {
  const overrides = { title: { outputTokensMax: 50 }, memory: { onInterrupt: 'defer' as const } }
  expect(settingsOf('title', overrides)).toEqual({
    ...{ deadlines: BRIEF, onInterrupt: 'stop', outputTokensMax: 50 },
  })
  expect(settingsOf('vision', overrides)).toEqual({
    ...{ deadlines: BRIEF, onInterrupt: 'stop', outputTokensMax: 4_000 },
  })
})
