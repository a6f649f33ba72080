import { setTimeout as sleep } from 'node:timers/promises'
import type { MailNumber } from '#core/base/ids'
import type { Reply } from '../runtime/runtime.ts'
import type { ChatSession } from './conversation.ts'
import { waitText } from './terminal/answers.ts'

const LOOK_EVERY_MS = 1_000

export type Awaited =
  | { readonly kind: 'ended'; readonly reply: Reply | null }
  /** A limit on spending holds the session until a person continues it. */
  | { readonly kind: 'paused'; readonly text: string }

/** Waits for the answer to a message, and reports why it does not come, each reason once. */
export async function awaitReply(
  session: Pick<ChatSession, 'reply' | 'summary'>,
  mail: MailNumber,
  { signal, onWait }: { readonly signal: AbortSignal; readonly onWait: (text: string) => void },
): Promise<Awaited> {
  const over = new AbortController()
  const until = AbortSignal.any([signal, over.signal])
  let reported = ''
  const watch = async (): Promise<Awaited | null> => {
    while (!until.aborted) {
      await sleep(LOOK_EVERY_MS, undefined, { signal: until, ref: false }).catch(() => {})
      // Waiting for the reply reports a store that cannot be read.
      const summary = await session.summary().catch(() => undefined)
      const wait = summary?.wait ?? null
      if (until.aborted || wait === null || wait.text === reported) continue
      if (summary?.state === 'waiting-for-approval') return { kind: 'paused', text: wait.text }
      reported = wait.text
      onWait(waitText(wait))
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
