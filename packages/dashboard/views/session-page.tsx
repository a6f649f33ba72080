import { useEffect, useState } from 'preact/hooks'
import { hashOf, type Tab } from '../data/address.ts'
import { Conversation } from '../data/conversation.ts'
import { titleFor } from '../data/session-list.ts'
import { Fill } from '../parts/fill.tsx'
import { StateChip } from '../parts/state-chip.tsx'
import { activityWords, ago, percent, tokens, usageWords } from '../parts/words.ts'
import { Compactions } from './compactions.tsx'
import { Composer } from './composer.tsx'
import { ContextPage } from './context-page.tsx'
import { Memory } from './memory.tsx'
import { Transcript } from './transcript.tsx'

const TABS: readonly (readonly [Tab, string])[] = [
  ['conversation', 'Conversation'],
  ['context', 'Context'],
  ['compactions', 'Compactions'],
  ['memory', 'Memory'],
]

export function SessionPage(props: {
  readonly id: string
  readonly tab: Tab
  readonly at: number | null
}) {
  const { id, tab, at } = props
  const [conversation] = useState(() => new Conversation(id))
  useEffect(() => () => conversation.close(), [conversation])
  const summary = conversation.summary.value
  const isDeleted = summary?.state === 'gone'
  const title = summary === null ? id : titleFor(summary)
  useEffect(() => {
    document.title = `${title} · Throughline`
    return () => {
      document.title = 'Throughline'
    }
  }, [title])
  const problem = conversation.problem.value
  const refusal = conversation.refusal.value
  return (
    <section class="session" aria-label={`Session ${id}`}>
      <header class="session-head">
        <div class="session-title">
          <h1>{title}</h1>
          {summary !== null && <StateChip summary={summary} />}
        </div>
        {summary === null && problem === null && <p class="session-facts">Reading…</p>}
        {isDeleted && (
          <p class="session-facts" role="status">
            Session {id} is deleted. Its text was erased for good, and its id is never used again.
          </p>
        )}
        {summary !== null && !isDeleted && (
          <p class="session-facts">
            <span role="status">
              {summary.agent} is {activityWords(summary)}
            </span>
            <Fill
              used={summary.contextTokens}
              window={summary.windowTokens}
              isMoving={summary.isCompacting}
            />
            <span>
              {tokens(summary.contextTokens)} of {tokens(summary.windowTokens)} tokens (
              {percent(summary.contextTokens, summary.windowTokens)}%)
            </span>
            {summary.usage.calls > 0 && (
              <span title="Tokens and cost of all model calls of this session">
                used {usageWords(summary.usage)}
              </span>
            )}
            {summary.channels.map((channel) => (
              <span>{channel}</span>
            ))}
            {summary.left !== null && <span>left {ago(summary.left.at)}</span>}
            {summary.left === null && summary.compactedAt !== null && (
              <span>compacted {ago(summary.compactedAt)}</span>
            )}
          </p>
        )}
        {!isDeleted && (
          <nav class="tabs" aria-label="Views of this session">
            {TABS.map(([name, label]) => (
              <a href={hashOf(id, name)} aria-current={name === tab ? 'page' : undefined}>
                {label}
              </a>
            ))}
          </nav>
        )}
      </header>
      {(problem ?? refusal) !== null && (
        <p class="problem" role="alert">
          {problem ?? refusal}
        </p>
      )}
      {!isDeleted && <View {...{ conversation, tab, at }} />}
    </section>
  )
}

function View(props: {
  readonly conversation: Conversation
  readonly tab: Tab
  readonly at: number | null
}) {
  const { conversation, tab, at } = props
  // Their own copies of what the server said go with every erasure; the conversation keeps none.
  const key = conversation.erasures.value
  switch (tab) {
    case 'conversation':
      return (
        <>
          <Transcript conversation={conversation} at={at} />
          <Composer conversation={conversation} />
        </>
      )
    case 'context':
      return <ContextPage key={key} conversation={conversation} at={at} />
    case 'memory':
      return <Memory key={key} conversation={conversation} />
    case 'compactions':
      return <Compactions key={key} conversation={conversation} at={at} />
  }
}
