import { sessionId } from '#core/base/ids'
import { isObject, type JsonObject } from '#core/base/json'
import type { OperationRow } from '#core/store/tables/rows'
import { sealPreview } from '../../runtime/sessions/preview-seal.ts'
import { fillerOf } from '../laws/ledger.ts'
import { entryKindOf, long, type Stage } from '../stage/stage.ts'
import { ATTEMPTS_MAX } from '../terms.ts'

/** Pins, compactions and what interferes with them. */

export async function pins(stage: Stage): Promise<void> {
  const name = await stage.open('scene-pins')
  const early = 'Never on a Sunday:\tnot even "once".'
  const late = 'The gate code is  7319 , with both blanks.'
  await pin(stage, name, 'early', early)
  await stage.fill(name, [900, 900])
  await stage.compact(name)
  await pin(stage, name, 'late', late)
  await stage.ended(name, await stage.say(name, 'What must you know?'))
  // The next holder reads everything again.
  await stage.untilFree(name)
  await stage.ended(name, await stage.say(name, 'And what else?'))
  const sent = stage.model.requestsOf(name).at(-1) ?? ''
  for (const text of [early, late]) {
    const written = JSON.stringify(text).slice(1, -1)
    if (!sent.includes(written)) stage.broken('pinned', `${name}: ${text} is not in the context`)
  }
  const { limits, settings } = await stage.row(name)
  const fixed = (await stage.entries(name)).find(({ number }) => number === settings)?.tokens ?? 0
  // Alone it would fit; together with the system text and the tools it does not.
  const bulky = long('Everything', limits.pinTokens - Math.floor(fixed * 0.6))
  await stage.do(name, 'pin', { name: 'bulky', text: bulky })
  await stage.until('the bulky pin is judged', async () => (await waiting(stage, name)) === 0)
  if ('bulky' in (await stage.row(name)).pins) {
    stage.broken('pinned', `${name}: a pin was taken for which there is no room`)
  }
}

async function pin(stage: Stage, name: string, as: string, text: string): Promise<void> {
  await stage.do(name, 'pin', { name: as, text })
  await stage.until(`${as} is pinned`, async () => as in (await stage.row(name)).pins)
}

async function waiting(stage: Stage, name: string): Promise<number> {
  return (await stage.row(name)).pending.control
}

/** The conversation continues while a handoff is written; it lands during an answer. */
export async function grown(stage: Stage): Promise<void> {
  const name = await stage.open('scene-grown')
  await stage.fill(name, [1_200, 1_200])
  stage.model.spoilSummary(name, 'latency; ms=2500')
  await stage.do(name, 'compact')
  const operation = await stage.running(name)
  await stage.fill(name, [1_100, 1_100])
  const problem = await whyNotInEffect(stage, name, operation)
  if (problem !== null) stage.broken('founded', `${name}: sent more meanwhile: ${problem}`)
  stage.model.heal(`summary of ${name}`)
}

/** Why a written handoff is not in effect; null: it is. */
async function whyNotInEffect(
  stage: Stage,
  name: string,
  operation: OperationRow,
): Promise<string | null> {
  const { state, result } = await stage.outcome(name, operation)
  if (result['reason'] === UNWRITTEN) throw new Error(`${name}: no handoff was written`)
  // On an overloaded machine an owner may lose its sessions. `judgeAbandoned` checks at the end
  // whether the owner was really gone.
  if (state === 'abandoned' && result['reason'] === OWNER_GONE) return null
  return state === 'committed' ? null : `the handoff was ${state}: ${JSON.stringify(result)}`
}

const UNWRITTEN = 'summary-failed'
const OWNER_GONE = 'owner gone'

export async function paid(stage: Stage): Promise<void> {
  const name = await stage.open('scene-paid')
  await stage.fill(name, [1_000, 1_000])
  stage.model.spoilSummary(name, 'latency; ms=400')
  stage.model.spoil(name, 'latency; ms=1200')
  await stage.do(name, 'compact')
  const operation = await stage.running(name)
  const before = stage.model.requestsOf(name).length
  const mail = await stage.say(name, 'Say it while you tidy up.')
  await stage.outcome(name, operation)
  await stage.ended(name, mail)
  const asked = stage.model.requestsOf(name).length - before
  if (asked !== 1) stage.broken('paid', `${name}: one answer was asked for ${asked} times`)
  stage.model.heal(name)
}

/** A stop ends the streaming answer and nothing else. */
export async function untorn(stage: Stage): Promise<void> {
  const name = await stage.open('scene-untorn')
  await stage.fill(name, [1_000, 1_000])
  stage.model.spoilSummary(name, 'latency; ms=2500')
  stage.model.spoil(name, 'latency; ms=60000')
  const mail = await stage.say(name, 'Take your time.')
  await stage.untilTurn(name)
  await stage.do(name, 'compact')
  const operation = await stage.running(name)
  await stage.stop(name)
  await stage.ended(name, mail)
  const problem = await whyNotInEffect(stage, name, operation)
  if (problem !== null) stage.broken('untorn', `${name}: stopped meanwhile: ${problem}`)
  stage.model.heal(name)
}

/** A compaction is undone while the next one is written on top of it. */
export async function undone(stage: Stage): Promise<void> {
  const name = await stage.open('scene-undone')
  await stage.fill(name, [700, 700])
  await stage.compact(name)
  await stage.fill(name, [900])
  stage.model.spoilSummary(name, 'latency; ms=2500')
  await stage.do(name, 'compact')
  const operation = await stage.running(name)
  await stage.do(name, 'revert')
  await stage.until(`${name} is reverted`, async () => (await stage.row(name)).effective === 0)
  const { state } = await stage.outcome(name, operation)
  if (state !== 'superseded') {
    stage.broken('founded', `${name}: what it stood on was undone, the handoff is ${state}`)
  }
}

/** An undo is refused because the restored context would not fit. */
export async function noSpace(stage: Stage): Promise<void> {
  const name = await stage.open('scene-room')
  const { hardTokens, inputTokens } = (await stage.row(name)).limits
  const page = Math.floor((hardTokens - inputTokens) / 5.2)
  await stage.fill(name, [page, page, page])
  await stage.compact(name)
  await stage.fill(name, [page, page])
  const { effective } = await stage.row(name)
  await stage.do(name, 'revert')
  await stage.until('the revert is judged', async () => (await waiting(stage, name)) === 0)
  if ((await stage.row(name)).effective !== effective) {
    stage.broken('founded', `${name}: a compaction was undone although what it covers does not fit`)
  }
}

/** Worthless summaries again and again: a few attempts are made, and nothing changes. */
export async function stubborn(stage: Stage): Promise<void> {
  const name = await stage.open('scene-stubborn')
  stage.model.spoilSummary(name, 'blank')
  const { hardTokens } = (await stage.row(name)).limits
  const page = Math.floor(hardTokens * 0.18)
  for (let pages = 0; pages < 5 && (await stage.operations(name)).length === 0; pages++) {
    await stage.fill(name, [page])
  }
  await stage.until('a handoff has failed', async () =>
    (await stage.operations(name)).some(({ state }) => state === 'failed'),
  )
  // A person requests it anyway; after a few attempts that is refused.
  for (let at = 0; at < ATTEMPTS_MAX + 1; at++) {
    await stage.do(name, 'compact')
    await stage.until('the wish is judged', async () => (await waiting(stage, name)) === 0)
  }
  const asked = (await stage.operations(name)).filter(
    ({ by }) => by === 'model' || by === 'rewrite',
  ).length
  if (asked > ATTEMPTS_MAX) stage.broken('paid', `${name}: a summary was asked for ${asked} times`)
  const { base, effective } = await stage.row(name)
  if (effective === 0 && base !== 0) {
    stage.broken('founded', `${name}: a handoff that failed has changed the base to ${base}`)
  }
}

/** A preview exceeds the limit of a handoff, though our own processes have sealed it. */
export async function bloated(stage: Stage): Promise<void> {
  const name = await stage.open('scene-bloated')
  await stage.fill(name, [1_000, 1_000])
  const preview = await stage.do(name, 'preview')
  const install = isObject(preview) ? preview['install'] : null
  if (!isObject(install)) throw new Error(`no preview: ${entryKindOf(preview)}`)
  const { seal: _, ...shown } = install
  const { handoffTokens } = (await stage.row(name)).limits
  const tokens = handoffTokens * 2
  const handoff: JsonObject = {
    ...(shown['handoff'] as JsonObject),
    summary: fillerOf(tokens * 4),
  }
  const bloat = await sealPreview(stage.store, sessionId(name), { ...shown, handoff, tokens })
  await stage.do(name, 'install', { preview: bloat })
  await stage.until('the preview is judged', async () => (await waiting(stage, name)) === 0)
  const { effective } = await stage.row(name)
  if (effective !== 0) stage.broken('founded', `${name}: a handoff over its budget was installed`)
}
