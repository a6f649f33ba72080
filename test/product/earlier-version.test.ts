import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CliPlace, cliPlace } from './cli-place.ts'

/**
 * Files that version 0.1.0 wrote, before the sources were split into two packages: a configuration, a
 * store with a compaction, pins and a note, whose last process did not dismiss itself, and an export.
 */
const FIXTURES = join(import.meta.dirname, '..', 'fixtures', 'version-0.1.0')
const SESSION = 'main-20261116-33ny7aaui2ahi'

let fixture: CliPlace
beforeAll(() => {
  fixture = cliPlace()
  const state = join(fixture.folder, '.throughline')
  mkdirSync(state, { mode: 0o700 })
  copyFileSync(join(FIXTURES, 'throughline.yaml'), join(fixture.folder, 'throughline.yaml'))
  for (const name of ['throughline.db.anchor', 'throughline.db.commits'])
    writeFileSync(join(state, name), readFileSync(join(FIXTURES, name)), { mode: 0o600 })
  writeFileSync(join(state, 'throughline.db'), unpacked('throughline.db.gz'), { mode: 0o600 })
  writeFileSync(join(fixture.folder, 'session.jsonl'), unpacked('session.jsonl.gz'))
})
afterAll(() => fixture.close())

describe('files of version 0.1.0', () => {
  it('hold a configuration that is accepted as it is', async () => {
    expect(await fixture.run(['config', 'check'])).toMatchObject({ exitCode: 0 })
  })

  it('contain a session that continues under its id, with its pins, notes and handoff', async () => {
    const { exitCode, stdout } = await fixture.run(['chat', '--session', SESSION], {
      input: 'What was the code word?\n',
    })
    expect(exitCode).toBe(0)
    expect(stdout).toContain('GRANITE')
    const shown = await fixture.run(['sessions', '--json'])
    expect(JSON.parse(shown.stdout)).toMatchObject({
      ...{ id: SESSION, title: 'The code word is GRANITE', compaction: 37 },
      pins: ['rule'],
    })
    const context = await fixture.run(['show', SESSION, '--context'])
    for (const text of ['Never deploy on a Friday.', 'The harbour opens at nine.'])
      expect(context.stdout).toContain(text)
  })

  it('hold a store in which the doctor finds no fault and the search finds words', async () => {
    const checked = await fixture.run(['doctor'])
    // The process that was killed is a warning until another has dismissed it.
    expect(checked.stdout).toMatch(/Nothing is wrong|0 of them faults/)
    const found = await fixture.run(['search', 'harbour'])
    expect(found.stdout).toContain(SESSION)
  })

  it('hold an export that another store imports', async () => {
    const imported = await fixture.run(['import', 'session.jsonl', '--store', 'new.db'])
    expect(imported).toMatchObject({ exitCode: 0 })
    const session = await fixture.run(['show', SESSION, '--store', 'new.db'])
    expect(session.stdout).toContain('The code word is GRANITE.')
  })
})

function unpacked(name: string): Buffer {
  return gunzipSync(readFileSync(join(FIXTURES, name)))
}
