import { useLayoutEffect } from 'preact/hooks'
import { mayWrite } from '../data/access.ts'
import type { Conversation } from '../data/conversation.ts'
import { connection } from '../data/events.ts'
import { Prose, Verbatim } from '../parts/markdown.tsx'

/** Below the transcript: attempts, queued messages and messages on their way. */
export function Upcoming(props: {
  readonly conversation: Conversation
  readonly onGrow: () => void
}) {
  const { conversation, onGrow } = props
  const attempts = conversation.attempts.value
  const pending = conversation.pending.value
  // The mailbox may list a message before the answer to our request arrives.
  const unsent = conversation.outbox.items.value.filter(
    ({ mail }) => !pending.some(({ number }) => number === mail),
  )
  const notice = conversation.notice.value
  const summary = conversation.summary.value
  useLayoutEffect(onGrow)
  const isQuiet = summary?.entries === 0 && pending.length + unsent.length === 0
  return (
    <div class="upcoming">
      {isQuiet && (
        <p class="dim empty">No messages yet. Write below; everything is kept permanently.</p>
      )}
      {attempts.map(({ id, text, reasoning, calls }) => (
        <article key={id} class="entry is-assistant writing" aria-label="Answer being written">
          <header>
            <b>Agent</b> <span class="dim">writing…</span>
          </header>
          {reasoning !== '' && text === '' && <Verbatim text={reasoning} />}
          <Prose text={text} isGrowing />
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
        <article key={`mail-${number}`} class="entry is-input waiting" aria-label="Queued message">
          <header>
            <b>{lane === 'user' ? 'You' : 'Notification'}</b>
            <span class="safe">✓ saved, will be read next</span>
            {mayWrite() && (
              <button
                type="button"
                class="quiet"
                onClick={() => void conversation.act(`/mailbox/${number}`, { method: 'DELETE' })}
              >
                Withdraw
              </button>
            )}
          </header>
          <Prose text={text} />
        </article>
      ))}
      {unsent.map(({ key, text, mail, problem }) => (
        <article key={key} class="entry is-input waiting" aria-label="Message on its way">
          <header>
            <b>You</b>
            {problem === null ? (
              <span class="dim">{mail === null ? sending() : '✓ saved, will be read next'}</span>
            ) : (
              <>
                <span class="refused" role="alert">
                  Not sent: {problem}
                </span>
                <button type="button" class="quiet" onClick={() => conversation.outbox.drop(key)}>
                  Remove
                </button>
              </>
            )}
          </header>
          <Prose text={text} />
        </article>
      ))}
    </div>
  )
}

function sending(): string {
  const isAway = connection.value === 'lost'
  return isAway ? 'kept in this tab; sent when the server is back' : 'sending…'
}
