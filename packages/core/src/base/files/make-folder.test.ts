import { existsSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { makeFolder } from './make-folder.ts'

describe('makeFolder', () => {
  let place = ''
  beforeEach(() => {
    place = mkdtempSync(join(tmpdir(), 'throughline-folder-'))
  })
  afterEach(() => rmSync(place, { recursive: true, force: true }))

  it('makes every missing folder, private, and leaves those that exist as they are', () => {
    makeFolder(join(place, 'a/b/c'))
    makeFolder(join(place, 'a/b/c'))
    makeFolder(join(place, 'a/b/c/'))
    for (const folder of ['a', 'a/b', 'a/b/c'])
      expect(statSync(join(place, folder)).mode & 0o777).toBe(0o700)
    symlinkSync('a', join(place, 'link'))
    makeFolder(join(place, 'link/d'))
    expect(existsSync(join(place, 'a/d'))).toBe(true)
  })

  it('says why it cannot', () => {
    writeFileSync(join(place, 'file'), '')
    symlinkSync('nowhere', join(place, 'dangling'))
    expect(() => makeFolder(join(place, 'file'))).toThrow(/EEXIST/)
    expect(() => makeFolder(join(place, 'file/a/b'))).toThrow(/ENOTDIR/)
    expect(() => makeFolder(join(place, 'dangling'))).toThrow(/EEXIST/)
    expect(() => makeFolder(join(place, 'dangling/a'))).toThrow(/EEXIST/)
  })

  it('ends with an error in a file system that creates no folders', (context) => {
    if (!existsSync('/proc/self/fd')) context.skip('not run: there is no /proc here')
    expect(() => makeFolder('/proc/x/y/z')).toThrow(/ENOENT/)
  })
})
