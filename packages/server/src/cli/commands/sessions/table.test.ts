import { describe, expect, it } from 'vitest'
import { entryNumber, sessionId } from '#core/base/ids'
import type { SessionSummary } from '../../../runtime/runtime.ts'
import { noPaint, type Paint } from '../../terminal/colours.ts'
import { drawSessions } from './table.ts'

const USAGE = {
  ...{ calls: 3, inputTokens: 12_000, outputTokens: 345, cachedTokens: 0 },
  ...{ cost: 250_000, unpricedCalls: 0 },
}

function summary(changed: Partial<SessionSummary> = {}): SessionSummary {
  return {
    ...{ id: sessionId('s-1'), agent: 'main', title: 'Trip', forkedFrom: null },
    ...{ state: 'idle', wait: null, isCompacting: false, channels: [], createdAt: 0, activeAt: 0 },
    ...{ entries: 1_234, turn: 1, lastTurn: 'answered', waiting: 0 },
    ...{ contextTokens: 50, windowTokens: 100, compaction: null, compactedAt: null, left: null },
    ...{ policy: 'steer', pins: [], runner: null, usage: USAGE },
    ...changed,
  }
}

const NAMES = ['SESSION', 'AGENT', 'STATE', 'CONTEXT', 'ENTRIES', 'COMPACTED', 'QUEUED'].concat([
  'TOKENS',
  'COST',
  'TITLE',
])

/** The cells of the only row by their title. */
function cells(changed: Partial<SessionSummary>, paint: Paint = noPaint): Map<string, string> {
  const [titles = '', row = ''] = drawSessions([summary(changed)], { now: 60_000, paint }).split(
    '\n',
  )
  const values = row.split(/ {2,}/)
  expect(titles.split(/ {2,}/)).toEqual(NAMES)
  return new Map(NAMES.map((name, at) => [name, values[at] ?? '']))
}
const named: Paint = (colour, text) =>
  colour === 'dim' && NAMES.includes(text) ? text : `${colour}:${text}`

describe('drawSessions', () => {
  it('has a row with the figures of each session', () => {
    expect(Object.fromEntries(cells({}))).toEqual({
      ...{ SESSION: 's-1', AGENT: 'main', STATE: 'idle', CONTEXT: '█████░░░░░ 50 %' },
      ...{ ENTRIES: '1,234', COMPACTED: 'no', QUEUED: '0', TOKENS: '12,345' },
      ...{ COST: '0.25', TITLE: 'Trip' },
    })
  })

  it.each<[Partial<SessionSummary>, string]>([
    [{ state: 'turn' }, 'cyan:answering'],
    [{ state: 'turn', isCompacting: true }, 'cyan:answering, compacting'],
    [{ isCompacting: true }, 'cyan:compacting'],
    [{ lastTurn: 'failed' }, 'red:failed'],
    [{ lastTurn: 'failed', state: 'turn' }, 'cyan:answering'],
    [{ state: 'waiting-for-compaction', isCompacting: true }, 'yellow:waits for compaction'],
    [{ state: 'waiting-for-model', isCompacting: true }, 'red:waits for the model'],
    [{ state: 'waiting-for-approval' }, 'yellow:paused at a limit'],
  ])('shows the state of a session: %o', (changed, state) => {
    expect(cells(changed, named).get('STATE')).toBe(state)
  })

  it('shows no context of a session that is gone', () => {
    const text = drawSessions([summary({ state: 'gone' })], { now: 0, paint: noPaint })
    expect(text).toMatch(/main {3}gone {4,}1,234/)
  })

  it.each<[Partial<SessionSummary>, string]>([
    [{}, 'no'],
    [{ compactedAt: 0 }, '1 min ago'],
    [{ compaction: entryNumber(9) }, 'yes'],
    [{ compaction: entryNumber(9), compactedAt: 0 }, '1 min ago'],
  ])('says whether and when it was compacted: %o', (changed, text) => {
    expect(cells(changed).get('COMPACTED')).toBe(text)
  })

  it('marks queued messages', () => {
    expect(cells({ waiting: 1_000 }, named).get('QUEUED')).toBe('yellow:1,000')
    expect(cells({ waiting: 0 }, named).get('QUEUED')).toBe('0')
  })

  it('shows no usage of a conversation whose calls were made elsewhere', () => {
    const usage = { ...USAGE, calls: 0, inputTokens: 0, outputTokens: 0, cost: 0 }
    const imported = cells({ usage, entries: 1 })
    expect([imported.get('TOKENS'), imported.get('COST')]).toEqual(['–', '–'])
    const fresh = cells({ usage, entries: 0 })
    expect([fresh.get('TOKENS'), fresh.get('COST')]).toEqual(['0', '0.00'])
  })

  it.each<[string | null, string]>([
    [null, ''],
    ['two\nlines', 'two lines'],
    ['x'.repeat(48), 'x'.repeat(48)],
    ['x'.repeat(49), `${'x'.repeat(47)}…`],
    ['\u{1F40B}'.repeat(49), `${'\u{1F40B}'.repeat(47)}…`],
  ])('shows the title %o on one line of 48 characters at most', (title, shown) => {
    expect(cells({ title }).get('TITLE')).toBe(shown)
  })

  it('says where a fork came from', () => {
    const forkedFrom = { sessionId: sessionId('s-0'), entry: 7 }
    expect(cells({ forkedFrom }).get('TITLE')).toBe('Trip (fork of s-0 at 7)')
    expect(cells({ forkedFrom, title: null }).get('TITLE')).toBe('(fork of s-0 at 7)')
  })
})

describe('drawSessions in a narrow terminal', () => {
  const ids = ['ses_aaaaaaaaaaaaaa1bbb', 'ses_aaaaaaaaaaaaaa2bbb', 'ses_c']
  const sessions = ids.map((id) => summary({ id: sessionId(id), title: 'A title' }))
  const lines = (columns: number, shown = sessions) =>
    drawSessions(shown, { now: 0, paint: noPaint, columns }).trimEnd().split('\n')
  const titles = (columns: number) => lines(columns)[0]?.trim().split(/ +/)

  it('leaves out what matters least first, and shortens ids before it leaves out the agent', () => {
    const seen = Array.from({ length: 90 }, (_, at) => titles(120 - at) ?? [])
    const order = NAMES.map(
      (name) => [name, seen.findIndex((shown) => !shown.includes(name))] as const,
    )
    const left = order
      .filter(([name, at]) => at >= 0 && name !== 'TITLE')
      .sort(([, a], [, b]) => a - b)
    expect(left.map(([name]) => name)).toEqual([
      ...['ENTRIES', 'TOKENS', 'COST', 'COMPACTED', 'AGENT', 'QUEUED', 'CONTEXT'],
    ])
    for (const width of [60, 80, 100]) {
      for (const line of lines(width)) expect([...line].length).toBeLessThanOrEqual(width)
    }
  })

  it('shortens ids to distinct prefixes of at least 12 characters', () => {
    expect(lines(40).map((line) => line.split(' ')[0])).toEqual([
      ...['SESSION', 'ses_aaaaaaaaaaaaaa1', 'ses_aaaaaaaaaaaaaa2', 'ses_c'],
    ])
    expect(lines(30, sessions.slice(1)).map((line) => line.split(' ')[0])).toEqual([
      ...['SESSION', 'ses_aaaaaaaa', 'ses_c'],
    ])
  })
})
