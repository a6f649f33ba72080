import { useRef, useState } from 'preact/hooks'
import { mayOnlyRead, mayOperate, mayWrite } from '../data/access.ts'
import type { Conversation } from '../data/conversation.ts'
import { useDraft } from '../data/keep.ts'
import { PinPanel } from './pin-panel.tsx'
import { PreviewPanel } from './preview-panel.tsx'
import { DeletePanel, ExportPanel, RenamePanel } from './session-panels.tsx'
import { TasksPanel } from './tasks-panel.tsx'

/** The controls of a session: send, stop, and a menu with the rest. */
type Panel = 'compact' | 'pin' | 'tasks' | 'rename' | 'export' | 'delete'
const MENU: readonly (readonly [Panel, string])[] = [
  ['compact', 'Compact…'],
  ['pin', 'Pin…'],
  ['tasks', 'Tasks…'],
  ['rename', 'Rename…'],
  ['export', 'Export…'],
  ['delete', 'Delete…'],
]
/** What an agent does; a client's session has none. */
const OF_AGENTS: readonly Panel[] = ['compact', 'pin', 'tasks']

export function Composer({ conversation }: { readonly conversation: Conversation }) {
  const [text, setText] = useDraft(conversation.id)
  const [panel, setPanel] = useState<Panel | null>(null)
  const [isMenuOpen, setMenuOpen] = useState(false)
  const summary = conversation.summary.value
  const isBusy = summary !== null && summary.state !== 'idle' && summary.state !== 'gone'
  const isAtLimit = summary?.state === 'waiting-for-approval'
  const isOfClient = conversation.isOfClient.value
  const maySend = mayWrite() && !isOfClient
  const mayContinue = isAtLimit ? mayOperate() : mayWrite()
  const isOffered = (name: Panel) => !isOfClient || !OF_AGENTS.includes(name)
  const send = (event: Event) => {
    event.preventDefault()
    if (text.trim() === '') return
    conversation.outbox.add(text)
    setText('')
  }
  const toggleMenu = () => {
    setMenuOpen(!isMenuOpen)
    setPanel(null)
  }
  const box = useRef<HTMLTextAreaElement>(null)
  const leave = () => {
    setPanel(null)
    setMenuOpen(false)
    box.current?.focus()
  }
  const propose = (words: string) => {
    setText(words)
    leave()
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape closes the menu
    <div class="composer" onKeyDown={(event) => event.key === 'Escape' && leave()}>
      {panel === 'compact' && <PreviewPanel conversation={conversation} />}
      {panel === 'pin' && <PinPanel conversation={conversation} />}
      {panel === 'tasks' && <TasksPanel conversation={conversation} onChange={propose} />}
      {panel === 'rename' && <RenamePanel conversation={conversation} onDone={leave} />}
      {panel === 'export' && <ExportPanel conversation={conversation} />}
      {panel === 'delete' && <DeletePanel conversation={conversation} onDone={leave} />}
      {maySend && (
        <form onSubmit={send}>
          <textarea
            ref={box}
            aria-label="Message"
            dir="auto"
            placeholder="Write a message. Enter sends it, Shift+Enter starts a new line."
            rows={Math.min(8, text.split('\n').length + 1)}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) send(event)
            }}
          />
          <button type="submit" class="primary" disabled={text.trim() === ''}>
            Send
          </button>
        </form>
      )}
      <div class="verbs">
        {/* By their keys, buttons stay the same elements when others appear beside them. */}
        {maySend && (
          <button
            key="stop"
            type="button"
            disabled={!isBusy}
            onClick={() => void conversation.act('/stop', { method: 'POST' })}
          >
            Stop
          </button>
        )}
        {mayOnlyRead() && <span class="dim">This token can only read.</span>}
        {isOfClient && (
          <span class="dim">Continue this conversation in its client, through the proxy.</span>
        )}
        {summary !== null && summary.wait !== null && mayContinue && (
          <button
            key="continue"
            type="button"
            onClick={() => void conversation.act('/continue', { method: 'POST' })}
          >
            {isAtLimit ? 'Continue' : 'Try again now'}
          </button>
        )}
        <button key="more" type="button" aria-expanded={isMenuOpen} onClick={toggleMenu}>
          More <span aria-hidden="true">{isMenuOpen ? '▴' : '▾'}</span>
        </button>
        {isMenuOpen &&
          MENU.filter(([name]) => name === 'export' || (mayWrite() && isOffered(name))).map(
            ([name, label]) => (
              <button
                key={name}
                type="button"
                aria-expanded={panel === name}
                onClick={() => setPanel(panel === name ? null : name)}
              >
                {label}
              </button>
            ),
          )}
        {summary !== null && summary.pins.length > 0 && (
          <span class="dim">Pinned: {summary.pins.join(', ')}</span>
        )}
      </div>
    </div>
  )
}
