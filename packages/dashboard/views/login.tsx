import { useEffect, useState } from 'preact/hooks'
import { call, errorText, ServerRefusal } from '../data/api.ts'
import { keepToken } from '../data/proof.ts'

export function Login() {
  const [token, setToken] = useState('')
  const [problem, setProblem] = useState<string | null>(null)
  const [isNeedless, setNeedless] = useState(false)
  // A server without tokens does not know one that is left from before, and needs none. It is not
  // proven to be the server, so the page does not load itself from it unasked.
  useEffect(() => {
    call('/v1/agents').then(
      () => setNeedless(true),
      () => {},
    )
  }, [])
  const enter = async (event: Event) => {
    event.preventDefault()
    keepToken(token.trim())
    try {
      await call('/v1/agents')
      location.reload()
    } catch (error) {
      const isWrong = error instanceof ServerRefusal && error.status === 401
      setProblem(isWrong ? 'The server does not accept this token.' : errorText(error))
    }
  }
  return (
    <main class="login">
      <form onSubmit={enter}>
        <h1>Throughline</h1>
        <p>
          This server requires a token. Create one with{' '}
          <code>throughline tokens create --scope write</code>.
        </p>
        <label for="token">Token</label>
        <input
          id="token"
          type="password"
          autocomplete="off"
          value={token}
          onInput={(event) => setToken(event.currentTarget.value)}
        />
        <button type="submit" class="primary" disabled={token.trim() === ''}>
          Sign in
        </button>
        {problem !== null && <p role="alert">{problem}</p>}
        {isNeedless && (
          <p>
            What answers now needs no token.{' '}
            <button type="button" onClick={() => location.reload()}>
              Go on without one
            </button>
          </p>
        )}
        <p class="dim">
          This tab keeps the token until you close it. It never appears in the address.
        </p>
      </form>
    </main>
  )
}
