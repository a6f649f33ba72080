import { describe, expect, it } from 'vitest'
import { helpText, readTerminalInput, TERMINAL_COMMANDS } from './slash.ts'

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
