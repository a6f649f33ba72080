import { setTimeout as sleep } from 'node:timers/promises'
import type { MailNumber } from '#core/base/ids'
import type { Reply, SessionSummary } from '../runtime/runtime.ts'
import type { ChatSession } from './conversation.ts'
import { waitText } from './terminal/answers.ts'

const LOOK_EVERY_MS = 1_000

export type Awaited =
  | { readonly kind: 'ended'; readonly reply: Reply | null }
  /** A limit on spending holds the session until a person continues it. */
  | { readonly kind: 'paused'; readonly text: string }

/** Waits for the answer to a message, and reports why it does not come and each try that fails. */
export async function awaitReply(
  session: Pick<ChatSession, 'reply' | 'summary'>,
  mail: MailNumber,
  { signal, onWait }: { readonly signal: AbortSignal; readonly onWait: (text: string) => void },
): Promise<Awaited> {
  const over = new AbortController()
  const until = AbortSignal.any([signal, over.signal])
  let reported: NonNullable<SessionSummary['wait']> | null = null
  const watch = async (): Promise<Awaited | null> => {
    while (!until.aborted) {
      await sleep(LOOK_EVERY_MS, undefined, { signal: until, ref: false }).catch(() => {})
      // Waiting for the reply reports a store that cannot be read.
      const summary = await session.summary().catch(() => undefined)
      const wait = summary?.wait ?? null
      if (until.aborted || wait === null) continue
      const isKnown = wait.text === reported?.text
      if (isKnown && wait.nextTryAt === reported?.nextTryAt) continue
      if (summary?.state === 'waiting-for-approval') return { kind: 'paused', text: wait.text }
      reported = wait
      onWait(waitText(isKnown ? { ...wait, text: 'That failed, too.' } : wait))
    }
    return null
  }
  const reply = session
    .reply(mail, until)
    .then((found) => ({ kind: 'ended', reply: found }) as const)
  const watched = watch()
  try {
    return (await Promise.race([reply, watched.then((paused) => paused ?? reply)])) as Awaited
  } finally {
    over.abort()
    await Promise.allSettled([reply, watched])
  }
}
