import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CliPlace, cliPlace, type Served } from './cli-place.ts'

/** The commands as people and scripts use them: processes over one SQLite store, the stand-in answers. */

let place: CliPlace
let server: Served

beforeAll(async () => {
  place = cliPlace()
  server = await place.serve()
}, 60_000)
afterAll(() => place.close())

describe('throughline send', () => {
  it('makes a session, waits for the answer, and prints nothing else', async () => {
    const first = await place.run(['send', 'notes', 'The code word is BASALT.', '--agent', 'main'])
    expect(first).toMatchObject({ exitCode: 0, stdout: '' })
    expect(first.stderr).toContain('Taken: message 1 of session notes.')
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
    const first = await place.run(args, { input: 'A message on\nseveral lines.' })
    const again = await place.run(args, { input: 'A message on\nseveral lines.' })
    const [one, two] = [first, again].map(({ stdout }) => JSON.parse(stdout))
    expect(one).toMatchObject({ sessionId: 'notes', isDuplicate: false })
    expect(two).toEqual({ ...one, isDuplicate: true })
    const other = await place.run(args, { input: 'Another text.' })
    expect(other).toMatchObject({ exitCode: 2, stdout: '' })
    expect(other.stderr).toContain('choose another --key')
  })

  it('says in a sentence what is not there', async () => {
    const unknown = await place.run(['send', 'nobody', 'Hello.'])
    expect(unknown).toMatchObject({ exitCode: 2, stdout: '' })
    expect(unknown.stderr).toMatch(/^throughline: There is no session nobody/)
    const derived = await place.run(['send', 'notes.snapshot.3', 'Hello.'])
    expect(derived).toMatchObject({ exitCode: 2 })
    expect(derived.stderr).not.toContain('    at ')
    const agent = await place.run(['send', 'other', 'Hello.', '--agent', 'nobody'])
    expect(agent.stderr).toContain('Configured: main')
  })
})

describe('commands that read', () => {
  it('show sessions, transcript, context and what was said', async () => {
    const sessions = await place.run(['sessions'])
    expect(sessions.stdout).toMatch(/^SESSION +AGENT +STATE +CONTEXT/)
    expect(sessions.stdout).toMatch(/^notes +main +\S+ +[█░]{10} \d+ %/m)
    const [listed] = lines((await place.run(['sessions', '--json'])).stdout)
    expect(listed).toMatchObject({ id: 'notes', agent: 'main', compaction: null })

    const entries = lines((await place.run(['show', 'notes', '--json', '--to', '4'])).stdout)
    expect(entries.map(({ kind }) => kind)).toEqual(['settings', 'input', 'assistant', 'turn'])
    const shown = await place.run(['show', 'notes', '--from', '2', '--to', '2'])
    expect(shown.stdout).toMatch(/^ {2}#2 user .*\n {6}The code word is BASALT\.\n$/)

    const now = await place.run(['show', 'notes', '--context', '--json'])
    const [context] = lines(now.stdout)
    expect(context?.['tokens']).toBeGreaterThan(0)
    const atStep = lines((await place.run(['show', 'notes', '--at', '3', '--json'])).stdout)[0]
    expect(JSON.stringify(atStep)).toContain('BASALT')
    expect(JSON.stringify(atStep)).not.toContain('What was the code word?')
    const wrong = await place.run(['show', 'notes', '--at', '2'])
    expect(wrong).toMatchObject({ exitCode: 2, stdout: '' })

    const found = lines((await place.run(['search', 'BASALT', '--json'])).stdout)
    expect(found.map(({ sessionId }) => sessionId)).toContain('notes')
    expect(await place.run(['search', 'granodiorite'])).toMatchObject({ exitCode: 1, stdout: '' })
  })

  it('make no store where there is none', async () => {
    const { exitCode, stderr } = await place.run(['sessions', '--store', 'misspelt.db'])
    expect(exitCode).toBe(2)
    expect(stderr).toContain('There is no store at misspelt.db')
    expect(existsSync(join(place.folder, 'misspelt.db'))).toBe(false)
  })

  it('write not a byte into a store', async () => {
    await place.run(['backup', 'still.db'])
    const before = fingerprint(place.folder, 'still.db')
    for (const args of [['sessions'], ['show', 'notes'], ['export', 'notes'], ['search', 'word']]) {
      expect(await place.run([...args, '--store', 'still.db'])).toMatchObject({ exitCode: 0 })
    }
    expect(fingerprint(place.folder, 'still.db')).toEqual(before)
  })
})

describe('export, import and purge', () => {
  it('carry a session into another store, once, and remove it for good', async () => {
    const exported = await place.run(['export', 'notes', '-o', 'notes.jsonl'])
    expect(exported).toMatchObject({ exitCode: 0, stdout: '' })
    expect(statSync(join(place.folder, 'notes.jsonl')).mode & 0o777).toBe(0o600)
    const other = ['--store', 'other.db']
    expect(await place.run(['import', 'notes.jsonl', ...other])).toMatchObject({ exitCode: 0 })
    const again = await place.run(['import', 'notes.jsonl', ...other])
    expect(again.exitCode).toBe(1)
    expect(again.stderr).toContain('nothing was changed')
    expect((await place.run(['export', 'notes', ...other])).stdout).toContain('BASALT')

    const asked = await place.run(['purge', 'notes', ...other])
    expect(asked).toMatchObject({ exitCode: 2 })
    expect(asked.stderr).toContain('say --yes to mean it')
    expect(await place.run(['purge', 'notes', '--yes', ...other])).toMatchObject({ exitCode: 0 })
    expect((await place.run(['export', 'notes', ...other])).stdout).not.toContain('BASALT')
    const gone = await place.run(['send', 'notes', 'Hello.', ...other])
    expect(gone.stderr).toContain('was purged')
  })

  it('refuse a file that was cut, with its line', async () => {
    const whole = readFileSync(join(place.folder, 'notes.jsonl'), 'utf8').split('\n')
    writeFileSync(join(place.folder, 'cut.jsonl'), whole.slice(0, 3).join('\n'))
    const { exitCode, stderr } = await place.run(['import', 'cut.jsonl', '--store', 'cut.db'])
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(/cut\.jsonl, line 3: /)
  })
})

describe('throughline compact --session', () => {
  it('previews without changing anything, then compacts, and the snapshot shows the context before', async () => {
    const filler = 'The river is wide and slow here. '.repeat(300)
    for (let n = 1; n <= 6; n++) {
      const said = `Fact ${n}. ${filler}`
      const sent = await place.run(['send', 'long', '-', '--agent', 'main', '--wait'], {
        input: said,
      })
      expect(sent.exitCode).toBe(0)
    }
    const before = lines((await place.run(['show', 'long', '--all', '--json'])).stdout).length
    const preview = await place.run(['compact', '--session', 'long', '--preview'])
    expect(preview).toMatchObject({ exitCode: 0 })
    expect(preview.stdout).toMatch(/^[\d,]+ -> [\d,]+ tokens; this handoff would stand for/)
    const still = lines((await place.run(['show', 'long', '--all', '--json'])).stdout).length
    expect(still).toBe(before)

    const asked = await place.run(['compact', '--session', 'long', '--wait', '--json'])
    expect(asked.exitCode).toBe(0)
    const made = lines(asked.stdout)[0]?.['compaction'] as { entry: number; state: string }
    expect(made.state).toBe('committed')
    const snapshot = await place.run(['show', 'long', '--snapshot', `${made.entry}`, '--json'])
    const now = await place.run(['show', 'long', '--context', '--json'])
    const tokens = ({ stdout }: { stdout: string }) => Number(lines(stdout)[0]?.['tokens'])
    expect(tokens(snapshot)).toBeGreaterThan(tokens(now))
    expect((await place.run(['show', 'long', '--from', '2', '--to', '2'])).stdout).toMatch(/^┊ #2/)
  })

  it('takes no flag that would have no effect', async () => {
    const file = await place.run(['compact', '--session', 'long', '--to', 'codex'])
    expect(file).toMatchObject({ exitCode: 2, stdout: '' })
    expect(file.stderr).toContain('--to is for files')
    expect((await place.run(['compact', '-', '--wait'])).stderr).toContain('--wait needs --session')
  })
})

describe('throughline chat', () => {
  it('answers piped lines one after another beside a server, and remembers', async () => {
    const input = 'The second word is GNEISS.\nWhat was the second word?\n/status\n'
    const { stdout, exitCode } = await place.run(
      ['chat', '--session', 'piped', '--agent', 'main'],
      {
        input,
      },
    )
    expect(exitCode).toBe(0)
    const answers = stdout.trimEnd().split('\n')
    expect(answers[1]).toContain('GNEISS')
    expect(stdout).toContain('Session piped of main:')
    const later = await place.run(['chat', '--session', 'piped'], {
      input: 'The second word?\n/new\n',
    })
    expect(later.stdout).toContain('GNEISS')
  })

  it('says what is no command, and that something was not answered', async () => {
    const { exitCode, stderr } = await place.run(['chat'], { input: '/nonsense\n' })
    expect(exitCode).toBe(1)
    expect(stderr).toContain('There is no command /nonsense')
  })
})

describe('throughline tokens', () => {
  it('prints a secret once, keeps its hash, and ends it', async () => {
    const at = ['--store', 'tokens.db']
    const made = await place.run(['tokens', 'create', '--id', 'page', '--scope', 'read', ...at])
    const secret = made.stdout.trim()
    expect(secret).toMatch(/^tl_[\w-]{40,}$/)
    const [row] = lines((await place.run(['tokens', 'list', '--json', ...at])).stdout)
    expect(row).toMatchObject({ id: 'page', scopes: ['read'], expiresAt: null })
    expect(JSON.stringify(row)).not.toContain(secret)
    expect(readFileSync(join(place.folder, 'tokens.db')).includes(secret)).toBe(false)
    expect(await place.run(['tokens', 'revoke', 'page', ...at])).toMatchObject({ exitCode: 0 })
    expect(await place.run(['tokens', 'revoke', 'page', ...at])).toMatchObject({ exitCode: 2 })
  })
})

describe('throughline serve', () => {
  it('tells where it is and what to try next, and what it tells works', async () => {
    const told = server.stderr()
    expect(told).toContain(server.url)
    const requests = told.match(/https?:\S+[^\s']/g) ?? []
    expect(requests.filter((url) => url.startsWith(server.url)).length).toBeGreaterThanOrEqual(3)
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
    expect(told).toContain('config init')
  })

  it('ends in order when asked, and answers at the next start what was sent meanwhile', async () => {
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
    expect(sent.stderr).toContain('nobody serves this store now')
    server = await place.serve()
    const reply = await place.run([
      ...['send', 'notes', 'What was the code word?', '--key', 'k', '--wait', '--timeout', '30s'],
    ])
    expect(reply.stdout).toContain('BASALT')
  })

  it('takes up a changed configuration, and keeps the old one when the new one is broken', async () => {
    const file = join(place.folder, 'agents.yaml')
    writeFileSync(file, 'agents: {main: {system: One.}}\nstore: configured.db\n')
    const changing = await place.serve(['--config', 'agents.yaml'])
    writeFileSync(file, 'agents: {main: {system: [broken}}\n')
    await until(() => changing.stderr().includes('nothing was changed'))
    writeFileSync(file, 'agents: {main: {system: Two.}}\nstore: elsewhere.db\n')
    await until(() => changing.stderr().includes('agents.main.system'))
    await until(() => changing.stderr().includes('store'))
    expect(changing.stderr()).toMatch(/store\S* needs a restart/)
    changing.child.kill('SIGINT')
    expect(await changing.ended).toBe(0)
  })

  it('ends with a sentence when it cannot listen', async () => {
    const port = new URL(server.url).port
    const { exitCode, stderr } = await place.run(['serve', '--port', port, '--store', 'x.db'])
    expect(exitCode).toBe(2)
    expect(stderr).toContain('Cannot listen on')
    expect(stderr).not.toContain('    at ')
  })
})

function lines(stdout: string): Record<string, unknown>[] {
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}

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

async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; !holds(); tries++) {
    if (tries > 200) throw new Error('waited in vain')
    await delay(50)
  }
}
