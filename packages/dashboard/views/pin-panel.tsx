import { useRef, useState } from 'preact/hooks'
import type { PinView } from '../../server/src/runtime/runtime.ts'
import { hashOf } from '../data/address.ts'
import { call, sessionPath } from '../data/api.ts'
import type { Conversation } from '../data/conversation.ts'
import { useServerData } from '../data/reading.ts'
import { Verbatim } from '../parts/markdown.tsx'
import { tokens } from '../parts/words.ts'

/** The pins as the model reads them; set, change and remove them here. */
export function PinPanel({ conversation }: { readonly conversation: Conversation }) {
  const { id } = conversation
  const { value, problem } = useServerData(
    (signal) => call<{ pins: PinView[] }>(sessionPath(id, '/pins'), { signal }),
    [id, conversation.tail.value],
  )
  const pins = value?.pins ?? []
  const [name, setName] = useState('')
  const [text, setText] = useState('')
  const box = useRef<HTMLTextAreaElement>(null)
  const path = (pin: string) => `/pins/${encodeURIComponent(pin)}`
  const set = async (event: Event) => {
    event.preventDefault()
    if (await conversation.act(path(name), { method: 'PUT', body: { text } })) {
      setName('')
      setText('')
    }
  }
  const change = (pin: PinView) => {
    setName(pin.name)
    setText(pin.text)
    box.current?.focus()
  }
  return (
    <form class="panel" onSubmit={set} aria-label="Pin">
      <p class="dim">
        A pin is a text that the model always sees, byte for byte. Compaction never changes it.
      </p>
      {problem !== null && <p role="alert">{problem}</p>}
      {pins.map((pin) => (
        <details key={pin.name}>
          <summary>
            <b>{pin.name}</b> <span class="dim">{tokens(pin.tokens)} tokens</span>
          </summary>
          <Verbatim text={pin.text} />
          <div class="verbs">
            <a href={hashOf(id, 'conversation', pin.entry)}>Set at #{pin.entry}</a>
            <button type="button" onClick={() => change(pin)}>
              Change
            </button>
            <button
              type="button"
              onClick={() => void conversation.act(path(pin.name), { method: 'DELETE' })}
            >
              Remove
            </button>
          </div>
        </details>
      ))}
      <label for="pin-name">Name</label>
      <input
        id="pin-name"
        value={name}
        maxLength={64}
        placeholder="letters, digits, _ and -"
        onInput={(event) => setName(event.currentTarget.value)}
      />
      <label for="pin-text">Text</label>
      <textarea
        id="pin-text"
        ref={box}
        rows={2}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <button type="submit" disabled={name.trim() === '' || text === ''}>
        Set pin
      </button>
    </form>
  )
}
