import { signal } from '@preact/signals'

/** The screen, kept in the fragment of the address, which never leaves the browser. */
export type Tab = 'conversation' | 'context' | 'compactions' | 'memory'
export type Screen =
  | { readonly kind: 'home' }
  | { readonly kind: 'health' }
  | {
      readonly kind: 'session'
      readonly id: string
      readonly tab: Tab
      /** The entry to scroll to, or whose context to show. */
      readonly at: number | null
    }

const TABS: readonly string[] = ['conversation', 'context', 'compactions', 'memory']

export const screen = signal<Screen>(readScreen(location.hash))
addEventListener('hashchange', () => {
  screen.value = readScreen(location.hash)
})

function readScreen(hash: string): Screen {
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
