import { signal } from '@preact/signals'
import { screen } from '../data/address.ts'
import { sessionPath } from '../data/api.ts'

/** Limits a search to some entries, as `recall` and the HTTP interface do. */
interface Filters {
  readonly speaker: string
  readonly tool: string
  readonly path: string
  /** Days of the person who asks; both are included. */
  readonly from: string
  readonly to: string
  readonly isExact: boolean
  readonly isHere: boolean
}

const NONE: Filters = {
  ...{ speaker: '', tool: '', path: '', from: '', to: '', isExact: false, isHere: false },
}
const filters = signal(NONE)
const SPEAKERS: readonly (readonly [string, string])[] = [
  ['', 'Anyone'],
  ['person', 'A person'],
  ['agent', 'The agent'],
  ['tool', 'A tool'],
  ['notification', 'A notification'],
]
const LIMIT = '50'

const openSession = () => (screen.value.kind === 'session' ? screen.value.id : null)

/** The address of a search with these words, within one agent's sessions unless it is empty. */
export function searchPath(words: string, agent: string): string {
  const { speaker, tool, path, from, to, isExact, isHere } = filters.value
  const here = isHere ? openSession() : null
  const given = {
    ...{ q: words, limit: LIMIT, speaker, tool: tool.trim(), path: path.trim() },
    agent: here === null ? agent : '',
    since: from === '' ? '' : midnight(from, 0),
    until: to === '' ? '' : midnight(to, 1),
    exact: isExact ? 'true' : '',
  }
  const query = new URLSearchParams(Object.entries(given).filter(([, value]) => value !== ''))
  return `${here === null ? '/v1/search' : sessionPath(here, '/search')}?${query}`
}

/** Where the person is, that day begins. */
function midnight(date: string, daysLater: number): string {
  const [year = 0, month = 1, day = 1] = date.split('-').map(Number)
  return new Date(year, month - 1, day + daysLater).toISOString()
}

export function SearchFilters() {
  const { value } = filters
  const set = (change: Partial<Filters>) => {
    filters.value = { ...value, ...change }
  }
  const isOpen = openSession() !== null
  const used = Object.entries(value).filter(
    ([name, each]) => each !== '' && each !== false && (name !== 'isHere' || isOpen),
  ).length
  return (
    <details class="search-filters">
      <summary>Filters{used > 0 && ` (${used})`}</summary>
      <div class="fields">
        <label>
          Said by
          <select
            value={value.speaker}
            onChange={(event) => set({ speaker: event.currentTarget.value })}
          >
            {SPEAKERS.map(([name, words]) => (
              <option value={name}>{words}</option>
            ))}
          </select>
        </label>
        <Field label="Tool" value={value.tool} onChange={(tool) => set({ tool })} />
        <Field label="File" value={value.path} onChange={(path) => set({ path })} />
        <Field type="date" label="From" value={value.from} onChange={(from) => set({ from })} />
        <Field type="date" label="To" value={value.to} onChange={(to) => set({ to })} />
        <Check label="Exact text" value={value.isExact} onChange={(isExact) => set({ isExact })} />
        {isOpen && (
          <Check
            label="Only this session"
            value={value.isHere}
            onChange={(isHere) => set({ isHere })}
          />
        )}
        <p>
          <button type="submit">Search</button>
          {used > 0 && (
            <button type="button" class="quiet" onClick={() => set(NONE)}>
              Clear
            </button>
          )}
        </p>
      </div>
    </details>
  )
}

function Field(props: {
  readonly label: string
  readonly type?: 'date'
  readonly value: string
  readonly onChange: (value: string) => void
}) {
  return (
    <label>
      {props.label}
      <input
        type={(props.type ?? 'text') as 'text'}
        value={props.value}
        onInput={(event) => props.onChange(event.currentTarget.value)}
      />
    </label>
  )
}

function Check(props: {
  readonly label: string
  readonly value: boolean
  readonly onChange: (value: boolean) => void
}) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={props.value}
        onChange={(event) => props.onChange(event.currentTarget.checked)}
      />
      {props.label}
    </label>
  )
}
