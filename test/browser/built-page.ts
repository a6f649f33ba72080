import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'vite'

/** The page as it is in the tree, built into a folder of its own. */
export async function buildPage(): Promise<{
  readonly folder: string
  readonly remove: () => void
}> {
  const folder = mkdtempSync(join(tmpdir(), 'throughline-page-'))
  await build({
    configFile: join(import.meta.dirname, '..', '..', 'packages', 'dashboard', 'vite.config.ts'),
    logLevel: 'error',
    // Vitest's own mode would build the page for tests instead of for people.
    mode: 'production',
    build: { outDir: folder, emptyOutDir: true },
  })
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}
