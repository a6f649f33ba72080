import { describe, expect, it } from 'vitest'
import type { SessionSummary } from '../../../runtime/runtime.ts'
import { noPaint } from '../../terminal/colours.ts'
import {
  AWAY_STATUS,
  helpText,
  PRESENCE,
  readTerminalInput,
  runnerText,
  runSlash,
  statusText,
  TERMINAL_COMMANDS,
} from './slash.ts'

describe('readTyped', () => {
  it.each([
    ['', { kind: 'nothing' }],
    ['  \t', { kind: 'nothing' }],
    ['Hello /stop', { kind: 'say', text: 'Hello /stop' }],
    ['  indented', { kind: 'say', text: '  indented' }],
    ['//etc is a folder', { kind: 'say', text: '/etc is a folder' }],
    ['/stop', { kind: 'command', name: 'stop', rest: '' }],
    [
      '/compact the  tests\nand more',
      { kind: 'command', name: 'compact', rest: 'the  tests\nand more' },
    ],
    [' /new ', { kind: 'command', name: 'new', rest: '' }],
    ['/etc/passwd', { kind: 'unknown', name: 'etc/passwd' }],
    ['/constructor', { kind: 'unknown', name: 'constructor' }],
    ['/', { kind: 'unknown', name: '' }],
  ])('reads %j', (line, typed) => {
    expect(readTerminalInput(line)).toEqual(typed)
  })
})

describe('helpText', () => {
  it('lists every command', () => {
    for (const name of Object.keys(TERMINAL_COMMANDS)) expect(helpText()).toContain(`/${name}`)
  })
})

describe('statusText', () => {
  const summary = {
    agent: 'main',
    contextTokens: 10,
    windowTokens: 100,
    usage: { inputTokens: 3_000, cachedTokens: 0, outputTokens: 20, cost: 0, unpricedCalls: 0 },
    ...{ isCompacting: false, waiting: 0, lastTurn: null },
  }
  const status = (state: string) =>
    statusText({ ...summary, state } as unknown as SessionSummary, noPaint)

  it('begins with the state of the session, so that a narrow terminal shows it', () => {
    expect(status('turn')).toMatch(/^── main · answering · /)
  })

  it('distinguishes a stopped turn from an answered one', () => {
    const after = (lastTurn: string) =>
      statusText({ ...summary, state: 'idle', lastTurn } as unknown as SessionSummary, noPaint)
    expect(after('answered')).toMatch(/^── main · ready · /)
    expect(after('stopped')).toMatch(/^── main · ready, the last turn was stopped · /)
  })

  it('does not claim to know why the model does not answer', () => {
    expect(status('waiting-for-model')).toContain('waiting for the model; your message is safe')
  })
})

describe('a command of a person at a terminal', () => {
  const SUMMARY = {
    ...{ id: 's1', agent: 'main', state: 'idle', lastTurn: 'answered', wait: null, waiting: 0 },
    ...{ isCompacting: false, entries: 1, contextTokens: 500, windowTokens: 1_000 },
    ...{ compaction: null, pins: [], policy: 'queue' },
    usage: { inputTokens: 3_000, cachedTokens: 0, outputTokens: 20, cost: 0, unpricedCalls: 0 },
  }

  /** What it says, and what it asks of the session. */
  async function run(name: 'continue' | 'status' | 'help', more: object | null = {}) {
    const asked: unknown[] = []
    const session = {
      id: 's1',
      summary: async () => more && { ...SUMMARY, ...more },
      continue: async ({ key, ...given }: { key: string }) => {
        asked.push(given)
        expect(key).toMatch(/^[\da-f-]{36}$/)
        return { kind: 'admitted', sessionId: 's1', mail: 3 }
      },
      controlOutcome: async () => ({ kind: 'done' }),
    }
    return [await runSlash({ name, rest: '' }, session as never, noPaint), ...asked]
  }

  it.each<[string, string, boolean]>([
    ['turn', 'Continuing.', false],
    ['waiting-for-model', 'Trying the model again now.', false],
    ['waiting-for-approval', 'Continuing.', true],
  ])('/continue goes on while the session is in the state %s', async (state, said, pastLimit) => {
    expect(await run('continue', { state })).toEqual([said, { source: 'cli', pastLimit }])
  })

  it('/continue says that no turn runs', async () => {
    expect(await run('continue')).toEqual(['No turn is running.'])
  })

  it.each<[string, object, readonly string[]]>([
    [
      'of a new one',
      {},
      [
        'Session s1 of main: ready',
        'Context █████░░░░░ 50 %: 500 of 1,000 tokens',
        '1 entry, not compacted',
        'Used: 3,000 tokens in, 20 out, cost 0.00',
        'While a turn runs, messages wait for the next turn.',
      ],
    ],
    [
      'of one that waits',
      {
        ...{ state: 'waiting-for-model', wait: { text: 'Down.', nextTryAt: null } },
        ...{ entries: 2_000, compaction: 37, pins: ['a', 'b'], policy: 'steer' },
      },
      [
        'Session s1 of main: waiting for the model; your message is safe',
        'Down.',
        'Context █████░░░░░ 50 %: 500 of 1,000 tokens',
        '2,000 entries, compacted at #37',
        'Used: 3,000 tokens in, 20 out, cost 0.00',
        'While a turn runs, messages enter it between two steps. Pins: a, b.',
      ],
    ],
  ])('/status shows the state %s', async (_, more, lines) => {
    const [text] = await run('status', more)
    expect(String(text).split('\n')).toEqual(lines)
  })

  it('/help lists the commands in one column, then the keys', async () => {
    const [text] = await run('help')
    expect(
      String(text)
        .split('\n')
        .map((line) => line.split('  ')[0]),
    ).toEqual([
      ...['/stop', '/continue', '/compact [focus]', '/undo', '/new', '/status'],
      ...['/search WORDS', '/pin [NAME [TEXT | -]]', '/quit', '/help'],
      'Shift+Enter, Ctrl-J or \\ at the end of a line start a new line. Tab completes commands.',
      'Ctrl-C clears what you typed, or stops the running turn. Ctrl-D leaves.',
    ])
  })

  it('the status line has its use of tokens in short, and what is done instead', () => {
    const line = (doing?: string) =>
      statusText(SUMMARY as unknown as SessionSummary, noPaint, doing)
    expect(line()).toBe('── main · ready · █████░░░░░ 50 % · 3.0k in, 20 out, cost 0.00 ──')
    expect(line(AWAY_STATUS)).toContain('── main · no server · ')
  })

  it('it is said who runs the agent, and whether the server is there', () => {
    expect([runnerText({ url: null }), runnerText({ url: 'http://a' })]).toEqual([
      'This chat runs the agent itself, without a server.',
      'The server at http://a runs the agent.',
    ])
    expect(PRESENCE).toEqual({
      away: '(The server stopped. The chat waits for it and continues; Ctrl-D leaves.)',
      back: '(The server is back.)',
    })
  })
})
