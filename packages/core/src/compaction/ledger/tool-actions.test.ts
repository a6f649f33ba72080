import { expect, it } from 'vitest'
import type { JsonValue } from '../../base/json.ts'
import type { Message } from '../../message/message.ts'
import { positionsFrom } from '../layout.ts'
import { gatherToolActions } from './tool-actions.ts'

function done(name: string, input: JsonValue, output: string, isError = false): Message[] {
  return [
    { role: 'assistant', parts: [{ type: 'tool-call', id: 'c', name, input }] },
    {
      role: 'tool',
      parts: [
        {
          ...{ type: 'tool-result', callId: 'c', output: [{ type: 'text', text: output }] },
          ...(isError && { isError }),
        },
      ],
    },
  ]
}

const told = (messages: readonly Message[]) =>
  gatherToolActions(messages, positionsFrom(10)).map(({ kind, text }) => `${kind}: ${text}`)

it('lists calls that changed something outside, with the first words of their output', () => {
  expect(
    told(done('shell', { command: 'git push origin main' }, 'To example\nmain -> main')),
  ).toEqual(['action: #11 git push origin main → To example'])
  expect(told(done('shell', { command: 'git push origin main' }, ''))).toEqual([
    'action: #11 git push origin main',
  ])
})

it('lists a failed command with its exit code and the line of the error', () => {
  const [command, error] = told(
    done('shell', { command: 'npm test' }, 'running\nError: two tests failed\nexit code: 3'),
  )
  expect(command).toMatch(/^command: .*npm test \(exit 3\)/)
  expect(error).toBe('error: Error: two tests failed')
  expect(told(done('shell', { command: 'npm test' }, 'broken', true))[0]).toMatch(/\(failed\)/)
})

it('leaves out commands that only read, and filters behind a pipe', () => {
  expect(told(done('shell', { command: 'ls -la src' }, 'a\nb'))).toEqual([])
  expect(told(done('shell', { cmd: ['bash', '-lc', 'git push 2>&1 | tail -5'] }, 'ok'))).toEqual([
    'action: #11 git push → ok',
  ])
})

it('assigns a result to the newest call with its id, and to no other', () => {
  const twice = [
    ...done('shell', { command: 'git push one' }, 'ok'),
    ...done('shell', { command: 'git push two' }, 'ok'),
  ]
  expect(told(twice)).toEqual(['action: #11 git push one → ok', 'action: #13 git push two → ok'])
  expect(told(twice.filter(({ role }) => role === 'tool'))).toEqual([])
})
