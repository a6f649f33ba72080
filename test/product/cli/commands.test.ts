import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Finished } from '../../support/run-cli.ts'
import { PROGRAM } from '../../support/run-cli.ts'
import { byHand } from '../../support/sqlite-place.ts'
import { until } from '../../support/until.ts'
import { type CliPlace, cliPlace, lines, type Served } from '../cli-place.ts'

/** The commands as people and scripts use them: processes over one SQLite store, the stand-in answers. */

let place: CliPlace
let server: Served

beforeAll(async () => {
  place = cliPlace()
  server = await place.serve([], { THROUGHLINE_COMPACTION_WARN_FROM: '1' })
})
afterAll(() => place.close())

describe('throughline send', () => {
  it('makes a session, waits for the answer, and prints nothing else', async () => {
    const first = await place.run(['send', 'notes', 'The code word is BASALT.', '--agent', 'main'])
    expect(first).toMatchObject({ exitCode: 0, stdout: '' })
    expect(first.stderr).toContain('Accepted: message 1 of session notes.')
    // Two messages that wait are answered in one turn.
    await until(async () => {
      const answer = await fetch(`${server.url}/v1/sessions/notes`)
      const session = (await answer.json()) as { readonly state: string; readonly waiting: number }
      return session.state === 'idle' && session.waiting === 0
    })
    const { stdout, exitCode } = await place.run([
      'send',
      'notes',
      'What was the code word?',
      '--wait',
    ])
    expect(exitCode).toBe(0)
    expect(stdout).toContain('BASALT')
  })

  it('takes the same key once, from standard input, and refuses it with another text', async () => {
    const args = ['send', 'notes', '-', '--key', 'build-7', '--json']
    const first = await place.run(args, { input: 'ыA message on\nseveral lines.' })
    const again = await place.run(args, { input: 'ыA message on\nseveral lines.' })
    const [one, two] = [first, again].map((sent) => lines(sent)[0])
    expect(one).toMatchObject({ sessionId: 'notes', isDuplicate: false })
    expect(two).toEqual({ ...one, isDuplicate: true })
    const other = await place.run(args, { input: 'Another text.' })
    expect(other).toMatchObject({ exitCode: 2, stdout: '' })
    expect(other.stderr).toContain('choose another --key')
  })

  it('names in a sentence a session or an agent that does not exist', async () => {
    const [unknown, derived, agent] = await place.all([
      ['send', 'nobody', 'Hello.'],
      ['send', 'notes.snapshot.3', 'Hello.'],
      ['send', 'other', 'Hello.', '--agent', 'nobody'],
    ])
    expect(unknown).toMatchObject({ exitCode: 2, stdout: '' })
    expect(unknown?.stderr).toMatch(/^throughline: There is no session nobody/)
    expect(derived).toMatchObject({ exitCode: 2 })
    expect(derived?.stderr).toContain('notes.snapshot.3 is a snapshot')
    expect(agent?.stderr).toContain('Configured: main')
  })

  it('does not promise an answer if no process serves the store', async () => {
    const args = ['send', 'alone', 'Hello.', '--agent', 'main', '--wait', '--timeout', '1s']
    const { exitCode, stderr } = await place.run([...args, '--store', 'unserved.db'])
    expect(exitCode).toBe(1)
    expect(stderr).toContain('no process serves this store: run `throughline serve` to have it')
  })
})

describe('commands that read', () => {
  it('show sessions, transcript, context and search results', async () => {
    const [table, sessions, entries, atStep, wrong, found, missed, notExact] = await place.all([
      ['sessions'],
      ['sessions', '--json'],
      ['show', 'notes', '--json', '--to', '4'],
      ['show', 'notes', '--at', '3', '--json'],
      ['show', 'notes', '--at', '2'],
      ['search', 'BASALT', '--json'],
      ['search', 'granodiorite'],
      ['search', 'granodiorite', '--exact'],
    ])
    expect(table?.stdout).toMatch(/^SESSION +AGENT +STATE +CONTEXT/)
    expect(table?.stdout).toMatch(/^notes +main +\S+ +[█░]{10} \d+ %/m)
    expect(lines(sessions)[0]).toMatchObject({ id: 'notes', agent: 'main', compaction: null })
    const kinds = lines(entries).map(({ kind }) => kind)
    expect(kinds).toEqual(['settings', 'input', 'assistant', 'turn'])
    expect(atStep?.stdout).toContain('BASALT')
    expect(atStep?.stdout).not.toContain('What was the code word?')
    expect(wrong).toMatchObject({ exitCode: 2, stdout: '' })
    expect(lines(found).map(({ sessionId }) => sessionId)).toContain('notes')
    expect(missed).toMatchObject({ exitCode: 1, stdout: '' })
    expect(missed?.stderr).toContain('A hit needs only one of the words')
    expect(notExact).toMatchObject({ exitCode: 1, stdout: '' })
    expect(notExact?.stderr).toContain('With --exact the whole text must occur')
  })

  it('create no store if there is none', async () => {
    const { exitCode, stderr } = await place.run(['sessions', '--store', 'misspelt.db'])
    expect(exitCode).toBe(2)
    expect(stderr).toContain('There is no store at misspelt.db')
    expect(existsSync(join(place.folder, 'misspelt.db'))).toBe(false)
  })

  it('write not a byte into a store', async () => {
    await place.run(['backup', 'still.db'])
    const before = fingerprint(place.folder, 'still.db')
    const reading = [['sessions'], ['show', 'notes'], ['export', 'notes'], ['search', 'word']]
    const read = await place.all(reading.map((args) => [...args, '--store', 'still.db']))
    expect(read.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0, 0])
    expect(fingerprint(place.folder, 'still.db')).toEqual(before)
  })
})

describe('a damaged store', () => {
  it('refuses a message for a session with a changed letter [I26]', async () => {
    await place.run(['send', 'harmed', 'The code word is GRANITE.', '--agent', 'main', '--wait'])
    await place.run(['backup', 'harmed.db'])
    byHand(
      join(place.folder, 'harmed.db'),
      `drop trigger entry_changes_by_erasure_only;
       update entry set body = replace(body, 'GRANITE', 'GRANITO')`,
    )
    const sent = (...args: string[]) => place.run(['send', ...args, '--store', 'harmed.db'])
    const refused = await sent('harmed', 'Hello.')
    const again = await sent('harmed', 'Hello.', '--agent', 'main')
    const other = await sent('notes', 'Hello.')
    for (const each of [refused, again]) {
      expect(each).toMatchObject({ exitCode: 2, stdout: '' })
      expect(each.stderr).toMatch(/of session harmed is damaged: it has a body that does not match/)
    }
    expect(other).toMatchObject({ exitCode: 0 })
  })

  it('that lacks commits is not copied, and reading it warns [I26]', async () => {
    const file = join(place.folder, 'lost.db')
    const older = join(place.folder, 'older.db')
    await place.run(['backup', 'lost.db'])
    copyFileSync(file, older)
    await place.run(['send', 'notes', 'Lost.', '--store', 'lost.db'])
    copyFileSync(older, file)
    const run = (...args: string[]) => place.run([...args, '--store', 'lost.db'])
    const sent = await run('send', 'notes', 'Next.')
    const copied = await run('backup', 'copy.db')
    expect(sent).toMatchObject({ exitCode: 2 })
    expect(copied).toEqual(sent)
    expect(existsSync(join(place.folder, 'copy.db'))).toBe(false)
    for (const command of ['show', 'export']) {
      const { exitCode, stderr } = await run(command, 'notes')
      expect(exitCode).toBe(0)
      expect(stderr).toMatch(/^warning: .*acknowledged ones are lost.*--accept-loss/)
    }
  })
})

describe('a file that cannot be written or read', () => {
  it('is reported as a full disk by an export to a database', async (context) => {
    if (process.platform !== 'linux') return context.skip('not run: needs a limit on file sizes')
    const long = 'basalt '.repeat(30_000)
    await place.run(['send', 'huge', '-', '--agent', 'main'], { input: long })
    const target = join(place.folder, 'state.db')
    // The limit sends a signal and fails the write; only the latter is wanted.
    const ignore = 'data:text/javascript,process.on("SIGXFSZ",()=>{})'
    const script = `ulimit -f 200; exec "$0" --import='${ignore}' "$@"`
    const args = [PROGRAM, 'export', 'huge', '--to', 'hermes', '-o', target]
    // Node writes its compile cache while it ends, when nothing ignores the signal any more.
    const env = { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' }
    const child = spawn('sh', ['-c', script, process.execPath, ...args], { cwd: place.folder, env })
    let stderr = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
    })
    const [exitCode] = await once(child, 'close')
    expect(stderr).toContain(`No space left for ${target}`)
    expect(exitCode).toBe(1)
    expect(readdirSync(place.folder).filter((name) => name.startsWith('state.db'))).toEqual([])
  })

  it('is named in a sentence, without a stack trace', async () => {
    writeFileSync(join(place.folder, 'plain.txt'), 'no folder')
    const refused = await place.all([
      ['backup', 'plain.txt/copy.db'],
      ['export', 'notes', '-o', 'plain.txt/notes.jsonl'],
      ['sessions', '--store', place.folder],
    ])
    expect(refused.map(({ exitCode }) => exitCode)).toEqual([2, 2, 2])
    const told = refused.map(({ stderr }) => stderr)
    expect(told.join('')).not.toMatch(/unexpectedly|disk I\/O| at /)
    expect(told.slice(0, 2).every((text) => text.includes('cannot be written'))).toBe(true)
    expect(told[2]).toContain('is a folder')
  })
})

describe('export, import and purge', () => {
  it('refuses a line that is too long to be one of its own, with its number', async () => {
    const line = Buffer.alloc(270_000_000, 'y')
    const { exitCode, stderr } = await place.run(['import', '-'], { input: line })
    expect(stderr).toMatch(/^throughline: Standard input, line 1: longer than 268435456 characters/)
    expect(exitCode).toBe(2)
  })

  it('names the commands for files of other programs', async () => {
    const input = '{"type":"user","sessionId":"a","message":{"role":"user","content":"Hello."}}\n'
    const { exitCode, stderr } = await place.run(['import', '-'], { input })
    expect(stderr).toContain('For conversations of other programs, use `import claude-code`')
    expect(exitCode).toBe(2)
  })

  const other = ['--store', 'other.db']

  it('carry a session into another store, once, and remove it for good', async () => {
    const exported = await place.run(['export', 'notes', '-o', 'notes.jsonl'])
    expect(exported).toMatchObject({ exitCode: 0, stdout: '' })
    expect(exported.stderr).toContain('Session notes was written to notes.jsonl.')
    expect(statSync(join(place.folder, 'notes.jsonl')).mode & 0o777).toBe(0o600)
    expect(await place.run(['import', 'notes.jsonl', ...other])).toMatchObject({ exitCode: 0 })
    const [again, copy, asked] = await place.all([
      ['import', 'notes.jsonl', ...other],
      ['export', 'notes', ...other],
      ['purge', 'notes', ...other],
    ])
    expect(again).toMatchObject({ exitCode: 1 })
    expect(again?.stderr).toContain('nothing changed')
    expect(copy).toMatchObject({ exitCode: 0 })
    expect(copy?.stdout).toContain('BASALT')
    expect(asked).toMatchObject({ exitCode: 2 })
    expect(asked?.stderr).toContain('Add --yes to confirm')
    expect(await place.run(['purge', 'notes', '--yes', ...other])).toMatchObject({ exitCode: 0 })
    const [left, gone, twice, part] = await place.all([
      ['export', 'not', ...other],
      ['send', 'notes', 'Hello.', ...other],
      ['purge', 'notes', ...other],
      ['purge', 'not', '--yes', ...other],
    ])
    expect(left?.stdout).not.toContain('BASALT')
    expect(gone?.stderr).toContain('was purged')
    expect(twice).toMatchObject({ exitCode: 0 })
    expect(twice?.stderr).toContain('was already purged; nothing of it is left')
    const [listed, everything] = await place.all([
      ['sessions', ...other],
      ['sessions', '--all', ...other],
    ])
    expect(listed?.stdout).not.toContain('notes')
    expect(everything?.stdout).toMatch(/^notes +main +gone/m)
    // What cannot be undone wants the whole id.
    expect(part).toMatchObject({ exitCode: 2 })
    expect(part?.stderr).toContain('There is no session not in this store')
  })

  it('fork a session, and remove it only as its forks allow', async () => {
    const apart = ['--store', 'forked.db']
    expect(await place.run(['import', 'notes.jsonl', ...apart])).toMatchObject({ exitCode: 0 })
    const forked = await place.run(['fork', 'not', '--at', '2', '--id', 'side', ...apart])
    expect(forked).toMatchObject({ exitCode: 0, stdout: 'side\n' })
    const [shown, refused] = await place.all([
      ['show', 'side', ...apart],
      ['purge', 'notes', '--yes', ...apart],
    ])
    expect(shown?.stdout).toContain('BASALT')
    expect(refused).toMatchObject({ exitCode: 1 })
    expect(refused?.stderr).toContain('Forks read session notes: side.')
  })

  it('refuse a truncated file with its line, and leave no store', async () => {
    const whole = readFileSync(join(place.folder, 'notes.jsonl'), 'utf8').split('\n')
    const input = whole.slice(0, 3).join('\n')
    const { exitCode, stderr } = await place.run(['import', '-', '--store', 'cut.db'], { input })
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(/Standard input, line 3: /)
    expect(await place.run(['import', 'none.jsonl', '--store', 'cut.db'])).toMatchObject({
      exitCode: 2,
    })
    expect(readdirSync(place.folder).filter((name) => name.startsWith('cut'))).toEqual([])
  })
})

describe('throughline chat', () => {
  it('answers piped lines one after another beside a server, and remembers', async () => {
    const input = 'The second word is GNEISS.\nWhat was the second word?\n/status\n'
    const args = ['chat', '--session', 'piped', '--agent', 'main']
    const { stdout, exitCode } = await place.run(args, { input })
    expect(exitCode).toBe(0)
    expect(stdout.trimEnd().split('\n')[1]).toContain('GNEISS')
    expect(stdout).toContain('Session piped of main:')
    const later = await place.run(args, { input: 'What was the second word?\n/nonsense\n' })
    expect(later.stdout).toContain('GNEISS')
    expect(later.stderr).toContain('There is no command /nonsense')
    expect(later.exitCode).toBe(1)
  })

  it('shows answers and the status on a terminal, and keeps typed text', async (context) => {
    if (!existsSync('/usr/bin/script')) context.skip('not run: there is no script(1) here')
    const command = `'${process.execPath}' '${PROGRAM}' chat --session typed --agent main`
    const child = spawn('script', ['-qec', command, '/dev/null'], {
      cwd: place.folder,
      env: { ...process.env, ...place.env, TERM: 'xterm' },
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    let screen = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      screen += text
    })
    await until(() => screen.includes('· ready ·'))
    child.stdin.write('The third word is SCHIST.\r')
    await until(() => screen.includes('I am the stand-in model'))
    child.stdin.write('What was the third word?\r')
    await until(() => screen.includes('"The third word is SCHIST."'))
    child.stdin.write('/quit\r')
    await new Promise((resolve) => child.on('close', resolve))
    const history = join(place.folder, 'state', 'throughline', 'chat-history')
    expect(readFileSync(history, 'utf8')).toMatch(/^"\/quit"\n"What was the third word\?"\n/)
    expect(statSync(history).mode & 0o777).toBe(0o600)
  })
})

describe('throughline compact --session', () => {
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
    expect(asked.stderr).toContain('note: This conversation has now been compacted once')
    const made = lines(asked)[0]?.['compaction'] as { entry: number; state: string }
    expect(made.state).toBe('committed')
    const [snapshot, now] = await place.all([
      ['show', 'long', '--snapshot', `${made.entry}`, '--json'],
      ['show', 'long', '--context', '--json'],
    ])
    const tokens = (shown: Finished | undefined) => Number(lines(shown)[0]?.['tokens'])
    expect(tokens(snapshot)).toBeGreaterThan(tokens(now))
  })

  it('takes no flag that would have no effect', async () => {
    const [file, session, both] = await place.all([
      ['compact', '--session', 'long', '--to', 'codex'],
      ['compact', '-', '--wait'],
      ['compact', '--session', 'long', '--undo', '--focus', 'the river'],
    ])
    expect(both?.stderr).toContain('Give --undo or --focus, not both.')
    expect(file).toMatchObject({ exitCode: 2, stdout: '' })
    expect(file?.stderr).toContain('--to is for files')
    expect(session?.stderr).toContain('--wait needs --session')
  })
})

describe('throughline tokens', () => {
  it('prints a secret once, keeps its hash, and ends it', async () => {
    const at = ['--store', 'tokens.db']
    const made = await place.run(['tokens', 'create', '--id', 'page', '--scope', 'read', ...at])
    const secret = made.stdout.trim()
    expect(secret).toMatch(/^tl_[\w-]{40,}$/)
    const [row] = lines(await place.run(['tokens', 'list', '--json', ...at]))
    expect(row).toMatchObject({ id: 'page', scopes: ['read'], expiresAt: null })
    expect(JSON.stringify(row)).not.toContain(secret)
    const drawn = await place.run(['tokens', 'list', ...at])
    expect(drawn.stdout).toMatch(/^page\b.*\bread\b/m)
    expect(readFileSync(join(place.folder, 'tokens.db')).includes(secret)).toBe(false)
    const limited = await place.run(['tokens', 'create', '--session', 'nope', ...at])
    expect(limited.stderr).toContain('there is no session nope yet')
    const rotated = await place.run(['tokens', 'rotate', 'page', '--json', ...at])
    expect(lines(rotated)[0]).toMatchObject({ principal: 'page', scopes: ['read'] })
    expect(await place.run(['tokens', 'revoke', 'page', ...at])).toMatchObject({ exitCode: 0 })
    expect(await place.run(['tokens', 'revoke', 'page', ...at])).toMatchObject({ exitCode: 2 })
  })

  it('accepts the label of a token instead of its id', async () => {
    const tokens = (...args: string[]) => place.run(['tokens', ...args, '--store', 'tokens.db'])
    await tokens('create', '--id', 'other', '--label', 'laptop')
    expect((await tokens('create', '--label', 'laptop')).stderr).toContain(
      'Token laptop already exists',
    )
    expect((await tokens('revoke', 'laptop')).stderr).toContain('Token other was revoked.')
  })
})

describe('throughline serve', () => {
  it('prints its address and what to try next, and these commands work', async () => {
    const told = server.stderr()
    expect(told).toContain(server.url)
    const requests = told.match(/https?:\S+[^\s']/g) ?? []
    expect(requests.filter((url) => url.startsWith(server.url)).length).toBeGreaterThanOrEqual(3)
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
    expect(told).toContain('config init')
  })

  it('shuts down in order on a signal, and answers messages sent meanwhile at the next start', async () => {
    server.child.kill('SIGTERM')
    expect(await server.ended).toBe(0)
    const sent = await place.run([
      'send',
      'notes',
      'What was the code word?',
      '--json',
      '--key',
      'k',
    ])
    expect(sent.stderr).toContain('no process serves this store now')
    server = await place.serve()
    const reply = await place.run([
      ...['send', 'notes', 'What was the code word?', '--key', 'k', '--wait', '--timeout', '30s'],
    ])
    expect(reply.stdout).toContain('BASALT')
  })

  it('detects that a server was killed', async (context) => {
    if (process.platform !== 'linux') return context.skip('not run: only Linux tells who is gone')
    server.child.kill('SIGKILL')
    await server.ended
    const sent = await place.run(['send', 'notes', 'Is anybody there?'])
    expect(sent.stderr).toContain('no process serves this store now')
    server = await place.serve()
  })

  it('takes up a changed configuration, and keeps the old one when the new one is broken', async () => {
    const file = join(place.folder, 'agents.yaml')
    writeFileSync(file, 'agents: {main: {system: One.}}\nstore: configured.db\n')
    const changing = await place.serve(['--config', 'agents.yaml'])
    writeFileSync(file, 'agents: {main: {system: [broken}}\n')
    await until(() => changing.stderr().includes('keeping the previous configuration'))
    writeFileSync(file, 'agents: {main: {system: Two.}}\nstore: elsewhere.db\n')
    await until(() => changing.stderr().includes('agents.main.system'))
    await until(() => /store\S* needs a restart/.test(changing.stderr()))
    const at = ['--store', 'configured.db']
    await place.run(['send', 'new', 'Hello.', '--agent', 'main', '--wait', ...at])
    const context = await place.run(['show', 'new', '--context', '--json', ...at])
    expect(context.stdout).toContain('Two.')
    writeFileSync(file, 'agents: {other: {model: {provider: anthropic, model: claude-opus-4-5}}}\n')
    await until(() => changing.stderr().includes('agent main was removed'))
    await until(() => changing.stderr().includes('ANTHROPIC_API_KEY is empty'))
    changing.child.kill('SIGINT')
    expect(await changing.ended).toBe(0)
  })

  it('ends with a sentence when it cannot listen', async () => {
    const port = new URL(server.url).port
    const { exitCode, stderr } = await place.run(['serve', '--port', port, '--store', 'x.db'])
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(/Cannot listen on .*: another program listens there/)
    expect(stderr).not.toContain('    at ')
    const proxy = await place.run(['proxy', '--port', port, '--store', 'x.db'])
    expect(proxy).toMatchObject({ exitCode: 1, stdout: '' })
    expect(proxy.stderr).toMatch(/^throughline: Cannot listen on .*choose another \(--port\)\.$/m)
    // On its own store it names the server that is there.
    const again = await place.run(['serve', '--port', port])
    expect(again.exitCode).toBe(2)
    expect(again.stderr).toContain(`This store is already served at ${server.url}`)
  })
})

function fingerprint(folder: string, name: string): readonly string[] {
  return readdirSync(folder)
    .filter((each) => each.startsWith(name) && !/-(?:wal|shm)$/.test(each))
    .sort()
    .map(
      (each) =>
        `${each} ${createHash('sha256')
          .update(readFileSync(join(folder, each)))
          .digest('hex')}`,
    )
}

describe('throughline compact --undo', () => {
  it('names the commands that help if the older messages no longer fit', async () => {
    const body = (text: string) => ({
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(text === '' ? { agent: 'main', id: 'grown' } : { text }),
    })
    await fetch(`${server.url}/v1/sessions`, body(''))
    const path = `${server.url}/v1/sessions/grown`
    const fact = 'the river is wide and slow here. '.repeat(200)
    const undo = () => place.run(['compact', '--session', 'grown', '--undo', '--wait'])
    const undone: Finished[] = []
    // How full the context is at a compaction depends on how long that took.
    await until(async () => {
      await fetch(`${path}/messages?wait=reply`, body(fact))
      const { compaction } = (await (await fetch(path)).json()) as { compaction: number | null }
      if (compaction !== null) undone.push(await undo())
      return undone.at(-1)?.exitCode === 1
    })
    const { stdout, stderr = '' } = undone.at(-1) ?? {}
    expect(stdout).toBe('')
    expect(stderr).toMatch(
      /Not undone: without the compaction at #\d+ the context would be [\d,]+ of 16,000 tokens, /,
    )
    const [, snapshot] = /show grown (--snapshot \d+)$/m.exec(stderr) ?? []
    const [, at] = /fork grown (--at \d+)$/m.exec(stderr) ?? []
    const hints = await place.all([
      ['show', 'grown', ...(snapshot ?? '').split(' ')],
      ['fork', 'grown', ...(at ?? '').split(' ')],
    ])
    expect(hints.map(({ exitCode }) => exitCode)).toEqual([0, 0])
  })
})
