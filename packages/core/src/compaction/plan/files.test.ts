import { hash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { toolCall, toolResult } from '../../../../../test/support/builders.ts'
import type { JsonValue } from '../../base/json.ts'
import type { FileRecord } from '../../message/handoff/handoff.ts'
import type { Message, ToolMessage } from '../../message/message.ts'
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

  const failed = (callId: string): Message => ({
    role: 'tool',
    parts: [{ type: 'tool-result', callId, output: [], isError: true }],
  })
  const read = (id: string, input: JsonValue, text = 'whole', name = 'read') => [
    toolCall(id, input, name),
    toolResult(id, text),
  ]

  it.each<[string, readonly Message[], object]>([
    ['whole, read', read('a', { path: 'x' }), { access: 'read', hash: sha('whole') }],
    [
      'written whole',
      read('a', { path: 'x', content: 'new' }),
      { access: 'changed', hash: sha('new') },
    ],
    [
      'written whole',
      read('a', { path: 'x', file_text: 'new' }),
      { access: 'changed', hash: sha('new') },
    ],
    ['changed in a place', read('a', { path: 'x', patch: 'p' }), { access: 'changed' }],
    ['written as no text', read('a', { path: 'x', content: 7 }), { access: 'changed' }],
    ['empty', read('a', { path: 'x' }, ''), { access: 'read' }],
    ['without a result', [toolCall('a', { path: 'x' })], { access: 'read' }],
    [
      'numbered with a tab',
      read('a', { path: 'x' }, '1\tone\n2\t'),
      { access: 'read', hash: sha('one\n') },
    ],
    [
      'numbered with a colon',
      read('a', { path: 'x' }, '9: one\n10| two'),
      { access: 'read', hash: sha('one\ntwo') },
    ],
    [
      'numbered here and there',
      read('a', { path: 'x' }, '1\tone\ntwo'),
      { access: 'read', hash: sha('1\tone\ntwo') },
    ],
    [
      'numbered too deep',
      read('a', { path: 'x' }, '         1\tone'),
      { access: 'read', hash: sha('         1\tone') },
    ],
    ...['offset', 'limit', 'start', 'start_line', 'view_range', 'range', 'lines'].map(
      (key): [string, readonly Message[], object] => [
        `read in part (${key})`,
        read('a', { path: 'x', [key]: 1 }),
        { access: 'read' },
      ],
    ),
  ])('has of a file that is %s what is known', (_, head, known) => {
    expect(collect(head)).toEqual([{ path: 'x', number: 11, ...known }])
  })

  it('has no hash of a result that was cleared', () => {
    const [call, result] = read('a', { path: 'x' }) as [Message, ToolMessage]
    const cleared = { ...result, parts: result.parts.map((part) => ({ ...part, cleared: true })) }
    expect(collect([call, cleared as Message])).toEqual([{ path: 'x', access: 'read', number: 11 }])
  })

  it('takes the first argument that names a file, and no blank, endless or other value', () => {
    const paths = (input: JsonValue) => collect(read('a', input)).map(({ path }) => path)
    expect(paths({ path: 'b', file_path: 'a' })).toEqual(['a'])
    expect(paths({ file_path: 7, path: 'b' })).toEqual(['b'])
    expect(paths({ path: ' ' })).toEqual([])
    expect(paths({ path: 'x'.repeat(1_000) })).toEqual(['x'.repeat(1_000)])
    expect(paths({ path: 'x'.repeat(1_001) })).toEqual([])
    expect(paths({ command: 'cat x' })).toEqual([])
    expect(paths('x')).toEqual([])
  })

  it.each(['Glob', 'grep', 'web_search', 'find_files', 'list_dir', 'LS'])(
    '%s reads no file',
    (name) => {
      expect(collect(read('a', { path: 'x' }, 'a\nb', name))).toEqual([])
    },
  )

  it.each(['lsp', 'false'])('%s reads a file', (name) => {
    expect(collect(read('a', { path: 'x' }, 'a', name))).toHaveLength(1)
  })

  it('leaves out a call that failed, and nothing else of its message', () => {
    const head = [...read('a', { path: 'a' }), toolCall('b', { path: 'b' }), failed('b')]
    expect(collect(head).map(({ path }) => path)).toEqual(['a'])
  })

  it('stays read until a change, and is not carried twice', () => {
    const earlier: readonly FileRecord[] = [
      { path: 'y', access: 'changed', number: 3, hash: 'abc' },
      { path: 'x', access: 'changed', number: 2 },
    ]
    const head = [...read('a', { path: 'x' }, 'one'), ...read('b', { path: 'x' }, 'two')]
    expect(collect(head, earlier)).toEqual([
      { path: 'x', access: 'read', number: 13, hash: sha('two') },
      { path: 'y', access: 'changed', number: 3, hash: 'abc' },
    ])
  })

  it('fills its budget to the last token, and nothing behind the first that does not fit', () => {
    const earlier: readonly FileRecord[] = ['a', 'longer-name', 'b'].map((path, at) => ({
      ...{ path, access: 'read', number: at },
    }))
    // 'read a #0 sha256:' takes 5 tokens, that of the longer name 7; each line one more.
    const kept = (tokens: number) => collect([], earlier, tokens).map(({ path }) => path)
    expect([5, 6, 13, 14, 20].map((tokens) => kept(tokens).join())).toEqual([
      ...['', 'a', 'a', 'a,longer-name', 'a,longer-name,b'],
    ])
  })
})
