import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

/**
 * Requests judged by the request types that the providers publish in their own packages: each request
 * becomes a literal of its type, and the compiler says which one does not fit, by a missing field, a
 * wrong value or a field that the type does not have.
 */
const ROOT = resolve(import.meta.dirname, '../../..')

const TYPES = {
  'openai-chat': [
    'openai/resources/chat/completions/completions.js',
    'ChatCompletionCreateParamsStreaming',
  ],
  'openai-responses': ['openai/resources/responses/responses.js', 'ResponseCreateParamsStreaming'],
  anthropic: ['@anthropic-ai/sdk/resources/messages/messages.js', 'MessageCreateParamsStreaming'],
} as const

export interface SentRequest {
  readonly name: string
  readonly type: keyof typeof TYPES
  /** As sent. */
  readonly body: string
}

/** What the compiler says against each request; none for one that fits. */
export async function judgeByTypes(
  requests: readonly SentRequest[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const folder = mkdtempSync(join(tmpdir(), 'throughline-sdk-types-'))
  try {
    const imports = Object.values(TYPES).map(([file, type]) => {
      const path = join(ROOT, 'node_modules', file).replaceAll('\\', '/')
      return `import type { ${type} } from '${path}';`
    })
    // One line each, so that the line of an error names the request.
    const lines = requests.map(({ type, body }, at) => {
      const literal = JSON.stringify(JSON.parse(body, asTyped))
      return `export const request${at}: ${TYPES[type][1]} = ${literal};`
    })
    writeFileSync(join(folder, 'requests.mts'), `${imports.join(' ')}\n${lines.join('\n')}\n`)
    const compilerOptions = {
      ...{ strict: true, noEmit: true, skipLibCheck: true, types: [] },
      ...{ target: 'es2024', lib: ['es2024', 'dom', 'dom.asynciterable'] },
      ...{ module: 'nodenext', moduleResolution: 'nodenext' },
    }
    const project = { compilerOptions, files: ['requests.mts'] }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(project))
    const output = await compile(folder)
    const errors = [...output.matchAll(/^requests\.mts\((\d+),\d+\): (error .+)$/gm)]
    // An error elsewhere is one of this judge, and would let everything through.
    if (errors.length === 0 && output.trim() !== '') throw new Error(output)
    const found = new Map<string, string[]>()
    for (const [, line, error = ''] of errors) {
      const request = requests[Number(line) - 2]
      if (request === undefined) throw new Error(output)
      found.set(request.name, [...(found.get(request.name) ?? []), error])
    }
    return found
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/**
 * Where the types and the providers differ. OpenAI's types want an id, a status and the annotations of
 * an earlier answer, which the API does without, and no null for the content of a reasoning item, which
 * it takes: its own Codex sends them so. They have no name for a tool message, which the API ignores and
 * some of those who imitate it ask for.
 */
function asTyped(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const item = value as { readonly type?: unknown; readonly role?: unknown }
  if (item.type === 'output_text') return { annotations: [], ...item }
  if (item.type === 'message' && item.role === 'assistant') {
    return { id: 'msg_1', status: 'completed', ...item }
  }
  if (item.type === 'reasoning') {
    const { content, ...reasoning } = item as { readonly content?: unknown }
    return content === null ? reasoning : item
  }
  if (item.role !== 'tool') return item
  const { name: _name, ...rest } = item as { readonly name?: unknown }
  return rest
}

function compile(folder: string): Promise<string> {
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc')
  const { promise, resolve: done } = Promise.withResolvers<string>()
  const args = [compiler, '--pretty', 'false', '-p', '.']
  execFile(process.execPath, args, { cwd: folder, maxBuffer: 1e8 }, (_error, stdout, stderr) =>
    done(`${stdout}${stderr}`),
  )
  return promise
}
