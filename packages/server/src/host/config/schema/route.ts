import { z } from 'zod'
import { isObject } from '#core/base/json'
import { TASKS, type TaskSettings } from '../../../auxiliary/task.ts'
import { PROVIDERS } from '../../../model/providers/names.ts'
import { EFFORTS } from '../../../model/routes/route.ts'
import { routesSchema } from '../../../model/routes/routes.ts'
import { needsRestart, seconds, tokens } from './values.ts'

/**
 * Model routes as in the file: the fields of `model/`, plus two providers that name
 * something else. `stand-in` is the model server that the process starts itself, `main` the route of
 * the agent a task works for.
 */
const { baseUrl, credential, headers, dialect } = routesSchema.shape.main.shape

const shape = {
  baseUrl: baseUrl.describe(
    'The address of the provider, if it is not the usual one. Required for `openai-compatible`.',
  ),
  credential: credential.describe(
    'Where the key comes from, never the key itself: `{kind: variable, name: …}`, ' +
      "`{kind: file, path: …}`, `{kind: command, command: …}` or `{kind: none}`. Default: the provider's usual variable.",
  ),
  headers: headers.describe('Sent with every request. No keys.'),
  dialect: dialect.describe(
    '`strict` for servers that accept only alternating user and assistant messages.',
  ),
  windowTokens: tokens()
    .optional()
    .describe("The model's context window. Default: known for common models."),
  outputTokensMax: tokens()
    .optional()
    .describe('The longest answer. Default: known for common models.'),
  images: z
    .boolean()
    .optional()
    .describe(
      '`false`: the model sees no images and gets descriptions by the task `vision`. Default: known for common models, otherwise `true`.',
    ),
  effort: z
    .enum(EFFORTS)
    .optional()
    .describe("The reasoning effort, if the model supports it. Default: the provider's own."),
}

const model = z
  .string()
  .min(1, { error: 'should be the name of a model' })
  .optional()
  .describe("The model's name at the provider. The stand-in needs none.")

// Runs even if a field is invalid, so that all mistakes are reported at once.
const WHOLE_ROUTE = z.superRefine(checkRoute, { when: ({ value }) => isObject(value) })

const ownProviders = [...PROVIDERS, 'stand-in'] as const
const allProviders = [...PROVIDERS, 'stand-in', 'main'] as const

export const mainRoute = z
  .strictObject({
    provider: z
      .enum(ownProviders)
      .default('stand-in')
      .describe('The provider of the model; `stand-in` is built in and needs no key.'),
    model,
    ...shape,
  })
  .check(WHOLE_ROUTE)

/** Each fallback must name its provider. */
export const fallbackRoute = z
  .strictObject({
    provider: z.enum(ownProviders).describe('The provider of the model.'),
    model,
    ...shape,
  })
  .check(WHOLE_ROUTE)

const taskFallback = z
  .strictObject({
    provider: z
      .enum(allProviders)
      .describe("The provider of the model; `main` is the agent's own."),
    model,
    ...shape,
  })
  .check(WHOLE_ROUTE)

/** The settings of every task; some have more. */
function taskFields({ deadlines, onInterrupt }: TaskSettings) {
  const { connectMs, firstByteMs, idleMs, totalMs } = deadlines
  return {
    provider: z
      .enum(allProviders)
      .default('main')
      .describe("The provider of the model; `main` follows the agent's own route."),
    model: model.describe('The model for this task. Default with `main`: the main model.'),
    ...shape,
    fallbacks: z
      .array(taskFallback)
      .max(8)
      .prefault([])
      .describe('Routes that are tried after this one, in order.'),
    deadlines: z
      .strictObject({
        connectSeconds: seconds()
          .default(connectMs / 1_000)
          .describe('Time limit until a connection accepts the request.'),
        firstByteSeconds: seconds()
          .default(firstByteMs / 1_000)
          .describe('Time limit from then until the answer begins.'),
        idleSeconds: seconds()
          .default(idleMs / 1_000)
          .describe('The longest silence within an answer.'),
        totalSeconds: seconds()
          .default(totalMs / 1_000)
          .describe('Time limit for the whole task.'),
      })
      .prefault({})
      .meta({ description: 'How long this task waits for its model.', ...needsRestart }),
    shielded: z
      .boolean()
      .default(onInterrupt === 'defer')
      .meta({
        description: 'A stop or a new message does not interrupt this task.',
        ...needsRestart,
      }),
  }
}

const atProvider = z
  .boolean()
  .default(false)
  .meta({
    description:
      "Ask the provider for its own compaction first, if its result is readable: Anthropic's is.",
    ...needsRestart,
  })

const proposesNotes = z
  .boolean()
  .default(false)
  .describe('Before a compaction, propose notes to agents that have the tool `memory`.')

export const compactionTask = z
  .strictObject({ ...taskFields(TASKS.compaction), atProvider })
  .check(WHOLE_ROUTE)
  .prefault({})

export const memoryTask = z
  .strictObject({ ...taskFields(TASKS.memory), enabled: proposesNotes })
  .check(WHOLE_ROUTE)
  .prefault({})

export const plainTask = z.strictObject(taskFields(TASKS.title)).check(WHOLE_ROUTE).prefault({})

interface AnyRoute {
  readonly provider: (typeof allProviders)[number]
  readonly model?: string | undefined
  readonly baseUrl?: string | undefined
  readonly credential?: unknown
  readonly headers?: unknown
  readonly dialect?: unknown
  readonly windowTokens?: unknown
  readonly outputTokensMax?: unknown
  readonly images?: unknown
  readonly effort?: unknown
}

const OF_ADDRESSES = ['baseUrl', 'credential', 'headers', 'dialect'] as const
const OF_MODELS = ['windowTokens', 'outputTokensMax', 'images', 'effort'] as const

function checkRoute(route: AnyRoute, context: z.RefinementCtx): void {
  const { provider } = route
  if (!allProviders.includes(provider)) return
  const addIssue = (path: string, message: string) =>
    context.addIssue({ code: 'custom', path: [path], message, input: route })
  if (provider === 'main' || provider === 'stand-in') {
    for (const key of provider === 'main' ? [...OF_ADDRESSES, ...OF_MODELS] : OF_ADDRESSES) {
      if (route[key] === undefined) continue
      addIssue(
        key,
        `has no meaning with the provider ${provider}; remove it or name another provider`,
      )
    }
    return
  }
  if (route.model === undefined) addIssue('model', `is missing; the provider ${provider} needs one`)
  if (provider === 'openai-compatible' && route.baseUrl === undefined) {
    addIssue('baseUrl', 'is missing; the provider openai-compatible has no usual address')
  }
}

export type MainRoute = z.output<typeof mainRoute>
export type TaskRoute = z.output<typeof plainTask>
export type TaskFallback = z.output<typeof taskFallback>
