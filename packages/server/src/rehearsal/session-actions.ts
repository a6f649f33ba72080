import { mailNumber, sessionId } from '#core/base/ids'
import type { JsonObject, JsonValue } from '#core/base/json'
import type { UserPart } from '#core/message/message'
import type { Store } from '#core/store/contract'
import type { LocalRuntime } from '../runtime/open-runtime.ts'
import type { Session } from '../runtime/runtime.ts'
import type { SessionAction } from './process-messages.ts'
import { EDGE } from './terms.ts'

/** Runs the requests to a rehearsal's process as a gateway or a command would. */
const REPLY_MS_MAX = 60_000

export async function performAction(
  question: SessionAction,
  { runtime, store }: { readonly runtime: LocalRuntime; readonly store: Store },
): Promise<JsonValue> {
  const id = sessionId(question.sessionId)
  const session = runtime.session(id)
  switch (question.what) {
    case 'admit': {
      const { source, key, lane, address } = question
      const replyTo = address === undefined ? {} : { replyTo: { edge: EDGE, address } }
      return json(await session.admit({ source, key, lane, parts: partsOf(question), ...replyTo }))
    }
    case 'create':
      return json(await runtime.createSession({ agent: id, id }))
    case 'do':
      return json(await perform(session, question.action, question.request))
    case 'stop': {
      const { source, key } = question
      return json(await session.stop({ source, key }))
    }
    case 'reply': {
      const signal = AbortSignal.timeout(REPLY_MS_MAX)
      const reply = await session.reply(mailNumber(question.mail), signal)
      return reply === null ? null : reply.text
    }
    case 'export': {
      const lines: string[] = []
      for await (const line of session.exportLines()) lines.push(line)
      return lines
    }
    case 'import':
      return json(await store.importSession(question.lines))
    case 'sweep':
      return json(await store.dropStaged({ before: Date.now() + 1_000 }))
  }
}

function partsOf({
  text,
  picture,
}: Extract<SessionAction, { what: 'admit' }>): readonly UserPart[] {
  const said = { type: 'text', text } as const
  if (picture === undefined) return [said]
  const source = { kind: 'base64', mediaType: 'image/png', data: picture } as const
  return [said, { type: 'image', source }]
}

async function perform(
  session: Session,
  action: Extract<SessionAction, { what: 'do' }>['action'],
  request: JsonValue,
): Promise<unknown> {
  switch (action) {
    case 'withdraw':
      return await session.withdraw(mailNumber(Number(request)))
    case 'preview':
      return await session.preview({}, AbortSignal.timeout(REPLY_MS_MAX))
    case 'compact':
    case 'revert':
      return await session[action](request as unknown as Parameters<Session['revert']>[0])
    case 'pin':
      return await session.pin(request as unknown as Parameters<Session['pin']>[0])
    case 'purge':
      return await session.purge(request as unknown as Parameters<Session['purge']>[0])
    case 'install':
      return await session.install(request as unknown as Parameters<Session['install']>[0])
  }
}

function json(value: unknown): JsonObject {
  return value as JsonObject
}
