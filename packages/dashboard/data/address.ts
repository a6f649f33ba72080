import { signal } from '@preact/signals'

/** Where the person is, in the part of the address that never leaves the browser. */
export type Tab = 'conversation' | 'context' | 'compactions'
export type Place =
  | { readonly kind: 'home' }
  | { readonly kind: 'health' }
  | {
      readonly kind: 'session'
      readonly id: string
      readonly tab: Tab
      /** The entry that is meant: to scroll to, or at which the context is shown. */
      readonly at: number | null
    }

const TABS: readonly string[] = ['conversation', 'context', 'compactions']

export const place = signal<Place>(readPlace(location.hash))
addEventListener('hashchange', () => {
  place.value = readPlace(location.hash)
})

function readPlace(hash: string): Place {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?')
  const [first, id = '', tab = 'conversation'] = path.split('/')
  if (first === 'health') return { kind: 'health' }
  if (first !== 'sessions' || !/^[A-Za-z0-9_-]{1,64}$/.test(id)) return { kind: 'home' }
  const at = Number(new URLSearchParams(query).get('at'))
  return {
    kind: 'session',
    id,
    tab: (TABS.includes(tab) ? tab : 'conversation') as Tab,
    at: Number.isSafeInteger(at) && at > 0 ? at : null,
  }
}

export function hashOf(id: string, tab: Tab = 'conversation', at?: number): string {
  const rest = tab === 'conversation' ? '' : `/${tab}`
  return `#/sessions/${id}${rest}${at === undefined ? '' : `?at=${at}`}`
}
