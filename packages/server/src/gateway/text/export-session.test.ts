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
