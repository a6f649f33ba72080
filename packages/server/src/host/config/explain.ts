import type { z } from 'zod'
import { redact } from '#core/compaction/redact/redact'
import { nearest } from './read/nearest.ts'
import { KEYS_ELSEWHERE, unknownKeyText } from './read/overlay.ts'
import { type ConfigProblem, type Path, pathText } from './read/problem.ts'
import { keyOriginAt, type Node, nodeAt, originAt, plainOf } from './read/tree.ts'

/** More unknown keys at one level mean the wrong file. */
const UNKNOWN_MAX = 20

/** Zod's issues in plain words, each with its position. */
export function explainIssues(
  issues: readonly z.core.$ZodIssue[],
  tree: Node,
  above: Path = [],
): readonly ConfigProblem[] {
  const told = issues.filter((issue) => !isJudgedTooEarly(issue, issues))
  return told.flatMap((issue) => explainIssue(issue, tree, above))
}

/** What keys mean together shows only when each of them is known: `provder` leaves the default one. */
function isJudgedTooEarly(issue: z.core.$ZodIssue, issues: readonly z.core.$ZodIssue[]): boolean {
  if (issue.code !== 'custom') return false
  const group = issue.path.slice(0, -1).join('.')
  return issues.some(({ code, path }) => code === 'unrecognized_keys' && path.join('.') === group)
}

function explainIssue(issue: z.core.$ZodIssue, tree: Node, above: Path): readonly ConfigProblem[] {
  const path = [...above, ...issue.path.map((key) => (typeof key === 'symbol' ? '?' : key))]
  const problem = (text: string): ConfigProblem => ({ origin: originAt(tree, path), text })
  const said = (text: string) => problem(`\`${pathText(path)}\` ${text}.${foundText(tree, path)}`)
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.slice(0, UNKNOWN_MAX).map((key) => ({
        origin: keyOriginAt(tree, [...path, key]),
        text: unknownKeyText(path, key),
      }))
    case 'invalid_key': {
      const text = `\`${String(path.at(-1))}\` ${issue.issues[0]?.message ?? 'is no name'}.`
      return [{ origin: keyOriginAt(tree, path), text }]
    }
    case 'invalid_union': {
      const inner = branchMeant(issue)
      if (inner !== undefined) return explainIssues(inner, tree, path)
      if (issue.discriminator !== undefined) {
        return [said(`should be one of ${kindsOf(issue)}`)]
      }
      return [said(issue.message)]
    }
    case 'invalid_value': {
      const names = issue.values.map(String)
      const found = nodeAt(tree, path)
      const meant = found?.kind === 'leaf' ? nearest(String(found.value), names) : undefined
      const hint = meant === undefined ? '' : ` Did you mean \`${meant}\`?`
      const should = names.length === 1 ? `be ${names[0]}` : `be one of ${names.join(', ')}`
      return [problem(`\`${pathText(path)}\` should ${should}.${foundText(tree, path)}${hint}`)]
    }
    case 'invalid_type': {
      if (isSecret(path))
        return [problem(`\`${pathText(path)}\` says where a key is kept. ${KEYS_ELSEWHERE}`)]
      if (nodeAt(tree, path) === undefined) return [problem(`\`${pathText(path)}\` is missing.`)]
      return [
        said(
          isOurs(issue.message)
            ? issue.message
            : `should be ${WORDS[issue.expected] ?? issue.expected}`,
        ),
      ]
    }
    case 'too_small':
    case 'too_big':
      return [said(isOurs(issue.message) ? issue.message : boundText(issue))]
    case 'invalid_format':
      return [
        said(issue.format === 'url' ? 'should be an http:// or https:// address' : issue.message),
      ]
    default:
      return [said(issue.message)]
  }
}

/** The names exist at run time, but not in the type. */
function kindsOf(issue: z.core.$ZodIssueInvalidUnion): string {
  const { options } = issue as { options?: readonly unknown[] }
  return options?.join(', ') ?? 'the known kinds'
}

/** Of several forms, the one that matches the kind of the given value; undefined if none does. */
function branchMeant(issue: z.core.$ZodIssueInvalidUnion): readonly z.core.$ZodIssue[] | undefined {
  return issue.errors.find((branch) =>
    branch.every((each) => each.path.length > 0 || each.code === 'unrecognized_keys'),
  )
}

/** The schema's own sentences continue after the name of the key. */
function isOurs(message: string): boolean {
  return /^(?:should|is|has) /.test(message)
}

const WORDS: { readonly [expected: string]: string } = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'a map of keys and values',
  record: 'a map of names and values',
  array: 'a list',
}

function boundText(issue: z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig): string {
  const [word, bound] =
    issue.code === 'too_small' ? ['at least', issue.minimum] : ['at most', issue.maximum]
  if (issue.origin === 'array') return `should hold ${word} ${bound}`
  if (issue.origin === 'string') return `should have ${word} ${bound} characters`
  return `should be ${word} ${bound}`
}

function isSecret(path: Path): boolean {
  return path.at(-1) === 'credential' || path.at(-1) === 'password'
}

const VALUE_LENGTH_MAX = 40

/** Leaves out every value that may be a secret. */
function foundText(tree: Node, path: Path): string {
  const node = nodeAt(tree, path)
  const isPrivate = path.some((key) => ['credential', 'password', 'headers'].includes(String(key)))
  if (node === undefined || isPrivate) return ''
  if (node.kind !== 'leaf') return ` It is a ${node.kind}.`
  const text = redact(String(plainOf(node)))
  const clipped = text.length > VALUE_LENGTH_MAX ? `${text.slice(0, VALUE_LENGTH_MAX)}…` : text
  return typeof node.value === 'string' ? ` It is "${clipped}".` : ` It is ${clipped}.`
}
