import type { FileRecord, Handoff, LedgerEntry } from '../message/handoff/handoff.ts'
import type { Message } from '../message/message.ts'
import { textOf } from '../message/text.ts'
import { coveredUpTo } from './check.ts'
import { withoutQuoted } from './digest.ts'
import { type HandoffWork, yieldTurn } from './handoff-work.ts'
import { headNumbers } from './layout.ts'
import { ledgerBuilder } from './ledger/build.ts'
import { ENVELOPE_TOKENS, SECTION_TOKENS_MAX } from './plan/defaults.ts'
import { OMITTED_TOKENS, type Preserved, preserver, TITLE_TOKENS } from './plan/preserve.ts'

/**
 * The user's own words and the ledger share the space that the other sections leave. The ledger takes
 * what the words leave; what the ledger cannot use goes to words that were cut or dropped.
 */
export interface FilledHandoff {
  readonly handoff: Handoff
  readonly preserved: Preserved
}

interface Space {
  /** What stays in the context beside the handoff. */
  readonly tail: readonly Message[]
  /** The budget of all sections, and the part of it that open requests always keep. */
  readonly sectionTokens: number
  readonly openTokens: number
  /** For the user's words, open requests included. */
  readonly wordTokens: number
  /** Used if the caller asked for it. */
  readonly ledgerTokens: number
}

/** A cap for the largest handoffs; more names are rarely used. */
const LEDGER_TOKENS_MAX = 4_000
/** Less is not worth another choice of the user's messages. */
const SPARE_TOKENS_MIN = 200
/** A handoff grows to this share of what it covers: a compaction is meant to gain something. */
const WORTH_SHARE = 0.75

export async function fillHandoff(
  work: HandoffWork,
  bare: Handoff,
  space: Space,
): Promise<FilledHandoff> {
  const { messages, plan, counters } = work
  const sources = await readSources(work)
  const first = await fill(work, sources, bare, space)
  const { preserved, spare } = first
  const isCut = preserved.messages.some(({ truncated }) => truncated)
  if ((preserved.dropped === 0 && !isCut) || first.isFull) return first
  // An automatic compaction makes room, for a window that may be smaller than the plan's.
  if (plan.trigger !== 'manual') return first
  const most = space.sectionTokens + ENVELOPE_TOKENS
  const { countMessage } = counters
  const covered = coveredUpTo(most / WORTH_SHARE, messages, plan, countMessage)
  // A session's tail is not part of its plan.
  const beside = [...messages.slice(0, plan.layout.fixedTo), ...space.tail]
  const besideTokens = beside.reduce((sum, message) => sum + countMessage(message), 0)
  const tokensMax = Math.min(most, covered * WORTH_SHARE, plan.targetTokens - besideTokens)
  const more = tokensMax - (most - spare)
  if (more < SPARE_TOKENS_MIN) return first
  const second = await fill(work, sources, bare, { ...space, wordTokens: space.wordTokens + more })
  const isBetter = second.spare >= 0 && second.preserved.dropped <= preserved.dropped
  return isBetter ? second : first
}

/** What the sections are chosen from, read once: reading the head takes most of the time. */
interface Sources {
  readonly preserve: ReturnType<typeof preserver>
  readonly buildLedger: ReturnType<typeof ledgerBuilder>
}

async function readSources(work: HandoffWork): Promise<Sources> {
  const { messages, plan, counters, earlier } = work
  const { layout, cut } = plan
  const preserve = preserver({
    messages,
    plan,
    ...(earlier !== undefined && { earlier }),
    ...counters,
  })
  await yieldTurn(work)
  const buildLedger = ledgerBuilder({
    head: messages.slice(layout.headFrom, cut),
    numberOf: headNumbers(layout),
    countTokens: counters.countTokens,
    previous: [...(earlier?.ledger ?? []), ...(earlier?.files ?? []).map(asEntry)],
    ...(earlier !== undefined && { earlierSummary: earlier.summary }),
  })
  await yieldTurn(work)
  return { preserve, buildLedger }
}

async function fill(
  work: HandoffWork,
  { preserve, buildLedger }: Sources,
  bare: Handoff,
  space: Space,
) {
  const { counters, budget } = work
  const userTokens = work.userTokens ?? SECTION_TOKENS_MAX.user
  const user = Math.min(userTokens, space.wordTokens - OMITTED_TOKENS)
  const preserved = preserve(Math.max(space.openTokens, user))
  await yieldTurn(work)
  const quoted = new Set(preserved.messages.map(({ number }) => number))
  const { omitted } = preserved
  const worded: Handoff = {
    ...bare,
    preserved: preserved.messages,
    ...(omitted && { omitted }),
    summary: bare.by === 'digest' ? withoutQuoted(bare.summary, quoted) : bare.summary,
  }
  const leftBy = (handoff: Handoff) =>
    space.sectionTokens + ENVELOPE_TOKENS - counters.countMessage({ role: 'handoff', handoff })
  const { ledgerTokens } = budget.settings
  const ledgerMax = ledgerTokens === undefined ? LEDGER_TOKENS_MAX : space.ledgerTokens
  const ledger = buildLedger({
    tokensMax: Math.max(0, Math.min(ledgerMax, leftBy(worded) - TITLE_TOKENS)),
    summary: worded.summary,
    visible: [
      worded.summary,
      ...worded.preserved.map((each) => textOf(each.message)),
      ...worded.files.map((file) => file.path),
      ...space.tail.map((message) => textOf(message)),
    ],
  })
  await yieldTurn(work)
  const handoff = { ...worded, ledger }
  return { handoff, preserved, isFull: user >= userTokens, spare: leftBy(handoff) }
}

/** A file dropped from the list of files is still a path that the agent wrote. */
function asEntry(file: FileRecord): LedgerEntry {
  return { kind: 'path', text: file.path, count: 1, number: file.number }
}
