import { describe, expect, it } from 'vitest'
import type { JsonObject } from '#core/base/json'
import { CLIENT_LOGS, isLaterPatch } from './client-log.ts'

const { claude, codex } = CLIENT_LOGS
const at = new Date('2026-11-16T10:00:00.000Z')
const timestamp = '2026-11-16T10:00:00.000Z'

function handoff() {
  let ids = 0
  const newId = () => `id-${++ids}`
  return { text: 'The pier is 40 m.', tokens: 12, at, newId }
}

describe('a handoff in a log of Claude Code', () => {
  const common = { sessionId: 's', cwd: '/pier', version: '2.1.325', gitBranch: 'main' }
  const lines: readonly JsonObject[] = [
    { type: 'user', uuid: 'u1', ...common, cwd: '/before', other: 1 },
    { type: 'assistant', uuid: 'u2', ...common, other: 1 },
    { type: 'summary', uuid: 'u3', version: '1' },
    { type: 'user', version: '2' },
  ]

  it('is a boundary after the last message, and a summary that the client shows as such', () => {
    const base = { isSidechain: false, ...common, timestamp }
    expect(claude.write(lines, handoff())).toEqual([
      {
        ...{ parentUuid: null, logicalParentUuid: 'u2', ...base, uuid: 'id-1' },
        ...{ type: 'system', subtype: 'compact_boundary', content: 'Conversation compacted' },
        ...{ isMeta: false, level: 'info' },
        compactMetadata: { trigger: 'manual', preTokens: 12, postTokens: 12 },
      },
      {
        ...{ parentUuid: 'id-1', ...base, type: 'user', uuid: 'id-2' },
        ...{ isCompactSummary: true, isVisibleInTranscriptOnly: true },
        message: { role: 'user', content: 'The pier is 40 m.' },
      },
    ])
    expect(() => claude.write([], handoff())).toThrow('The log holds no message.')
  })

  it('goes into the log of its session, in the version of its last message', () => {
    expect([claude.isLogOf('s.jsonl', 's'), claude.isLogOf('as.jsonl', 's')]).toEqual([true, false])
    expect([claude.versionOf(lines), claude.versionOf([])]).toEqual(['2.1.325', null])
    expect(claude.folder).toBe('.claude/projects')
  })
})

describe('a handoff in a log of Codex', () => {
  const last = { input_tokens: 5, cached_input_tokens: 3, output_tokens: 2, total_tokens: 7 }
  const info = { total_token_usage: { total_tokens: 70 }, last_token_usage: last }
  const counted = { type: 'token_count', rate_limits: { plan: 'x' } }
  const lines: readonly JsonObject[] = [
    { ordinal: 1, type: 'session_meta', payload: { cli_version: '0.166.0' } },
    {
      ...{ ordinal: 2, type: 'event_msg' },
      payload: { ...counted, info: { ...info, model_context_window: 9 } },
    },
    { ordinal: 3, type: 'event_msg', payload: { ...counted, info: null } },
  ]
  const compacted = {
    message: 'The pier is 40 m.',
    replacement_history: [
      {
        ...{ type: 'message', role: 'user' },
        content: [{ type: 'input_text', text: 'The pier is 40 m.' }],
      },
    ],
  }

  it('replaces the history, and reports the small context size', () => {
    expect(codex.write(lines, handoff())).toEqual([
      { timestamp, ordinal: 4, type: 'compacted', payload: compacted },
      {
        ...{ timestamp, ordinal: 5, type: 'event_msg' },
        payload: {
          ...counted,
          info: {
            ...{ model_context_window: 9, total_token_usage: { total_tokens: 70 } },
            last_token_usage: {
              ...{ input_tokens: 12, cached_input_tokens: 0, output_tokens: 0, total_tokens: 12 },
            },
          },
        },
      },
    ])
  })

  it('reports the context size even if none was recorded, and needs numbered lines', () => {
    const usage = { input_tokens: 12, output_tokens: 0, total_tokens: 12 }
    const [, event] = codex.write([{ ordinal: 1 }], handoff())
    expect(event?.['payload']).toEqual({
      ...{ rate_limits: null, type: 'token_count' },
      info: { model_context_window: null, total_token_usage: usage, last_token_usage: usage },
    })
    expect(() => codex.write([{}], handoff())).toThrow('The lines of the log have no numbers.')
  })

  it('goes into the log of its session, in the version that began it', () => {
    expect(codex.isLogOf('rollout-2026-s.jsonl', 's')).toBe(true)
    expect(codex.isLogOf('rollout-2026-as.jsonl', 's')).toBe(false)
    expect([codex.versionOf(lines), codex.versionOf([])]).toEqual(['0.166.0', null])
    expect(codex.folder).toBe('.codex/sessions')
  })
})

it('the logs of both clients are known by their places and by the versions that were tried', () => {
  const facts = Object.entries(CLIENT_LOGS).map(([name, { versions, folder, running }]) => [
    ...[name, versions, folder, running],
  ])
  expect(facts).toEqual([
    ['claude', ['2.1.326', '2.1.325', '2.1.197'], '.claude/projects', '.claude/sessions'],
    ['codex', ['0.169.0', '0.166.0'], '.codex/sessions', null],
  ])
})

it('every fact that the lines of a log of Claude Code share stands in what is added', () => {
  const common = {
    ...{ sessionId: 's', cwd: '/', version: '2', userType: 'external', entrypoint: 'cli' },
    ...{ gitBranch: 'main', slug: 'a-b' },
  }
  const written = claude.write([{ type: 'user', uuid: 'u', ...common, other: 1 }], handoff())
  for (const line of written) expect(line).toMatchObject(common)
  expect(written.map((line) => 'other' in line)).toEqual([false, false])
})

it.each([
  ['2.1.327', true],
  ['2.1.326', false],
  ['2.1.325', false],
  ['2.2.327', false],
  ['3.1.327', false],
  ['2.1.327-beta', false],
  ['v2.1.327', false],
  ['2.1.1000000000', false],
  ['2.1', false],
  ['', false],
])('version %s is a later patch: %s', (version, isLater) => {
  expect(isLaterPatch(version, claude)).toBe(isLater)
})

it('only lines of people and of the model, with an id, count as messages of Claude Code', () => {
  const line = (type: string, uuid: unknown, version: string) =>
    ({ type, uuid, version }) as JsonObject
  const versions = [
    [line('user', 'u', '1'), line('assistant', 'u', '2')],
    [line('assistant', 'u', '2'), line('user', 'u', '1')],
    [line('user', 'u', '1'), line('user', 3, '2'), line('system', 'u', '3')],
    [line('user', 'u', 3 as never)],
  ].map((lines) => claude.versionOf(lines))
  expect(versions).toEqual(['2', '1', '1', null])
})

it('a log of Codex has the usage of its last count, and no facts where it has none', () => {
  const event = (payload: unknown, ordinal = 1) =>
    ({ type: 'event_msg', ordinal, payload }) as unknown as JsonObject
  const count = (input: number, more: object = {}) =>
    event({ type: 'token_count', info: { last_token_usage: { input, cached: input } }, ...more })
  const payloadOf = (...lines: readonly JsonObject[]) =>
    codex.write(lines, handoff())[1]?.['payload']
  const usage = { input: 0, cached: 0, input_tokens: 12, output_tokens: 0, total_tokens: 12 }
  const info = {
    ...{ model_context_window: null, last_token_usage: usage, total_token_usage: usage },
  }
  expect(payloadOf(count(1), count(2, { plan: 'x' }), event({ type: 'other', info: {} }))).toEqual({
    ...{ type: 'token_count', rate_limits: null, plan: 'x', info },
  })
  const { input: _, cached: __, ...bare } = usage
  const empty = { ...info, last_token_usage: bare, total_token_usage: bare }
  expect(payloadOf(event({ type: 'token_count', info: { last_token_usage: 3 } }))).toEqual({
    ...{ type: 'token_count', rate_limits: null, info: empty },
  })
  expect(codex.versionOf([event({ cli_version: 'x' }), { type: 'session_meta', payload: 3 }])).toBe(
    null,
  )
})
