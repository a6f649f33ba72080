import { lstatSync, readFileSync, readlinkSync, type Stats, statSync } from 'node:fs'
import { dirname, join, parse, resolve, sep } from 'node:path'

/**
 * Whether a file may decide what runs as this user. A configuration names commands, so one that was
 * found, and not named by the user, counts only if no other user could have written it: it belongs
 * to the user or to root, others cannot write to it, and the same holds for its folder and for
 * every link on the way to it. git and ssh require the same of their files.
 *
 * Windows is not checked: Node reports no real owners and modes there. Its users have their own
 * folders, which other users cannot write to.
 */
export interface Trust {
  /** Users whose files are trusted. Null: this system is not checked. */
  readonly owners: readonly number[] | null
  readonly isPrivateGroup: (group: number, owner: number) => boolean
}

/** The part of `lstat` and `fstat` results that the check needs. */
export type Facts = Pick<Stats, 'uid' | 'gid' | 'mode'>

/** The environment matters under sudo: the user who ran sudo counts too, as in git. */
export function trustOf(
  env: { readonly [name: string]: string | undefined } = {},
  uid = process.geteuid?.() ?? null,
): Trust {
  if (uid === null) return { owners: null, isPrivateGroup: () => false }
  const sudo = uid === 0 ? Number(env['SUDO_UID'] || 0) : 0
  return { owners: [...new Set([uid, 0, sudo])], isPrivateGroup }
}

/**
 * For links: a folder may be writable by a group, whose members can move links there, but not make
 * one that belongs to this user.
 */
export const ANY_GROUP: Trust = { ...trustOf(), isPrivateGroup: () => true }

const STICKY = 0o1000
const GROUP_WRITES = 0o020
const OTHERS_WRITE = 0o002

/** Why this file or folder is not trusted, or null. */
export function whyUntrusted(facts: Facts, { owners, isPrivateGroup }: Trust): string | null {
  if (owners === null) return null
  if (!owners.includes(facts.uid)) return `belongs to another user (${facts.uid})`
  if ((facts.mode & OTHERS_WRITE) !== 0) return 'is writable by every user'
  const isShared = (facts.mode & GROUP_WRITES) !== 0 && !isPrivateGroup(facts.gid, facts.uid)
  return isShared ? `is writable by the group ${facts.gid}` : null
}

/** The first folder from `folder` up to `top`, both included, that others could write to. */
export function whyUntrustedBetween(folder: string, top: string, trust: Trust): string | null {
  const between = [resolve(folder)]
  for (let at = between[0] ?? top; at !== top; ) {
    const above = dirname(at)
    // The file is elsewhere, so there are no folders in between.
    if (above === at) return null
    at = above
    between.push(at)
  }
  for (const each of between) {
    const doubt = whyUntrusted(statSync(each), trust)
    if (doubt !== null) return `${each} ${doubt}`
  }
  return null
}

const LINKS_MAX = 40

/**
 * The same for the path to a file: every link, and the folder of the file, must belong to a trusted
 * user. In a sticky folder (`/tmp`) other users cannot replace the user's files, but they can
 * create missing ones.
 */
export function findDoubtOnWay(file: string, trust: Trust): string | null {
  if (trust.owners === null) return null
  const way = followLinks(file, trust)
  return 'doubt' in way ? way.doubt : doubtOfFolder(way.folder, way.isThere, trust)
}

/** The path without links, and its deepest folder that exists. Every link must be trusted. */
export function followLinks(file: string, trust: Trust) {
  let path = resolve(file)
  for (let links = 0; links <= LINKS_MAX; ) {
    const { folder, link, isThere } = firstLink(path)
    if (link === null) return { path, folder, isThere }
    links++
    const doubt = whyUntrusted({ ...lstatSync(link), mode: 0 }, trust)
    if (doubt !== null) return { doubt: `the link ${link} ${doubt}` }
    const around = doubtOfFolder(dirname(link), true, trust)
    if (around !== null) return { doubt: around }
    path = resolve(dirname(link), readlinkSync(link), path.slice(link.length + 1))
  }
  return { doubt: `${file} is a loop of symbolic links` }
}

function doubtOfFolder(folder: string, isThere: boolean, trust: Trust): string | null {
  const facts = statSync(folder)
  const isSticky = isThere && (facts.mode & STICKY) !== 0
  const doubt = whyUntrusted(isSticky ? { ...facts, mode: 0 } : facts, trust)
  return doubt === null ? null : `${folder} ${doubt}`
}

/** The first link on a path; if there is none, its deepest folder. */
function firstLink(path: string) {
  const { root } = parse(path)
  const names = path.slice(root.length).split(sep).filter(Boolean)
  let folder = root
  for (const [at, name] of names.entries()) {
    const inner = join(folder, name)
    const facts = lstatSync(inner, { throwIfNoEntry: false })
    if (facts?.isSymbolicLink()) return { folder, link: inner, isThere: true }
    if (facts === undefined) return { folder, link: null, isThere: false }
    if (at === names.length - 1) break
    folder = inner
  }
  return { folder, link: null, isThere: true }
}

/**
 * The same for a file that will be read or run later. It may not exist yet, so other users must not
 * be able to replace any folder above it.
 */
export function whyFileUntrusted(path: string, trust: Trust): string | null {
  try {
    return findDoubt(path, trust)
  } catch (error) {
    return `it cannot be checked (${(error as NodeJS.ErrnoException).code})`
  }
}

/** The same; throws the system's error if it cannot be checked. */
export function findDoubt(path: string, trust: Trust): string | null {
  if (trust.owners === null) return null
  const way = followLinks(path, trust)
  if ('doubt' in way) return way.doubt
  const doubt = doubtOfFolder(way.folder, way.isThere, trust)
  if (doubt !== null) return doubt
  if (!way.isThere) return doubtAbove(way.folder, trust)
  const found = whyUntrusted(statSync(path), trust)
  return found === null ? doubtAbove(way.path, trust) : `it ${found}`
}

/** Why others could exchange a file, or a folder on the way to it. */
export function doubtAbove(path: string, trust: Trust): string | null {
  const folder = dirname(path)
  if (trust.owners === null || folder === path) return null
  return doubtOfFolder(folder, true, trust) ?? doubtAbove(folder, trust)
}

/**
 * Many systems give every user a group of the same name, and new files are writable by it. That is
 * harmless if the group has no other member on this host.
 */
function isPrivateGroup(group: number, owner: number): boolean {
  try {
    const users = linesOf('/etc/passwd').map(([name, , uid, gid]) => ({ name, uid, gid }))
    const [found] = linesOf('/etc/group').filter(([, , gid]) => Number(gid) === group)
    const [name, , , members = ''] = found ?? []
    return (
      users.some((user) => user.name === name && Number(user.uid) === owner) &&
      members.split(',').every((member) => member === '' || member === name) &&
      users.every(({ uid, gid }) => Number(gid) !== group || Number(uid) === owner)
    )
  } catch {
    return false
  }
}

function linesOf(path: string): readonly string[][] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
}
