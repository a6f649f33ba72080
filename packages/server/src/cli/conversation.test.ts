import { afterEach, describe, expect, it, vi } from 'vitest'
import { sessionId } from '#core/base/ids'
import { FailedError, UsageError } from '../host/errors.ts'
import type { Admission } from '../runtime/runtime.ts'
import { requireAccepted, warnIfUnserved } from './admission.ts'
import { type ChatRuntime, openConversation } from './conversation.ts'

afterEach(() => void vi.restoreAllMocks())

const A = sessionId('a')

/** A runtime with these sessions, and what it was asked. */
function runtimeWith(
  summaries: Readonly<Record<string, object>>,
  { created = { kind: 'created', sessionId: 'a' } as object, agents = ['main', 'bo'] } = {},
) {
  const asked: unknown[] = []
  const sessions = { ...summaries }
  const runtime = {
    agents: agents.map((name) => ({ name })),
    session: (id: string) => ({ id, summary: async () => sessions[id] }),
    createSession: async (request: { id?: string; agent: string }) => {
      asked.push(['create', request])
      if (request.id !== undefined) sessions[request.id] = { id: request.id, agent: request.agent }
      return created
    },
    startAfresh: async ({ key: _, ...request }: { key: string }) => {
      asked.push(['afresh', request])
      return 'kind' in created && created.kind === 'unknown-agent'
        ? created
        : { kind: 'started', sessionId: 'new' }
    },
  }
  return { runtime: runtime as unknown as ChatRuntime, asked }
}

const route = { channel: 'terminal', address: 'main' }
const open = (agent: string, id = 'a') => ({ id, agent, state: 'idle' })
const unknownAgent = { kind: 'unknown-agent', agents: ['main', 'bo'] }

describe('the conversation of a terminal', () => {
  it.each<[string, object, Record<string, object>, string, readonly unknown[]]>([
    [
      'that of its route, of the first agent',
      {},
      { a: open('main') },
      'main in a',
      [['create', { agent: 'main', route }]],
    ],
    [
      'that of its route, of a named agent',
      { agent: 'bo' },
      { a: open('bo') },
      'bo in a',
      [['create', { agent: 'bo', route }]],
    ],
    [
      'a new one where that of its route was purged',
      {},
      { a: { ...open('main'), state: 'gone' } },
      'main in new',
      [
        ['create', { agent: 'main', route }],
        ['afresh', { agent: 'main', ...route, source: 'cli' }],
      ],
    ],
    [
      'a new one where that of its route is missing',
      {},
      {},
      'main in new',
      [
        ['create', { agent: 'main', route }],
        ['afresh', { agent: 'main', ...route, source: 'cli' }],
      ],
    ],
    ['a named one', { sessionId: 'b', agent: 'main' }, { b: open('bo', 'b') }, 'bo in b', []],
    [
      'a named one that is made for its agent',
      { sessionId: 'b', agent: 'bo' },
      {},
      'bo in b',
      [['create', { agent: 'bo', id: 'b' }]],
    ],
  ])('is %s', async (_, wanted, summaries, found, calls) => {
    const { runtime, asked } = runtimeWith(summaries)
    const { agent, session } = await openConversation(runtime, wanted)
    expect([`${agent} in ${session.id}`, asked]).toEqual([found, calls])
  })

  it('moves to a new session of the same agent and route', async () => {
    const { runtime, asked } = runtimeWith({ b: open('bo', 'b') })
    const first = await openConversation(runtime, { sessionId: sessionId('b') })
    const next = await first.startAfresh()
    expect([next.agent, next.session.id]).toEqual(['bo', 'new'])
    expect(asked).toEqual([['afresh', { agent: 'bo', ...route, source: 'cli' }]])
  })

  it.each<[string, object, Record<string, object>, string]>([
    ['an unknown agent', { agent: 'x' }, {}, 'There is no agent x. Configured: main, bo.'],
    [
      'an unknown agent for a new session',
      { agent: 'x', sessionId: 'b' },
      {},
      'There is no agent x. Configured: main, bo.',
    ],
    [
      'an unknown session',
      { sessionId: 'b' },
      {},
      'There is no session b; --agent NAME creates it.',
    ],
    [
      'a purged session',
      { sessionId: 'b' },
      { b: { ...open('main', 'b'), state: 'gone' } },
      'Session b was purged; its id is never used again.',
    ],
    [
      'a session of an agent that is gone',
      { sessionId: 'b' },
      { b: open('x', 'b') },
      'There is no agent x. Configured: main, bo.',
    ],
  ])('is none with %s', async (_, wanted, summaries, message) => {
    const { runtime } = runtimeWith(summaries, { created: unknownAgent })
    await expect(openConversation(runtime, wanted)).rejects.toEqual(new UsageError(message))
  })

  it('is none without agents, and says so', async () => {
    const created = { kind: 'unknown-agent', agents: [] }
    const { runtime } = runtimeWith({}, { agents: [], created })
    await expect(openConversation(runtime, {})).rejects.toThrow(
      'There is no agent . Configured: none.',
    )
    const { runtime: other } = runtimeWith({ b: open('x', 'b') }, { agents: [] })
    await expect(openConversation(other, { sessionId: sessionId('b') })).rejects.toThrow(
      'There is no agent x. Configured: none.',
    )
  })
})

describe('a message that is not accepted', () => {
  it.each<[object, Error]>([
    [
      { kind: 'conflict' },
      new UsageError(
        'That key was used before, with another text or for another session; choose another --key.',
      ),
    ],
    [
      { kind: 'full', limit: 5 },
      new FailedError(
        'The mailbox is full (5 messages queued); the message was not accepted. Try again later.',
      ),
    ],
    [
      { kind: 'too-large', bytes: 9, limit: 5 },
      new UsageError('The message has 9 bytes; the limit is 5.'),
    ],
    [
      { kind: 'unknown-agent', agents: ['main', 'bo'] },
      new UsageError('There is no agent a. Configured: main, bo.'),
    ],
    [
      { kind: 'unknown-agent', agents: [] },
      new UsageError('There is no agent a. Configured: none.'),
    ],
    [
      { kind: 'unknown' },
      new UsageError('There is no session a in this store. See `throughline sessions`.'),
    ],
    [{ kind: 'gone' }, new UsageError('Session a was purged; its id is never used again.')],
  ])('is an error that says what to do: %j', (admission, error) => {
    expect(() => requireAccepted(admission as Admission, A)).toThrow(error)
    const { name } = error
    expect(() => requireAccepted(admission as Admission, A)).toThrow(
      expect.objectContaining({ name }),
    )
  })

  it('is none of those that were accepted', () => {
    for (const kind of ['admitted', 'duplicate']) {
      const admission = { kind, sessionId: A, mail: 3 } as Admission
      expect(requireAccepted(admission, A)).toBe(admission)
    }
  })

  it('waits for a process that serves, which is said if there is none', async () => {
    const said: string[] = []
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
      said.push(String(text))
      return true
    })
    const served = (runners: readonly object[]) =>
      warnIfUnserved({ health: async () => ({ runners }) } as never)
    await served([{ id: 'r' }])
    expect(said).toEqual([])
    await served([])
    expect(said).toEqual([
      'note: no process serves this store now; it waits until `throughline serve` runs.\n',
    ])
  })
})
