import { type EntryNumber, entryNumber, type MailNumber } from '../../base/ids.ts'
import type { JsonValue } from '../../base/json.ts'
import { ADOPT_MAX, RECORD_BYTES_MAX } from '../bounds.ts'
import { InvalidRequestError } from '../errors.ts'
import { canonicalJson, sha256 } from '../integrity/canonical.ts'
import { bytesOver } from '../measure.ts'
import type { RecordEntries, RecordedStep } from '../record-commits.ts'
import { hashKey } from './admit.ts'
import { Draft } from './change-builder.ts'
import type { Rule } from './ruling.ts'

/**
 * Records what another program did: a whole turn of its own loop, or records that only it reads.
 * Like an admission this needs no lease: the request alone determines what is appended, and its key
 * makes a repeat harmless. A turn is refused while another one runs here.
 */
export const recordEntries: Rule<'recordEntries'> = (rows, request, stamp) => {
  const { sessionId, source, key, operation, after, what } = request
  const count = what.kind === 'turn' ? what.steps.length : what.bodies.length
  if (count === 0 || count > ADOPT_MAX) {
    throw new InvalidRequestError({ problem: `Record 1 to ${ADOPT_MAX} entries at once.` })
  }
  const text = canonicalJson(what as unknown as JsonValue)
  const keyHash = hashKey(source, key)
  const bodyHash = sha256(canonicalJson([keyHash, text]))
  const known = rows.intake(keyHash)
  if (known !== undefined) {
    const isSame = known.bodyHash === bodyHash && known.sessionId === sessionId
    const entry = entryNumber(Math.max(0, -known.number))
    return { outcome: isSame ? { kind: 'duplicate', entry } : { kind: 'conflict', entry } }
  }

  const session = rows.session(sessionId)
  if (session === undefined) return { outcome: { kind: 'unknown' } }
  if (session.state !== 'open') return { outcome: { kind: 'gone' } }
  const large = bytesOver(text, RECORD_BYTES_MAX)
  if (large !== null) return { outcome: large }
  if (after !== undefined && after !== session.tail) return { outcome: { kind: 'moved' } }
  const isBusy = session.turnState === 'running' || session.openCalls.length > 0
  if (what.kind === 'turn' && isBusy) return { outcome: { kind: 'in-use' } }

  const draft = new Draft(rows, session, operation, stamp)
  const keyed = { keyHash, bodyHash }
  const recorded =
    what.kind === 'turn' ? appendTurn(draft, what, keyed) : append(draft, what, keyed)
  if (typeof recorded === 'string') return { outcome: { kind: 'blob-missing', hash: recorded } }
  const turn = what.kind === 'turn' ? { turn: draft.session.turn } : {}
  draft.audit('entries adopted', { from: session.tail + 1, to: draft.session.tail, ...turn })
  return {
    outcome: { kind: 'recorded', entry: recorded },
    change: {
      ...draft.change(),
      intake: [{ ...keyed, sessionId, number: recordedAt(recorded) }],
    },
  }
}

/** The number under which a key remembers a recorded entry; positive numbers are mail. */
export function recordedAt(entry: EntryNumber): MailNumber {
  return -entry as MailNumber
}

interface Keyed {
  readonly keyHash: string
  readonly bodyHash: string
}
type What<Kind> = Extract<RecordEntries['what'], { readonly kind: Kind }>

/** Returns the number of the first record, which carries the key. */
function append(draft: Draft, { bodies }: What<'records'>, keyed: Keyed): EntryNumber {
  const first = entryNumber(draft.session.tail + 1)
  for (const [index, body] of bodies.entries()) {
    const meta = index === 0 ? keyed : {}
    draft.appendJson({ kind: 'record', meta }, { body, tokens: 0 })
  }
  return first
}

/**
 * Returns the number of the entry that ends the turn and carries the key, or the hash of a missing
 * blob.
 */
function appendTurn(draft: Draft, { steps }: What<'turn'>, keyed: Keyed): EntryNumber | string {
  const turn = draft.session.turn + 1
  draft.set({ turn })
  for (const step of steps) {
    const { blobs = [] } = step
    const missing = draft.useBlobs(blobs)
    if (missing !== null) return missing
    draft.appendJson(headOf(step, turn, draft.session.tail), step)
  }
  // The other program's model has seen all of it.
  draft.set({ seen: draft.session.tail })
  const head = { kind: 'turn', meta: { turn, ended: 'answered', ...keyed } } as const
  return draft.appendJson(head, { body: null, tokens: 0 })
}

function headOf(step: RecordedStep, turn: number, upto: EntryNumber) {
  const { kind, blobs = [] } = step
  switch (kind) {
    case 'input':
      return { kind, meta: { lane: 'user', mail: 0, blobs } } as const
    case 'assistant':
      return { kind, meta: { turn, upto, renderer: 'recorded', calls: step.calls, blobs } } as const
    case 'result':
      return { kind, meta: { call: step.call, outcome: step.outcome, blobs } } as const
    default:
      return step satisfies never
  }
}
