import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { auditLogs } from '#core/audit/audit'
import { AuditLog } from '#core/audit/log/log'
import type { Store } from '#core/store/contract'
import { newOperation, StoreFixture } from '#core/store/contract-suite/bench'
import { openSqliteStore } from '#core/store/sqlite/open'
import { lifeOf, logFiles, logText } from '../../../../../../test/support/audit/audit-logs.ts'
import { auditedStore } from '../../../../../../test/support/audit/audited.ts'
import { runCli } from '../../../../../../test/support/run-cli.ts'

const clock = { now: () => 1_800_000_000_000 }

describe('throughline audit', () => {
  it('says which laws hold, in a short table', async () => {
    const [path = ''] = logFiles([logText(lifeOf('agent-7'))])
    const { exitCode, stdout, stderr } = await runCli(['audit', path])
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    expect(stdout).toMatchInlineSnapshot(`
      "1 log, 14 lines, 1 session in them, 1 compaction, 3 messages (2 arrived during compactions, 0 still queued)

      ✓ Every log is whole (I19, I20)
      ✓ Sessions are created once: by create, start afresh, import or fork (I5, I30)
      ✓ An operation keeps its session, fence and base from its start to its end (I5, I20)
      ✓ Every started operation ends once (I20)
      ✓ Compactions of one session never overlap (I6)
      ✓ Only the holder of a session writes about it (I21)
      ✓ A compaction starts from the newest base (I7, I9)
      ✓ Acknowledged messages reach the next turn, in order, once (I2, I3, I10)
      ✓ A message stays whole in every context until a turn that had it has ended (I34)
      ✓ A turn waits for a model’s summary only where the operator configured it (I35)
      ✓ Fences only rise, and each has one holder (I7, I8)
      ✓ Entry numbers only rise, and none occurs twice (I2, I19)

      All 12 laws hold.
      "
    `)
  })

  it('quotes the lines that break a law, says what to do, and exits with 1', async () => {
    const forged = lifeOf('agent-7', { 10: { sessionId: 'agent-\u001b[31m\n8' } })
    const [path = ''] = logFiles([logText(forged)])
    const { exitCode, stdout } = await runCli(['audit', path])
    expect(exitCode).toBe(1)
    expect(stdout).toContain('✗ An operation keeps its session, fence and base')
    expect(stdout).toContain(`${path}:7  {"v":1,`)
    expect(stdout).toContain(`${path}:10  {"v":1,`)
    expect(stdout).toContain('What to do: ')
    expect(stdout).toContain('3 of 12 laws broken.')
    expect(stdout).not.toContain('\u001b')
  })

  it('prints the same as JSON for scripts', async () => {
    const [path = ''] = logFiles([logText(lifeOf('agent-7').slice(1))])
    const { exitCode, stdout } = await runCli(['audit', '--json', path])
    const { holds, laws, figures } = JSON.parse(stdout)
    expect({ exitCode, holds, lines: figures.lines }).toEqual({
      exitCode: 1,
      holds: false,
      lines: 13,
    })
    const broken = laws.filter((law: { holds: boolean }) => !law.holds)
    expect(broken).toMatchObject([
      {
        law: 'births',
        contract: ['I5', 'I30'],
        offencesCount: 1,
        offences: [{ lines: [{ line: 1 }] }],
      },
    ])
  })

  it('reads standard input', async () => {
    const { exitCode } = await runCli(['audit', '-'], { input: logText(lifeOf('agent-7')) })
    expect(exitCode).toBe(0)
  })

  it.each([
    ['a log that is not there', ['audit', 'nowhere.jsonl'], 'there is no such file'],
    ['a file that is no log', ['audit', import.meta.filename], 'is no JSON object'],
    ['no store to take logs from', ['audit', '--store', 'no.db'], 'There is no store at no.db'],
    [
      'a store that is not there',
      ['audit', import.meta.filename, '--store', 'no.db'],
      'no such file',
    ],
  ])('exits with 2 for %s', async (_what, args, problem) => {
    const { exitCode, stdout, stderr } = await runCli(args)
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toContain(problem)
  })
})

/** A turn for each word, with a view before and after each commit. */
async function talk(store: Store, fixture: StoreFixture, words: readonly string[]) {
  const look = async () => {
    await store.findSession(fixture.id)
    await store.listMail({ sessionId: fixture.id, lane: 'user', state: 'pending', limit: 50 })
  }
  for (const word of words) {
    await look()
    const mail = await fixture.admit(word)
    await look()
    await fixture.deliver(mail)
    await look()
    await fixture.reply(`said ${word}`, { ends: 'answered' })
  }
  await look()
  return look
}

describe('throughline audit --store', () => {
  const folder = mkdtempSync(join(tmpdir(), 'throughline-audited-'))
  const path = join(folder, 'store.db')
  let log: AuditLog

  beforeAll(async () => {
    log = new AuditLog({ folder, clock })
    const inner = await openSqliteStore({ path })
    const store = auditedStore(inner, log)
    const fixture = await StoreFixture.open(store, { id: 'agent-7' as never })
    const look = await talk(store, fixture, ['one', 'two', 'three'])
    const operation = await fixture.claim(5)
    await look()
    await fixture.commit(operation)
    await look()
    await store.close()
  })

  it('compares the logs with the store, and writes nothing to it', async () => {
    const before = readdirSync(folder).sort()
    const { exitCode, stdout, stderr } = await runCli(['audit', log.path, '--store', path])
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    expect(stdout).toContain('All 16 laws hold.')
    expect(readdirSync(folder).filter((name) => !/-(?:wal|shm)$/.test(name))).toEqual(
      before.filter((name) => !/-(?:wal|shm)$/.test(name)),
    )
  })

  it('accepts a creation that only the store records, and detects logs of another store', async () => {
    const [other = ''] = logFiles([logText(lifeOf('agent-9'))])
    const { exitCode, stdout } = await runCli(['audit', other, '--store', path])
    expect(exitCode).toBe(1)
    expect(stdout).toContain('agent-9: it is not in the store')
    expect(stdout).toContain('no log records that')
  })

  it('uses the logs beside the store by default, and says so', async () => {
    const home = mkdtempSync(join(tmpdir(), 'throughline-home-'))
    mkdirSync(join(home, '.throughline', 'audit'), { recursive: true })
    const kept = join(home, '.throughline', 'throughline.db')
    copyFileSync(path, kept)
    const bare = await runCli(['audit'], { cwd: home })
    expect({ exitCode: bare.exitCode, stdout: bare.stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(bare.stderr).toMatch(/There is no audit log in .*audit\./)
    copyFileSync(log.path, join(home, '.throughline', 'audit', basename(log.path)))
    writeFileSync(join(home, '.throughline', 'audit', 'audit-empty.jsonl'), '')
    for (const args of [['audit'], ['audit', '--store', kept]]) {
      const { exitCode, stdout, stderr } = await runCli(args, { cwd: home })
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: expect.any(String) })
      expect(stderr).toMatch(/^Auditing 1 log in .*audit against .*throughline\.db\.$/m)
      expect(stdout).toContain('All 16 laws hold.')
    }
    rmSync(home, { recursive: true, force: true })
  })

  it('reads logs in the folder of an earlier version too, except those of other stores', async () => {
    const home = mkdtempSync(join(tmpdir(), 'throughline-home-'))
    mkdirSync(join(home, 'kept'))
    mkdirSync(join(home, 'audit'))
    copyFileSync(path, join(home, 'kept', 'store.db'))
    // Beside the link, where a process of version 0.1.0 would have written it.
    symlinkSync('kept/store.db', join(home, 'store.db'))
    copyFileSync(log.path, join(home, 'audit', basename(log.path)))
    writeFileSync(join(home, 'audit', 'audit-0a.jsonl'), logText(lifeOf('agent-9')))
    const { stdout, stderr } = await runCli(['audit', '--store', join(home, 'store.db')])
    expect(stderr).toMatch(/And 1 log of an earlier version in .*audit\./)
    expect(stdout).toContain('All 16 laws hold.')
    rmSync(home, { recursive: true, force: true })
  })

  it('a compaction that ended with the deletion of its session breaks no law', async () => {
    const inner = await openSqliteStore({ path: join(folder, 'purged.db') })
    const kept = new AuditLog({ folder, clock })
    const store = auditedStore(inner, kept)
    const fixture = await StoreFixture.open(store, { id: 'agent-8' as never })
    const look = await talk(store, fixture, ['one'])
    await fixture.claim(1)
    await look()
    await store.deleteSession({ sessionId: fixture.id, operation: newOperation(), reason: 'asked' })
    const { laws } = await auditLogs({ paths: [kept.path], witness: store })
    expect(laws.filter(({ holds, unproven }) => !holds || unproven !== null)).toEqual([])
    await store.close()
  })

  it('refuses a database of another program, and creates none', async () => {
    const foreign = join(folder, 'foreign.db')
    writeFileSync(foreign, 'this is no database, it only looks like a file of some length\n')
    const { exitCode, stderr } = await runCli(['audit', log.path, '--store', foreign])
    expect(exitCode).toBe(2)
    expect(stderr).toContain('foreign.db')
    await runCli(['audit', log.path, '--store', join(folder, 'none.db')])
    expect(existsSync(join(folder, 'none.db'))).toBe(false)
  })
})
