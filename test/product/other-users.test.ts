import { execFile } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../packages/core/src/base/clock.ts'
import { SILENT } from '../../packages/core/src/base/logger.ts'
import { proxyAddresses } from '../../packages/server/src/cli/commands/proxy/proxy.ts'
import { ProxyProcess } from '../../packages/server/src/cli/commands/run/proxy-process.ts'
import { serveProxy } from '../../packages/server/src/gateway/proxy/serve.ts'
import { PROGRAM, type RunOptions, runCli } from '../support/run-cli.ts'
import { openPlace, tokenFor, tokensOf } from './http-place.ts'

/** One host with two users on it: what one leaves lying about must not run as the other. */
const ATTACKER = 65_533
const VICTIM = 65_534
const whyNot = process.geteuid?.() === 0 ? null : 'not run: only root can be two users'

const places: string[] = []
afterAll(() => {
  for (const place of places) rmSync(place, { recursive: true, force: true })
})

function sharedFolder(): { readonly top: string; readonly work: string } {
  const top = mkdtempSync(join(tmpdir(), 'throughline-shared-'))
  places.push(top)
  chmodSync(top, 0o1777)
  const work = join(top, 'work')
  mkdirSync(work, { mode: 0o755 })
  chownSync(work, VICTIM, VICTIM)
  return { top, work }
}

describe('another user of the host', () => {
  it('runs nothing as me through a configuration above my folder, by any command', async (context) => {
    if (whyNot !== null) return context.skip(whyNot)
    const { top, work } = sharedFolder()
    const [file, sign] = [join(top, 'throughline.yaml'), join(work, 'sign')]
    const command = `touch ${sign}; echo x`
    writeFileSync(
      file,
      `store: {url: "postgres://me@127.0.0.1:9/x", password: {kind: command, command: "${command}"}}\n`,
    )
    chownSync(file, ATTACKER, ATTACKER)
    const asVictim = { cwd: work, uid: VICTIM, env: { HOME: work } }
    const ways = [['sessions'], ['serve', '--port', '0']]
    for (const { exitCode, stderr } of await Promise.all(
      ways.map((args) => runCli(args, asVictim)),
    )) {
      expect(stderr).toContain(`The configuration is not used: ${top} is writable by every user.`)
      expect(stderr).toContain(`--config ${file}`)
      expect(exitCode).toBe(2)
    }
    expect(existsSync(sign)).toBe(false)

    // Named, it is trusted, and does what it says.
    await runCli(['sessions', '--config', file], asVictim)
    expect(existsSync(sign)).toBe(true)
  })

  it('has a HOME that I cannot read: the error says so, and what to do', async (context) => {
    if (whyNot !== null) return context.skip(whyNot)
    const { top, work } = sharedFolder()
    const home = join(top, 'home')
    mkdirSync(home, { mode: 0o700 })
    const mine = join(work, 'mine.yaml')
    writeFileSync(mine, 'store: postgres://me@127.0.0.1:9/x\n')
    const asVictim = { cwd: work, uid: VICTIM, env: { HOME: home } }
    const [{ exitCode, stderr }, named] = await Promise.all([
      runCli(['serve', '--port', '0'], asVictim),
      runCli(['serve', '--port', '0', '--config', mine], asVictim),
    ])
    expect(named.stderr).toContain('The system refused: EACCES: permission denied, mkdir ')
    expect(named.exitCode).toBe(1)
    expect(stderr).toContain('home/.config/throughline/throughline.yaml')
    expect(stderr).toMatch(/cannot be read \(EACCES\).*--config.*HOME/)
    expect(exitCode).toBe(2)
  })

  it('runs no command through this user’s configuration in a folder of another user', async (context) => {
    if (whyNot !== null) return context.skip(whyNot)
    const { top, work } = sharedFolder()
    const config = join(work, '.config', 'throughline')
    mkdirSync(config, { recursive: true, mode: 0o755 })
    const source = `{url: "postgres://me@127.0.0.1:9/x", password: {kind: command, command: "sh key.sh"}}`
    writeFileSync(join(config, 'throughline.yaml'), `store: ${source}\n`, { mode: 0o644 })
    const sign = join(top, 'sign')
    writeFileSync(join(top, 'key.sh'), `touch ${sign}; echo x\n`)
    for (const each of [join(work, '.config'), config, join(config, 'throughline.yaml')])
      chownSync(each, VICTIM, VICTIM)
    chownSync(join(top, 'key.sh'), ATTACKER, ATTACKER)
    const { stderr } = await runCli(['sessions'], { cwd: top, uid: VICTIM, env: { HOME: work } })
    expect(stderr).toContain('The command for the key failed')
    expect(existsSync(sign)).toBe(false)
  })

  it('receives no message through a store that they created in the working folder', async (context) => {
    if (whyNot !== null) return context.skip(whyNot)
    const { top, work } = sharedFolder()
    const folder = join(top, '.throughline')
    mkdirSync(folder)
    const store = join(folder, 'throughline.db')
    writeFileSync(store, '')
    for (const each of [folder, store]) {
      chmodSync(each, 0o777)
      chownSync(each, ATTACKER, ATTACKER)
    }
    const asVictim = { cwd: top, uid: VICTIM, env: { HOME: work } }
    const ways = [['send', 'mine', 'BASALT', '--agent', 'main'], ['sessions']]
    for (const { exitCode, stderr } of await Promise.all(
      ways.map((args) => runCli(args, asVictim)),
    )) {
      expect(stderr).toContain(`The store ${store} is not used: ${folder} belongs to another user`)
      expect(stderr).toContain(`--store ${store}`)
      expect(exitCode).toBe(2)
    }
    expect(statSync(store).size).toBe(0)

    // A folder that I make myself is mine, also in theirs.
    rmSync(folder, { recursive: true })
    const own = await runCli(['tokens', 'create', '--scope', 'read'], asVictim)
    expect(own.exitCode).toBe(0)
  })

  it('causes the same refusal of every command in a folder that everyone can write to', async ({
    onTestFinished,
  }) => {
    const top = mkdtempSync(join(tmpdir(), 'throughline-open-'))
    places.push(top)
    chmodSync(top, 0o777)
    const ways = [['serve', '--port', '0'], ['chat'], ['send', 'mine', 'BASALT', '--agent', 'main']]
    const onStart: RunOptions['onStart'] = (child) => onTestFinished(() => child.kill('SIGKILL'))
    const answers = await Promise.all(ways.map((args) => runCli(args, { cwd: top, onStart })))
    const store = join(top, '.throughline', 'throughline.db')
    const sentence = `The store ${store} is not used: ${top} is writable by every user. `
    for (const { exitCode, stderr } of answers) {
      expect(stderr).toContain(sentence)
      expect(stderr).toContain('chmod go-w')
      expect(exitCode).toBe(2)
    }
    expect(existsSync(store)).toBe(false)
  })

  it('gets none of my words through files that they made beside a store that I name', async (context) => {
    if (whyNot !== null) return context.skip(whyNot)
    const { top, work } = sharedFolder()
    const asVictim = { cwd: work, uid: VICTIM, env: { HOME: work } }
    const send = (store: string) =>
      runCli(['send', 'mine', 'BASALT', '--agent', 'main', '--store', store], asVictim)
    for (const end of ['', '-wal', '-shm']) {
      const store = join(top, `mine${end}.db`)
      const planted = `${store}${end}`
      writeFileSync(planted, '')
      chmodSync(planted, 0o666)
      chownSync(planted, ATTACKER, ATTACKER)
      const { exitCode, stderr } = await send(store)
      expect(stderr).toMatch(/another user \(65533\), who could read/)
      expect(exitCode).toBe(2)
      expect(statSync(planted).size).toBe(0)
      rmSync(planted)
      expect(await send(store)).toMatchObject({ exitCode: 0 })
    }
  })

  it('gets none of my words through a store that they made under the name that I use', async (context) => {
    if (whyNot !== null) return context.skip(whyNot)
    const { top, work } = sharedFolder()
    const store = join(top, 'mine.db')
    const send = (uid: number, text: string, path = store) =>
      runCli(['send', 'mine', text, '--agent', 'main', '--store', path], {
        ...{ cwd: work, uid, env: { HOME: work } },
      })
    expect(await send(ATTACKER, 'GNEISS')).toMatchObject({ exitCode: 0 })
    for (const name of readdirSync(top).filter((each) => each !== 'work')) {
      chmodSync(join(top, name), 0o777)
    }
    const { exitCode, stderr } = await send(VICTIM, 'BASALT')
    expect(stderr).toMatch(/a store of another user .*65533.*who could read everything/)
    expect(exitCode).toBe(2)
    // Nor through a link or a folder of theirs that leads to it.
    const home = mkdtempSync(join(tmpdir(), 'throughline-theirs-'))
    places.push(home)
    for (const name of readdirSync(top).filter((each) => each !== 'work')) {
      renameSync(join(top, name), join(home, name))
    }
    chownSync(home, ATTACKER, ATTACKER)
    chmodSync(home, 0o755)
    symlinkSync(join(home, 'mine.db'), store)
    lchownSync(store, ATTACKER, ATTACKER)
    const linked = await send(VICTIM, 'BASALT')
    expect(linked.stderr).toContain(`the link ${store} belongs to another user (65533)`)
    rmSync(store)
    expect((await send(VICTIM, 'BASALT', join(home, 'mine.db'))).exitCode).toBe(2)
    for (const path of [top, home].flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
    )) {
      if (statSync(path).isFile()) expect(readFileSync(path, 'latin1')).not.toContain('BASALT')
    }
  })

  it.for(['audit', 'mine.db.wake'])(
    'has nothing written through a folder or a link that they made beside my store: %s',
    async (name, context) => {
      if (whyNot !== null) return context.skip(whyNot)
      const { top, work } = sharedFolder()
      const asVictim = { cwd: work, uid: VICTIM, env: { HOME: work } }
      const planted = join(top, name)
      const mine = join(work, 'mine')
      mkdirSync(mine)
      chownSync(mine, VICTIM, VICTIM)
      const plants = [
        () => symlinkSync(mine, planted),
        () => {
          mkdirSync(planted)
          chmodSync(planted, 0o777)
        },
      ]
      for (const plant of plants) {
        plant()
        lchownSync(planted, ATTACKER, ATTACKER)
        const store = join(top, 'mine.db')
        const { exitCode, stderr } = await runCli(['chat', '--store', store], {
          ...asVictim,
          input: 'BASALT\n',
        })
        expect(stderr).toContain(`${planted} belongs to another user (${ATTACKER})`)
        expect(exitCode).toBe(2)
        expect([...readdirSync(planted), ...readdirSync(mine)]).toEqual([])
        rmSync(planted, { recursive: true })
      }
    },
  )

  it.for(['link', 'pipe', 'file'])(
    'gets nothing written where they put a %s in its place: logs, output, copies, configurations',
    async (plant, context) => {
      if (whyNot !== null) return context.skip(whyNot)
      const { top, work } = sharedFolder()
      const asVictim = { cwd: work, uid: VICTIM, env: { HOME: work } }
      const made = await runCli(['send', 'mine', 'BASALT', '--agent', 'main'], asVictim)
      expect(made).toMatchObject({ exitCode: 0 })
      const [secret, output] = [join(work, 'secret'), join(top, 'output')]
      writeFileSync(secret, 'before')
      chownSync(secret, VICTIM, VICTIM)
      if (plant === 'link') symlinkSync(secret, output)
      else if (plant === 'pipe') await promisify(execFile)('mkfifo', [output])
      else writeFileSync(output, '')
      if (plant !== 'link') chmodSync(output, 0o666)
      lchownSync(output, ATTACKER, ATTACKER)
      const ways = [
        ['serve', '--port', '0', '--set', `logging.file=${output}`],
        ['config', 'schema', '--output', output],
        ['config', 'init', '--yes', '--force', '--output', output],
        ['export', 'mine', '--force', '--output', output],
        ['export', 'mine', '--to', 'html', '--force', '--output', output],
        ['backup', output],
      ]
      for (const args of ways) {
        const { exitCode, stderr } = await runCli(args, asVictim)
        expect(stderr, args.join(' ')).toContain(output)
        expect(exitCode, args.join(' ')).toBe(2)
      }
      expect(readFileSync(secret, 'utf8')).toBe('before')
      if (plant === 'file') expect(statSync(output).size).toBe(0)
    },
  )

  it('cannot exchange the folder of a socket that I name', async (context) => {
    if (whyNot !== null) return context.skip(whyNot)
    const { top, work } = sharedFolder()
    const [open, mine] = [join(top, 'open'), join(top, 'open', 'mine')]
    mkdirSync(open)
    chmodSync(open, 0o777)
    mkdirSync(mine, { mode: 0o700 })
    chownSync(mine, VICTIM, VICTIM)
    const socket = `http.socket=${join(mine, 's')}`
    const asVictim = { cwd: work, uid: VICTIM, env: { HOME: work } }
    const { exitCode, stderr } = await runCli(['serve', '--port', '0', '--set', socket], asVictim)
    expect(stderr).toContain(
      `other users can exchange it, because ${open} is writable by every user`,
    )
    expect(exitCode).toBe(2)
  })

  it('gets no copy of my store into a folder of theirs', async (context) => {
    if (whyNot !== null) return context.skip(whyNot)
    const { top, work } = sharedFolder()
    const asVictim = { cwd: work, uid: VICTIM, env: { HOME: work } }
    expect((await runCli(['send', 'mine', 'BASALT', '--agent', 'main'], asVictim)).exitCode).toBe(0)
    const theirs = join(top, 'theirs')
    mkdirSync(theirs)
    chmodSync(theirs, 0o777)
    chownSync(theirs, ATTACKER, ATTACKER)
    const { exitCode, stderr } = await runCli(['backup', join(theirs, 'copy.db')], asVictim)
    expect(stderr).toContain(`${theirs} belongs to another user (${ATTACKER})`)
    expect(stderr).not.toContain('report this')
    expect(exitCode).toBe(2)
    expect(readdirSync(theirs)).toEqual([])
  })

  it('has no request passed on by my proxy, nor an upgrade', async (context) => {
    if (process.platform !== 'linux') return context.skip('not run: only Linux tells who connects')
    if (whyNot !== null) return context.skip(whyNot)
    const nowhere = new URL('http://127.0.0.1:9')
    const begin = () => Promise.reject(new Error('It was recorded.'))
    const upstreams = { anthropic: nowhere, openai: nowhere }
    const proxy = await serveProxy({ recorder: { begin }, upstreams, logger: SILENT })
    try {
      expect(proxy.open).toBe('own-user')
      const ask = (more: object) =>
        `require('node:http').get(${JSON.stringify({ port: proxy.port, host: '127.0.0.1', ...more })},` +
        '({ statusCode }) => { console.log(statusCode); process.exit() })'
      const upgrade = { headers: { connection: 'upgrade', upgrade: 'websocket' } }
      const asOther = { uid: ATTACKER, cwd: '/' }
      for (const more of [{}, { method: 'POST', path: '/v1/messages' }, upgrade]) {
        const asked = promisify(execFile)(process.execPath, ['-e', ask(more)], asOther)
        expect((await asked).stdout.trim()).toBe('403')
      }
      expect((await fetch(`${proxy.url}/v1/models`)).status).toBe(502)
    } finally {
      await proxy.close()
    }
  })

  it('holds no connection to my proxy open, and so locks no one out', async (context) => {
    if (process.platform !== 'linux') return context.skip('not run: only Linux tells who connects')
    if (whyNot !== null) return context.skip(whyNot)
    const nowhere = new URL('http://127.0.0.1:9')
    const begin = () => Promise.reject(new Error('It was recorded.'))
    const upstreams = { anthropic: nowhere, openai: nowhere }
    const proxy = await serveProxy({ recorder: { begin }, upstreams, logger: SILENT })
    const folder = mkdtempSync(join(tmpdir(), 'throughline-shared-'))
    places.push(folder)
    const ofRun = new ProxyProcess({
      command: [process.execPath, PROGRAM, 'proxy', '--store', join(folder, 'clients.db')],
      env: proxyAddresses({ ...upstreams, upstream: new Map() }),
      ...{ port: 0, logFile: join(folder, 'proxy.log') },
    })
    try {
      for (const port of [proxy.port, await ofRun.start()]) {
        const hold =
          `require('node:net').connect(${port}, '127.0.0.1').on('error', () => {}).resume()` +
          ".on('close', () => console.log('closed')).write('GET / HTTP')"
        // The time limit of Node's server for headers is a minute.
        const asOther = { uid: ATTACKER, cwd: '/', timeout: 20_000 }
        const held = promisify(execFile)(process.execPath, ['-e', hold], asOther)
        expect((await held).stdout.trim()).toBe('closed')
        expect((await fetch(`http://127.0.0.1:${port}/v1/models`)).status).toBe(502)
      }
    } finally {
      await proxy.close()
      await ofRun.end()
    }
  })

  it('uses up no requests of mine, such as those for my page', async (context) => {
    if (process.platform !== 'linux') return context.skip('not run: only Linux tells who connects')
    if (whyNot !== null) return context.skip(whyNot)
    // Nothing is refilled while the requests are sent: two are taken.
    const clock = { ...systemClock, monotonic: () => 0 }
    const place = await openPlace({ limits: { requestsPerMinute: 60 }, clock })
    try {
      const ask =
        `require('node:http').get('${place.url}/openapi.json', ({ statusCode }) => ` +
        '{ console.log(statusCode); process.exit() })'
      const asOther = { uid: ATTACKER, cwd: '/' }
      const asked = async () =>
        (await promisify(execFile)(process.execPath, ['-e', ask], asOther)).stdout.trim()
      expect([await asked(), await asked(), await asked()]).toEqual(['200', '200', '429'])
      const mine = async () => (await place.call('/openapi.json')).status
      expect([await mine(), await mine(), await mine()]).toEqual([200, 200, 429])
    } finally {
      await place.close()
    }
  })

  it('passes no proof of my server on to a page of mine at another address', async (context) => {
    if (process.platform !== 'linux') return context.skip('not run: only Linux tells who connects')
    if (whyNot !== null) return context.skip(whyNot)
    const place = await openPlace({ tokens: tokensOf(tokenFor('read')) })
    try {
      const { host, port } = new URL(place.url)
      const path = (at: string) =>
        `/v1/proof?name=${'n'.repeat(22)}&nonce=${'m'.repeat(22)}&host=${at}`
      const ask = (at: string) =>
        `require('node:http').get(${JSON.stringify({ port, host: '127.0.0.1', path: path(at) })},` +
        '({ statusCode }) => { console.log(statusCode); process.exit() })'
      const asOther = { uid: ATTACKER, cwd: '/' }
      const asked = async (at: string) =>
        (await promisify(execFile)(process.execPath, ['-e', ask(at)], asOther)).stdout.trim()
      expect(await asked('127.0.0.1:1')).toBe('403')
      expect(await asked(`localhost:${port}`)).toBe('403')
      // Their own page with their own token.
      expect(await asked(host)).toBe('200')
      // My own tunnel.
      expect((await place.call(path('127.0.0.1:1'))).status).toBe(200)
    } finally {
      await place.close()
    }
  })
})
