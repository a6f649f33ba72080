import { describe, expect, it } from 'vitest'
import {
  AT,
  conversation,
  diagnosis,
  finding,
  profile,
  READ,
  rows,
  told,
} from '../../../../../../test/support/hermes-diagnosis.ts'
import type { ProfileDiagnosis, StoreFacts } from '../diagnose/diagnosis.ts'
import type { Finding } from '../findings/finding.ts'
import { renderStory, timeText } from './story.ts'

describe('the verdict', () => {
  const verdict = (...profiles: readonly ProfileDiagnosis[]) =>
    renderStory(diagnosis(...profiles)).verdict
  const broken = profile({
    store: { kind: 'unreadable', path: '/b', verdict: 'damaged', problem: 'torn' },
  })

  it('counts the faults, the sure ones and their conversations', () => {
    expect(verdict(profile())).toBe('No fault was found.')
    expect(verdict(told)).toBe('2 faults in 1 conversation: 1 certain, 1 suspected.')
    expect(verdict(told, told)).toBe('4 faults in 2 conversations: 2 certain, 2 suspected.')
    const note = profile({ findings: [finding({ severity: 'note' })] })
    expect(verdict(note)).toBe('No fault was found.')
  })

  it('says first what could not be read', () => {
    expect(verdict(broken)).toBe('1 store could not be read.')
    expect(verdict(broken, broken)).toBe('2 stores could not be read.')
    expect(verdict(broken, told)).toBe(
      '1 store could not be read. 2 faults in 1 conversation: 1 certain, 1 suspected.',
    )
  })

  it('counts a conversation by its faults alone', () => {
    const timeline = [
      { at: AT, sessionId: 's1', text: 'note', finding: 0 },
      { at: AT, sessionId: 's1', text: 'began', finding: null },
      { at: AT, sessionId: 's1', text: 'unknown', finding: 9 },
    ]
    const noted = profile({
      findings: [finding({ severity: 'note' }), finding()],
      conversations: [{ ...conversation, timeline }],
    })
    expect(verdict(noted)).toBe('1 fault in 0 conversations: 1 certain, 0 suspected.')
  })
})

describe('the facts of a profile', () => {
  const facts = (over: Partial<ProfileDiagnosis>) =>
    renderStory(diagnosis(profile(over))).chapters[0]?.facts
  const NO_LOGS = 'No logs were read; what only they know is not in here.'
  const STORE = '/home/state.db: schema 26, 2 sessions, 3 rows, 1 of them live.'

  it.each<[Partial<ProfileDiagnosis>, readonly string[]]>([
    [{}, [STORE, '1 conversation, as it should be.', NO_LOGS]],
    [
      { conversationsHealthy: 2, remarks: ['A\nremark.'] },
      [STORE, '2 conversations, as they should be.', NO_LOGS, 'A remark.'],
    ],
    [
      { conversations: [conversation], conversationsHealthy: 1 },
      [STORE, 'Nothing to say about 1 other conversation.', NO_LOGS],
    ],
    [
      { store: { ...READ, schemaVersion: null } as StoreFacts },
      [
        STORE.replace('schema 26', 'of unknown schema'),
        '1 conversation, as it should be.',
        NO_LOGS,
      ],
    ],
    [{ store: { kind: 'none' } }, ['Logs only; no store was named.', NO_LOGS]],
    [
      { store: { kind: 'unreadable', path: '/b', verdict: 'damaged', problem: 'It is torn.' } },
      ['/b cannot be examined (damaged): It is torn.', NO_LOGS],
    ],
    [
      { store: { kind: 'none' }, logs: { paths: ['a'], lines: 1 } },
      ['Logs only; no store was named.', '1 log with 1 line.'],
    ],
    ...(
      [
        [0, 'The logs run on UTC; their times are told in UTC.'],
        [7_200, 'The logs run 2 h ahead of UTC; their times are told in UTC.'],
        [-1_800, 'The logs run 0.5 h behind UTC; their times are told in UTC.'],
        [
          null,
          'The time zone of the logs could not be told from the store, so their times stand as they are.',
        ],
      ] as const
    ).map(([zoneSeconds, zone]): [Partial<ProfileDiagnosis>, readonly string[]] => [
      { logs: { paths: ['a', 'b'], lines: 9 }, zoneSeconds },
      [STORE, '1 conversation, as it should be.', `2 logs with 9 lines. ${zone}`],
    ]),
  ])('%#', (over, lines) => {
    expect(facts(over)).toEqual(lines)
  })
})

describe('a conversation', () => {
  it('has its sessions, what happened to them, and the findings in groups', () => {
    const { title, chapters } = renderStory(diagnosis(told))
    expect(title).toBe('Examination of /home')
    expect(chapters[0]?.title).toBe('Profile default')
    expect(chapters[0]?.sections).toEqual([
      {
        ...{ title: 'Conversation s1', subtitle: 'telegram, Pier' },
        lanes: [
          { id: 's1', label: 's1 · 1 row · compression', from: AT, to: AT + 100 },
          { id: 's2', label: 's2 · 2 rows', from: AT + 100, to: AT + 200 },
        ],
        timeline: [
          {
            ...{ at: AT, time: '2023-11-14 22:13:20', sessionId: 's1', text: 'began' },
            weight: 'plain',
          },
          {
            ...{ at: AT + 200, time: '2023-11-14 22:16:40', sessionId: 's2', text: 'forked' },
            weight: 'harm',
          },
          {
            ...{ at: null, time: 'at an unknown time', sessionId: 's2', text: 'lost' },
            weight: 'risk',
          },
        ],
        groups: [
          {
            title: 'Certain',
            items: [
              {
                ...{ title: 'Two branches', label: 'anomaly A, fork', severity: 'harm' },
                ...{ explanation: 'Both go on.', advice: 'Keep one.' },
                evidence: [
                  'row 1 of s1, user, 2023-11-14 22:13:20: (no text)',
                  'row 2 of s1, user, 2023-11-14 22:13:20: word 1',
                  'and 1 more row',
                  'agent.log:7: closed | `x`',
                ],
              },
            ],
          },
          {
            title: 'Suspected',
            items: [
              {
                ...{ title: 'Torn', label: 'torn-summary', severity: 'risk', evidence: [] },
                ...{ explanation: 'Both go on.', advice: 'Keep one.' },
              },
            ],
          },
        ],
      },
      {
        ...{ title: 'Not tied to one conversation', subtitle: null, lanes: [], timeline: [] },
        groups: [
          {
            title: 'Worth knowing',
            items: [
              {
                ...{ title: 'A <note>', label: 'anomaly A, fork', severity: 'note' },
                ...{ explanation: 'Both go on.', advice: 'Nothing.', evidence: [] },
              },
            ],
          },
        ],
      },
    ])
  })

  it('shows twelve rows and twelve lines of what proves a finding', () => {
    const lines = (count: number) =>
      Array.from({ length: count }, (_, at) => ({ path: 'a', line: at, text: 'x' }))
    const evidence = (over: Partial<Finding>) => {
      const loose = profile({ findings: [finding({ sessionIds: [], ...over })] })
      return renderStory(diagnosis(loose)).chapters[0]?.sections[0]?.groups[0]?.items[0]?.evidence
    }
    expect(evidence({ rows: rows(12), rowCount: 12 })).toHaveLength(12)
    expect(evidence({ rows: rows(13), rowCount: 14 })?.slice(11)).toEqual([
      'row 12 of s1, user, 2023-11-14 22:13:20: word 11',
      'and 2 more rows',
    ])
    expect(evidence({ lines: lines(12) })).toHaveLength(12)
    expect(evidence({ lines: lines(14) })?.slice(11)).toEqual(['a:11: x', 'and 2 more lines'])
  })

  it.each([
    ['telegram', null, 'telegram'],
    [null, 'Pier', 'Pier'],
    ['', '', null],
    [null, null, null],
  ])('from %s named %s is called %s', (source, title, subtitle) => {
    const untitled = profile({ conversations: [{ ...conversation, source, title, timeline: [] }] })
    const section = renderStory(diagnosis(untitled)).chapters[0]?.sections[0]
    expect(section?.subtitle).toBe(subtitle)
    expect(section?.lanes[1]?.to).toBeNull()
  })

  it('is on one line each and free of control characters', () => {
    const odd = { ...conversation, rootId: ' s\u0000\u202e1\n', title: 'a\u2028b' }
    const section = renderStory(diagnosis(profile({ conversations: [odd] }))).chapters[0]
      ?.sections[0]
    expect([section?.title, section?.subtitle]).toEqual(['Conversation  s 1', 'telegram, a b'])
  })
})

describe('a time', () => {
  it.each([
    [null, 'at an unknown time'],
    [8.64e12 + 1, 'at an unknown time'],
    [-8.64e12 - 1, 'at an unknown time'],
    [-1, '1969-12-31 23:59:59'],
    [0, '00:00:00'],
    [86_399, '23:59:59'],
    [86_400, '1970-01-02 00:00:00'],
    [AT, '2023-11-14 22:13:20'],
  ])('%s is %s', (at, text) => {
    expect(timeText(at)).toBe(text)
  })
})
