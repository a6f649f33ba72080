import { useEffect } from 'preact/hooks'
import { seesAll } from '../data/access.ts'
import { screen } from '../data/address.ts'
import { isLocked } from '../data/api.ts'
import { connection } from '../data/events.ts'
import { Health } from './health.tsx'
import { Home } from './home.tsx'
import { Login } from './login.tsx'
import { SessionPage } from './session-page.tsx'
import { Sidebar } from './sidebar.tsx'

const CONNECTION_WORDS = {
  opening: 'Connecting…',
  open: 'Live',
  lost: 'Connection lost. Reconnecting; no messages are missed.',
  paused: 'Paused',
} as const

export function App() {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isTyping =
        event.target instanceof HTMLElement &&
        /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)
      if (event.key === '/' && !isTyping) {
        event.preventDefault()
        document.getElementById('search')?.focus()
      }
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
  if (isLocked.value) return <Login />
  const here = screen.value
  return (
    <div class={`app at-${here.kind}`}>
      <button type="button" class="skip" onClick={skip}>
        Skip to the content
      </button>
      <header class="top">
        <a class="brand" href="#/">
          <svg viewBox="0 0 32 32" aria-hidden="true">
            <path d="M4 24 12 9v12l8-14v12l8-12" />
          </svg>
          Throughline
        </a>
        <span class="top-links">
          <a href="#/" aria-current={here.kind === 'home' ? 'page' : undefined}>
            Sessions
          </a>
          {seesAll() && (
            <a href="#/health" aria-current={here.kind === 'health' ? 'page' : undefined}>
              Health
            </a>
          )}
        </span>
        <span class={`connection ${connection.value}`} role="status">
          {CONNECTION_WORDS[connection.value]}
        </span>
      </header>
      <Sidebar />
      <main id="main" tabIndex={-1}>
        {here.kind === 'health' && <Health />}
        {here.kind === 'home' && <Home />}
        {here.kind === 'session' && (
          <SessionPage key={here.id} id={here.id} tab={here.tab} at={here.at} />
        )}
      </main>
    </div>
  )
}

function skip() {
  document.getElementById('main')?.focus()
}
