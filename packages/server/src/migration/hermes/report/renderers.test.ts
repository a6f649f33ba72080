import { describe, expect, it } from 'vitest'
import {
  AT,
  conversation,
  diagnosis,
  finding,
  profile,
  told,
} from '../../../../../../test/support/hermes-diagnosis.ts'
import type { HermesConversation } from '../diagnose/diagnosis.ts'
import { renderHtml } from './html.ts'
import { renderMarkdown } from './markdown.ts'
import { renderText } from './text.ts'

describe('a diagnosis', () => {
  it('is a text for a terminal', () => {
    const long = finding({ explanation: `${'word '.repeat(18)}end`, advice: 'Keep one.' })
    expect(renderText(diagnosis(told)).split('\n')).toEqual([
      ...['Examination of /home', '2 faults in 1 conversation: 1 certain, 1 suspected.'],
      ...['', 'Profile default'],
      '  /home/state.db: schema 26, 2 sessions, 3 rows, 1 of them live.',
      '  Nothing to say about 4 other conversations.',
      '  No logs were read; what only they know is not in here.',
      '  A remark.',
      ...['', 'Conversation s1 (telegram, Pier)', '  s1 · 1 row · compression', '  s2 · 2 rows'],
      ...['', '  What happened', '    2023-11-14 22:13:20    began'],
      ...['    2023-11-14 22:16:40  ! forked', '    at an unknown time  ? lost'],
      ...['', '  Certain', '    1. Two branches [anomaly A, fork]', '       Both go on.'],
      '       - row 1 of s1, user, 2023-11-14 22:13:20: (no text)',
      '       - row 2 of s1, user, 2023-11-14 22:13:20: word 1',
      '       - and 1 more row',
      '       - agent.log:7: closed | `x`',
      '       What to do: Keep one.',
      ...['', '  Suspected', '    1. Torn [torn-summary]', '       Both go on.'],
      '       What to do: Keep one.',
      ...['', 'Not tied to one conversation', '', '  Worth knowing'],
      ...['    1. A <note> [anomaly A, fork]', '       Both go on.', '       What to do: Nothing.'],
      '',
    ])
    const wrapped = renderText(diagnosis(profile({ findings: [{ ...long, sessionIds: [] }] })))
    expect(wrapped).toContain(`       ${'word '.repeat(17)}word\n       end\n`)
  })

  it('is Markdown in which nothing of the store is markup', () => {
    expect(renderMarkdown(diagnosis(told)).split('\n')).toEqual([
      ...['# Examination of /home', ''],
      '**2 faults in 1 conversation: 1 certain, 1 suspected.**',
      ...['', '## Profile default', ''],
      '- /home/state.db: schema 26, 2 sessions, 3 rows, 1 of them live.',
      '- Nothing to say about 4 other conversations.',
      '- No logs were read; what only they know is not in here.',
      '- A remark.',
      ...['', '### Conversation s1', '', 'telegram, Pier', ''],
      ...['- s1 · 1 row · compression', '- s2 · 2 rows', '', '| When | What |', '| --- | --- |'],
      '| 2023-11-14 22:13:20 | began |',
      '| 2023-11-14 22:16:40 | **forked** |',
      '| at an unknown time | **lost** |',
      ...[
        '',
        '#### Certain',
        '',
        '1. **Two branches** (anomaly A, fork)',
        '',
        '   Both go on.',
        '',
      ],
      '   - `row 1 of s1, user, 2023-11-14 22:13:20: (no text)`',
      '   - `row 2 of s1, user, 2023-11-14 22:13:20: word 1`',
      '   - `and 1 more row`',
      "   - `agent.log:7: closed ¦ 'x'`",
      ...['', '   What to do: Keep one.'],
      ...['', '#### Suspected', '', '1. **Torn** (torn-summary)', '', '   Both go on.', ''],
      '   What to do: Keep one.',
      ...['', '### Not tied to one conversation', '', '', '#### Worth knowing', ''],
      ...['1. **A \\<note\\>** (anomaly A, fork)', '', '   Both go on.', ''],
      ...['   What to do: Nothing.', ''],
    ])
  })

  it('is a page that draws its sessions over time', () => {
    const html = renderHtml(diagnosis(told))
    const [, body = ''] = /<body>\n([\s\S]*)<\/body>/.exec(html) ?? []
    const moment = (weight: string, time: string, text: string) =>
      `<tr class="${weight}"><td>${time}</td><td>${text}</td></tr>`
    const item = (severity: string, title: string, label: string, lines: string, advice: string) =>
      `<li class="${severity}"><b>${title}</b> <span class="label">${label}</span>\n` +
      `<p>Both go on.</p>\n${lines}\n<p>What to do: ${advice}</p></li>`
    const row = 'of s1, user, 2023-11-14 22:13:20:'
    const proofs = [`row 1 ${row} (no text)`, `row 2 ${row} word 1`, 'and 1 more row']
    const evidence = [...proofs, 'agent.log:7: closed | `x`']
    const proven = `<ul>${evidence.map((line) => `<li><code>${line}</code></li>`).join('')}</ul>`
    expect(body.split('\n')).toEqual(
      [
        '<h1>Examination of /home</h1>',
        '<p class="verdict">2 faults in 1 conversation: 1 certain, 1 suspected.</p>',
        '<h2>Profile default</h2>',
        '<ul class="facts">' +
          '<li>/home/state.db: schema 26, 2 sessions, 3 rows, 1 of them live.</li>' +
          '<li>Nothing to say about 4 other conversations.</li>' +
          '<li>No logs were read; what only they know is not in here.</li>' +
          '<li>A remark.</li></ul>',
        ...['<section>', '<h3>Conversation s1</h3>', '<p>telegram, Pier</p>'],
        // 876 points for 200 seconds, between two margins of 12.
        '<svg viewBox="0 0 900 92" role="img" aria-label="Sessions of this conversation over time">' +
          '<text x="12" y="16">s1 · 1 row · compression</text>' +
          '<rect x="12.0" y="25" width="438.0" height="10" rx="3" fill="var(--lane)"/>' +
          '<text x="12" y="60">s2 · 2 rows</text>' +
          '<rect x="450.0" y="69" width="438.0" height="10" rx="3" fill="var(--lane)"/>' +
          '<circle cx="888.0" cy="74" r="6" fill="var(--harm)">' +
          '<title>2023-11-14 22:16:40 forked</title></circle>' +
          '<circle cx="12.0" cy="74" r="6" fill="var(--risk)">' +
          '<title>at an unknown time lost</title></circle></svg>',
        `<table>${moment('plain', '2023-11-14 22:13:20', 'began')}` +
          `${moment('harm', '2023-11-14 22:16:40', 'forked')}` +
          `${moment('risk', 'at an unknown time', 'lost')}</table>`,
        '<h4>Certain</h4>',
        `<ol>${item('harm', 'Two branches', 'anomaly A, fork', proven, 'Keep one.')}</ol>`,
        '<h4>Suspected</h4>',
        `<ol>${item('risk', 'Torn', 'torn-summary', '', 'Keep one.')}</ol>`,
        '</section>',
        ...['<section>', '<h3>Not tied to one conversation</h3>', '', '', ''],
        '<h4>Worth knowing</h4>',
        `<ol>${item('note', 'A &#60;note&#62;', 'anomaly A, fork', '', 'Nothing.')}</ol>`,
        '</section>',
        '<p class="foot">Examined 2026-11-16T00:00:00Z. Times are UTC. The store was only read.</p>',
        '',
      ]
        .join('\n')
        .split('\n'),
    )
    expect(html).toContain("content=\"default-src 'none'; style-src 'unsafe-inline'\"")
  })

  it('draws one moment at the left, and nothing without a time', () => {
    const draw = (over: Partial<HermesConversation>) => {
      const html = renderHtml(
        diagnosis(profile({ conversations: [{ ...conversation, timeline: [], ...over }] })),
      )
      return /<svg.*<\/svg>/.exec(html)?.[0]
    }
    const session = { id: 's1', startedAt: AT, endedAt: AT, endReason: null, rows: 1 }
    expect(draw({ sessions: [session] })).toContain('<rect x="12.0" y="25" width="2.0"')
    // A session that ended before it began is drawn as well.
    const turned = { ...session, endedAt: AT - 50 }
    expect(draw({ sessions: [turned] })).toContain('<rect x="12.0" y="25" width="876.0"')
    expect(draw({ sessions: [{ ...session, startedAt: null, endedAt: null }] })).toBeUndefined()
    expect(draw({ sessions: [] })).toBeUndefined()
  })
})
