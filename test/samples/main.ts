import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, hostname, release } from 'node:os'
import { join, resolve } from 'node:path'
import { standIn } from '../../packages/server/src/stand-in/server.ts'
import { CLIENTS, type Client, type Command } from './clients.ts'
import { answerTo, FILES, LAST, OURS, PICTURE, PICTURE_BYTES, TURNS } from './conversation.ts'
import { stripLine } from './strip.ts'

/**
 * `npm run samples [-- NAME …]`: makes the session logs in test/fixtures/sessions again. Installs the
 * clients outside the repository, plays the conversation with each against the stand-in, and keeps
 * the log that the client wrote, with a compaction of its own in it. The clients have a home
 * of their own and reach nothing but the loopback: every other address goes to a closed port.
 */
const FIXTURES = resolve(import.meta.dirname, '../fixtures/sessions')
const CACHE = join(
  process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'),
  'throughline-samples',
)
const HOME = '/home/keeper'
const MINUTES_MAX = 3

async function makeSamples(client: Client): Promise<void> {
  const installed = join(CACHE, client.name)
  await install(client, installed)
  const home = join(CACHE, `home-of-${client.name}`)
  rmSync(home, { recursive: true, force: true })
  const folder = join(home, 'lighthouse')
  mkdirSync(folder, { recursive: true })
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, name), text)
  writeFileSync(join(folder, PICTURE), PICTURE_BYTES)

  const model = standIn({ script: (ask) => answerTo(ask, client.toCall) })
  const { url, close } = await model.start()
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    TZ: 'UTC',
    LANG: 'C.UTF-8',
    // Nothing listens on the port "discard".
    HTTP_PROXY: 'http://127.0.0.1:9',
    HTTPS_PROXY: 'http://127.0.0.1:9',
    NO_PROXY: '127.0.0.1',
    ...client.configure(home, url),
  }
  const entry = join(installed, 'node_modules', client.entry)
  const run = ({ args, ...command }: Command) =>
    finish([process.execPath, entry, ...args], { ...command, cwd: folder, env })
  try {
    for (const [index, { ask }] of TURNS.slice(0, client.turns).entries())
      await run(client.say(ask, { index, isLast: false, home }))
    if (client.compact !== undefined) await run(client.compact(home))
    await run(client.say(LAST.ask, { index: TURNS.length, isLast: true, home }))
  } finally {
    await close()
  }
  const text = readSession(join(home, client.sessions), client.name)
  writeFileSync(join(FIXTURES, `${client.name}.jsonl`), neutral(text, home, installed))
  const refused = model.journal.entries.filter(({ status }) => status !== 200)
  for (const { path, status } of refused) console.log(`  refused: ${path} with ${status}`)
}

async function install(client: Client, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{"private":true}')
  const what = `${client.package}@${client.version}`
  // Without install scripts: the programs come as packages of their own, per platform.
  const args = ['install', '--save-exact', '--ignore-scripts', '--no-audit', '--no-fund', what]
  await finish(['npm', ...args], { cwd: folder, env: process.env })
}

interface Running extends Omit<Command, 'args'> {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
}

function finish(
  [file = '', ...args]: readonly string[],
  { cwd, env, input, until }: Running,
): Promise<void> {
  const { promise, resolve: done, reject } = Promise.withResolvers<void>()
  const child = spawn(file, args, { cwd, env, timeout: MINUTES_MAX * 60_000 })
  let output = ''
  const take = (text: string) => {
    output += text
    if (until !== undefined && output.includes(until)) child.stdin.end()
  }
  child.stdout.setEncoding('utf8').on('data', take)
  child.stderr.setEncoding('utf8').on('data', take)
  child.stdin.on('error', () => {}) // it may end without reading
  if (until === undefined) child.stdin.end()
  else child.stdin.write(input ?? '')
  child.on('error', reject)
  child.on('close', (code) => {
    const isDone = code === 0 && (until === undefined || output.includes(until))
    if (isDone) done()
    else reject(new Error(`${file} ${args.join(' ')} ended with ${code}:\n${output.slice(-2_000)}`))
  })
  return promise
}

function readSession(folder: string, name: string): string {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const logs = files.filter((file) => file.endsWith('.jsonl'))
  const [only, more] = logs
  if (only === undefined || more !== undefined)
    throw new Error(`${name}: expected one session, found ${logs.length}`)
  return readFileSync(join(folder, only), 'utf8')
}

/** The log without the client's own words and without anything of this machine. */
function neutral(text: string, home: string, installed: string): string {
  const lines = text.split('\n').flatMap((line) => (line === '' ? line : stripLine(line, OURS)))
  const asName = (path: string) => path.replaceAll(/[^a-zA-Z0-9]/g, '-')
  const replaced = lines
    .join('\n')
    .replaceAll(home, HOME)
    .replaceAll(asName(home), asName(HOME))
    .replaceAll(installed, `${HOME}/client`)
    .replaceAll(release(), '6.1.0')
  for (const word of [CACHE, `${homedir()}/`, hostname(), '127.0.0.1']) {
    if (word.length > 3 && replaced.includes(word))
      throw new Error(`the log still names this machine: ${word}`)
  }
  return replaced
}

const names = process.argv.slice(2)
const chosen = CLIENTS.filter(({ name }) => names.length === 0 || names.includes(name))
if (chosen.length === 0)
  throw new Error(`Unknown sample: ${names.join(', ')}. Known: ${CLIENTS.map(({ name }) => name)}`)
mkdirSync(FIXTURES, { recursive: true })
for (const client of chosen) {
  console.log(`${client.name}: ${client.package} ${client.version}`)
  await makeSamples(client)
}
