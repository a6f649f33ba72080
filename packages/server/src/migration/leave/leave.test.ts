import { execFileSync, execSync } from 'node:child_process'
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import {
  checkLog,
  findLeft,
  type LeavableClient,
  type LeaveRequest,
  leave,
  readLeft,
  undoLeave,
} from './leave.ts'

const SAMPLES = join(import.meta.dirname, '../../../../../test/fixtures/sessions')
const HANDOFF = { text: 'The handoff.', tokens: 1_234 }
const homes: string[] = []

afterEach(() => {
  for (const home of homes.splice(0)) rmSync(home, { recursive: true })
})

const PLACES = {
  claude: { sample: 'claude-code.jsonl', folder: '.claude/projects/-work', file: 's1.jsonl' },
  codex: { sample: 'codex.jsonl', folder: '.codex/sessions/2026', file: 'rollout-2026-s1.jsonl' },
} as const

/** A home with a log that the real client wrote. */
function homeOf(client: LeavableClient, change = (text: string) => text) {
  const home = mkdtempSync(join(tmpdir(), 'throughline-leave-'))
  homes.push(home)
  const { sample, folder, file } = PLACES[client]
  mkdirSync(join(home, folder), { recursive: true })
  const log = join(home, folder, file)
  writeFileSync(log, change(readFileSync(join(SAMPLES, sample), 'utf8')))
  const request: LeaveRequest = { client, session: 's1', home, copies: join(home, 'copies') }
  return { log, request, read: () => readFileSync(log, 'utf8') }
}

const added = (before: string, after: string) =>
  after
    .slice(before.length)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

describe('leave', () => {
  it.each(['mkfifo', 'mkdir', 'ln -s nowhere'])('refuses a log that is no file (%s)', (make) => {
    const { log, request } = homeOf('codex')
    rmSync(log)
    execSync(`${make} '${log}'`)
    // In a process of its own: reading a pipe would never end.
    const code = `import { checkLog } from '${import.meta.dirname}/leave.ts'
      try { checkLog(${JSON.stringify(request)}) } catch (error) { console.log(error.message) }`
    const args = ['--input-type=module-typescript', '-e', code]
    const told = execFileSync(process.execPath, args, { timeout: 60_000, encoding: 'utf8' })
    expect(told).toContain(`${log} is not a file`)
  })

  it('ends the log of Claude Code with a compaction of its own [proxy law 20]', () => {
    const { request, read } = homeOf('claude')
    const before = read()
    leave(request, HANDOFF)
    expect(read().startsWith(before)).toBe(true)
    const [boundary, summary] = added(before, read())
    expect(boundary).toMatchObject({ subtype: 'compact_boundary', parentUuid: null })
    expect(before).toContain(`"uuid":"${boundary.logicalParentUuid}"`)
    expect(summary).toMatchObject({ isCompactSummary: true, parentUuid: boundary.uuid })
    expect(summary.message.content).toBe(HANDOFF.text)
    expect(summary.sessionId).toBe(boundary.sessionId)
  })

  it('numbers the lines for Codex, and says that little is used [proxy law 20]', () => {
    const { request, read } = homeOf('codex')
    const before = read()
    const last = JSON.parse(before.trimEnd().split('\n').at(-1) ?? '')
    leave(request, HANDOFF)
    const [compacted, usage] = added(before, read())
    expect([compacted.ordinal, usage.ordinal]).toEqual([last.ordinal + 1, last.ordinal + 2])
    expect(compacted.payload.replacement_history).toHaveLength(1)
    expect(usage.payload.info.last_token_usage.total_tokens).toBe(HANDOFF.tokens)
  })

  it.each(['claude', 'codex'] as const)('restores the log of %s byte for byte', (client) => {
    const { request, read } = homeOf(client)
    const before = read()
    leave(request, HANDOFF)
    undoLeave(request)
    expect(read()).toBe(before)
    leave(request, HANDOFF)
    expect(read()).not.toBe(before)
  })

  it.each([
    ['before its first byte', 0],
    ['in the middle of its lines', 0.5],
    ['after its last byte', 1],
  ])('can be undone, then repeated, when it was killed %s', (_, share) => {
    const { request, read, log } = homeOf('claude')
    const before = read()
    leave(request, HANDOFF)
    const added = Buffer.byteLength(read()) - Buffer.byteLength(before)
    truncateSync(log, Buffer.byteLength(before) + Math.floor(added * share))
    expect(undoLeave(request)).toBe(log)
    expect(read()).toBe(before)
    leave(request, HANDOFF)
    expect(read()).not.toBe(before)
  })

  it('can be repeated at once when it was killed before its first byte', () => {
    const { request, read, log } = homeOf('claude')
    const before = read()
    leave(request, HANDOFF)
    truncateSync(log, Buffer.byteLength(before))
    leave(request, HANDOFF)
    expect(read().startsWith(before)).toBe(true)
    expect(read()).not.toBe(before)
  })

  it('is not stopped by a record that was never finished', () => {
    const { request, read } = homeOf('claude')
    const before = read()
    mkdirSync(request.copies)
    writeFileSync(join(request.copies, 'claude-s1.json'), '{"log":')
    expect(() => undoLeave(request)).toThrow(/not left/)
    leave(request, HANDOFF)
    undoLeave(request)
    expect(read()).toBe(before)
  })

  it('restores nothing over lines that the client has written since', () => {
    const { request, read, log } = homeOf('claude')
    leave(request, HANDOFF)
    appendFileSync(log, '{"type":"user"}\n')
    const now = read()
    expect(() => undoLeave(request)).toThrow(/has gone on/)
    expect(read()).toBe(now)
  })

  it.each([
    [
      'another version',
      (text: string) => text.replaceAll('"2.1.325"', '"9.9.9"'),
      /version 9\.9\.9.*throughline run.*export claude-s1 --to claude-code -o FILE/,
    ],
    [
      'a preview version',
      (text: string) => text.replaceAll('"2.1.325"', '"2.1.999-beta.1"'),
      /version 2\.1\.999-beta\.1/,
    ],
    ['a line cut off', (text: string) => text.trimEnd(), /not complete/],
    ['a line that is not JSON', (text: string) => `${text}{"a":\n`, /not a JSON object/],
  ])('changes nothing in a log with %s', (_, change, why) => {
    const { request, read } = homeOf('claude', change)
    const before = read()
    expect(() => leave(request, HANDOFF)).toThrow(why)
    expect(read()).toBe(before)
  })

  it.each([
    ['2.1.197', null],
    ['2.1.999', /2\.1\.999.*newer than.*undo/],
  ])('takes a log of version %s, and warns if it was not tried', (version, warning) => {
    const { request, read } = homeOf('claude', (text) =>
      text.replaceAll('"2.1.325"', `"${version}"`),
    )
    const before = read()
    const said = checkLog(request).warning
    if (warning === null) expect(said).toBe(null)
    else expect(said).toMatch(warning)
    leave(request, HANDOFF)
    expect(read()).not.toBe(before)
  })

  const listRunning = (home: string, facts: object) => {
    mkdirSync(join(home, '.claude/sessions'), { recursive: true })
    writeFileSync(join(home, '.claude/sessions', `${process.pid}.json`), JSON.stringify(facts))
  }

  it('changes nothing while Claude Code lists the session as running', () => {
    const { request, read } = homeOf('claude')
    const before = read()
    listRunning(request.home, { pid: process.pid, sessionId: 's1' })
    expect(() => leave(request, HANDOFF)).toThrow(
      new RegExp(`still runs.*process ${process.pid}.*End it first`),
    )
    expect(read()).toBe(before)
    rmSync(join(request.home, '.claude/sessions'), { recursive: true })
    leave(request, HANDOFF)
    listRunning(request.home, { pid: process.pid, sessionId: 's1' })
    expect(() => undoLeave(request)).toThrow(/still runs/)
  })

  it.skipIf(process.platform !== 'linux')('identifies a process by its start time', () => {
    // Field 22 of proc(5). The second, the name, may contain blanks and parentheses.
    const read = `sed 's/.*) /1 2 /' /proc/${process.pid}/stat | cut -d ' ' -f 22`
    const procStart = execSync(read, { encoding: 'utf8' })
    const { request } = homeOf('claude')
    listRunning(request.home, { pid: process.pid, sessionId: 's1', procStart: procStart.trim() })
    expect(() => leave(request, HANDOFF)).toThrow(/still runs/)
  })

  it.each([
    ['of another session', { pid: process.pid, sessionId: 's2' }],
    ['that has ended', { pid: 2 ** 30, sessionId: 's1' }],
    ['whose id another program has now', { pid: process.pid, sessionId: 's1', procStart: '1' }],
    ['with facts that are none', []],
  ])('is not stopped by a process %s', (_, facts) => {
    const { request, read } = homeOf('claude')
    const before = read()
    listRunning(request.home, facts)
    leave(request, HANDOFF)
    expect(read()).not.toBe(before)
  })

  it('removes only its own lines if the client continues meanwhile', () => {
    const { request, read, log } = homeOf('claude')
    const before = read()
    const line = '{"type":"user"}\n'
    const handoff = {
      ...HANDOFF,
      get text() {
        appendFileSync(log, line)
        return HANDOFF.text
      },
    }
    expect(() => leave(request, handoff)).toThrow(/changed meanwhile/)
    expect(read()).toBe(before + line)
    expect(() => undoLeave(request)).toThrow(/Nothing is left to undo/)
  })

  it('reports the time and the context size of leaving a session, until that is undone', () => {
    const { request } = homeOf('codex')
    expect(readLeft(request)).toBeNull()
    leave(request, HANDOFF)
    expect(readLeft(request)).toEqual({ at: expect.any(Number), tokens: HANDOFF.tokens })
    undoLeave(request)
    expect(readLeft(request)).toBeNull()
    expect(findLeft({ ...request, session: 's' })).toBe('s1')
  })

  it('does not leave twice at the same place', () => {
    const { request, read } = homeOf('codex')
    leave(request, HANDOFF)
    const left = read()
    expect(() => leave(request, HANDOFF)).toThrow(/was left already/)
    expect(read()).toBe(left)
  })

  it.each([
    ['claude', '{"type":"user","uuid":"u9","version":"2.1.325"}\n'],
    ['codex', '{"ordinal":900,"type":"event_msg"}\n'],
  ] as const)(
    'leaves %s again after the client has gone on, and keeps each copy',
    (client, line) => {
      const { request, read, log } = homeOf(client)
      const logs: string[] = []
      for (const time of [1, 2, 3]) {
        logs.push(read())
        leave(request, { ...HANDOFF, text: `Handoff ${time}.` })
        expect(read()).toContain(`Handoff ${time}.`)
        if (time < 3) appendFileSync(log, line)
      }
      undoLeave(request)
      expect(read()).toBe(logs[2])
      expect(() => undoLeave(request)).toThrow(/has gone on/)
      const copies = ['.jsonl', '.2.jsonl', '.3.jsonl'].map((end) =>
        readFileSync(join(request.copies, `${client}-s1${end}`), 'utf8'),
      )
      expect(copies).toEqual(logs)
    },
  )

  it('keeps the copy of a time that was undone when the client has gone on', () => {
    const { request, read, log } = homeOf('claude')
    const before = read()
    leave(request, HANDOFF)
    undoLeave(request)
    appendFileSync(log, '{"type":"user","uuid":"u9","version":"2.1.325"}\n')
    leave(request, HANDOFF)
    expect(readFileSync(join(request.copies, 'claude-s1.jsonl'), 'utf8')).toBe(before)
  })

  it('ignores the log of another session', () => {
    const { request } = homeOf('claude')
    expect(() => checkLog({ ...request, session: 's2' })).toThrow(/no log of session s2/)
  })
})
