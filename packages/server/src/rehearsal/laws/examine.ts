import { mailNumber, sessionId } from '#core/base/ids'
import { isObject } from '#core/base/json'
import type { Reads } from '#core/store/contract'
import { openQuestion, parcelQuestion } from '../stage/model.ts'
import type { ProcessHandle } from '../stage/process-handle.ts'
import { type Asked, type KeptSession, lettersToAsk } from './judge.ts'
import { openTaskOf, type TrackedMessage } from './ledger.ts'

/**
 * Asks an agent, in ordinary turns, about messages it got during a compaction and whether anything
 * is open. Whether the agent had to look an answer up follows from the position of the message: one
 * that no compaction covers is in the context.
 */
export async function examine(
  handle: Pick<ProcessHandle, 'name' | 'ask'>,
  letters: readonly TrackedMessage[],
  kept: KeptSession,
  store: Reads,
): Promise<readonly Asked[]> {
  const agent = handle.name
  const asked: Asked[] = []
  const before = await store.findSession(sessionId(agent))
  for (const letter of lettersToAsk(letters, kept, before?.covers ?? 0)) {
    const question = parcelQuestion(letter.key)
    const answer = await askAgent(handle, `about-${letter.key}`, question)
    const row = await store.findSession(sessionId(agent))
    const entry = kept.entries.find(
      ({ kind, meta }) => kind === 'input' && 'mail' in meta && meta.mail === letter.mail,
    )
    const isReproduced = row !== undefined && entry !== undefined && entry.number > row.covers
    asked.push({ agent, letter, isReproduced, wanted: letter.word, answer })
  }
  const answer = await askAgent(handle, `open-${agent}`, openQuestion(agent))
  asked.push({ agent, letter: null, isReproduced: false, wanted: openTaskOf(agent), answer })
  return asked
}

async function askAgent(
  handle: Pick<ProcessHandle, 'name' | 'ask'>,
  key: string,
  text: string,
): Promise<string> {
  const agent = handle.name
  try {
    const admitted = await handle.ask({
      ...{ what: 'admit', sessionId: agent, source: 'examiner', key, lane: 'user', text },
    })
    const mail = isObject(admitted) ? admitted['mail'] : undefined
    if (typeof mail !== 'number') return `(not admitted: ${JSON.stringify(admitted)})`
    const reply = await handle.ask({ what: 'reply', sessionId: agent, mail: mailNumber(mail) })
    return typeof reply === 'string' ? reply : `(no reply to mail ${mail})`
  } catch (error) {
    return `(not asked: ${String(error)})`
  }
}
