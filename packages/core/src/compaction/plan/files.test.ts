import { hash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { toolCall, toolResult } from '../../../../../test/support/builders.ts'
import type { FileRecord } from '../../message/handoff/handoff.ts'
import type { Message } from '../../message/message.ts'
import { positionsFrom } from '../layout.ts'
import { collectFiles } from './files.ts'

const sha = (text: string) => hash('sha256', text, 'hex').slice(0, 12)

function collect(head: readonly Message[], earlier: readonly FileRecord[] = [], tokensMax = 1_000) {
  const countTokens = (text: string) => Math.ceil(text.length / 4)
  return collectFiles({ earlier, head, numberOf: positionsFrom(11), tokensMax, countTokens })
}

describe('collectFiles', () => {
  it('lists files that were read and changed, newest first, with hashes [S15]', () => {
    const head = [
      toolCall('a', { file_path: '/src/a.ts' }, 'Read'),
      toolResult('a', 'const a = 1\n', 'Read'),
      toolCall('b', { path: '/src/b.ts', content: 'new' }, 'write'),
      toolResult('b', 'ok', 'write'),
    ]
    expect(collect(head)).toEqual([
      { path: '/src/b.ts', access: 'changed', number: 13, hash: sha('new') },
      { path: '/src/a.ts', access: 'read', number: 11, hash: sha('const a = 1\n') },
    ])
  })

  it('hashes the file, not the numbered listing that a tool shows', () => {
    const head = [toolCall('a', { file_path: 'x' }), toolResult('a', '     1→one\n     2→two')]
    expect(collect(head)[0]?.hash).toBe(sha('one\ntwo'))
  })

  it('gives no hash for a file that was read only in part', () => {
    const head = [toolCall('a', { path: 'x', offset: 10 }), toolResult('a', 'part')]
    expect(collect(head)).toEqual([{ path: 'x', access: 'read', number: 11 }])
  })

  it('calls a file changed even if it was only read later', () => {
    const head = [
      toolCall('a', { path: 'x', new_string: 'b', old_string: 'a' }, 'edit'),
      toolResult('a', 'ok'),
      toolCall('b', { path: 'x' }, 'read'),
      toolResult('b', 'whole'),
    ]
    expect(collect(head)).toEqual([
      { path: 'x', access: 'changed', number: 13, hash: sha('whole') },
    ])
  })

  it.each([...['file_path', 'filePath', 'path', 'filename', 'file_name', 'file', 'notebook_path']])(
    'knows a file by the argument %s',
    (key) => {
      expect(collect([toolCall('a', { [key]: 'x', offset: 1 }), toolResult('a', 'part')])).toEqual([
        { path: 'x', access: 'read', number: 11 },
      ])
    },
  )

  it.each([...['content', 'new_string', 'newText', 'new_str', 'edits', 'patch', 'file_text']])(
    'calls a file changed by the argument %s',
    (key) => {
      const [file] = collect([toolCall('a', { path: 'x', [key]: 'new' }), toolResult('a', 'ok')])
      expect(file).toMatchObject({ path: 'x', access: 'changed', number: 11 })
    },
  )

  it('masks a secret in the name of a file', () => {
    const path = `/tmp/sk-ant-api03-${'aB3'.repeat(30)}`
    const [file] = collect([toolCall('a', { path }), toolResult('a', 'text')])
    expect(file?.path).toBe('/tmp/[secret:anthropic]')
  })

  it('leaves out failed calls and searches', () => {
    const failed: Message = {
      role: 'tool',
      parts: [{ type: 'tool-result', callId: 'a', output: [], isError: true }],
    }
    const head = [toolCall('a', { path: 'gone' }), failed, toolCall('b', { path: 'src' }, 'Grep')]
    expect(collect(head)).toEqual([])
  })

  it('keeps the files of the previous handoff, and stays within its budget', () => {
    const earlier = Array.from({ length: 100 }, (_, index) => ({
      path: `/old/file-${index}.ts`,
      access: 'read' as const,
      number: index,
    }))
    const kept = collect([toolCall('a', { path: '/new.ts' }), toolResult('a', 'x')], earlier, 100)
    expect(kept[0]?.path).toBe('/new.ts')
    expect(kept.length).toBeGreaterThan(4)
    expect(kept.length).toBeLessThan(20)
  })
})
