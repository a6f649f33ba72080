import { hash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Reads, Store } from '#core/store/contract'
import type { LeftBehind, MemoryNote } from '../../import-report.ts'
import type { ProfileFiles } from '../read/home.ts'

/**
 * Hermes' memory files become notes of the agent, one per paragraph. A note's id is derived from
 * its text, so that it is never added twice. It belongs to no conversation: sessions see it if the
 * operator lets the agent share its notes.
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
  const notes: MemoryNote[] = []
  const known = new Set((await allNotes(reads, agent)).map(({ id }) => id))
  for (const name of MEMORY_FILES) {
    for (const path of [join(folder, 'memories', name), join(folder, name)]) {
      for (const text of await paragraphs(path)) {
        const id = `hermes-${hash('sha256', text).slice(0, 16)}`
        notes.push({ file: path, id, outcome: await note(id, text) })
        known.add(id)
      }
    }
  }
  return notes

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

/** The other contents of a Hermes home, and what to do about each. */
const KINDS: readonly (readonly [path: string, what: string, advice: string])[] = [
  ['skills', 'skills', 'Tell the agent what it needs of them in its system text or its notes.'],
  ['cron', 'scheduled jobs', 'Have the agent set them again with its tool `schedule`.'],
  ['plugins', 'plugins', 'They run inside Hermes only; look for a tool that does the same.'],
  ['hooks', 'hooks', 'They run inside Hermes only.'],
  ['SOUL.md', 'the persona', 'Put its text into the system text of the agent.'],
  [
    '.env',
    'keys and variables',
    'Keys are never read; say in the configuration where each is kept.',
  ],
  ['auth.json', 'logins', 'Keys are never read; say in the configuration where each is kept.'],
  ['mcp.json', 'tool servers', 'They are not configured yet.'],
  ['logs', 'logs', '`throughline doctor hermes` reads them.'],
]

const MEMORIES: (typeof KINDS)[number] = [
  'memories',
  'memories',
  '--memories turns MEMORY.md and USER.md into notes.',
]

export async function findLeftBehind(
  { folder }: ProfileFiles,
  withMemories: boolean,
): Promise<readonly LeftBehind[]> {
  if (folder === null) return []
  const found: LeftBehind[] = []
  for (const [path, what, advice] of withMemories ? KINDS : [...KINDS, MEMORIES]) {
    const location = join(folder, path)
    if ((await stat(location).catch(() => null)) !== null)
      found.push({ what, path: location, advice })
  }
  return found
}
