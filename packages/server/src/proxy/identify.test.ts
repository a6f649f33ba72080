import { describe, expect, it } from 'vitest'
import { identify, purposeOf, type RequestFacts } from './identify.ts'
import { anthropicWire } from './wire/anthropic.ts'

const TOOLS = { tools: [{ name: 'Bash' }] }
const facts = (more: Partial<RequestFacts>): RequestFacts => ({
  ...{ headers: {}, fields: TOOLS, last: undefined, lastRead: undefined, launch: null },
  items: [],
  ...more,
})
const purpose = (request: RequestFacts) => purposeOf(request, identify(request))
const metadata = (value: object) => ({ 'x-codex-turn-metadata': JSON.stringify(value) })

describe('identify', () => {
  it('distinguishes a sub-agent from its main thread by its header [proxy law 10]', () => {
    const headers = { 'x-claude-code-session-id': 's' }
    const main = identify(facts({ headers }))
    const agent = identify(facts({ headers: { ...headers, 'x-claude-code-agent-id': 'a1' } }))
    expect([main.session, main.agent]).toEqual(['s', null])
    expect([agent.session, agent.agent]).toEqual(['s', 'a1'])
  })

  it('identifies Codex by its thread and opencode by its session and parent', () => {
    const codex = { 'thread-id': 't', 'session-id': 'other' }
    expect(identify(facts({ headers: codex }))).toMatchObject({ client: 'codex', session: 't' })
    const opencode = { 'x-session-id': 'ses_2', 'x-parent-session-id': 'ses_1' }
    const found = { client: 'opencode', session: 'ses_2', parent: 'ses_1' }
    expect(identify(facts({ headers: opencode }))).toMatchObject(found)
  })

  it('leaves a client without ids to its history, under the name it was started by', () => {
    const found = { client: 'pi', session: null }
    expect(identify(facts({ launch: 'pi-0f3a' }))).toMatchObject(found)
    const keyed = facts({ launch: 'pi-0f3a', fields: { prompt_cache_key: 'k' } })
    expect(identify(keyed)).toMatchObject({ session: 'k', isHint: true })
  })
})

type Headers = RequestFacts['headers']

it.each<[string, Headers, Partial<RequestFacts>, object]>([
  [
    'Claude Code',
    { 'x-claude-code-session-id': 's', 'thread-id': 't', 'x-session-id': 'ses_1' },
    { fields: { prompt_cache_key: 'k' } },
    { client: 'claude', session: 's', agent: null, parent: null },
  ],
  [
    'an agent of Claude Code',
    { 'x-claude-code-session-id': 's', 'x-claude-code-agent-id': 'a' },
    {},
    { client: 'claude', session: 's', agent: 'a', parent: null },
  ],
  [
    'Codex',
    { 'thread-id': 't', conversation_id: 'c', 'x-session-id': 'ses_1' },
    {},
    { client: 'codex', session: 't', agent: null, parent: null },
  ],
  [
    'an older Codex, below another thread',
    { conversation_id: 'c', 'x-codex-parent-thread-id': 'p' },
    {},
    { client: 'codex', session: 'c', agent: null, parent: 'p' },
  ],
  [
    'Codex without a thread',
    { 'x-codex-turn-metadata': '{}' },
    {},
    { client: 'codex', session: null, agent: null, parent: null },
  ],
  [
    'opencode',
    { 'x-session-id': 'ses_2', 'x-session-affinity': 'ses_3', 'x-parent-session-id': 'ses_1' },
    {},
    { client: 'opencode', session: 'ses_2', agent: null, parent: 'ses_1' },
  ],
  [
    'another agent with a session',
    { 'x-session-affinity': 'mine' },
    { launch: 'pi-0f3a' },
    { client: 'agent', session: 'mine', agent: null, parent: null },
  ],
  [
    'a client with a key of its cache',
    {},
    { launch: 'pi-0f3a', fields: { prompt_cache_key: 'k', metadata: { session_id: 'm' } } },
    { client: 'pi', session: 'k', isHint: true, agent: null, parent: null },
  ],
  [
    'a client with a session in its metadata',
    {},
    { launch: 'pi', fields: { prompt_cache_key: '', metadata: { session_id: 'm' } } },
    { client: 'pi', session: 'm', agent: null, parent: null },
  ],
  [
    'a client with a session that is no text',
    {},
    { launch: '-x', fields: { prompt_cache_key: 5, metadata: { session_id: 7 } } },
    { client: 'agent', session: null, agent: null, parent: null },
  ],
  [
    'a client without anything',
    {},
    { fields: { metadata: 'm' } },
    { client: 'agent', session: null, agent: null, parent: null },
  ],
])('knows %s', (_, headers, more, identity) => {
  expect(identify(facts({ headers, ...more }))).toEqual(identity)
})

const claude = { 'x-claude-code-session-id': 's' }
const asks = (text: string) => ({ lastRead: anthropicWire.read({ role: 'user', content: text }) })
const SUMMARIZE = 'CRITICAL: Respond with TEXT ONLY.'

it.each<[string, Headers, Partial<RequestFacts>, string]>([
  ['a request with tools', {}, {}, 'conversation'],
  ['one of an unknown client without tools', {}, { fields: { tools: [] } }, 'conversation'],
  ...['claude', 'codex', 'opencode', 'pi'].map(
    (launch): [string, Headers, Partial<RequestFacts>, string] => [
      `one of ${launch} without tools`,
      {},
      { launch, fields: { tools: [] } },
      'side',
    ],
  ),
  ['one whose tools are no list', {}, { launch: 'pi', fields: { tools: 'Bash' } }, 'side'],
  [
    'one whose tools are an item among others',
    {},
    { launch: 'pi', fields: {}, items: [{}, { rank: 'developer additional_tools' }, {}] },
    'conversation',
  ],
  ['the title of a thread', metadata({ thread_source: 'thread_title' }), {}, 'side'],
  ['another source', metadata({ thread_source: 'user' }), {}, 'conversation'],
  ['metadata that are no object', { 'x-codex-turn-metadata': '[]' }, {}, 'conversation'],
  ['a compaction of Codex', metadata({ request_kind: 'compaction' }), { fields: {} }, 'compaction'],
  [
    'a compaction of Codex as an item',
    metadata({ request_kind: 'compaction' }),
    { last: { type: 'compaction_trigger' } },
    'compaction-item',
  ],
  ['a compaction of Claude Code', claude, asks(`${SUMMARIZE} Now.`), 'compaction'],
  ['the same words further on', claude, asks(`Why "${SUMMARIZE}"?`), 'conversation'],
  ['the same words of another client', { 'thread-id': 't' }, asks(SUMMARIZE), 'conversation'],
])('takes %s for what it is for', (_, headers, more, expected) => {
  expect(purpose(facts({ headers, ...more }))).toBe(expected)
})

describe('purposeOf', () => {
  it('treats a title request of Codex as a side call although it has a session of its own [proxy law 9]', () => {
    const headers = { 'thread-id': 'new', ...metadata({ thread_source: 'thread_title' }) }
    expect(purpose(facts({ headers }))).toBe('side')
  })

  it('treats a call of a known client without tools as a side call [proxy law 9]', () => {
    const headers = { 'x-claude-code-session-id': 's' }
    expect(purpose(facts({ headers, fields: {} }))).toBe('side')
    expect(purpose(facts({ headers }))).toBe('conversation')
    expect(purpose(facts({ fields: {} }))).toBe('conversation')
  })

  it('recognizes a conversation whose tools are an item of its history [proxy law 9]', () => {
    const headers = { 'thread-id': 't', ...metadata({ request_kind: 'turn' }) }
    expect(
      purpose(facts({ headers, fields: {}, items: [{ rank: 'developer additional_tools' }] })),
    ).toBe('conversation')
  })

  it('recognizes the clients’ own compactions', () => {
    const codex = { 'thread-id': 't', ...metadata({ request_kind: 'compaction' }) }
    expect(purpose(facts({ headers: codex, fields: {} }))).toBe('compaction')
    const last = { type: 'compaction_trigger' }
    expect(purpose(facts({ headers: codex, last }))).toBe('compaction-item')
    const asked = { role: 'user', content: 'CRITICAL: Respond with TEXT ONLY. Summarize.' }
    const lastRead = anthropicWire.read(asked)
    const headers = { 'x-claude-code-session-id': 's' }
    expect(purpose(facts({ headers, last: asked, lastRead }))).toBe('compaction')
  })

  it('reads no metadata that is not JSON', () => {
    const headers = { 'thread-id': 't', 'x-codex-turn-metadata': '{' }
    expect(purpose(facts({ headers }))).toBe('conversation')
  })
})
