import { useEffect, useState } from 'preact/hooks'
import { call, errorText, keepToken, ServerRefusal } from '../data/api.ts'

export function Login() {
  const [token, setToken] = useState('')
  const [problem, setProblem] = useState<string | null>(null)
  // A server without tokens refuses one that is left from before, and needs none.
  useEffect(() => {
    call('/v1/agents').then(
      () => location.reload(),
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
        <p class="dim">
          This tab keeps the token until you close it. It never appears in the address.
        </p>
      </form>
    </main>
  )
}
