import { expect, it } from 'vitest'
import type { JsonValue } from '#core/base/json'
import type { SessionAction } from './process-messages.ts'
import { performAction } from './session-actions.ts'

type Call = readonly [name: string, ...given: unknown[]]

const request = { source: 'person', key: 'k' }
const keyed = { sessionId: 's', ...request }

it.each<[SessionAction, Call]>([
  [
    { what: 'admit', ...keyed, lane: 'user', text: 'Hello.' },
    ['admit', { ...request, lane: 'user', parts: [{ type: 'text', text: 'Hello.' }] }],
  ],
  [
    { what: 'admit', ...keyed, lane: 'notification', text: 'A', address: 'home', picture: 'AAAA' },
    [
      'admit',
      {
        ...{ ...request, lane: 'notification', replyTo: { edge: 'file', address: 'home' } },
        parts: [
          { type: 'text', text: 'A' },
          { type: 'image', source: { kind: 'base64', mediaType: 'image/png', data: 'AAAA' } },
        ],
      },
    ],
  ],
  [{ what: 'create', sessionId: 's' }, ['createSession', { agent: 's', id: 's' }]],
  [{ what: 'stop', ...keyed }, ['stop', request]],
  ...(['compact', 'revert', 'pin', 'purge', 'install'] as const).map(
    (action) =>
      [{ what: 'do', sessionId: 's', action, request }, [action, request]] as [SessionAction, Call],
  ),
  [{ what: 'do', sessionId: 's', action: 'withdraw', request: 7 }, ['withdraw', 7]],
  [
    { what: 'do', sessionId: 's', action: 'preview', request: {} },
    ['preview', {}, expect.any(AbortSignal)],
  ],
  [{ what: 'import', sessionId: 's', lines: ['{}'] }, ['importSession', ['{}']]],
])('passes %o on', async (action, wanted) => {
  const { perform, calls } = runtime()
  expect(await perform(action)).toEqual({ did: wanted[0] })
  expect(calls).toEqual([wanted])
})

it('reads the reply to a message, the lines of a session, and what a sweep dropped', async () => {
  const { perform, calls } = runtime()
  expect(await perform({ what: 'reply', sessionId: 's', mail: 3 })).toBe('It is so.')
  expect(await perform({ what: 'reply', sessionId: 's', mail: 4 })).toBeNull()
  expect(calls).toEqual([
    ['reply', 3, expect.any(AbortSignal)],
    ['reply', 4, expect.any(AbortSignal)],
  ])
  expect(await perform({ what: 'export', sessionId: 's' })).toEqual(['one', 'two'])
  calls.length = 0
  const now = Date.now()
  expect(await perform({ what: 'sweep', sessionId: 's' })).toEqual({ did: 'dropStaged' })
  const [, swept] = (calls[0] ?? []) as unknown as readonly [string, { before: number }]
  // What was staged a moment ago is included.
  expect(swept.before).toBeGreaterThanOrEqual(now + 1_000)
  expect(swept.before).toBeLessThan(now + 60_000)
})

/** Records what it is asked. */
function runtime() {
  const calls: Call[] = []
  const verb =
    (name: string) =>
    async (...given: unknown[]) => {
      calls.push([name, ...given])
      return { did: name }
    }
  const reply = async (...given: unknown[]) => {
    calls.push(['reply', ...given])
    return given[0] === 3 ? { text: 'It is so.' } : null
  }
  async function* exportLines() {
    yield* ['one', 'two']
  }
  const own = { reply, exportLines } as { readonly [name: string]: unknown }
  const session = new Proxy({}, { get: (_, name: string) => own[name] ?? verb(name) })
  const over = {
    createSession: verb('createSession'),
    session: (id: string) => (id === 's' ? session : null),
  }
  const store = { importSession: verb('importSession'), dropStaged: verb('dropStaged') }
  const perform = (action: SessionAction): Promise<JsonValue> =>
    performAction(action, { runtime: over as never, store: store as never })
  return { perform, calls }
}
