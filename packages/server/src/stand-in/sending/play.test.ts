import { Agent } from 'node:http'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { until } from '../../../../../test/support/until.ts'
import {
  at,
  documentIn,
  eventsIn,
  finishIn,
  PROTOCOLS,
  type Seen,
  type Sending,
  send,
  startStandIn,
  textIn,
} from '../../../../../test/wire/raw-client.ts'
import { type FaultKind, readFault, STAND_IN_FAULTS } from '../faults.ts'
import type { ProtocolName } from '../protocols/protocol.ts'
import { LEAKED_SECRETS } from '../spoil.ts'
import { planWire, type WirePlan } from './wire-plan.ts'

const QUESTION = 'The code word is PELICAN. What was the code word?'
// Usually long enough for anything else that would arrive.
const PATIENCE_MS = 100

let running: Awaited<ReturnType<typeof startStandIn>>
let agent: Agent
beforeEach(async () => {
  running = await startStandIn()
  agent = new Agent({ keepAlive: true, maxSockets: 4 })
})
afterEach(async () => {
  agent.destroy()
  await until(() => running.server.journal.openSockets === 0)
  expect(running.server.journal.openRequests).toBe(0)
  await running.close()
})

function ask(protocol: ProtocolName, rest: Partial<Sending> = {}): Promise<Seen> {
  return send(running.url, { protocol, text: QUESTION, stream: true, agent, ...rest })
}

function askWith(fault: string, protocol: ProtocolName, rest: Partial<Sending> = {}) {
  return ask(protocol, { ...rest, headers: { 'x-stand-in-fault': fault } })
}

/** A stream that was cut off: some of the text, and no end marker. */
function expectTorn(protocol: ProtocolName, seen: Seen, ending: string): void {
  expect(seen).toMatchObject({ status: 200, ending })
  expect(finishIn(protocol, seen)).toBeUndefined()
  expect(textIn(protocol, seen)).toContain('stand-in')
}

const NORMAL = { 'openai-chat': 'stop', 'openai-responses': 'completed', anthropic: 'end_turn' }
const LENGTH = {
  'openai-chat': 'length',
  'openai-responses': 'max_output_tokens',
  anthropic: 'max_tokens',
}

async function expectSaid(fault: string, protocol: ProtocolName, text: RegExp): Promise<Seen> {
  const seen = await askWith(fault, protocol)
  expect(seen).toMatchObject({ status: 200, ending: 'end' })
  expect(textIn(protocol, seen)).toMatch(text)
  expect(finishIn(protocol, seen)).toBe(NORMAL[protocol])
  return seen
}

/** What a client sees of every fault, on each protocol. */
const SEEN: { readonly [kind in FaultKind]: (protocol: ProtocolName) => Promise<void> } = {
  async latency(protocol) {
    const seen = await askWith('latency; ms=80', protocol)
    expect(seen).toMatchObject({ status: 200, ending: 'end' })
    expect(seen.durationMs).toBeGreaterThanOrEqual(79)
  },
  async 'half-open'(protocol) {
    const seen = await askWith('half-open', protocol, { leaveMs: PATIENCE_MS })
    expect(seen).toMatchObject({ status: undefined, ending: 'left' })
  },
  async 'reset-before-headers'(protocol) {
    const seen = await askWith('reset-before-headers', protocol)
    expect(seen).toMatchObject({ status: undefined, ending: 'ECONNRESET' })
  },
  async 'reset-reused-socket'(protocol) {
    running.server.faults.next('reset-reused-socket')
    expect(await ask(protocol)).toMatchObject({ status: 200, ending: 'end' })
    expect(await ask(protocol)).toMatchObject({ status: undefined, ending: 'ECONNRESET' })
    expect(await ask(protocol)).toMatchObject({ status: 200, ending: 'end' })
    const { entries } = running.server.journal
    expect(entries.map(({ socket, reused }) => [socket.id, reused])).toEqual([
      [1, false],
      [1, true],
      [2, false],
    ])
  },
  async 'stall-after-headers'(protocol) {
    const leaveFrom: Sending['leaveFrom'] = ({ status }) => status !== undefined
    const leaving = { leaveMs: PATIENCE_MS, leaveFrom }
    const seen = await askWith('stall-after-headers', protocol, leaving)
    expect(seen).toMatchObject({ status: 200, ending: 'left' })
    expect(seen.bytes).toHaveLength(0)
  },
  async 'stall-mid-stream'(protocol) {
    const leaveFrom: Sending['leaveFrom'] = ({ bytes }) =>
      textIn(protocol, { bytes: bytes.subarray(0, bytes.lastIndexOf('\n')) }).includes('stand-in')
    const leaving = { leaveMs: PATIENCE_MS, leaveFrom }
    const seen = await askWith('stall-mid-stream; after=0.7', protocol, leaving)
    expectTorn(protocol, seen, 'left')
  },
  async drip(protocol) {
    const leaveFrom: Sending['leaveFrom'] = ({ bytes }) => bytes.length >= 10
    const seen = await askWith('drip; ms=5', protocol, { leaveMs: 0, leaveFrom })
    expect(seen).toMatchObject({ status: 200, ending: 'left' })
    // A timer may fire up to a millisecond early.
    expect(seen.bytes.length).toBeLessThanOrEqual(seen.durationMs / 4)
  },
  async 'cut-stream'(protocol) {
    expectTorn(protocol, await askWith('cut-stream; after=0.7', protocol), 'ECONNRESET')
    expect(running.server.journal.last?.socket.closedBy).toBe('stand-in')
    expectTorn(protocol, await askWith('cut-stream; after=0.7; how=clean', protocol), 'end')
    expectTorn(protocol, await askWith('cut-stream; after=0.7; how=reset', protocol), 'ECONNRESET')
  },
  async 'cut-json'(protocol) {
    const seen = await askWith('cut-json; how=clean', protocol)
    expect(seen.ending).toBe('end')
    expect(seen.bytes.toString()).toMatch(/data: \{[^\n]*$/)
    expect(() => eventsIn(seen)).toThrow(SyntaxError)
  },
  async 'cut-utf8'(protocol) {
    const seen = await askWith('cut-utf8; how=clean', protocol)
    expect(seen.ending).toBe('end')
    expect(seen.bytes.at(-1)).toBeGreaterThanOrEqual(0xc0)
    expect(seen.bytes.toString().endsWith('\ufffd')).toBe(true)
  },
  async 'unparsable-line'(protocol) {
    const seen = await askWith('unparsable-line', protocol)
    expect(seen.ending).toBe('end')
    expect(() => eventsIn(seen)).toThrow(SyntaxError)
    const bytes = Buffer.from(seen.bytes.toString().replace('data: {"torn":\n\n', ''))
    expect(finishIn(protocol, { ...seen, bytes })).toBe(NORMAL[protocol])
  },
  async 'stream-error'(protocol) {
    const seen = await askWith('stream-error', protocol)
    const last = eventsIn(seen).at(-1)
    const type = {
      'openai-chat': at(last, 'error', 'type'),
      'openai-responses': at(last, 'code'),
      anthropic: at(last, 'error', 'type'),
    }[protocol]
    expect(type).toBe(protocol === 'anthropic' ? 'overloaded_error' : 'server_error')
    expect(finishIn(protocol, seen)).toBeUndefined()
    const first = eventsIn(await askWith('stream-error; what=overflow; after=0', protocol))
    expect(first).toHaveLength(1)
    expect(JSON.stringify(first)).toMatch(/context_length_exceeded|prompt is too long/)
  },
  async status(protocol) {
    for (const code of [401, 429, 500, 502, 503, 529]) {
      const seen = await askWith(`status; code=${code}`, protocol)
      expect(seen).toMatchObject({ status: code, ending: 'end' })
      expect(seen.headers['retry-after']).toBeUndefined()
      expect(at(documentIn(seen), 'error', 'message')).toBe(`The stand-in plays status ${code}.`)
    }
    for (const value of ['2', '31536000', 'Wed, 21 Oct 2099 07:28:00 GMT', 'soon']) {
      const seen = await askWith(`status; code=429; retry-after=${value}`, protocol)
      expect(seen.headers['retry-after']).toBe(value)
    }
  },
  async 'context-overflow'(protocol) {
    const seen = await askWith('context-overflow', protocol)
    expect(seen.status).toBe(400)
    expect(seen.bytes.toString()).toMatch(/context_length_exceeded|prompt is too long/)
  },
  async html(protocol) {
    const seen = await askWith('html', protocol)
    expect(seen).toMatchObject({ status: 200, ending: 'end' })
    expect(seen.headers['content-type']).toBe('text/html; charset=utf-8')
  },
  async finish(protocol) {
    const seen = await askWith('finish; reason=length', protocol)
    expect(finishIn(protocol, seen)).toBe(LENGTH[protocol])
    const filtered = await askWith('finish; reason=content-filter', protocol)
    const word = protocol === 'anthropic' ? 'refusal' : 'content_filter'
    expect(finishIn(protocol, filtered)).toBe(word)
    const full = await askWith('finish; reason=window', protocol)
    const raw = protocol === 'anthropic' ? 'model_context_window_exceeded' : LENGTH[protocol]
    expect(finishIn(protocol, full)).toBe(raw)
  },
  async empty(protocol) {
    await expectSaid('empty', protocol, /^$/)
  },
  async blank(protocol) {
    await expectSaid('blank', protocol, /^\s+$/)
  },
  async 'only-reasoning'(protocol) {
    const seen = await expectSaid('only-reasoning', protocol, /^$/)
    const thoughts = eventsIn(seen).map(
      (event) =>
        at(event, 'choices', 0, 'delta', 'reasoning_content') ??
        at(event, 'delta', 'thinking') ??
        (event['type'] === 'response.reasoning_summary_text.delta' ? event['delta'] : ''),
    )
    expect(thoughts.join('')).toBe('I think about it, and think about it again.')
  },
  async 'too-long'(protocol) {
    const seen = await expectSaid('too-long', protocol, /PELICAN/)
    expect(textIn(protocol, seen).length).toBeGreaterThan(QUESTION.length * 4)
  },
  async refusal(protocol) {
    const seen = await askWith('refusal', protocol)
    expect(textIn(protocol, seen)).toContain("can't help")
    const word = protocol === 'anthropic' ? 'refusal' : NORMAL[protocol]
    expect(finishIn(protocol, seen)).toBe(word)
    if (protocol !== 'anthropic') expect(seen.bytes.toString()).toContain('"refusal":"I\'m')
  },
  async 'refusal-in-words'(protocol) {
    await expectSaid('refusal-in-words', protocol, /can't help/)
  },
  async 'injected-orders'(protocol) {
    await expectSaid('injected-orders', protocol, /<system>.*<tool_call>.*\[handoff/s)
  },
  async 'leaked-secrets'(protocol) {
    const text = textIn(protocol, await askWith('leaked-secrets', protocol))
    for (const secret of LEAKED_SECRETS) expect(text).toContain(secret)
  },
  async 'other-request'(protocol) {
    const headers = { 'x-client-request-id': 'mine' }
    const own = await ask(protocol, { headers })
    expect(own.headers['x-client-request-id']).toBe('mine')
    const seen = await ask(protocol, {
      headers: { ...headers, 'x-stand-in-fault': 'other-request' },
    })
    expect(seen.headers['x-client-request-id']).toBe('another')
    expect(seen.bytes.toString()).toContain('"model":"another-model"')
    expect(textIn(protocol, seen)).not.toContain('PELICAN')
    const ids = eventsIn(seen).flatMap((event) => {
      const id = at(event, 'id') ?? at(event, 'response', 'id') ?? at(event, 'message', 'id')
      return id === undefined ? [] : [id]
    })
    expect(new Set(ids).size).toBe(protocol === 'anthropic' ? 1 : 2)
  },
}

describe.each(PROTOCOLS)('a fault over %s', (protocol) => {
  it.each(Object.entries(SEEN))('a client sees %s', (_, expectSeen) => expectSeen(protocol))

  it('is over with its request: the next one is answered whole', async () => {
    for (const kind of Object.keys(STAND_IN_FAULTS)) running.server.faults.next(`${kind}; ms=1`)
    const rounds = Object.keys(STAND_IN_FAULTS).length
    for (let round = 0; round < rounds + 2; round++) await ask(protocol, { leaveMs: 30 })
    running.server.faults.clear()
    const seen = await ask(protocol)
    expect(textIn(protocol, seen)).toContain('PELICAN')
    expect(finishIn(protocol, seen)).toBe(NORMAL[protocol])
  })

  it('strikes an answer that is not streamed, too', async () => {
    const whole = { stream: false }
    const cut = await askWith('cut-stream', protocol, whole)
    expect(cut).toMatchObject({ status: 200, ending: 'ECONNRESET' })
    expect(cut.bytes.length).toBeGreaterThan(0)
    const torn = await askWith('unparsable-line', protocol, whole)
    expect(torn.ending).toBe('end')
    expect(() => documentIn(torn)).toThrow(SyntaxError)
    const utf8 = await askWith('cut-utf8; how=clean', protocol, whole)
    expect(utf8.bytes.toString().endsWith('\ufffd')).toBe(true)
  })

  it('of an unknown kind is refused with the list of the known', async () => {
    const seen = await askWith('explode', protocol)
    expect(seen.status).toBe(400)
    expect(seen.bytes.toString()).toContain('stall-after-headers')
  })
})

const FRAMES = ['one ', 'two ', 'thr\u00e9e ', 'end'].map((text) => ({ text, tokens: 3 }))
const WHOLE = FRAMES.map(({ text }) => text).join('')
const DOCUMENT = [{ text: '{"a":1}', tokens: 5 }]

const sent = ({ pieces }: WirePlan) => Buffer.concat(pieces.map(({ bytes }) => bytes)).toString()
const tokens = ({ pieces }: WirePlan) => pieces.reduce((sum, piece) => sum + piece.tokens, 0)

describe('planWire', () => {
  it.each(['none', 'drip; ms=7', 'latency'])('sends everything, with its tokens: %s', (fault) => {
    const chosen = fault === 'none' ? undefined : readFault(fault)
    for (const [frames, text, count] of [
      [FRAMES, WHOLE, 12],
      [DOCUMENT, '{"a":1}', 5],
    ] as const) {
      const plan = planWire(frames, chosen)
      expect([sent(plan), tokens(plan), plan.ending]).toEqual([text, count, 'clean'])
      expect(plan.byteMs).toBe(fault.startsWith('drip') ? 7 : undefined)
    }
  })

  it.each([
    ['stall-after-headers', '', 'silence'],
    ['stall-mid-stream', 'one two ', 'silence'],
    ['stall-mid-stream; after=1', 'one two thr\u00e9e ', 'silence'],
    ['cut-stream; after=0', '', 'fin'],
    ['cut-stream; how=reset', 'one two ', 'reset'],
    ['cut-stream; after=1; how=clean', 'one two thr\u00e9e ', 'clean'],
    ['cut-json; after=0.25', 'one tw', 'fin'],
    ['cut-json; after=1; how=clean', 'one two thr\u00e9e en', 'clean'],
    ['unparsable-line', 'one two data: {"torn":\n\nthr\u00e9e end', 'clean'],
    ['unparsable-line; after=0', 'data: {"torn":\n\none two thr\u00e9e end', 'clean'],
  ] as const)('sends so much of a stream, and ends so: %s', (fault, text, ending) => {
    const plan = planWire(FRAMES, readFault(fault))
    expect([sent(plan), plan.ending]).toEqual([text, ending])
  })

  it('cuts within the first character of several bytes, or before the end', () => {
    const { pieces, ending } = planWire(FRAMES, readFault('cut-utf8; how=reset'))
    const bytes = Buffer.concat(pieces.map((piece) => piece.bytes))
    expect([bytes, ending]).toEqual([Buffer.from('one two thr\u00e9').subarray(0, -1), 'reset'])
    const plain = FRAMES.slice(0, 2)
    expect(sent(planWire(plain, readFault('cut-utf8')))).toBe('one ')
  })

  it.each(['cut-stream', 'cut-json; after=0', 'unparsable-line'])(
    'leaves a document without its end: %s',
    (fault) => {
      const text = sent(planWire(DOCUMENT, readFault(fault)))
      expect('{"a":1}'.startsWith(text)).toBe(true)
      expect(text.length).toBeGreaterThan(0)
      expect(() => JSON.parse(text)).toThrow()
    },
  )
})
