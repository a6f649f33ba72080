import type { ComponentChildren } from 'preact'
import { isObject } from '../../core/src/base/json.ts'
import type { Handoff } from '../../core/src/message/handoff/handoff.ts'
import { NOTES_PIN } from '../../core/src/message/handoff/pinned.ts'
import type { Part } from '../../core/src/message/message.ts'
import { asTyped } from '../../core/src/message/typed-command.ts'
import type { CompactionView, TranscriptEntry } from '../../server/src/runtime/runtime.ts'
import { mayWrite, seesAll } from '../data/access.ts'
import { hashOf } from '../data/address.ts'
import { call, sessionPath } from '../data/api.ts'
import { useServerData } from '../data/reading.ts'
import { titleOf } from '../data/session-list.ts'
import { COMPACTIONS_MAX } from '../data/tooth.ts'
import { HandoffText } from './handoff-text.tsx'
import { Prose, Verbatim } from './markdown.tsx'
import { Picture } from './picture.tsx'
import { exactly, moment, tokens, WRITERS } from './words.ts'

/** One entry of the transcript, of any kind. */
export function EntryView(props: {
  readonly sessionId: string
  readonly entry: TranscriptEntry
  readonly isMarked: boolean
  /** The compaction in effect. */
  readonly effective: number | null
  readonly onRevert: (entry: number) => void
  /** Null: no agent could continue a fork of it. */
  readonly onFork: ((entry: number) => void) | null
}) {
  const { sessionId, entry, isMarked, effective, onFork } = props
  const { number, kind, isCovered } = entry
  const classes = ['entry', `is-${kind}`, isCovered && 'covered', isMarked && 'marked']
  return (
    <article
      class={classes.filter(Boolean).join(' ')}
      data-entry={number}
      // The first settings change nothing, and an answer that was stopped before its first word says
      // nothing: shown only to those who follow a link to them.
      hidden={!isMarked && ((kind === 'settings' && number === 1) || isBlank(entry))}
      aria-label={`Entry ${number}, ${LABELS[kind] ?? kind}${isCovered ? ', compacted' : ''}`}
    >
      {kind === 'compaction' ? (
        <HandoffCard {...{ sessionId, entry }} effective={effective} onRevert={props.onRevert} />
      ) : (
        <Body {...{ sessionId, entry, onFork }} />
      )}
    </article>
  )
}

function isBlank({ kind, message }: TranscriptEntry): boolean {
  return kind === 'assistant' && message?.role === 'assistant' && message.parts.length === 0
}

const LABELS: Readonly<Record<string, string>> = {
  input: 'message',
  assistant: 'answer',
  result: 'tool result',
  compaction: 'handoff',
  revert: 'compaction undone',
  pin: 'pin',
  task: 'tasks',
  settings: 'settings',
  turn: 'end of turn',
  erasure: 'erasure',
}

function Body(props: {
  readonly sessionId: string
  readonly entry: TranscriptEntry
  readonly onFork: ((entry: number) => void) | null
}) {
  const { sessionId, entry, onFork } = props
  const { kind, message, number, meta } = entry
  const facts = meta as Readonly<Record<string, unknown>>
  if (kind === 'input' || kind === 'assistant' || kind === 'result') {
    if (message === null) return <Note entry={entry}>This message was erased.</Note>
    if (message.role === 'handoff') return null
    const parts = (asTyped(message).parts as readonly Part[]).map((part) => (
      <PartView part={part} sessionId={sessionId} />
    ))
    if (kind === 'result') return parts
    return (
      <>
        <header>
          <b>{kind === 'assistant' ? 'Agent' : inputSpeaker(entry)}</b>
          <time dateTime={new Date(entry.at).toISOString()} title={exactly(entry.at)}>
            {moment(entry.at)}
          </time>
          <span class="dim">
            #{number} · {tokens(entry.tokens)} tokens
          </span>
          {kind === 'assistant' && (
            <span class="entry-links">
              <a href={hashOf(sessionId, 'context', number)}>What it saw</a>
              {onFork !== null && seesAll() && mayWrite() && (
                <button
                  type="button"
                  class="quiet"
                  title="Continue from here in a new session; this one stays as it is"
                  onClick={() => onFork(number)}
                >
                  Go back to here
                </button>
              )}
            </span>
          )}
        </header>
        {parts}
      </>
    )
  }
  switch (kind) {
    case 'turn':
      if (facts['ended'] === 'answered') return <hr />
      return (
        <Note entry={entry} isFailure={facts['ended'] === 'failed'}>
          Turn {`${facts['turn']} ${facts['ended']}`}.
        </Note>
      )
    case 'revert':
      if (facts['to'] !== undefined && entry.body !== null)
        return (
          <Note entry={entry}>
            {isObject(entry.body) && entry.body['by'] === 'leave'
              ? 'The client continues from the handoff that `leave` wrote.'
              : 'The client compacted the conversation itself and continues from its summary.'}{' '}
            The messages before it stay here, and you can search them.
          </Note>
        )
      if (facts['to'] !== undefined)
        return (
          <Note entry={entry}>
            The conversation went back to #{`${facts['to']}`}; the messages in between are no longer
            part of it.
          </Note>
        )
      return (
        <Note entry={entry}>
          Compaction #{`${facts['target']}`} was undone; the model sees its messages word for word
          again.
        </Note>
      )
    case 'pin':
      return (
        <Note entry={entry}>
          {facts['name'] === NOTES_PIN
            ? 'The notes that the agent sees have changed.'
            : `Pin “${facts['name']}” ${facts['change'] === 'set' ? 'set' : 'removed'}.`}
          <Folded label="Show">{bodyText(entry)}</Folded>
        </Note>
      )
    case 'task':
      return (
        <Note entry={entry}>
          Tasks changed.<Folded label="Show">{bodyText(entry)}</Folded>
        </Note>
      )
    case 'settings':
      return (
        <Note entry={entry}>
          Settings changed.<Folded label="Show">{bodyText(entry)}</Folded>
        </Note>
      )
    case 'erasure':
      return <Note entry={entry}>Entries were erased for good.</Note>
    case 'arrival':
      return (
        <Note entry={entry}>
          A new session begins here. It was forked from{' '}
          <a href={hashOf(`${facts['origin']}`, 'conversation', Number(facts['at']))}>
            {titleOf(`${facts['origin']}`)} at #{`${facts['at']}`}
          </a>
          , which stays as it is.
        </Note>
      )
    case 'record':
      return (
        <Note entry={entry}>
          Record of another program.<Folded label="Show">{bodyText(entry)}</Folded>
        </Note>
      )
    default:
      return (
        <Note entry={entry}>
          {kind}
          <Folded label="Show">{bodyText(entry)}</Folded>
        </Note>
      )
  }
}

function inputSpeaker({ meta, message }: TranscriptEntry): string {
  if (message?.role === 'user' && message.isSummary) return "Client's summary"
  return 'lane' in meta && meta.lane === 'notification' ? 'Notification' : 'You'
}

function bodyText({ body }: TranscriptEntry): string {
  if (body === null) return ''
  if (typeof body === 'string') return body
  return typeof body['text'] === 'string' ? body['text'] : JSON.stringify(body, null, 2)
}

function Note({
  entry,
  isFailure = false,
  children,
}: {
  readonly entry: TranscriptEntry
  readonly isFailure?: boolean
  readonly children: ComponentChildren
}) {
  return (
    <div class="note">
      <span class="dim">#{entry.number}</span>{' '}
      <span class={isFailure ? 'refused' : undefined}>{children}</span>
    </div>
  )
}

function Folded({ label, children }: { readonly label: string; readonly children: string }) {
  if (children === '') return null
  return (
    <details>
      <summary>{label}</summary>
      <Verbatim text={children} />
    </details>
  )
}

const EXCERPT_LENGTH = 100
const excerpt = (text: string) => text.slice(0, EXCERPT_LENGTH).replaceAll('\n', ' ')

function PartView({ part, sessionId }: { readonly part: Part; readonly sessionId: string }) {
  switch (part.type) {
    case 'text':
      return <Prose text={part.text} />
    case 'reasoning':
      return part.text === '' ? null : <Folded label="Reasoning">{part.text}</Folded>
    case 'tool-call': {
      const input = JSON.stringify(part.input, null, 2) ?? ''
      return (
        <details class="tool">
          <summary>
            <span class="tool-name">{part.name}</span>
            <span class="dim">{excerpt(JSON.stringify(part.input) ?? '')}</span>
          </summary>
          <Verbatim text={input} />
        </details>
      )
    }
    case 'tool-result': {
      const texts = part.output.flatMap((each) => (each.type === 'text' ? [each.text] : []))
      const text = texts.join('\n')
      return (
        <details class={part.isError ? 'tool failed' : 'tool'}>
          <summary>
            <span class="tool-name">{part.isError ? '✕ result' : '↳ result'}</span>
            <span class="dim">{excerpt(text)}</span>
          </summary>
          <Verbatim text={text} />
          {part.output.map((each) =>
            each.type === 'image' ? <Picture source={each.source} sessionId={sessionId} /> : null,
          )}
        </details>
      )
    }
    case 'image':
      return <Picture source={part.source} sessionId={sessionId} />
    case 'file':
      return <p class="dim">File{part.name === undefined ? '' : ` ${part.name}`}</p>
    case 'opaque':
      return (
        <Folded label={`Item from ${part.provider}`}>{JSON.stringify(part.value, null, 2)}</Folded>
      )
  }
}

function HandoffCard(props: {
  readonly sessionId: string
  readonly entry: TranscriptEntry
  readonly effective: number | null
  readonly onRevert: (entry: number) => void
}) {
  const { sessionId, entry, effective, onRevert } = props
  const isInEffect = effective === entry.number
  const meta = entry.meta as { covers: number; by: string; clears?: { upto: number } }
  const isClearing = meta.by === 'clearing'
  const handoff = entry.body as unknown as Handoff | null
  return (
    <section class="handoff" aria-label={`Handoff ${entry.number}`}>
      <header>
        <b>{isClearing ? 'Clearing' : 'Handoff'}</b>
        <span>
          {isClearing
            ? `shortens tool results up to #${meta.clears?.upto}; nothing is summarized`
            : `replaces messages up to #${meta.covers}, written by ${WRITERS[meta.by] ?? meta.by}`}
        </span>
        <span class="dim">
          #{entry.number} · {tokens(entry.tokens)} tokens · {moment(entry.at)}
        </span>
      </header>
      <p class="dim">
        {!isInEffect ? (
          <NotInEffect {...{ sessionId, effective }} number={entry.number} />
        ) : isClearing ? (
          'In effect: the model sees both ends of them. They stay here whole, and it can open them by number.'
        ) : (
          'In effect: the model sees this instead of them. They stay here, and you can search them.'
        )}
      </p>
      {isClearing ? null : handoff === null ? (
        <p>Its text was erased.</p>
      ) : (
        <HandoffText handoff={handoff} />
      )}
      <footer>
        <a class="button" href={hashOf(sessionId, 'compactions', entry.number)}>
          Before and after
        </a>
        {isInEffect && mayWrite() && (
          <button type="button" onClick={() => onRevert(entry.number)}>
            Undo this compaction
          </button>
        )}
      </footer>
    </section>
  )
}

function NotInEffect(props: {
  readonly sessionId: string
  readonly number: number
  readonly effective: number | null
}) {
  const { sessionId, number, effective } = props
  const { value } = useServerData(
    async (signal): Promise<{ compactions: readonly CompactionView[] }> =>
      await call(sessionPath(sessionId, `/compactions?limit=${COMPACTIONS_MAX}`), { signal }),
    [sessionId, number, effective],
  )
  const row = value?.compactions.find(({ entry }) => entry === number)
  if (row === undefined) return <>Not in effect.</>
  return <>Not in effect: {row.isUndone ? 'it was undone.' : 'a newer compaction replaced it.'}</>
}
