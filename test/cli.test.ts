import { execFile, execFileSync } from 'node:child_process'
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import { checkWire } from '../packages/core/src/message/dialects/check/check.ts'
import packageJson from '../packages/server/package.json' with { type: 'json' }
import { isAlive } from './support/alive.ts'
import { type Finished, runCli, SOURCE_PROGRAM } from './support/run-cli.ts'

const root = join(import.meta.dirname, '..')
const example = join(root, 'examples', 'long-conversation.json')
const conversation = JSON.parse(readFileSync(example, 'utf8'))
const place = mkdtempSync(join(tmpdir(), 'throughline-cli-'))
afterAll(() => rmSync(place, { recursive: true, force: true }))

/** Most tests vary this run; its own result is made once. */
const SMALL = ['compact', example, '--target-tokens', '8000']
const small = runCli(SMALL)

/** What a program might say of the long conversation. */
const SUMMARY = `## Progress and decisions
- The user had the rentals service moved from MySQL on db-1 to PostgreSQL on db-2; the agent ported the data layer,
  copied the tables in slices, normalized customer references, verified every table and rehearsed the switch.
- The catch-up looks back because ids are not commit order; the pool was set to 8 connections.
## What remains
- Only the runbook is left.
`

describe('throughline compact', () => {
  it('writes a smaller conversation in the same shape, and nothing else', async () => {
    const { exitCode, stdout, stderr } = await small
    const after = JSON.parse(stdout)
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    expect({ ...after, messages: [] }).toEqual({ ...conversation, messages: [] })
    expect(after.messages.length).toBeLessThan(conversation.messages.length / 4)
    expect(after.messages[0]).toEqual(conversation.messages[0])
    expect(after.messages.at(-1)).toEqual(conversation.messages.at(-1))
    expect(checkWire('openai-chat', after)).toEqual([])
  })

  it('takes a bare array from standard input and gives one back', async () => {
    const input = JSON.stringify(conversation.messages)
    const { exitCode, stdout } = await runCli(['compact', '-', '--target-tokens', '8k'], { input })
    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout).at(-1)).toEqual(conversation.messages.at(-1))
  })

  it('unpacks gzipped input', async () => {
    const input = gzipSync(readFileSync(example))
    const zipped = await runCli(['compact', '-', '--target-tokens', '8000'], { input })
    expect(zipped).toEqual(await small)
  })

  it('writes other formats, valid for their provider', async () => {
    const anthropic = await runCli([...SMALL, '--to', 'anthropic'])
    const document = JSON.parse(anthropic.stdout)
    const wire = Array.isArray(document) ? { messages: document } : document
    expect(checkWire('anthropic', wire)).toEqual([])
    const responses = JSON.parse((await runCli([...SMALL, '--to', 'openai-responses'])).stdout)
    const items = Array.isArray(responses) ? { input: responses } : responses
    expect(checkWire('openai-responses', items)).toEqual([])
  })

  it('replaces a file as a whole, and leaves nothing beside it', async () => {
    const folder = join(place, 'output')
    mkdirSync(folder)
    const output = join(folder, 'smaller.json')
    writeFileSync(output, 'before')
    linkSync(output, join(place, 'still-open-elsewhere'))
    const { exitCode, stdout } = await runCli([...SMALL, '--output', output])
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '' })
    expect(readdirSync(folder)).toEqual(['smaller.json'])
    expect(JSON.parse(readFileSync(output, 'utf8')).model).toBe('gpt-5')
    expect(readFileSync(join(place, 'still-open-elsewhere'), 'utf8')).toBe('before')
  })

  it('creates the folder that it writes to', async () => {
    const output = join(place, 'new', 'deep', 'smaller.json')
    expect(await runCli([...SMALL, '-o', output])).toMatchObject({ exitCode: 0 })
    expect(existsSync(output)).toBe(true)
  })

  it('leaves no draft if it cannot write', async () => {
    const output = join(place, 'in-the-way', 'folder')
    mkdirSync(output, { recursive: true })
    expect(await runCli([...SMALL, '-o', output])).toMatchObject({ exitCode: 2 })
    expect(readdirSync(join(place, 'in-the-way'))).toEqual(['folder'])
  })

  it('writes into a pipe, through a link, and keeps the rights of the file', async () => {
    const folder = join(place, 'targets')
    mkdirSync(folder)
    const [pipe, file, link] = ['pipe', 'file', 'link'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ]
    execFileSync('mkfifo', [pipe])
    const [piped] = await Promise.all([
      promisify(execFile)('cat', [pipe], { timeout: 50_000 }),
      runCli([...SMALL, '--output', pipe]),
    ])
    expect(piped.stdout).toBe((await small).stdout)
    writeFileSync(file, 'old', { mode: 0o600 })
    symlinkSync(file, link)
    await runCli([...SMALL, '--output', link])
    expect(readFileSync(file, 'utf8')).toBe((await small).stdout)
    expect(lstatSync(link).isSymbolicLink()).toBe(true)
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  it('says in a sentence that standard output is full', async (context) => {
    if (!existsSync('/dev/full')) return context.skip('not run: no /dev/full')
    const full = await runCli(`${SMALL.join(' ')} > /dev/full`)
    expect(full.exitCode).toBe(2)
    expect(full.stderr).toMatch(/^throughline: Standard output cannot be written: .*\n$/)
  })

  it('reads no more than the limit, even from a file of unknown size', async (context) => {
    if (!existsSync('/dev/zero')) return context.skip('not run: no /dev/zero')
    const endless = await runCli(['compact', '/dev/zero'])
    expect(endless).toMatchObject({ exitCode: 2, stdout: '' })
    expect(endless.stderr).toBe('throughline: /dev/zero exceeds the 256 MB input limit.\n')
  })

  it('prints no escape sequence of a conversation or of a program', async () => {
    const evil = '\u001b[31mred\u001b]0;title\u0007\u202e'
    const input = JSON.stringify([{ role: 'tool', tool_call_id: evil, content: 'x' }])
    const noted = await runCli(['compact', '-'], { input })
    const failing = `command:printf 'bad\\033[31m' >&2; exit 3`
    const refused = await runCli([...SMALL, '--summarizer', failing])
    expect(refused.stderr).toMatch(/exit code 3, saying: bad\. Nothing was written\.\n$/)
    expect(noted.stderr).toContain('red')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
    expect(noted.stderr + refused.stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/)
  })

  it('reads what a summarizer writes, up to 1 MiB', async () => {
    const summarized = async (command: string) =>
      (await runCli([...SMALL, '--summarizer-timeout', '60', '--summarizer', `command:${command}`]))
        .stderr
    const endless = 'while :; do echo 0123456789012345678901234567890123456789; done'
    expect(await summarized(endless)).toContain('the command wrote more than 1024 kB')
    expect(await summarized('true')).toContain('the command wrote nothing')
  })

  it('ends quietly when its reader has seen enough', async () => {
    // Passed through it is larger than a pipe holds, so that the reader is gone while it is written.
    const { stdout, stderr } = await runCli(`compact '${example}' --if-needed | head -c 1`)
    expect({ stdout, stderr }).toEqual({ stdout: '{', stderr: '' })
  })
})

describe('exit code 3', () => {
  it('passes a short conversation through byte for byte', async () => {
    const input = '[ {"role":"user",\n"content":"hi"} ]'
    const { exitCode, stdout, stderr } = await runCli(['compact', '-'], { input })
    expect({ exitCode, stdout }).toEqual({ exitCode: 3, stdout: input })
    expect(stderr).toMatch(
      /^Nothing to cut \(nothing-to-cut\): .* The input was passed through\.\n$/,
    )
  })

  it('leaves a conversation below the threshold unchanged on request', async () => {
    const { exitCode, stdout } = await runCli(['compact', example, '--if-needed'])
    expect(exitCode).toBe(3)
    expect(stdout).toBe(readFileSync(example, 'utf8'))
    const needed = await runCli(['compact', example, '--if-needed', '--window', '20k'])
    expect(needed.exitCode).toBe(0)
  })

  it('returns its own result unchanged', async () => {
    const once = await small
    const twice = await runCli(['compact', '-', '--target-tokens', '8000'], { input: once.stdout })
    expect(twice.exitCode).toBe(3)
    expect(twice.stdout).toBe(once.stdout)
  })
})

describe('exit code 4', () => {
  it('says what does not fit and writes nothing', async () => {
    const output = join(place, 'untouched.json')
    writeFileSync(output, 'before')
    const args = ['compact', example, '--target-tokens', '100', '-o', output]
    const { exitCode, stderr } = await runCli(args)
    expect(exitCode).toBe(4)
    expect(stderr).toMatch(/^Cannot fit \([a-z-]+\): .* there is room for -?\d+/)
    expect(readFileSync(output, 'utf8')).toBe('before')
  })
})

describe('exit code 2', { concurrent: true }, () => {
  const folder = join(place, 'folder')
  mkdirSync(folder)
  const cases: [string, readonly string[], RegExp, (string | Buffer)?][] = [
    [
      'a file that is missing',
      ['compact', 'nowhere.json'],
      /nowhere\.json .*there is no such file/,
    ],
    ['a folder', ['compact', folder], /it is a folder/],
    ['an empty input', ['compact', '-'], /empty/],
    [
      'broken JSON, with its place',
      ['compact', '-'],
      /standard input: .*line 2, column/i,
      '{"messages":\n[}',
    ],
    ['bytes that are not text', ['compact', '-'], /not UTF-8/, Buffer.from([0x22, 0xff, 0x22])],
    ['a damaged archive', ['compact', '-'], /cannot be unpacked/, Buffer.from([0x1f, 0x8b, 8, 0])],
    ['something that is no conversation', ['compact', '-'], /openai-chat: /, '{"a": 1}'],
    ['a number that is none', [...SMALL, '--window', 'big'], /--window.*whole number of tokens/s],
    ['an unknown format', [...SMALL, '--to', 'xml'], /Allowed choices are openai-chat/],
    ['an unknown flag', [...SMALL, '--explian'], /Did you mean --explain\?/],
    ['an unknown command', ['compcat'], /Did you mean compact\?/],
    ['no command', [], /Usage: throughline/],
    [
      'an unknown summarizer',
      [...SMALL, '--summarizer', 'magic'],
      /digest, file:PATH or command:CMD/,
    ],
    ['statistics in the way of data', [...SMALL, '--stats', '-'], /needs --output/],
    ['one file for two outputs', [...SMALL, '--stats', 'x', '-o', 'x'], /give each its own file/],
    ['an unwritable place', [...SMALL, '-o', join(example, 'x')], /cannot be written/],
  ]
  it('helps with a command by name', async () => {
    const { exitCode, stdout } = await runCli(['help', 'compact'])
    expect(exitCode).toBe(0)
    expect(stdout).toContain('Usage: throughline compact')
  })

  it.each(cases)('answers %s', async (_, args, words, input = '') => {
    const { exitCode, stdout, stderr } = await runCli(args, { input })
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toMatch(words)
    expect(stderr).not.toMatch(/^\s+at /m)
  })
})

describe('settings', () => {
  it('come from the flag, then the environment, then throughline.yaml, budgets and prompt [S12]', async () => {
    const cwd = mkdtempSync(join(place, 'configured-'))
    const asked = join(cwd, 'asked.txt')
    for (const name of ['file', 'environment', 'flag']) {
      writeFileSync(join(cwd, `${name}.md`), `Instructions of the ${name}.`)
    }
    writeFileSync(
      join(cwd, 'throughline.yaml'),
      'compaction: {targetTokens: 6000, prompt: "file:file.md"}\n',
    )
    const run = async (args: readonly string[], env: Record<string, string>) => {
      const stats = join(cwd, 'stats.json')
      const command = `command:cat > '${asked}'; echo 'Only the runbook is left.'`
      const rest = ['--summarizer', command, '--stats', stats, '--output', join(cwd, 'out.json')]
      await runCli(['compact', example, ...args, ...rest], { cwd, env })
      const { tokensAfter: tokens } = JSON.parse(readFileSync(stats, 'utf8'))
      const [, by] = /Instructions of the (\w+)/.exec(readFileSync(asked, 'utf8')) ?? []
      return { by, tokens: tokens as number }
    }
    const env = {
      THROUGHLINE_COMPACTION_TARGET_TOKENS: '4000',
      THROUGHLINE_COMPACTION_PROMPT: 'file:environment.md',
    }
    const flags = ['--target-tokens', '12000', '--prompt-file', 'flag.md']
    const [byFile, byEnvironment, byFlag] = [
      await run([], {}),
      await run([], env),
      await run(flags, env),
    ]
    expect([byFile.by, byEnvironment.by, byFlag.by]).toEqual(['file', 'environment', 'flag'])
    expect(byEnvironment.tokens).toBeLessThanOrEqual(4_000)
    expect(byFile.tokens).toBeGreaterThan(4_000)
    expect(byFile.tokens).toBeLessThanOrEqual(6_000)
    expect(byFlag.tokens).toBeGreaterThan(6_000)
    expect(byFlag.tokens).toBeLessThanOrEqual(12_000)
  })

  it('name the variable that is wrong', async () => {
    const env = { THROUGHLINE_COMPACTION_USER_TOKENS: 'lots' }
    const { exitCode, stderr } = await runCli(SMALL, { env })
    expect(exitCode).toBe(2)
    expect(stderr).toContain('THROUGHLINE_COMPACTION_USER_TOKENS')
  })

  it('--keep-tokens 0 keeps the newest request and what belongs to it', async () => {
    const { exitCode, stdout } = await runCli([...SMALL, '--keep-tokens', '0'])
    const { messages } = JSON.parse(stdout)
    expect(exitCode).toBe(0)
    expect(JSON.stringify(messages)).toContain('Please write the runbook for the way back')
    expect(messages.at(-1)).toEqual(conversation.messages.at(-1))
    expect(messages.length).toBeLessThan(JSON.parse((await small).stdout).messages.length)
  })
})

describe('--summarizer', () => {
  it('file: puts the given text into the handoff', async () => {
    const file = join(place, 'summary.txt')
    writeFileSync(file, 'The move is done; the runbook is missing.')
    const { exitCode, stdout } = await runCli([...SMALL, '--summarizer', `file:${file}`])
    expect(exitCode).toBe(0)
    expect(stdout).toContain('The move is done; the runbook is missing.')
    expect(stdout).toContain('by=given')
  })

  it('command: passes the prompt to a program and uses its output', async () => {
    const prompt = join(place, 'prompt.txt')
    const summary = join(place, 'summary.txt')
    writeFileSync(summary, SUMMARY)
    const command = `command:cat > '${prompt}'; cat '${summary}'`
    const { exitCode, stdout, stderr } = await runCli([...SMALL, '--summarizer', command])
    expect([exitCode, stderr]).toEqual([0, expect.not.stringContaining('no summary')])
    expect(stdout).toContain('Only the runbook is left.')
    expect(readFileSync(prompt, 'utf8')).toContain('bookings_no_overlap')
    expect(readFileSync(prompt, 'utf8')).not.toContain('correct-horse-42')
  })

  it('command: writes a digest if the output is not a summary, and says so', async () => {
    const command = `command:cat > /dev/null; echo 'Sure! What should I do next?'`
    const { exitCode, stdout, stderr } = await runCli([...SMALL, '--summarizer', command])
    expect(exitCode).toBe(0)
    expect(stderr).toMatch(/no summary \([a-z-]+\); the digest takes its place/)
    expect(stdout).toContain('by=digest')
    expect(stdout).not.toContain('What should I do next?')
  })

  it('command: is asked with the prompt of a file or of the environment', async () => {
    const prompt = join(place, 'asked.txt')
    const file = join(place, 'instructions.txt')
    writeFileSync(file, 'From the file: hand over in one line.')
    const args = [...SMALL, '--summarizer', `command:cat > '${prompt}'; echo done`]
    const env = { THROUGHLINE_COMPACTION_PROMPT: 'From the environment: hand over in a haiku.' }
    await runCli(args, { env })
    expect(readFileSync(prompt, 'utf8')).toContain(env.THROUGHLINE_COMPACTION_PROMPT)
    await runCli([...args, '--prompt-file', file], { env })
    expect(readFileSync(prompt, 'utf8')).toContain('From the file: hand over in one line.')
    expect(readFileSync(prompt, 'utf8')).not.toContain(env.THROUGHLINE_COMPACTION_PROMPT)
  })

  it.each([
    ['fails', 'echo no key >&2; exit 7', /exit code 7, saying: no key/],
    ['is missing', 'no-such-program-here', /exit code 127/],
    ['says nothing', 'cat > /dev/null', /wrote nothing/],
    ['hangs', 'sleep 30', /longer than 0\.5 s \(--summarizer-timeout\)/],
    ['hangs in the background', 'sleep 30 & exit 0', /longer than 0\.5 s/],
    ['is killed', 'kill -9 $$', /killed by SIGKILL/],
  ])('command: refuses a program that %s, and writes nothing', async (_, command, words) => {
    const seconds = command.startsWith('sleep') ? '0.5' : '20'
    const args = [...SMALL, '--summarizer', `command:${command}`, '--summarizer-timeout', seconds]
    const { exitCode, stdout, stderr } = await runCli(args)
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
    expect(stderr).toMatch(/^Refused \(summary-failed\): /)
    expect(stderr).toMatch(words)
  })

  it('command: stops a program that never stops talking', async () => {
    const { exitCode, stderr } = await runCli([...SMALL, '--summarizer', 'command:yes and more'])
    expect(exitCode).toBe(1)
    expect(stderr).toContain('more than 1024 kB')
  })

  it('command: does not wait for a process that the program left running', async () => {
    const pidFile = join(place, 'left-behind')
    const leave = `require('child_process').spawn('sleep', ['120'], { detached: true, stdio: 'inherit' })`
    const script = `const child = ${leave}; require('fs').writeFileSync('${pidFile}', child.pid + '\\n'); child.unref()`
    const command = `command:'${process.execPath}' -e "${script}"`
    const run = runCli([...SMALL, '--summarizer', command, '--summarizer-timeout', '4'])
    const pid = await readPid(pidFile)
    expect(await run).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('longer than 4 s'),
    })
    expect(isAlive(pid)).toBe(true)
    process.kill(pid)
  })

  it('command: ends with us when we are interrupted', async () => {
    const pidFile = join(place, 'pid')
    const command = `command:echo $$ > '${pidFile}'; sleep 30`
    const { promise: written, resolve } = Promise.withResolvers<number>()
    const finished: Promise<Finished> = runCli([...SMALL, '--summarizer', command], {
      onStart: async (child) => {
        const pid = await readPid(pidFile)
        child.kill('SIGINT')
        resolve(pid)
      },
    })
    const pid = await written
    expect(await finished).toMatchObject({ exitCode: null, signal: 'SIGINT', stdout: '' })
    expect(await isGone(pid)).toBe(true)
  })
})

describe('reports', () => {
  it('--stats writes the figures', async () => {
    const file = join(place, 'stats.json')
    await runCli([...SMALL, '--stats', file])
    const stats = JSON.parse(readFileSync(file, 'utf8'))
    expect(stats).toMatchObject({
      outcome: 'compacted',
      format: { from: 'openai-chat', to: 'openai-chat' },
      messagesBefore: conversation.messages.length,
      by: 'digest',
      verdict: { ok: true, violations: [] },
      warnings: [],
    })
    expect(stats.tokensAfter).toBeLessThanOrEqual(8_000)
    expect(stats.timingsMs.plan).toBeGreaterThanOrEqual(0)
    expect(stats.ledger.entries).toBeGreaterThan(0)
    expect(stats.cut).toBeGreaterThan(0)
  })

  it('--stats - is for a pipe when the conversation goes to a file', async () => {
    const { stdout } = await runCli([...SMALL, '-o', join(place, 'x.json'), '--stats', '-'])
    expect(JSON.parse(stdout).outcome).toBe('compacted')
  })

  it('--explain draws on standard error and leaves standard output to the data', async () => {
    const silent = await small
    const { exitCode, stdout, stderr } = await runCli([...SMALL, '--explain'])
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: silent.stdout })
    expect(stderr).toMatch(/^before +[\d,]+ tokens +126 messages/)
    expect(stderr).toContain('newest request: Wonderful work')
    expect(stderr).not.toContain('\u001b')
  })

  it('--explain is coloured on request, and never against NO_COLOR', async () => {
    const args = [...SMALL, '--explain']
    expect((await runCli(args, { env: { FORCE_COLOR: '1' } })).stderr).toContain('\u001b[')
    expect((await runCli(args, { env: { NO_COLOR: '1' } })).stderr).not.toContain('\u001b[')
  })

  it('prints hints that work in that place', async () => {
    const inClone = { cwd: root, program: SOURCE_PROGRAM }
    const { stderr } = await runCli([...SMALL, '--explain'], inClone)
    const hint = stderr.split('\n').find((line) => line.startsWith('  npx throughline compact'))
    const args = hint?.trim().replace('npx throughline ', '') ?? ''
    expect(await runCli(args, { cwd: place })).toMatchObject({ exitCode: 0, stdout: '' })
    expect(existsSync(join(place, 'smaller.json'))).toBe(true)
  })

  it('reports repairs made while reading', async () => {
    const orphan = { role: 'tool', tool_call_id: 'call_gone', content: 'nobody asked' }
    const input = JSON.stringify([...conversation.messages.slice(0, 60), orphan])
    const args = ['compact', '-', '--target-tokens', '8000']
    const { exitCode, stderr } = await runCli(args, { input })
    expect(exitCode).toBe(0)
    expect(stderr).toMatch(/^note: .*call_gone/m)
  })
})

describe('the program', () => {
  it('prints its version and its commands', async () => {
    expect(await runCli(['--version'])).toMatchObject({
      exitCode: 0,
      stdout: `${packageJson.version}\n`,
    })
    expect(await runCli(['--help'])).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('compact [options] [file]'),
    })
  })

  it('can be started with npx in a clone', () => {
    const output = execFileSync('npx', ['--no-install', 'throughline', '--version'], { cwd: root })
    expect(output.toString().trim()).toBe(packageJson.version)
  })

  it('restarts with its own Node if the running one is too old', (context) => {
    const older = findOlderNode()
    if (older === undefined) context.skip('not run: no Node older than 24 on this machine')
    else {
      const program = join(root, 'packages', 'server', 'bin', 'throughline.js')
      const run = (...args: string[]) =>
        execFileSync(older, [program, ...args], { encoding: 'utf8' })
      expect(run('--version').trim()).toBe(packageJson.version)
      expect(() => run('compact', 'nowhere.json')).toThrow(expect.objectContaining({ status: 2 }))
    }
  })

  it('runs its example', () => {
    const file = join(root, 'examples', 'compact-in-your-agent.ts')
    const output = execFileSync(process.execPath, [file], { encoding: 'utf8' })
    expect(output).toMatch(/^compacted: .*\n\d+ -> \d+ tokens\n\d+ messages for the next request/)
  })
})

async function readPid(file: string): Promise<number> {
  for (let tries = 0; tries < 1_600; tries++) {
    if (existsSync(file) && statSync(file).size > 1) return Number(readFileSync(file, 'utf8'))
    await delay(25)
  }
  throw new Error(`${file} did not appear`)
}

/** A killed process stays visible until its parent has taken note. */
async function isGone(pid: number): Promise<boolean> {
  for (let tries = 0; tries < 800; tries++) {
    if (!isAlive(pid)) return true
    await delay(25)
  }
  return false
}

function findOlderNode(): string | undefined {
  const folders = (process.env['PATH'] ?? '')
    .split(':')
    .filter((path) => !path.includes('node_modules'))
  return folders
    .map((folder) => join(folder, 'node'))
    .filter((file) => existsSync(file))
    .find((file) => Number.parseInt(execFileSync(file, ['--version']).toString().slice(1), 10) < 24)
}
