import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Finished } from '../../support/run-cli.ts'
import { type CliPlace, cliPlace, lines } from '../cli-place.ts'

/** Commands in all their variants, each a process; commands.test.ts has the short forms. */

/** Each test starts some twenty processes. */
const PATIENT = { timeout: 400_000 }

let place: CliPlace

beforeAll(async () => {
  place = cliPlace()
  await place.serve()
})
afterAll(() => place.close())

describe('throughline fork', PATIENT, () => {
  it('forks a session, and removes it only as its forks allow', async () => {
    await place.run([...['send', 'notes', 'The code word is BASALT.', '--agent', 'main', '--wait']])
    await place.run(['export', 'notes', '-o', 'forked.jsonl'])
    const replaced = await place.run(['export', 'notes', '-o', 'forked.jsonl'])
    expect(replaced).toMatchObject({ exitCode: 2, stdout: '' })
    expect(replaced.stderr).toContain('forked.jsonl already exists')
    const forced = ['export', 'notes', '-o', 'forked.jsonl', '--force']
    expect(await place.run(forced)).toMatchObject({ exitCode: 0 })
    const apart = ['--store', 'forked.db']
    expect(await place.run(['import', 'forked.jsonl', ...apart])).toMatchObject({ exitCode: 0 })
    const forked = await place.run(['fork', 'not', '--at', '2', '--id', 'side', ...apart])
    expect(forked).toMatchObject({ exitCode: 0, stdout: 'side\n' })
    expect(forked.stderr).toMatch(/Continue it: .* chat --session side$/m)
    expect((await place.run(['sessions', ...apart])).stdout).toContain('(fork of notes at 2)')
    const [shown, there, beyond, refused] = await place.all([
      ['show', 'side', ...apart],
      ['show', 'notes', ...apart],
      ['fork', 'notes', '--at', '999', ...apart],
      ['purge', 'notes', '--yes', ...apart],
    ])
    expect(shown?.stdout).toContain('BASALT')
    expect(there).toMatchObject({ exitCode: 0 })
    expect(beyond).toMatchObject({ exitCode: 2 })
    expect(refused).toMatchObject({ exitCode: 1 })
    expect(refused?.stderr).toContain('Forks read session notes: side.')
    const kept = ['purge', 'notes', '--yes', '--forks', 'keep', ...apart]
    for (const words of ['Purged session notes; forks', 'already purged; forks']) {
      const { exitCode, stderr } = await place.run(kept)
      expect([exitCode, stderr]).toEqual([0, expect.stringContaining(words)])
      expect(stderr).toContain('forks still read its entries up to 2')
    }
    // Its forks read what it kept for them; its own id leads to nothing.
    const [side, whole, context, found, within, lines] = await place.all([
      ['show', 'side', ...apart],
      ['show', 'notes', '--all', ...apart],
      ['show', 'notes', '--context', ...apart],
      ['search', 'BASALT', '--json', ...apart],
      ['search', 'BASALT', '--session', 'notes', ...apart],
      ['export', 'notes', ...apart],
    ])
    expect(side?.stdout).toContain('BASALT')
    expect(whole).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('[erased]') })
    for (const read of [whole, context, within, lines]) expect(read?.stdout).not.toContain('BASALT')
    expect(found?.stdout).toContain('"sessionId":"side"')
    expect(found?.stdout).not.toContain('"sessionId":"notes"')
  })
})

describe('throughline compact --session', PATIENT, () => {
  it('previews without changing anything, then compacts; the snapshot shows the context before [S21]', async () => {
    const filler = 'The river is wide and slow here. '.repeat(90)
    const facts = Array.from({ length: 8 }, (_, at) => `Fact ${at + 1}. ${filler}\n`)
    const chat = ['chat', '--session', 'long', '--agent', 'main']
    expect(await place.run(chat, { input: facts.join('') })).toMatchObject({ exitCode: 0 })
    const whole = ['show', 'long', '--all', '--json']
    const before = await place.run(whole)
    const preview = await place.run(['compact', '--session', 'long', '--preview'])
    expect(preview).toMatchObject({ exitCode: 0 })
    expect(preview.stdout).toMatch(/^[\d,]+ -> [\d,]+ tokens; this handoff would replace/)
    expect((await place.run(whole)).stdout).toBe(before.stdout)

    const asked = await place.run(['compact', '--session', 'long', '--wait', '--json'])
    expect(asked.exitCode).toBe(0)
    const made = lines(asked)[0]?.['compaction'] as { entry: number; state: string }
    expect(made.state).toBe('committed')
    const [snapshot, now, second] = await place.all([
      ['show', 'long', '--snapshot', `${made.entry}`, '--json'],
      ['show', 'long', '--context', '--json'],
      ['show', 'long', '--from', '2', '--to', '2'],
    ])
    const tokens = (shown: Finished | undefined) => Number(lines(shown)[0]?.['tokens'])
    expect(tokens(snapshot)).toBeGreaterThan(tokens(now))
    expect(second?.stdout).toMatch(/^┊ #2/)

    const name = `long.snapshot.${made.entry}`
    const [derived, entries, exported, ...refused] = await place.all([
      ['show', name, '--json'],
      ['show', name, '--all', '--json'],
      ['export', name],
      ...[
        ['purge', name, '--yes'],
        ['compact', '--session', name],
        ['show', 'long.snapshot.2'],
      ],
    ])
    expect(derived?.stdout).toBe(snapshot?.stdout)
    const numbers = Array.from({ length: made.entry - 1 }, (_, at) => at + 1)
    expect(lines(entries).map(({ number }) => number)).toEqual(numbers)
    expect(lines(entries).every(({ isCovered }) => isCovered === false)).toBe(true)
    const [head, ...rest] = lines(exported)
    expect(head).toMatchObject({ format: 'throughline-snapshot', snapshot: name })
    expect(rest.slice(0, -1)).toEqual(lines(entries).map((entry) => ({ entry })))
    expect(rest.at(-1)).toEqual({ context: lines(derived)[0] })
    for (const each of refused) expect(each).toMatchObject({ exitCode: 2, stdout: '' })
    expect(refused.map(({ stderr }) => stderr).join('')).toMatch(
      /is a snapshot[\s\S]*is a snapshot[\s\S]*Entry 2 of session long is not a compaction/,
    )
    const imported = await place.run(['import', '-'], { input: exported?.stdout ?? '' })
    expect(imported.exitCode).toBe(2)

    const undo = ['compact', '--session', 'long', '--undo', '--wait']
    const undone = await place.run(undo)
    expect(undone).toMatchObject({ exitCode: 0, stdout: '' })
    expect(undone.stderr).toContain(`Undone: the compaction at entry ${made.entry}.`)
    expect(tokens(await place.run(['show', 'long', '--context', '--json']))).toBe(tokens(snapshot))
    const again = await place.run(undo)
    expect(again).toMatchObject({ exitCode: 1, stdout: '' })
    expect(again.stderr).toContain('no compaction in effect; nothing to undo')
  })
})

describe('throughline tokens', PATIENT, () => {
  it('accepts the label of a token instead of its id, and no label twice', async () => {
    const tokens = (...args: string[]) => place.run(['tokens', ...args, '--store', 'labels.db'])
    const [made] = lines(await tokens('create', '--label', 'status page', '--json'))
    await tokens('create', '--id', 'other', '--label', 'laptop')
    for (const label of ['status page', 'other']) {
      const taken = await tokens('create', '--label', label)
      expect(taken).toMatchObject({ exitCode: 2, stdout: '' })
      expect(taken.stderr).toContain(`Token ${label} already exists.`)
    }
    const rotated = await tokens('rotate', 'status page', '--json')
    expect(lines(rotated)[0]).toMatchObject({ label: 'status page', principal: made?.['id'] })
    expect(rotated.stderr).toContain(`tokens revoke ${made?.['id']}`)
    const either = await tokens('revoke', 'status page')
    expect(either).toMatchObject({ exitCode: 2 })
    expect(either.stderr).toContain('name one of them by its id')
    const both = await tokens('revoke', '--label', 'status page')
    expect(both.stderr.match(/was revoked/g)).toHaveLength(2)
    expect((await tokens('revoke', 'laptop')).stderr).toContain('Token other was revoked.')
    expect(lines(await tokens('list', '--json'))).toEqual([])
    for (const nobody of [['nobody'], ['--label', 'nobody']]) {
      expect(await tokens('revoke', ...nobody)).toMatchObject({ exitCode: 2 })
    }
  })
})
