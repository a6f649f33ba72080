import { useState } from 'preact/hooks'
import type { Preview } from '../../core/src/session/preview.ts'
import { call, sessionPath, wordsOf } from '../data/api.ts'
import type { Conversation } from '../data/conversation.ts'
import { HandoffText } from '../parts/handoff-text.tsx'
import { tokens } from '../parts/words.ts'

/** The next compaction: at once, or first as it would be, and then exactly that. */
export function PreviewPanel({ conversation }: { readonly conversation: Conversation }) {
  const [focus, setFocus] = useState('')
  const [shown, setShown] = useState<Preview | null>(null)
  const [note, setNote] = useState<string | null>(null)
  const about = focus.trim() === '' ? {} : { focus: focus.trim() }
  const preview = async () => {
    setNote('Writing a preview; nothing changes…')
    setShown(null)
    try {
      const body = { preview: true, ...about }
      const path = sessionPath(conversation.id, '/compactions')
      setShown(await call<Preview>(path, { method: 'POST', body }))
      setNote(null)
    } catch (error) {
      setNote(wordsOf(error))
    }
  }
  const compact = async (body: object) => {
    const isTaken = await conversation.act('/compactions', { method: 'POST', body })
    setShown(null)
    setNote(isTaken ? 'Asked for; it is prepared beside the conversation.' : null)
  }
  return (
    <form class="panel" aria-label="Compact" onSubmit={(event) => event.preventDefault()}>
      <label for="focus">What matters most (may be left empty)</label>
      <input
        id="focus"
        value={focus}
        maxLength={2_000}
        onInput={(event) => setFocus(event.currentTarget.value)}
      />
      <div class="verbs">
        <button type="button" onClick={() => void preview()}>
          Preview
        </button>
        <button type="button" class="primary" onClick={() => void compact(about)}>
          Compact now
        </button>
      </div>
      {note !== null && <p role="status">{note}</p>}
      {shown?.kind === 'nothing-to-do' && <p role="status">There is nothing to compact yet.</p>}
      {shown?.kind === 'previewed' && (
        <section class="handoff" aria-label="Preview">
          <header>
            <b>Preview</b>
            <span>
              entries 1 to {shown.covers} would become this: {tokens(shown.tokensBefore)} →{' '}
              {tokens(shown.tokensAfter)} tokens
            </span>
          </header>
          <HandoffText handoff={shown.handoff} />
          <footer>
            <button
              type="button"
              class="primary"
              onClick={() => void compact({ install: shown.install })}
            >
              Install exactly this
            </button>
          </footer>
        </section>
      )}
    </form>
  )
}
