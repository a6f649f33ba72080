import { useEffect, useState } from 'preact/hooks'
import type { ContextPart, ContextView, TranscriptEntry } from '../../server/src/runtime/runtime.ts'
import { hashOf } from '../data/address.ts'
import { call, errorText, sessionPath } from '../data/api.ts'
import { compareContexts, type Difference } from '../data/compare.ts'
import type { Conversation } from '../data/conversation.ts'
import { ContextBar, KIND_WORDS, KINDS, sumsOf } from '../parts/context-bar.tsx'
import { Verbatim } from '../parts/markdown.tsx'
import { ago, count, percent, tokens } from '../parts/words.ts'

/** The context of the model now or at any step, and the difference between two steps. */
const SETTLE_MS = 120
const STEPS = 200

export function ContextPage(props: {
  readonly conversation: Conversation
  readonly at: number | null
}) {
  const { conversation, at } = props
  const { id } = conversation
  const last = conversation.tail.value
  const summary = conversation.summary.value
  const [other, setOther] = useState<number | null>(null)
  const current = useContextView(id, at, last)
  const compared = useContextView(id, other, last, other !== null)
  const go = (entry: number | null) => {
    const hash = hashOf(id, 'context', entry ?? undefined)
    history.replaceState(null, '', hash)
    dispatchEvent(new HashChangeEvent('hashchange'))
  }
  return (
    <div class="scroll">
      <div>
        <StepSlider id={id} label="Context at message" at={at ?? last} last={last} onChange={go} />
        <div class="verbs">
          <button type="button" disabled={at === null} onClick={() => go(null)}>
            Now
          </button>
          <label>
            <input
              type="checkbox"
              checked={other !== null}
              onChange={() => setOther(other === null ? Math.max(1, (at ?? last) - 2) : null)}
            />{' '}
            Compare with another step
          </label>
        </div>
        {other !== null && (
          <StepSlider
            id={id}
            label="Compared with message"
            at={other}
            last={last}
            onChange={setOther}
          />
        )}
      </div>
      {at === null && summary !== null && summary.left !== null && (
        <p role="status">
          This session was left {ago(summary.left.at)}: its client goes on from the handoff in its
          own log, with about <b>{tokens(summary.contextTokens)}</b> of{' '}
          {tokens(summary.windowTokens)} tokens. Below is the context from before.
        </p>
      )}
      {current.problem !== null && <p class="problem">{current.problem}</p>}
      {current.view === null && current.problem === null && <p class="dim">Reading…</p>}
      {current.view !== null && (
        <>
          <p>
            <b>{tokens(current.view.tokens)}</b> of {tokens(current.view.windowTokens)} tokens (
            {percent(current.view.tokens, current.view.windowTokens)}%), built from the conversation
            up to #{current.view.upto}.
          </p>
          <ContextBar view={current.view} />
          {current.view.countedTokens !== null && current.view.softTokens !== null && (
            <p class="dim">
              The proxy makes a handoff after a request in which the provider counts more than{' '}
              {count(current.view.softTokens)} tokens; in the last one it counted{' '}
              {count(current.view.countedTokens)}. The sizes here are estimates.
            </p>
          )}
          {compared.view !== null && other !== null ? (
            <Differences {...{ id, other }} parts={compareContexts(compared.view, current.view)} />
          ) : (
            <Parts key={current.view.upto} id={id} view={current.view} />
          )}
        </>
      )}
    </div>
  )
}

function useContextView(id: string, at: number | null, last: number, isWanted = true) {
  const [view, setView] = useState<ContextView | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  // Only the current context changes when an entry is added.
  const version = at === null ? last : 0
  useEffect(() => {
    if (!isWanted) return setView(null)
    const controller = new AbortController()
    const read = async () => {
      const path = sessionPath(id, at === null ? '/context' : `/context?at=${at}`)
      try {
        setView(await call<ContextView>(path, { signal: controller.signal }))
        setProblem(null)
      } catch (error) {
        if (!controller.signal.aborted) setProblem(errorText(error))
      }
    }
    const timer = setTimeout(() => void read(), view === null ? 0 : SETTLE_MS)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [id, at, version, isWanted])
  return { view, problem }
}

function StepSlider(props: {
  readonly id: string
  readonly label: string
  readonly at: number
  readonly last: number
  readonly onChange: (entry: number) => void
}) {
  const { id, label, at, last, onChange } = props
  const name = label.replaceAll(' ', '-')
  const step = async (direction: 1 | -1) => {
    const from = direction === 1 ? at + 1 : Math.max(1, at - STEPS)
    if (from > last) return
    const path = sessionPath(id, `/transcript?from=${from}&limit=${STEPS}`)
    const { entries } = await call<{ entries: TranscriptEntry[] }>(path)
    const steps = entries.filter(
      ({ kind, number }) => kind === 'assistant' && (direction === 1 ? number > at : number < at),
    )
    const found = direction === 1 ? steps[0] : steps.at(-1)
    if (found !== undefined) onChange(found.number)
  }
  return (
    <div class="slider">
      <label for={name}>
        {label} <b>{at}</b> of {last}
      </label>
      <button type="button" aria-label="Earlier step" onClick={() => void step(-1)}>
        ‹
      </button>
      <input
        id={name}
        type="range"
        min={1}
        max={Math.max(1, last)}
        value={at}
        onInput={(event) => onChange(Number(event.currentTarget.value))}
      />
      <button type="button" aria-label="Later step" onClick={() => void step(1)}>
        ›
      </button>
    </div>
  )
}

const ROWS_MAX = 200

function Parts({ id, view }: { readonly id: string; readonly view: ContextView }) {
  const [kind, setKind] = useState<ContextPart['kind'] | null>(null)
  const [limit, setLimit] = useState(ROWS_MAX)
  const sums = sumsOf(view.parts)
  const parts = view.parts.filter((part) => kind === null || part.kind === kind)
  return (
    <>
      <div class="legend">
        {KINDS.filter((each) => sums.has(each)).map((each) => (
          <button
            type="button"
            aria-pressed={kind === each}
            onClick={() => setKind(kind === each ? null : each)}
          >
            <i class={`dot kind-${each}`} />
            {KIND_WORDS[each]} <b>{tokens(sums.get(each) ?? 0)}</b>
          </button>
        ))}
      </div>
      <div class="parts">
        {parts.slice(0, limit).map((part, index) => (
          <PartRow key={`${part.kind}-${part.origin.from}-${index}`} {...{ id, part, view }} />
        ))}
        {parts.length > limit && (
          <button type="button" class="quiet" onClick={() => setLimit(limit + ROWS_MAX)}>
            Show more of {count(parts.length)}
          </button>
        )}
      </div>
    </>
  )
}

const EXCERPT_LENGTH = 140
const SPEAKERS = {
  user: 'User',
  assistant: 'Agent',
  tool: 'Tool result',
  'client-summary': "Client's summary",
} as const

function PartRow(props: {
  readonly id: string
  readonly part: ContextPart
  readonly view: { readonly tokens: number }
  readonly sign?: '+' | '−'
}) {
  const { id, part, view, sign } = props
  const { kind, text, origin } = part
  const [isOpen, setOpen] = useState(false)
  return (
    <details
      class={`part${sign === undefined ? '' : sign === '+' ? ' added' : ' removed'}`}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>
        {sign !== undefined && <b class="sign">{sign}</b>}
        <i class={`dot kind-${kind}`} />
        <span class="part-kind">{part.role === null ? KIND_WORDS[kind] : SPEAKERS[part.role]}</span>
        <span class="part-text">{text.slice(0, EXCERPT_LENGTH)}</span>
        <span class="part-size">
          <i style={{ width: `${percent(part.tokens, view.tokens)}%` }} class={`kind-${kind}`} />
        </span>
        <span class="dim part-tokens">{tokens(part.tokens)}</span>
      </summary>
      {isOpen && (
        <>
          <p class="dim">
            From{' '}
            <a href={hashOf(id, 'conversation', Math.max(1, origin.from))}>
              {origin.from === origin.to ? `#${origin.from}` : `#${origin.from} to #${origin.to}`}
            </a>
          </p>
          <Verbatim text={text} />
        </>
      )}
    </details>
  )
}

function Differences(props: {
  readonly id: string
  readonly other: number
  readonly parts: Difference
}) {
  const { id, other } = props
  const { added, removed, same } = props.parts
  const all = { tokens: [...added, ...removed].reduce((sum, part) => sum + part.tokens, 1) }
  return (
    <section class="parts" aria-label="Difference">
      <p role="status">
        Compared with #{other}: <b>{added.length}</b> parts added, <b>{removed.length}</b> removed,{' '}
        {count(same)} unchanged.
      </p>
      {removed.slice(0, ROWS_MAX).map((part) => (
        <PartRow {...{ id, part }} view={all} sign="−" />
      ))}
      {added.slice(0, ROWS_MAX).map((part) => (
        <PartRow {...{ id, part }} view={all} sign="+" />
      ))}
    </section>
  )
}
