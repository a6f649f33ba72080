import { expect, it } from 'vitest'
import { entryNumber } from '#core/base/ids'
import type { JsonObject } from '#core/base/json'
import { handoffOf, user } from '../../../../../test/support/builders.ts'
import type { Session, SessionSummary, TranscriptEntry } from '../../runtime/runtime.ts'
import { exportAs } from './export-session.ts'

const entries = [
  entry('input', {}, null),
  entry('pin', { name: 'rule', change: 'set' }, 'Be *brief*.\n# Agent'),
  entry('compaction', { covers: 1, previous: 0, by: 'digest' }, handoffOf() as never),
  entry('compaction', { covers: 2, previous: 3, by: 'model' }, null),
  entry('revert', { target: 4, previous: 3 }, null),
  entry('compaction', { covers: 2, by: 'clearing', clears: { upto: 2, tokens: 1 } }, null),
  entry('pin', { name: 'rule', change: 'removed' }, null),
].map((each, at) => ({ ...each, number: entryNumber(at + 1) }))

function entry(kind: string, meta: JsonObject, body: JsonObject | string | null): TranscriptEntry {
  const message = kind === 'input' ? user('Hello.') : null
  const fields = { kind, meta, body, message, at: 0, tokens: 1, isCovered: false, number: 1 }
  return fields as unknown as TranscriptEntry
}

async function exported(form: 'markdown' | 'html'): Promise<string> {
  const session = { transcript: async () => entries } as unknown as Session
  const facts = { id: 's', title: 'Talk', agent: 'main', createdAt: 0, entries: entries.length }
  let text = ''
  for await (const piece of exportAs(session, facts as unknown as SessionSummary, { form })) {
    text += piece
  }
  return text
}

it('an export for people says what a compaction replaces, that it was undone, and what was pinned', async () => {
  const said = [
    'User',
    'Pin rule',
    'Compaction: a handoff replaces entries 1 to 1, written by the built-in digest (no model)',
    'Compaction: a handoff replaces entries 1 to 2, written by a model',
    'Compaction #4 undone',
    'Compaction: tool results up to #2 cleared, nothing is summarized',
    'Pin rule removed',
  ].map((title, at) => `${title} · 1970-01-01 00:00 · #${at + 1}`)
  const markdown = await exported('markdown')
  expect([...markdown.matchAll(/^### (.*)$/gm)].map(([, heading]) => heading)).toEqual(said)
  expect(markdown).toContain('> ```\n> Be *brief*.\n> # Agent\n> ```\n')
  const html = await exported('html')
  expect([...html.matchAll(/<h2>(.*)<\/h2>/g)].map(([, heading]) => heading)).toEqual(said)
  expect(html).toContain('<pre><code>Be *brief*.\n# Agent</code></pre>')
  // Only the handoff without a text was erased.
  for (const text of [markdown, html]) expect(text.match(/Erased\./g)).toHaveLength(1)
})

it.each(['claude-code', 'codex'] as const)(
  'an export for %s gives each message the time of its entry, and those before them the time of the compaction',
  async (form) => {
    const parts = [
      ['pin', 1],
      ['handoff', 5],
      ['tail', 203],
      ['tail', 204],
      ['incoming', 410],
    ].map(([kind, from]) => ({ kind, origin: { from } }))
    const texts = ['A pin.', 'A handoff.', 'One.', 'Two.', 'Three.']
    const session = {
      id: 's',
      context: async () => ({ parts, messages: texts.map((text) => user(text)) }),
      transcript: async ({ from, to }: { from: number; to: number }) =>
        Array.from({ length: to - from + 1 }, (_, at) => ({ number: from + at }))
          .filter(({ number }) => [203, 204, 410].includes(number))
          .map(({ number }) => ({ number, at: number * 1_000 })),
    } as unknown as Session
    const summary = { id: 's', title: 'Talk', createdAt: 0, compactedAt: 7_000 }
    let text = ''
    const pieces = exportAs(session, summary as unknown as SessionSummary, { form })
    for await (const piece of pieces) text += piece
    const told = text.matchAll(/"timestamp":"([^"]+)".*(A pin|A handoff|One|Two|Three)\./g)
    expect([...told].map(([, at, said]) => `${said} ${at}`)).toEqual([
      'A pin 1970-01-01T00:00:07.000Z',
      'A handoff 1970-01-01T00:00:07.000Z',
      'One 1970-01-01T00:03:23.000Z',
      'Two 1970-01-01T00:03:24.000Z',
      'Three 1970-01-01T00:06:50.000Z',
    ])
  },
)
