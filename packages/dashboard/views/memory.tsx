import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { MemoryView } from '../../server/src/runtime/memory-view.ts'
import type { Found } from '../../server/src/runtime/runtime.ts'
import { mayWrite } from '../data/access.ts'
import { hashOf } from '../data/address.ts'
import { call, sessionPath } from '../data/api.ts'
import type { Conversation } from '../data/conversation.ts'
import { useServerData } from '../data/reading.ts'
import { Verbatim } from '../parts/markdown.tsx'
import { TaskItems } from '../parts/task-items.tsx'
import { ago, exactly } from '../parts/words.ts'
import { focusFirst } from './session-panels.tsx'

/** Everything the agent keeps for the people of this session, and where each item came from. */
export function Memory({ conversation }: { readonly conversation: Conversation }) {
  const { id } = conversation
  const [version, setVersion] = useState(0)
  const { value, problem } = useServerData(
    (signal) => call<MemoryView>(sessionPath(id, '/memory'), { signal }),
    [id, conversation.tail.value, version],
  )
  /** Removing a note may add no entry to this session. */
  const act: Act = async (path, request) => {
    const isDone = await conversation.act(path, request)
    setVersion((last) => last + 1)
    return isDone
  }
  return (
    <div class="scroll memory">
      {problem !== null && <p role="alert">{problem}</p>}
      {value === null && problem === null && <p class="dim">Reading…</p>}
      {value !== null && (
        <>
          <Notes {...{ id, act }} notes={value.notes} />
          <Pins {...{ id, act }} pins={value.pins} />
          <Tasks id={id} {...value} />
          <Rules id={id} rules={value.rules} />
          <Reminders {...{ id, act }} reminders={value.reminders} />
          <Changes id={id} changes={value.changes} />
        </>
      )}
    </div>
  )
}

type Act = Conversation['act']

function Section(props: {
  readonly title: string
  readonly about: string
  readonly count: number
  readonly children: ComponentChildren
}) {
  const { title, about, count, children } = props
  return (
    <section aria-label={title}>
      <h2>
        {title} <span class="dim">{count}</span>
      </h2>
      <p class="dim">{about}</p>
      {count === 0 ? <p>None.</p> : children}
    </section>
  )
}

function Notes(props: Pick<MemoryView, 'notes'> & { readonly id: string; readonly act: Act }) {
  const { id, notes, act } = props
  return (
    <Section
      title="Notes"
      about="Facts that the agent wrote down to keep from one session to the next. Your changes show from its next turn on; a note that a person changed still names the message that it was made from."
      count={notes.length}
    >
      {notes.map((note) => {
        const path = `/notes/${encodeURIComponent(note.id)}`
        return (
          <Item
            key={note.id}
            name={note.id}
            text={note.text}
            lengthMax={600}
            onSave={(text) => act(path, { method: 'PUT', body: { text } })}
            onRemove={() => act(path, { method: 'DELETE' })}
          >
            {note.origin === null ? (
              <span class="dim">Imported</span>
            ) : (
              <a href={hashOf(note.origin.sessionId, 'conversation', note.origin.entry)}>
                From #{note.origin.entry}
                {note.origin.sessionId === id ? '' : ` of ${note.origin.sessionId}`}
              </a>
            )}
            <time class="dim" title={exactly(note.at)}>
              {ago(note.at)}
            </time>
          </Item>
        )
      })}
    </Section>
  )
}

function Pins(props: Pick<MemoryView, 'pins'> & { readonly id: string; readonly act: Act }) {
  const { id, pins, act } = props
  return (
    <Section
      title="Pins"
      about="Texts that the model always sees, byte for byte."
      count={pins.length}
    >
      {pins.map((pin) => {
        const path = `/pins/${encodeURIComponent(pin.name)}`
        return (
          <Item
            key={pin.name}
            name={pin.name}
            text={pin.text}
            lengthMax={100_000}
            onSave={(text) => act(path, { method: 'PUT', body: { text } })}
            onRemove={() => act(path, { method: 'DELETE' })}
          >
            <a href={hashOf(id, 'conversation', pin.entry)}>Set at #{pin.entry}</a>
          </Item>
        )
      })}
    </Section>
  )
}

function Tasks(props: Pick<MemoryView, 'tasks' | 'tasksEntry'> & { readonly id: string }) {
  const { id, tasks, tasksEntry } = props
  return (
    <Section
      title="Tasks"
      about="The agent's to-do list. Only the agent edits it: to change it, send the agent a message."
      count={tasks.length}
    >
      <TaskItems tasks={tasks} />
      {tasksEntry !== null && (
        <a href={hashOf(id, 'conversation', tasksEntry)}>Written at #{tasksEntry}</a>
      )}
    </Section>
  )
}

function Rules({ id, rules }: Pick<MemoryView, 'rules'> & { readonly id: string }) {
  return (
    <Section
      title="Standing instructions"
      about="What you told the agent to do always or never, in your words. Every compaction keeps them. To change one, tell the agent."
      count={rules.length}
    >
      <ul class="plain">
        {rules.map(({ text, entry, supersededBy }) => (
          <li class={`memory-item${supersededBy === null ? '' : ' superseded'}`}>
            <q>{text}</q>
            <div class="verbs">
              <a href={hashOf(id, 'conversation', entry)}>Said in #{entry}</a>
              {supersededBy !== null && (
                <a href={hashOf(id, 'conversation', supersededBy)}>
                  No longer holds since #{supersededBy}
                </a>
              )}
            </div>
          </li>
        ))}
      </ul>
    </Section>
  )
}

function Reminders(
  props: Pick<MemoryView, 'reminders'> & { readonly id: string; readonly act: Act },
) {
  const { id: session, reminders, act } = props
  return (
    <Section
      title="Reminders"
      about="Messages that the agent scheduled for itself."
      count={reminders.length}
    >
      {reminders.map(({ id, text, dueAt, repeat, at }) => (
        <Item
          key={id}
          name={exactly(dueAt)}
          text={text}
          removal="Cancel reminder"
          onRemove={() => act(`/reminders/${encodeURIComponent(id)}`, { method: 'DELETE' })}
        >
          <span class="dim">
            {repeatWords(repeat)}, planned {ago(at)}
          </span>
          <button type="button" onClick={() => void goToPlan(session, id)}>
            Where it was planned
          </button>
        </Item>
      ))}
    </Section>
  )
}

/** The tool's answer names the reminder. */
async function goToPlan(session: string, reminder: string): Promise<void> {
  const path = sessionPath(session, `/search?q=${encodeURIComponent(reminder)}&limit=20`)
  const { found } = await call<{ found: Found[] }>(path)
  const first = Math.min(...found.map(({ entry }) => entry.number))
  if (Number.isFinite(first)) location.hash = hashOf(session, 'conversation', first)
}

function repeatWords(repeat: string | null): string {
  if (repeat === null) return 'Once'
  const [, ms] = /^every (\d+)$/.exec(repeat) ?? []
  return ms === undefined ? repeat : `Every ${Number(ms) / 60_000} min`
}

const CHANGED = { notes: 'Notes', pin: 'Pin', tasks: 'Tasks' } as const

function Changes({ id, changes }: Pick<MemoryView, 'changes'> & { readonly id: string }) {
  return (
    <Section
      title="History"
      about="The last changes of notes, pins and tasks in this session, newest first."
      count={changes.length}
    >
      {changes.map(({ entry, at, kind, name, text }) => (
        <details class="memory-item" key={entry}>
          <summary>
            <b>
              {CHANGED[kind]} {name}
            </b>{' '}
            {text === null ? 'removed' : 'changed'} <span class="dim">{exactly(at)}</span>
          </summary>
          {text !== null && <Verbatim text={text} />}
          <a href={hashOf(id, 'conversation', entry)}>At #{entry}</a>
        </details>
      ))}
    </Section>
  )
}

/** One text with its source; `onSave` absent: it can only be removed. */
function Item(props: {
  readonly name: string
  readonly text: string
  readonly lengthMax?: number
  readonly removal?: string
  readonly onSave?: (text: string) => Promise<boolean>
  readonly onRemove: () => Promise<boolean>
  readonly children: ComponentChildren
}) {
  const { name, text, lengthMax, removal = 'Remove', onSave, onRemove, children } = props
  const [draft, setDraft] = useState<string | null>(null)
  const [isSure, setSure] = useState(false)
  const save = async (event: Event) => {
    event.preventDefault()
    if (draft === text || (draft !== null && (await onSave?.(draft)))) setDraft(null)
  }
  return (
    <article class="memory-item" aria-label={name}>
      <b>{name}</b>
      {draft === null ? (
        <Verbatim text={text} />
      ) : (
        <form onSubmit={save}>
          <textarea
            ref={focusFirst}
            aria-label={`Text of ${name}`}
            dir="auto"
            rows={3}
            maxLength={lengthMax}
            value={draft}
            onInput={(event) => setDraft(event.currentTarget.value)}
          />
          <div class="verbs">
            <button type="submit" class="primary" disabled={draft.trim() === ''}>
              Save
            </button>
            <button type="button" onClick={() => setDraft(null)}>
              Discard
            </button>
          </div>
        </form>
      )}
      <div class="verbs">
        {children}
        {onSave !== undefined && draft === null && mayWrite() && (
          <button type="button" onClick={() => setDraft(text)}>
            Edit
          </button>
        )}
        {mayWrite() &&
          (isSure ? (
            <>
              <button type="button" onClick={() => void onRemove().then(() => setSure(false))}>
                {removal} for good
              </button>
              <button type="button" onClick={() => setSure(false)}>
                Keep
              </button>
            </>
          ) : (
            <button type="button" onClick={() => setSure(true)}>
              {removal}
            </button>
          ))}
      </div>
    </article>
  )
}
