import { z } from 'zod'
import { indentLines } from '#core/base/line'
import { type Endpoint, endpoint } from '../endpoint.ts'
import { HttpProblem } from '../problems.ts'
import { name } from '../schemas.ts'
import { isAmbiguous, isGenuine } from '../webhook.ts'
import { ACCEPTED, ADMISSION_PROBLEMS, acceptedOf } from './messages.ts'

/**
 * A webhook is data for the agent, never a person's instruction, so it goes into the notification
 * lane.
 */
export const hookEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'post',
    path: '/v1/hooks/{name}',
    summary: 'News from another program, signed with the secret of the hook',
    scope: null,
    isSigned: true,
    params: z.strictObject({ name }),
    answers: { 202: ACCEPTED },
    problems: [...ADMISSION_PROBLEMS, 'bad-signature'],
    async run({ params, signed, countFor }, { runtime, hooks, now }) {
      if (signed !== undefined && isAmbiguous(signed)) {
        const detail = 'webhook-id: no part behind a dot may be digits alone.'
        throw new HttpProblem('invalid', { detail })
      }
      const hook = hooks.find((each) => each.name === params.name)
      // An unknown hook and a wrong signature look alike.
      if (hook === undefined || signed === undefined || !isGenuine(signed, hook.keys, now())) {
        throw new HttpProblem('bad-signature')
      }
      countFor(`hook ${hook.name}`)
      const said = Buffer.from(signed.bytes).toString('utf8')
      const message = {
        ...{ source: `hook:${hook.name}`, key: signed.id, lane: 'notification' as const },
        parts: [{ type: 'text' as const, text: `[webhook ${hook.name}]\n${indentLines(said)}` }],
      }
      const { to } = hook
      if ('sessionId' in to) return acceptedOf(await runtime.session(to.sessionId).admit(message))
      return acceptedOf(await runtime.admit({ ...to, ...message }))
    },
  }),
]
