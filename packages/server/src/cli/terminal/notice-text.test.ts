import { expect, it } from 'vitest'
import { noticeText } from './answers.ts'

function told(more: object): string {
  const notice = { type: 'live', kind: 'notice', text: 'No answer.', ...more }
  return noticeText(notice as unknown as Parameters<typeof noticeText>[0])
}

it('names the time of the next attempt, if there is one', () => {
  expect(told({})).toBe('No answer.')
  expect(told({ nextTryAt: Date.now() - 5_000 })).toBe('No answer. Trying again.')
  const later = told({ nextTryAt: Date.now() + 3_600_000 })
  const [, seconds = ''] = /^No answer\. Next try in (\d+) s\.$/.exec(later) ?? []
  expect(Number(seconds)).toBeGreaterThan(3_000)
  expect(Number(seconds)).toBeLessThanOrEqual(3_600)
})

it('names the commands that end the wait for a model', () => {
  expect(told({ code: 'waiting-for-model' })).toContain('/continue tries now, /stop ends the turn.')
  expect(told({ code: 'waiting-for-compaction' })).toBe('No answer.')
})

it('names no time if a person has to decide', () => {
  const nextTryAt = Date.now() + 60_000
  expect(told({ nextTryAt, code: 'waiting-for-approval' })).toBe('No answer.')
  expect(told({ nextTryAt, code: 'waiting-for-model' })).toContain('Next try')
})
