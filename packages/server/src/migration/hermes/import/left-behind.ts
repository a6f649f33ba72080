import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { LeftBehind } from '../../import-report.ts'
import type { ProfileFiles } from '../read/home.ts'

/** What a Hermes home holds beside conversations, and what to do about each. */
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
