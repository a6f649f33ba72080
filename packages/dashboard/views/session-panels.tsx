import { useState } from 'preact/hooks'
import type { ExportForm } from '../../server/src/gateway/text/export-session.ts'
import { hashOf } from '../data/address.ts'
import { download, errorText, sessionPath } from '../data/api.ts'
import type { Conversation } from '../data/conversation.ts'
import { titleOf } from '../data/session-list.ts'
import { count } from '../parts/words.ts'

/** Renaming, exporting and deleting a session. */
interface Panel {
  readonly conversation: Conversation
  readonly onDone: () => void
}

const TITLE_MAX = 200

export function RenamePanel({ conversation, onDone }: Panel) {
  const [title, setTitle] = useState(conversation.summary.value?.title ?? '')
  const rename = async (event: Event) => {
    event.preventDefault()
    if (await conversation.act('/title', { method: 'PUT', body: { title } })) onDone()
  }
  return (
    <form class="panel" onSubmit={rename} aria-label="Rename">
      <label for="new-title">Title</label>
      <input
        id="new-title"
        ref={focusFirst}
        value={title}
        maxLength={TITLE_MAX}
        dir="auto"
        placeholder={conversation.id}
        onInput={(event) => setTitle(event.currentTarget.value)}
      />
      <p class="dim">Without a title, the page shows the id, which never changes.</p>
      <div class="verbs">
        <button type="submit">Rename</button>
      </div>
    </form>
  )
}

const FORMS: readonly (readonly [ExportForm | null, string])[] = [
  ['markdown', 'Markdown'],
  ['html', 'HTML'],
  ['claude-code', 'Claude Code'],
  ['codex', 'Codex'],
  ['openai-chat', 'OpenAI chat'],
  [null, 'JSON lines'],
]

export function ExportPanel({ conversation }: Pick<Panel, 'conversation'>) {
  const save = async (form: ExportForm | null) => {
    conversation.refusal.value = null
    try {
      const query = form === null ? '' : `?to=${form}`
      await download(sessionPath(conversation.id, `/export${query}`))
    } catch (error) {
      conversation.refusal.value = errorText(error)
    }
  }
  return (
    <section class="panel" aria-label="Export">
      <p class="dim">
        Markdown and HTML contain the whole conversation. The files for Claude Code, Codex and
        OpenAI chat contain what the model sees now, so that another program can continue from
        there. JSON lines are for <code>throughline import</code>.
      </p>
      <div class="verbs">
        {FORMS.map(([form, label]) => (
          <button type="button" onClick={() => void save(form)}>
            {label}
          </button>
        ))}
      </div>
    </section>
  )
}

export function DeletePanel({ conversation, onDone }: Panel) {
  const { id } = conversation
  const { title = null, entries = 0 } = conversation.summary.value ?? {}
  const [forks, setForks] = useState<readonly string[] | null>(null)
  const erase = async () => {
    const outcome = await conversation.erase()
    setForks(typeof outcome === 'string' ? null : outcome)
    // The form goes with the session, and the focus would go with it.
    if (outcome === 'erased') document.getElementById('main')?.focus()
  }
  return (
    <section class="panel" aria-label="Delete">
      <p>
        Delete session <b>{id}</b>
        {title !== null && (
          <>
            {' '}
            (<q>{title}</q>)
          </>
        )}{' '}
        for good?
      </p>
      <p class="dim">
        The text of its {count(entries)} entries is erased: messages, answers, tool results,
        handoffs, pins, and the notes and reminders that repeat them. Numbers, times and the id
        stay. This cannot be undone; backups and exports are not changed.
      </p>
      {forks !== null && <HasForks {...{ id, forks }} />}
      <div class="verbs">
        <button type="button" ref={focusFirst} onClick={onDone}>
          Keep it
        </button>
        <button type="button" class="danger" onClick={() => void erase()}>
          Delete {id}
        </button>
      </div>
    </section>
  )
}

function HasForks({ id, forks }: { readonly id: string; readonly forks: readonly string[] }) {
  return (
    <div role="alert">
      <p class="problem">
        It was not deleted: {forks.length === 1 ? 'a fork reads' : 'forks read'} its messages.
      </p>
      {forks.length === 0 && <p>This token may not see the forks.</p>}
      <ul>
        {forks.map((fork) => (
          <li key={fork}>
            <a href={hashOf(fork)}>{titleOf(fork)}</a> <span class="dim">{fork}</span>
          </li>
        ))}
      </ul>
      <p class="dim">
        Delete {forks.length === 1 ? 'the fork' : 'the forks'} first. Or run{' '}
        <code>throughline purge {id} --forks keep</code>, which leaves to a fork the messages that
        it reads, or <code>--forks purge</code>, which deletes the forks as well.
      </p>
    </div>
  )
}

export function focusFirst(element: HTMLElement | null) {
  element?.focus()
}
