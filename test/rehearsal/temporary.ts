import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A folder for everything temporary of one run, so that what is left there can be seen. */
export function temporary() {
  const folder = mkdtempSync(join(tmpdir(), 'throughline-stage-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  return { folder, env: { TMPDIR: folder }, remove }
}
