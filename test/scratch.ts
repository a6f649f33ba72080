import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Every temporary file of a run stands in one folder that goes with the run, also those of
 * processes that are killed on purpose.
 */
export function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'throughline-test-'))
  // PostgreSQL runs as a user of its own and has its folder inside.
  chmodSync(folder, 0o755)
  process.env['TMPDIR'] = folder
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
}
