import { z } from 'zod'
import { isObject, type JsonValue } from '#core/base/json'
import { pinNameProblem, pinnedText } from '#core/message/handoff/pinned'
import { LIST_MAX } from '#core/store/bounds'
import type { Commits, Reads } from '#core/store/contract'
import { PINS_MAX, pinBudget } from '#core/store/pins'
import type { MailItem } from '#core/store/queries'
import type { SessionRow } from '#core/store/tables/rows'
import { defineTool, refuse } from './define-tool.ts'
import { admitControl, answerTo, type Counting } from './own-mail.ts'
import { serializeCalls } from './serialize-calls.ts'
import type { Tool } from './tool.ts'

const input = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/)
    .describe('The same name again replaces the text.'),
  text: z.string().min(1).max(20_000).nullable().describe('Null removes the pin.'),
})

/** Constraints that every context holds byte for byte. */
export function pinTool(
  parts: {
    readonly store: Pick<Commits & Reads, 'admit' | 'findSession' | 'listMail' | 'readEntries'>
  } & Counting,
): Tool {
  const { store, countTokens } = parts
  const afterOthers = serializeCalls()
  return defineTool({
    name: 'pin',
    description:
      'Pin a text (a rule, a constraint, a fact that must not be lost): from now on every context ' +
      'holds it word for word. Keep pins few and short.',
    input,
    isRepeatable: true,
    run: (call) =>
      afterOthers(async () => {
        const { name, text } = call.input
        const problem = pinNameProblem(name)
        if (problem !== null) return refuse(`Not pinned: ${problem}.`)
        const { sessionId } = call
        const asked = { sessionId, lane: 'control', state: 'pending', limit: LIST_MAX } as const
        // Mail is read first, so that a change applied in between is seen twice rather than missed.
        const waiting = await store.listMail(asked)
        const session = await store.findSession(sessionId)
        if (session === undefined) return refuse('There is no such session.')
        const pins = pinsAfter(session, waiting)
        if (text === null) {
          const known = [...pins.keys()].join(', ') || 'none'
          if (!pins.has(name)) return refuse(`There is no pin ${name}. Pins: ${known}.`)
          const mail = { control: 'pin', body: { name }, tokens: 0 }
          return answerTo(await admitControl(store, call, mail), `The pin ${name} is removed.`)
        }
        const tokens = countTokens(sessionId, pinnedText(name, text))
        const { limits, settings } = session
        const [entry] = await store.readEntries({ sessionId, from: settings, to: settings })
        const settingsTokens = entry?.tokens ?? 0
        const fit = pinBudget({ pins, settingsTokens, limits }, { name, tokens })
        const { tokensAfter, limit } = fit
        if (!fit.fits) {
          pins.set(name, tokens)
          return refuse(
            `Does not fit: with this pin, pins and instructions would take ${tokensAfter} of ${limit} tokens ` +
              `(${pins.size} of ${PINS_MAX} pins). Shorten it, or remove one: ${[...pins.keys()].join(', ')}.`,
          )
        }
        const mail = { control: 'pin', body: { name, text }, tokens }
        return answerTo(
          await admitControl(store, call, mail),
          `Pinned as ${name}: ${tokensAfter} of ${limit} tokens are used.`,
        )
      }),
  })
}

/** The pins with their sizes, after all pending changes. */
function pinsAfter(session: SessionRow, waiting: readonly MailItem[]): Map<string, number> {
  const pins = new Map(Object.entries(session.pins).map(([name, { tokens }]) => [name, tokens]))
  for (const mail of waiting) {
    const body = mail.body === null ? null : (JSON.parse(mail.body) as JsonValue)
    if (mail.control !== 'pin' || !isObject(body) || typeof body['name'] !== 'string') continue
    if (typeof body['text'] === 'string') pins.set(body['name'], mail.tokens)
    else pins.delete(body['name'])
  }
  return pins
}
