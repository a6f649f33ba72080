import {
  chmodSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { type Trust, trustOf, whyUntrusted } from '#core/base/files/trust'
import { loadConfig } from '../load.ts'
import { problemText } from './problem.ts'

const ME = 1_000
const PRIVATE_GROUP = 1_000
const trust: Trust = { owners: [ME, 0], isPrivateGroup: (group) => group === PRIVATE_GROUP }
const facts = (uid: number, mode: number, gid = 7) => ({ uid, gid, mode })

describe('findDoubt', () => {
  it.each([
    ['mine', facts(ME, 0o644), null],
    ["root's", facts(0, 0o755), null],
    ["another user's", facts(1_001, 0o600), 'belongs to another user (1001)'],
    ['writable by all', facts(ME, 0o666), 'is writable by every user'],
    ['writable by all, in the manner of /tmp', facts(0, 0o1777), 'is writable by every user'],
    ['writable by a group', facts(ME, 0o2775), 'is writable by the group 7'],
    ['writable by the group that is mine alone', facts(ME, 0o664, PRIVATE_GROUP), null],
  ])('a file or folder that is %s', (_, given, doubt) => {
    expect(whyUntrusted(given, trust)).toBe(doubt)
  })

  it('checks nothing if the system does not report owners', () => {
    expect(whyUntrusted(facts(5, 0o777), trustOf({}, null))).toBe(null)
  })
})

describe('trustOf', () => {
  it('trusts root, the user and, under sudo, the user who ran sudo', () => {
    expect(trustOf({ SUDO_UID: '1000' }, 0).owners).toEqual([0, 1_000])
    expect(trustOf({ SUDO_UID: '1000' }, 1_001).owners).toEqual([1_001, 0])
  })
})

const OTHER = 65_534
const whyNot =
  process.geteuid?.() === 0 ? null : 'not run: only root can make files of another user'

describe('a configuration found by searching', () => {
  const folders: string[] = []
  afterAll(() => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  })

  /** `top/work` is the working folder; `top` holds the configuration. */
  function fixture(text = 'http: {port: 1}') {
    const top = mkdtempSync(join(tmpdir(), 'throughline-trust-'))
    folders.push(top)
    const [work, file] = [join(top, 'work'), join(top, 'throughline.yaml')]
    mkdirSync(work, { mode: 0o755 })
    writeFileSync(file, text, { mode: 0o644 })
    return { top, work, file, in: (name: string) => join(top, name) }
  }

  const give = (path: string) => lchownSync(path, OTHER, OTHER)
  const problemsIn = (
    cwd: string,
    more: { readonly path?: string; readonly home?: string } = {},
  ) => {
    const { home, ...request } = more
    const result = loadConfig({ cwd, env: { HOME: home }, flags: [], ...request })
    return result.kind === 'refused' ? result.problems.map(problemText).join('\n') : null
  }

  it("is used if every folder from the working folder up is the user's own; a named one is used anywhere", () => {
    const { work, top, file } = fixture()
    expect(problemsIn(work)).toBe(null)
    chmodSync(top, 0o1777)
    expect(problemsIn(work, { path: file })).toBe(null)
  })

  it('is refused, with its name, before it is read, in a folder that others can write to', () => {
    const { top, work, file } = fixture('no: [yaml')
    chmodSync(top, 0o1777)
    const problems = problemsIn(work)
    expect(problems).toContain(`The configuration is not used: ${top} is writable by every user.`)
    expect(problems).toContain(`--config ${file}`)
    expect(problems).not.toContain('YAML')
  })

  it('is refused when it, or a text or key file that it names, is writable by others', () => {
    const {
      file,
      work,
      in: at,
    } = fixture(
      [
        'agents:',
        '  main:',
        '    system: file:text.md',
        '    model: {provider: anthropic, model: m, credential: {kind: file, path: key}}',
        '    mcp: {t: {command: ./tool}}',
        'gateways: {telegram: {token: {kind: file, path: later/token}}}',
      ].join('\n'),
    )
    mkdirSync(at('later'), { mode: 0o755 })
    for (const each of [at('text.md'), at('key'), at('tool')])
      writeFileSync(each, 'x', { mode: 0o644 })
    expect(problemsIn(work)).toBe(null)
    for (const each of [at('text.md'), at('key'), at('tool')]) chmodSync(each, 0o666)
    chmodSync(at('later'), 0o1777)
    expect(problemsIn(work)?.split('\n')).toEqual([
      expect.stringMatching(/`agents\.main\.system` names text\.md, which is not used: it is writ/),
      expect.stringMatching(/credential\.path` names .*key, but it is writable by every user/),
      expect.stringMatching(/mcp\.t\.command` names .*tool, but it is writable by every user/),
      expect.stringMatching(/token\.path` names .*token, but .*later is writable by every user/),
    ])
    chmodSync(file, 0o622)
    expect(problemsIn(work)).toContain('not used: it is writable by every user')
  })

  it('is refused when others could replace a program that it names', () => {
    const { work, in: at } = fixture('agents: {main: {mcp: {t: {command: open/tools/server}}}}')
    mkdirSync(at('open/tools'), { recursive: true, mode: 0o755 })
    writeFileSync(at('open/tools/server'), 'x', { mode: 0o755 })
    expect(problemsIn(work)).toBe(null)
    chmodSync(at('open'), 0o777)
    expect(problemsIn(work)).toContain(`${at('open')} is writable by every user`)
    // In this folder others cannot replace the tools folder.
    chmodSync(at('open'), 0o1777)
    expect(problemsIn(work)).toBe(null)
  })

  it('is refused when others could write to a script that a program gets as an argument', () => {
    const { work, in: at } = fixture(
      'agents: {main: {mcp: {t: {command: node, args: [--quiet, open/server.js, open, "@a/b", https://a/b]}}}}',
    )
    mkdirSync(at('open'), { mode: 0o755 })
    writeFileSync(at('open/server.js'), '', { mode: 0o644 })
    expect(problemsIn(work)).toBe(null)
    chmodSync(at('open/server.js'), 0o666)
    expect(problemsIn(work)).toContain('`agents.main.mcp.t.args.1` names')
    chmodSync(at('open/server.js'), 0o644)
    chmodSync(at('open'), 0o777)
    expect(problemsIn(work)).toContain(`${at('open')} is writable by every user`)
    // Others could create it.
    rmSync(at('open/server.js'))
    expect(problemsIn(work)).toContain(`${at('open')} is writable by every user`)
  })

  it('is refused when others could write to a script that an option of a program names', () => {
    const { work, in: at } = fixture(
      'agents: {main: {mcp: {t: {command: node, args: ["--import=open/hooks.mjs", server.js, --log=open/x.log]}}}}',
    )
    mkdirSync(at('open'), { mode: 0o755 })
    expect(problemsIn(work)).toBe(null)
    chmodSync(at('open'), 0o777)
    expect(problemsIn(work)).toContain('`agents.main.mcp.t.args.0` names')
  })

  it('is used when a program gets a folder that others can write to: it is data', () => {
    const { work, in: at } = fixture('agents: {main: {mcp: {t: {command: node, args: [open]}}}}')
    mkdirSync(at('open'), { mode: 0o755 })
    chmodSync(at('open'), 0o777)
    expect(problemsIn(work)).toBe(null)
  })

  it('is refused when others could write to the folder in which a command runs', () => {
    const { work, in: at } = fixture(
      'agents: {main: {model: {provider: anthropic, model: m, credential: {kind: command, command: npx key, folder: open}}}}',
    )
    mkdirSync(at('open'), { mode: 0o755 })
    expect(problemsIn(work)).toBe(null)
    chmodSync(at('open'), 0o1777)
    expect(problemsIn(work)).toContain('credential.folder` names')
  })

  it.each(['open/key', 'sh open/key.sh', `FROM='open/key' npx key`])(
    'is refused when others could write to what the command of a key names: %s',
    (command) => {
      const { work, in: at } = fixture(
        `agents: {main: {model: {provider: anthropic, model: m, credential: {kind: command, command: ${JSON.stringify(command)}}}}}`,
      )
      mkdirSync(at('open'), { mode: 0o755 })
      for (const name of ['key', 'key.sh']) writeFileSync(at(`open/${name}`), '', { mode: 0o755 })
      expect(problemsIn(work)).toBe(null)
      chmodSync(at('open'), 0o777)
      expect(problemsIn(work)).toContain('credential.command` names')
    },
  )

  it('is refused when it, its folder or a link to it belongs to another user', (context) => {
    if (whyNot !== null) return context.skip(whyNot)
    const theirs = fixture()
    give(theirs.file)
    expect(problemsIn(theirs.work)).toContain(`not used: it belongs to another user (${OTHER})`)

    const between = fixture()
    give(between.work)
    expect(problemsIn(between.work)).toContain(`${between.work} belongs to another user`)

    const linked = fixture()
    rmSync(linked.file)
    writeFileSync(linked.in('real.yaml'), '', { mode: 0o644 })
    symlinkSync('real.yaml', linked.file)
    expect(problemsIn(linked.work)).toBe(null)
    give(linked.file)
    expect(problemsIn(linked.work)).toContain(`the link ${linked.file} belongs to another user`)
  })

  it("is refused when a link leads into another user's folder", () => {
    const { work, file, in: at } = fixture()
    rmSync(file)
    mkdirSync(at('shared'), { mode: 0o755 })
    writeFileSync(at('shared/real.yaml'), '', { mode: 0o644 })
    symlinkSync('shared/real.yaml', file)
    expect(problemsIn(work)).toBe(null)
    chmodSync(at('shared'), 0o777)
    expect(problemsIn(work)).toContain(`${at('shared')} is writable by every user`)
  })

  it("is refused in the user's own folder as well, when others can write to it", () => {
    const { top, in: at } = fixture()
    mkdirSync(at('home/.config/throughline'), { recursive: true, mode: 0o755 })
    writeFileSync(at('home/.config/throughline/throughline.yaml'), '', { mode: 0o644 })
    rmSync(at('throughline.yaml'))
    expect(problemsIn(top, { home: at('home') })).toBe(null)
    chmodSync(at('home/.config/throughline/throughline.yaml'), 0o666)
    expect(problemsIn(top, { home: at('home') })).toContain('writable by every user')
  })
})
