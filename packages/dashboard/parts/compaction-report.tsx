import { useEffect, useState } from 'preact/hooks'
import type {
  CompactionReport,
  Fate,
  ReportedMessage,
} from '../../core/src/session/view/compaction-report.ts'
import { hashOf } from '../data/address.ts'
import { call, errorText, sessionPath } from '../data/api.ts'
import { count, tokens } from './words.ts'

const CLASSES: readonly (readonly [Fate, string])[] = [
  ['kept', 'Kept word for word'],
  ['summarized', 'Summarized: the handoff repeats some of it'],
  ['recallable', 'Recallable: not in the context, but recall finds it'],
  ['gone', 'Gone'],
]

const CLEARED = 'Cleared: its two ends are in the context, recall opens the whole'

/** What became of every message; each one links to its place in the conversation. */
export function Report({ id, entry }: { readonly id: string; readonly entry: number }) {
  const [report, setReport] = useState<CompactionReport | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  useEffect(() => {
    const read = async () => {
      try {
        setReport(await call<CompactionReport>(sessionPath(id, `/compactions/${entry}`)))
      } catch (error) {
        setProblem(errorText(error))
      }
    }
    void read()
  }, [id, entry])
  if (problem !== null) return <p class="problem">{problem}</p>
  if (report === null) return <p class="dim">Asking the index…</p>
  const { by, cache, counts, messages, erased } = report
  return (
    <section class="report" aria-label="What became of each message">
      <p class="dim">
        The cache lost {tokens(cache.lostTokens)} tokens; the next call sent{' '}
        {tokens(cache.rewrittenTokens)} anew
        {cache.breakEvenCalls === null
          ? '.'
          : `; paid back after ${count(cache.breakEvenCalls)} model calls, about ${count(cache.breakEvenTurns ?? 0)} turns.`}
      </p>
      {CLASSES.map(([fate, words]) => (
        <details>
          <summary>
            <b>{count(counts[fate].messages)}</b>{' '}
            {by === 'clearing' && fate === 'summarized' ? CLEARED : words}{' '}
            <span class="dim">{tokens(counts[fate].tokens)} tokens</span>
          </summary>
          <ul class="plain">
            {messages
              .filter((message) => message.fate === fate)
              .map((message) => (
                <Line id={id} message={message} />
              ))}
          </ul>
        </details>
      ))}
      {erased > 0 && <p class="dim">{count(erased)} erased since.</p>}
    </section>
  )
}

const ROLES = { user: 'person', assistant: 'agent', tool: 'tool' } as const

function Line({ id, message }: { readonly id: string; readonly message: ReportedMessage }) {
  const { number, role, excerpt } = message
  return (
    <li>
      <a href={hashOf(id, 'conversation', number)}>#{number}</a>{' '}
      <span class="dim">{ROLES[role]}</span> {excerpt}
    </li>
  )
}
