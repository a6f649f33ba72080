import { useLayoutEffect, useState } from 'preact/hooks'
import type { Preview } from '../../core/src/session/preview.ts'
import { call, errorText, sessionPath } from '../data/api.ts'
import type { Conversation } from '../data/conversation.ts'
import { HandoffText } from '../parts/handoff-text.tsx'
import { tokens } from '../parts/words.ts'

/** Compacts now, or shows a preview that can be installed as it is. */
export function PreviewPanel({ conversation }: { readonly conversation: Conversation }) {
  const [focus, setFocus] = useState('')
  const [previewed, setPreviewed] = useState<Preview | null>(null)
  const [note, setNote] = useState<string | null>(null)
  /** How many changes of compactions were known at the last request. */
  const [asked, setAsked] = useState<number | null>(null)
  const version = conversation.compactions.value
  // Until it starts, which the head of the page says, or is refused.
  const isAsked = asked === version
  const refusal = conversation.refusal.value
  // The answer belongs beside the button that was pressed, not at the top of the page.
  useLayoutEffect(() => {
    if (asked === null || refusal === null) return
    setNote(refusal)
    setAsked(null)
    conversation.refusal.value = null
  }, [asked, refusal, conversation])
  const about = focus.trim() === '' ? {} : { focus: focus.trim() }
  const preview = async () => {
    setNote('Writing a preview. This changes nothing…')
    setPreviewed(null)
    try {
      const body = { preview: true, ...about }
      const path = sessionPath(conversation.id, '/compactions')
      setPreviewed(await call<Preview>(path, { method: 'POST', body }))
      setNote(null)
    } catch (error) {
      setNote(errorText(error))
    }
  }
  const compact = async (body: object) => {
    setNote(null)
    const isTaken = await conversation.act('/compactions', { method: 'POST', body })
    setPreviewed(null)
    if (isTaken) setAsked(version)
    else {
      setAsked(null)
      setNote(conversation.refusal.value)
      conversation.refusal.value = null
    }
  }
  return (
    <form class="panel" aria-label="Compact" onSubmit={(event) => event.preventDefault()}>
      <label for="focus">What matters most (optional)</label>
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
      {isAsked && <p role="status">Compaction requested. It runs in the background.</p>}
      {previewed?.kind === 'nothing-to-do' && (
        <p role="status">There is nothing worth compacting yet.</p>
      )}
      {previewed?.kind === 'previewed' && (
        <section class="handoff" aria-label="Preview">
          <header>
            <b>Preview</b>
            <span>
              messages up to #{previewed.covers} become this: {tokens(previewed.tokensBefore)} →{' '}
              {tokens(previewed.tokensAfter)} tokens
            </span>
          </header>
          <HandoffText handoff={previewed.handoff} />
          <footer>
            <button
              type="button"
              class="primary"
              onClick={() => void compact({ install: previewed.install })}
            >
              Use this handoff
            </button>
          </footer>
        </section>
      )}
    </form>
  )
}
