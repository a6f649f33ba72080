import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import {
  doubtAbove,
  findDoubt,
  findDoubtOnWay,
  followLinks,
  type Trust,
  trustOf,
  whyFileUntrusted,
  whyUntrusted,
  whyUntrustedBetween,
} from './trust.ts'

describe('whom a user trusts', () => {
  it.each<[{ SUDO_UID?: string }, number | null, readonly number[] | null]>([
    [{}, null, null],
    [{}, 1000, [1000, 0]],
    [{ SUDO_UID: '7' }, 1000, [1000, 0]],
    [{}, 0, [0]],
    [{ SUDO_UID: '7' }, 0, [0, 7]],
    [{ SUDO_UID: '' }, 0, [0]],
  ])('with %j and the id %s: %j', (env, uid, owners) => {
    expect(trustOf(env, uid).owners).toEqual(owners)
  })

  it('is no group, where nothing is checked', () => {
    expect(trustOf({}, null).isPrivateGroup(0, 0)).toBe(false)
    expect(trustOf({}, 1000).isPrivateGroup(2 ** 31 - 2, 1000)).toBe(false)
  })
})

describe('a file', () => {
  const trust: Trust = { owners: [1000, 0], isPrivateGroup: (group, owner) => group === owner }
  const facts = (mode: number, uid = 1000, gid = 100) => ({ uid, gid, mode })

  it.each<[string, Parameters<typeof whyUntrusted>[0], string | null]>([
    ['its own', facts(0o100644), null],
    ['of root', facts(0o100755, 0), null],
    ['of another user', facts(0o100600, 7), 'belongs to another user (7)'],
    ['that all may write', facts(0o100602), 'is writable by every user'],
    ['that a group may write', facts(0o100620), 'is writable by the group 100'],
    ['that the own group may write', facts(0o100620, 1000, 1000), null],
    ['that all and a group may write', facts(0o100622), 'is writable by every user'],
  ])('%s: %s', (_, of, why) => {
    expect(whyUntrusted(of, trust)).toBe(why)
    expect(whyUntrusted(of, { ...trust, owners: null })).toBeNull()
  })
})

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'throughline-trust-')))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const at = (...names: string[]) => join(folder, ...names)
const own = process.geteuid?.() ?? -1
const trust: Trust = { owners: [own, 0], isPrivateGroup: () => true }
const stranger: Trust = { owners: [own === 0 ? 1 : 0, -2], isPrivateGroup: () => true }
const strict: Trust = { owners: [own, 0], isPrivateGroup: () => false }

describe.skipIf(own < 0)('the way to a file (Windows has no owners)', () => {
  mkdirSync(at('inner', 'deep'), { recursive: true })
  writeFileSync(at('inner', 'deep', 'file'), '')
  mkdirSync(at('open'))
  chmodSync(at('open'), 0o777)
  writeFileSync(at('open', 'file'), '')
  mkdirSync(at('shared'))
  chmodSync(at('shared'), 0o770)
  mkdirSync(at('sticky'))
  chmodSync(at('sticky'), 0o1777)
  writeFileSync(at('sticky', 'file'), '')
  writeFileSync(at('inner', 'loose'), '')
  chmodSync(at('inner', 'loose'), 0o666)
  symlinkSync('inner', at('link'))
  symlinkSync(at('link', 'deep'), at('links'))
  symlinkSync('loop', at('loop'))
  symlinkSync(at('inner', 'deep', 'file'), at('open', 'out'))

  it('leads through links to its folder', () => {
    expect(followLinks(at('inner', 'deep', 'file'), trust)).toEqual({
      ...{ path: at('inner', 'deep', 'file'), folder: at('inner', 'deep'), isThere: true },
    })
    expect(followLinks(at('links', 'file'), trust)).toEqual({
      ...{ path: at('inner', 'deep', 'file'), folder: at('inner', 'deep'), isThere: true },
    })
    expect(followLinks(at('link', 'none', 'at', 'all'), trust)).toEqual({
      ...{ path: at('inner', 'none', 'at', 'all'), folder: at('inner'), isThere: false },
    })
    expect(followLinks(at('loop'), trust)).toEqual({
      doubt: `${at('loop')} is a loop of symbolic links`,
    })
    expect(followLinks(at('link'), stranger)).toEqual({
      doubt: `the link ${at('link')} belongs to another user (${own})`,
    })
    expect(followLinks(at('open', 'out'), trust)).toEqual({
      doubt: `${at('open')} is writable by every user`,
    })
  })

  it.each<[string, string, Trust, string | null]>([
    ['sound', at('inner', 'deep', 'file'), trust, null],
    ['through links', at('links', 'file'), trust, null],
    ['without a check', at('loop'), { ...trust, owners: null }, null],
    ['in a loop', at('loop'), trust, `${at('loop')} is a loop of symbolic links`],
    ['in an open folder', at('open', 'file'), trust, `${at('open')} is writable by every user`],
    ['in a sticky folder', at('sticky', 'file'), trust, null],
    [
      'missing in a sticky folder',
      at('sticky', 'none'),
      trust,
      `${at('sticky')} is writable by every user`,
    ],
    [
      'of strangers',
      at('inner', 'file'),
      stranger,
      `${at('inner')} belongs to another user (${own})`,
    ],
    ['that is loose itself', at('inner', 'loose'), trust, null],
  ])('is %s', (_, file, by, doubt) => {
    expect(findDoubtOnWay(file, by)).toBe(doubt)
  })

  it('is shared with a group', () => {
    expect(findDoubtOnWay(at('shared', 'file'), trust)).toBeNull()
    expect(findDoubtOnWay(at('shared', 'file'), strict)).toMatch(
      /^\/.*\/shared is writable by the group \d+$/,
    )
  })

  it('is checked up to the file itself, and to the root', () => {
    expect(findDoubt(at('inner', 'deep', 'file'), trust)).toBeNull()
    expect(findDoubt(at('inner', 'deep', 'none'), trust)).toBeNull()
    expect(findDoubt(at('inner', 'loose'), trust)).toBe('it is writable by every user')
    expect(findDoubt(at('open', 'file'), trust)).toBe(`${at('open')} is writable by every user`)
    expect(findDoubt(at('loop'), trust)).toBe(`${at('loop')} is a loop of symbolic links`)
    expect(findDoubt(at('loop'), { ...trust, owners: null })).toBeNull()
    mkdirSync(at('open', 'own'))
    writeFileSync(at('open', 'own', 'file'), '')
    expect(findDoubt(at('open', 'own', 'file'), trust)).toBe(
      `${at('open')} is writable by every user`,
    )
    expect(findDoubt(at('open', 'own', 'none'), trust)).toBe(
      `${at('open')} is writable by every user`,
    )
    expect(findDoubtOnWay(at('open', 'own', 'file'), trust)).toBeNull()
    expect(doubtAbove(at('open', 'own'), trust)).toBe(`${at('open')} is writable by every user`)
    expect(doubtAbove(at('open', 'own'), { ...trust, owners: null })).toBeNull()
    expect(doubtAbove('/', stranger)).toBeNull()
  })

  it('that cannot be checked is not trusted', () => {
    expect(whyFileUntrusted(at('inner', 'deep', 'file'), trust)).toBeNull()
    expect(whyFileUntrusted(at('inner', 'loose'), trust)).toBe('it is writable by every user')
    expect(whyFileUntrusted(at('inner', 'deep', 'file', 'more'), trust)).toBe(
      'it cannot be checked (ENOTDIR)',
    )
  })

  it('is checked between two folders', () => {
    const between = (from: string, to: string, by = trust) => whyUntrustedBetween(from, to, by)
    expect(between(at('inner', 'deep'), folder)).toBeNull()
    expect(between(at('open', 'own'), folder)).toBe(`${at('open')} is writable by every user`)
    expect(between(at('open'), at('open'))).toBe(`${at('open')} is writable by every user`)
    expect(between(at('open', 'own'), at('open', 'own'))).toBeNull()
    expect(between(at('open'), at('inner'))).toBeNull()
    expect(between(at('inner'), at('inner'), stranger)).toBe(
      `${at('inner')} belongs to another user (${own})`,
    )
  })
})
