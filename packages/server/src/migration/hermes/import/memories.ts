import { hash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Reads, Store } from '#core/store/contract'
import type { MemoryNote } from '../../import-report.ts'
import type { ProfileFiles } from '../read/home.ts'

/**
 * What Hermes noted down for every conversation becomes notes of the agent, one for each of its
 * paragraphs. A note's id comes from its text, so that the same one is not noted twice. It is of no
 * conversation: sessions see it where the operator has the agent share its notes.
 */
const MEMORY_FILES = ['MEMORY.md', 'USER.md'] as const
const FILE_BYTES_MAX = 1024 * 1024
const SEPARATOR = /^§\s*$/m

export async function importMemories(
  { folder }: ProfileFiles,
  agent: string,
  reads: Reads | null,
  store: Store | null,
): Promise<readonly MemoryNote[]> {
  if (folder === null) return []
  const told: MemoryNote[] = []
  const known = new Set((await allNotes(reads, agent)).map(({ id }) => id))
  for (const name of MEMORY_FILES) {
    for (const path of [join(folder, 'memories', name), join(folder, name)]) {
      for (const text of await paragraphs(path)) {
        const id = `hermes-${hash('sha256', text).slice(0, 16)}`
        told.push({ file: path, id, outcome: await note(id, text) })
        known.add(id)
      }
    }
  }
  return told

  async function note(id: string, text: string): Promise<MemoryNote['outcome']> {
    if (known.has(id)) return 'unchanged'
    if (store === null) return 'would-note'
    return (await store.putNote({ agent, scope: '', id, text, origin: null })).kind
  }
}

async function allNotes(reads: Reads | null, agent: string) {
  return (await reads?.listNotes({ agent, limit: 1_000 })) ?? []
}

async function paragraphs(path: string): Promise<readonly string[]> {
  const found = await stat(path).catch(() => null)
  if (found?.isFile() !== true || found.size > FILE_BYTES_MAX) return []
  const text = await readFile(path, 'utf8')
  return text
    .split(SEPARATOR)
    .map((paragraph) => paragraph.trim())
    .filter((paragraph) => paragraph !== '')
}
