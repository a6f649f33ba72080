import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  closeSync,
  lchownSync,
  linkSync,
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
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  createFile,
  FileDraft,
  NamedDraft,
  openPipe,
  openToAppend,
  openToChange,
  replaceFile,
} from './write.ts'

const OTHER = 65_533
const whyNot = process.geteuid?.() === 0 ? null : 'not run: only root can be two users'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'throughline-write-'))
  chmodSync(folder, 0o1777)
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Every way to write to a path that exists. */
const WAYS: { readonly [name: string]: (path: string) => void } = {
  append: (path) => append(path, 'words'),
  change: (path) => closeSync(openToChange(path)),
  replace: (path) => replaceFile(path, 'words'),
  create: (path) => createFile(path, 'words'),
  copy: (path) => new NamedDraft(path).remove(),
  pipe: (path) => closeSync(openPipe(path) ?? openToAppend(path)),
}

function append(path: string, text: string): void {
  const file = openToAppend(path)
  writeFileSync(file, text)
  closeSync(file)
}

describe.for(Object.keys(WAYS))('to %s', (name) => {
  const write = (path: string) => WAYS[name]?.(path)

  it('through a link of another user is refused, whether its target exists or not', (context) => {
    if (whyNot !== null) return context.skip(whyNot)
    const mine = join(folder, 'mine')
    mkdirSync(mine)
    writeFileSync(join(mine, 'secret'), 'before')
    const targets = [join(mine, 'secret'), join(mine, 'new'), mine]
    for (const [index, target] of targets.entries()) {
      const link = join(folder, `link-${index}`)
      symlinkSync(target, link)
      lchownSync(link, OTHER, OTHER)
      const path = target === mine ? join(link, 'secret') : link
      expect(() => write(path)).toThrow(`the link ${link} belongs to another user (${OTHER})`)
    }
    expect(readdirSync(mine)).toEqual(['secret'])
    expect(readFileSync(join(mine, 'secret'), 'utf8')).toBe('before')
  })
})

describe('a file that another user made', () => {
  it.for(['append', 'change', 'pipe'])('is not used to %s', (name, context) => {
    if (whyNot !== null) return context.skip(whyNot)
    const path = join(folder, 'log')
    writeFileSync(path, '')
    chmodSync(path, 0o666)
    chownSync(path, OTHER, OTHER)
    expect(() => WAYS[name]?.(path)).toThrow(`it belongs to another user (${OTHER})`)
    expect(statSync(path).size).toBe(0)
  })

  it('does not pass its mode on to a new file', (context) => {
    if (whyNot !== null) return context.skip(whyNot)
    const path = join(folder, 'output')
    writeFileSync(path, 'theirs', { mode: 0o600 })
    chmodSync(path, 0o644)
    replaceFile(path, 'mine', { keepsMode: true })
    expect(statSync(path).mode & 0o777).toBe(0o644)
    chownSync(path, OTHER, OTHER)
    replaceFile(path, 'mine', { keepsMode: true })
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  it('is not written through a second name, except in a private folder', () => {
    const mine = join(folder, 'mine')
    writeFileSync(mine, '')
    linkSync(mine, join(folder, 'log'))
    expect(() => openToAppend(join(folder, 'log'))).toThrow('2 names (hard links)')
    // In a folder of one's own it is a copy of one's own making.
    chmodSync(folder, 0o700)
    append(join(folder, 'log'), 'words')
    expect(readFileSync(mine, 'utf8')).toBe('words')
  })
})

describe('a folder that others can write to', () => {
  it('is refused for drafts, which are opened by their names', () => {
    chmodSync(folder, 0o777)
    expect(() => new NamedDraft(join(folder, 'copy'))).toThrow(
      `${join(folder, 'copy')} is not written: ${folder} is writable by every user`,
    )
    expect(readdirSync(folder)).toEqual([])
    replaceFile(join(folder, 'output'), 'words')
    expect(readdirSync(folder)).toEqual(['output'])
  })
})

describe('a pipe', () => {
  it('is refused as a log, and does not hang', (context) => {
    if (process.platform === 'win32') return context.skip('not run: Windows has no named pipes')
    const path = join(folder, 'pipe')
    execFileSync('mkfifo', [path])
    for (const open of [openToAppend, openToChange]) {
      expect(() => open(path)).toThrow(`${path} is not written: it is a pipe or a socket`)
    }
  })

  it('of another user is refused as output', (context) => {
    if (whyNot !== null) return context.skip(whyNot)
    const path = join(folder, 'pipe')
    execFileSync('mkfifo', [path])
    chownSync(path, OTHER, OTHER)
    expect(() => openPipe(path)).toThrow(`it belongs to another user (${OTHER})`)
  })
})

describe('a file of this user', () => {
  it('is written through a link, and keeps its mode on request', () => {
    chmodSync(folder, 0o755)
    const [mine, link] = [join(folder, 'mine'), join(folder, 'link')]
    writeFileSync(mine, 'before', { mode: 0o644 })
    symlinkSync('mine', link)
    replaceFile(link, 'after', { keepsMode: true })
    append(link, ' all')
    expect(readFileSync(mine, 'utf8')).toBe('after all')
    expect(statSync(mine).mode & 0o777).toBe(0o644)
    replaceFile(mine, 'private')
    expect(statSync(mine).mode & 0o777).toBe(0o600)
  })

  it('is created private, with its folders, and never over an existing file', () => {
    const path = join(folder, 'a/b/file')
    createFile(path, 'one')
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(statSync(join(folder, 'a')).mode & 0o777).toBe(0o700)
    expect(() => createFile(path, 'two')).toThrow(/EEXIST/)
    expect(readFileSync(path, 'utf8')).toBe('one')
  })

  it('stays unchanged until the draft is published, and an abandoned draft leaves no file', () => {
    const path = join(folder, 'file')
    writeFileSync(path, 'before')
    const draft = new FileDraft(path)
    draft.write('after')
    draft.close()
    expect(readFileSync(path, 'utf8')).toBe('before')
    const copy = new NamedDraft(join(folder, 'copy'))
    writeFileSync(copy.path, 'words')
    copy.publish()
    copy.remove()
    expect(readdirSync(folder).sort()).toEqual(['copy', 'file'])
  })
})
