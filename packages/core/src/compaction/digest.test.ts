import { describe, expect, it } from 'vitest'
import {
  assistant,
  handoffOf,
  image,
  toolCall,
  toolResult,
  user,
} from '../../../../test/support/builders.ts'
import type { Handoff } from '../message/handoff/handoff.ts'
import type { Message } from '../message/message.ts'
import { withoutQuoted, writeDigest } from './digest.ts'
import { positionsFrom } from './layout.ts'

/** Denser than the first guess, so that fitting takes a second attempt. */
const countTokens = (text: string) => Math.ceil(text.length / 2.5)

const CONVERSATION: readonly Message[] = [
  user('Make the gate close at night. Never touch the database.'),
  assistant('I read the gate first.'),
  ...run('cat src/gate.ts', 'export const gate = 1'),
  ...run('npm test', 'Exit code 1\nFAIL src/gate.test.ts'),
  ...run('git commit -m "Close the gate"', '[main 1a2b3c4] Close the gate'),
  assistant('The gate closes now; timeout: 30s. The lamp is still to be done.'),
  user('Good. Now the lamp.'),
  assistant('I look at the lamp.'),
]

describe('writeDigest', () => {
  it('lists requests, actions and reports under the headings of a handoff', () => {
    expect(digest(CONVERSATION)).toBe(`## Progress and decisions
- #8 git commit -m "Close the gate" → [main 1a2b3c4] Close the gate
- #9 The gate closes now; timeout: 30s. The lamp is still to be done.
- #11 I look at the lamp.
## Requests and constraints
- #1 Make the gate close at night. Never touch the database.
## What remains
- Last asked: #10 Good. Now the lamp.
- Last said: #11 I look at the lamp.
## Critical data
- timeout: 30s
## Tool results that matter
- #6 npm test (exit 1) → FAIL src/gate.test.ts
- #6 FAIL src/gate.test.ts`)
  })

  it('leaves out requests that the handoff quotes, and headings without a line', () => {
    const whole = digest(CONVERSATION)
    const rest = withoutQuoted(whole, new Set([1]))
    expect(rest).toBe(whole.replace(/## Requests and constraints\n.*\n/, ''))
    const [heading = '', line = ''] = whole.split('\n').slice(4, 6)
    expect(withoutQuoted(`${heading}\n${line}`, new Set([1]))).toBe(`${heading}\n${line}`)
  })

  it('repeats requests that only the previous handoff quoted', () => {
    const previous = handoffOf({
      preserved: [{ message: user('Paint the gate.'), number: 3, state: 'answered' }],
    })
    expect(digest(CONVERSATION, { previous })).toContain('\n- #3 Paint the gate.\n')
  })

  it('prefers the newest lines when room is short', () => {
    const head = Array.from({ length: 100 }, (_, index) => [
      user(`Wish ${index} ${'x'.repeat(50)}`),
      assistant(`Done with wish ${index}.`),
    ]).flat()
    const text = digest(head, { tokensMax: 300 })
    expect(countTokens(text)).toBeLessThanOrEqual(300)
    expect(text).toContain('Done with wish 99.')
    expect(text).not.toContain('Done with wish 0.')
  })

  it('is never empty: it cuts the newest line if none fits whole, and says if there was none', () => {
    const text = digest([user('Wish'), assistant('Done. '.repeat(80))], { tokensMax: 40 })
    expect(countTokens(text)).toBeLessThanOrEqual(40)
    expect(text).toMatch(/^## Progress and decisions\n- #2 Done\. .*…$/)
    expect(digest([{ role: 'user', parts: [image] }])).toContain('Nothing was said in words.')
  })

  it('includes the previous summary, even under other headings', () => {
    const previous = handoffOf({
      summary: '# Overview\nThe roof was mended.\n## Critical data\n- port: 8080',
    })
    const text = digest(CONVERSATION, { previous })
    expect(text).toContain('## Progress and decisions\n- The roof was mended.')
    expect(text).toContain('## Critical data\n- port: 8080\n- timeout: 30s')
  })

  it('does not grow over ten compactions', () => {
    let previous: Handoff | undefined
    for (let round = 0; round < 10; round++) {
      const head = Array.from({ length: 40 }, (_, index) => [
        user(`Wish ${round}.${index} ${'x'.repeat(100)}`),
        assistant(`Done with wish ${round}.${index}. ${'y'.repeat(100)}`),
      ]).flat()
      const text = digest(head, { tokensMax: 800, ...(previous !== undefined && { previous }) })
      expect(countTokens(text)).toBeLessThanOrEqual(800)
      previous = handoffOf({ summary: text })
    }
  })

  it('masks secrets', () => {
    const secret = `ghp_${'a1B2'.repeat(9)}`
    const head = [user(`Use ${secret}`), ...run(`login ${secret}`, `error: ${secret}`)]
    expect(digest(head)).not.toContain(secret)
  })
})

function digest(
  head: readonly Message[],
  options: Partial<Parameters<typeof writeDigest>[0]> = {},
): string {
  return writeDigest({ head, numberOf: positionsFrom(1), tokensMax: 1000, countTokens, ...options })
}

function run(command: string, output: string): Message[] {
  return [toolCall('call', { command }), toolResult('call', output)]
}
