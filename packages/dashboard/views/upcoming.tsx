import { useLayoutEffect } from 'preact/hooks'
import type { Conversation } from '../data/conversation.ts'
import { Said, Verbatim } from '../parts/markdown.tsx'

/** Behind the transcript: what is being written, what waits in the mailbox, what is on its way. */
export function Upcoming(props: {
  readonly conversation: Conversation
  readonly onGrow: () => void
}) {
  const { conversation, onGrow } = props
  const attempts = conversation.attempts.value
  const pending = conversation.pending.value
  // The mailbox may tell of a message before our own sending of it has been answered for.
  const unsent = conversation.outbox.items.value.filter(
    ({ mail }) => !pending.some(({ number }) => number === mail),
  )
  const notice = conversation.notice.value
  const summary = conversation.summary.value
  useLayoutEffect(onGrow)
  const isQuiet = summary?.entries === 0 && pending.length + unsent.length === 0
  return (
    <div class="upcoming">
      {isQuiet && <p class="dim empty">Nothing was said yet. Write below; it is kept for good.</p>}
      {attempts.map(({ id, text, reasoning, calls }) => (
        <article key={id} class="entry is-assistant writing" aria-label="Answer being written">
          <header>
            <b>Agent</b> <span class="dim">writing…</span>
          </header>
          {reasoning !== '' && text === '' && <Verbatim text={reasoning} />}
          <Said text={text} isGrowing />
          {calls.map((tool) => (
            <p class="tool-name">{tool}…</p>
          ))}
        </article>
      ))}
      {notice !== null && (
        <p class="notice" role="status">
          {notice}
        </p>
      )}
      {conversation.warning.value !== null && (
        <p class="notice" role="status">
          {conversation.warning.value}{' '}
          <button
            type="button"
            class="quiet"
            onClick={() => {
              conversation.warning.value = null
            }}
          >
            Dismiss
          </button>
        </p>
      )}
      {pending.map(({ number, text, lane }) => (
        <article key={`mail-${number}`} class="entry is-input waiting" aria-label="Waiting message">
          <header>
            <b>{lane === 'user' ? 'You' : 'Notification'}</b>
            <span class="safe">✓ safe, will be read next</span>
            <button
              type="button"
              class="quiet"
              onClick={() => void conversation.act(`/mailbox/${number}`, { method: 'DELETE' })}
            >
              Take back
            </button>
          </header>
          <Said text={text} />
        </article>
      ))}
      {unsent.map(({ key, text, mail, problem }) => (
        <article key={key} class="entry is-input waiting" aria-label="Message on its way">
          <header>
            <b>You</b>
            {problem === null ? (
              <span class="dim">{mail === null ? 'sending…' : '✓ safe, will be read next'}</span>
            ) : (
              <>
                <span class="refused" role="alert">
                  Not taken: {problem}
                </span>
                <button type="button" class="quiet" onClick={() => conversation.outbox.drop(key)}>
                  Remove
                </button>
              </>
            )}
          </header>
          <Said text={text} />
        </article>
      ))}
    </div>
  )
}
