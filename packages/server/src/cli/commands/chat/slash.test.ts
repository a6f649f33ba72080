import { describe, expect, it } from 'vitest'
import type { SessionSummary } from '../../../runtime/runtime.ts'
import { noPaint } from '../../terminal/colours.ts'
import { helpText, readTerminalInput, statusText, TERMINAL_COMMANDS } from './slash.ts'

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
