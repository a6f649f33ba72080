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
