import { type EntryNumber, entryNumber } from '../../base/ids.ts'
import type { AdoptedEntry } from '../adoption.ts'
import { ADOPT_MAX } from '../bounds.ts'
import { InvalidRequestError } from '../errors.ts'
import { compactionMetaOf } from '../fold.ts'
import { canonicalJson } from '../integrity/canonical.ts'
import { isMoment } from '../measure.ts'
import type { Entry } from '../tables/rows.ts'
import { Draft } from './change-builder.ts'
import { fencedAtTail, type Rule, tailOf } from './ruling.ts'

/**
 * Appends history from another store in bounded pieces. Calls without results and results without
 * calls are kept as they were; contexts are repaired when they are rendered. All adopted entries
 * count as seen, so they start no turn.
 */
export const adoptEntries: Rule<'adoptEntries'> = (rows, request, stamp) => {
  const session = fencedAtTail(rows, request)
  if ('kind' in session) return { outcome: session }
  const { entries, operation } = request
  if (entries.length === 0 || entries.length > ADOPT_MAX) {
    throw new InvalidRequestError({ problem: `An adoption takes 1 to ${ADOPT_MAX} entries.` })
  }
  if (session.birth !== 'imported') return { outcome: { kind: 'not-imported' } }
  const isBusy =
    session.turnState === 'running' || session.openCalls.length > 0 || session.operation !== null
  if (isBusy) return { outcome: { kind: 'in-use' } }

  const draft = new Draft(rows, session, operation, stamp)
  let before: AdoptedEntry['kind'] | null = null
  for (const entry of entries) {
    if (entry.kind === 'input' && before !== 'input') draft.set({ turn: draft.session.turn + 1 })
    adopt(draft, entry, (number) => rows.entry(session.id, number))
    before = entry.kind
  }
  draft.set({ seen: draft.session.tail })
  draft.audit('entries adopted', { from: session.tail + 1, to: draft.session.tail })
  return { outcome: { kind: 'appended', tail: tailOf(draft.session) }, change: draft.change() }
}

function use(draft: Draft, blobs: readonly string[]): void {
  const missing = draft.useBlobs(blobs)
  if (missing === null) return
  throw new InvalidRequestError({ problem: `Blob ${missing} was not staged.` })
}

type FindEntry = (number: EntryNumber) => Entry | undefined

/**
 * The compaction in effect from there on may be newer than the entry: it covers what precedes it.
 */
function rewind(
  draft: Draft,
  { to, effective }: Extract<AdoptedEntry, { kind: 'rewind' }>,
  content: { readonly body: string; readonly tokens: number; readonly at: number },
  find: FindEntry,
): EntryNumber {
  const { tail, effective: target } = draft.session
  const upto = to ?? tail
  if (upto > tail) throw new InvalidRequestError({ problem: 'A rewind cannot lead past the tail.' })
  const entry = effective === 0 ? undefined : find(effective)
  const handoff = entry && compactionMetaOf(entry)
  if (effective !== 0 && (handoff === undefined || handoff.covers > upto)) {
    throw new InvalidRequestError({
      problem: `Entry ${effective} is not a compaction of entries up to ${upto}.`,
    })
  }
  const meta = { target, previous: effective, ...(to !== undefined && { to }) }
  const number = draft.append({ kind: 'revert', meta }, content)
  const covers = entryNumber(handoff?.covers ?? 0)
  draft.set({ effective, covers, by: handoff?.by ?? null, base: number, rewrites: 0 })
  if (to === undefined) draft.audit('compaction reverted', { target, entry: number })
  return number
}

function adopt(draft: Draft, entry: AdoptedEntry, find: FindEntry): EntryNumber {
  const { body, tokens, at, row } = entry
  if (!isMoment(at)) throw new InvalidRequestError({ problem: `No moment: ${at}.` })
  const content = { body: canonicalJson(body), tokens, at }
  const from = row === null ? {} : { row }
  const { tail, turn, effective, limits } = draft.session
  switch (entry.kind) {
    case 'input': {
      const { lane, blobs = [] } = entry
      use(draft, blobs)
      return draft.append({ kind: 'input', meta: { lane, mail: 0, blobs, ...from } }, content)
    }
    case 'assistant': {
      const meta = { turn, upto: tail, renderer: 'adopted', calls: entry.calls, blobs: [], ...from }
      return draft.append({ kind: 'assistant', meta }, content)
    }
    case 'result': {
      const { call, outcome, blobs = [] } = entry
      use(draft, blobs)
      return draft.append({ kind: 'result', meta: { call, outcome, blobs, ...from } }, content)
    }
    case 'compaction': {
      const { covers, by = 'model' } = entry
      if (covers > tail) throw new InvalidRequestError({ problem: 'A handoff covers what is.' })
      const meta = { covers, previous: effective, by, ...from }
      const number = draft.append({ kind: 'compaction', meta }, content)
      draft.set({ effective: number, covers, by, base: number, rewrites: 0 })
      return number
    }
    case 'aside':
      return draft.append({ kind: 'turn', meta: { turn, ended: 'stopped', ...from } }, content)
    case 'settings': {
      const meta = { limits: { ...limits }, replaces: { ...limits } }
      const number = draft.append({ kind: 'settings', meta }, content)
      draft.set({ settings: entryNumber(number) })
      return number
    }
    case 'rewind':
      return rewind(draft, entry, content, find)
    default:
      return entry satisfies never
  }
}
