import { z } from 'zod'
import { MEMORY_TOKENS_MAX, NOTES_PIN } from '../../../tools/memory/memory.ts'
import { DESTINATION } from '../../../tools/send-message/destinations.ts'
import { LOOP_RULE } from '../../../tools/send-message/loop.ts'
import { mcp } from './mcp.ts'
import { fallbackRoute, mainRoute } from './route.ts'
import { countSchema, tokens } from './values.ts'

/** An agent: its instructions, its models, its tools. */

/** On, off, or on with options. */
function tool<Shape extends z.core.$ZodShape>(
  { on, about }: { on: boolean; about: string },
  shape: Shape,
) {
  const options = z.strictObject({
    enabled: z.boolean().default(true).describe('On or off; options alone switch it on.'),
    ...shape,
  })
  return z
    .union([z.boolean(), options], { error: 'should be true, false, or a map of options' })
    .transform((value) => (typeof value === 'boolean' ? options.parse({ enabled: value }) : value))
    .prefault(on)
    .describe(`${about} \`true\`, \`false\`, or its options.`)
}

const tools = z
  .strictObject({
    tasks: tool({ on: true, about: 'The list of tasks that compaction carries.' }, {}),
    pin: tool({ on: true, about: 'Constraints that stay word for word.' }, {}),
    recall: tool({ on: true, about: 'Searches and opens what was compacted away.' }, {}),
    send_message: tool(
      { on: true, about: "Writes to another agent's session." },
      {
        to: z
          .array(
            z.string().regex(DESTINATION, { error: 'should be `agent:NAME`, `session:ID` or `*`' }),
          )
          .max(256)
          .default([])
          .describe(
            'Destinations beside sessions of the same people and sessions that wrote to it: `agent:NAME`, `session:ID`, or `*` for all.',
          ),
        messagesMax: countSchema(1, 1_000)
          .default(LOOP_RULE.messagesMax)
          .describe('After so many short messages in a row, further ones start no turn.'),
        tokensMin: tokens()
          .prefault(LOOP_RULE.tokensMin)
          .describe('A message of this size or larger is not short.'),
      },
    ),
    memory: tool(
      { on: true, about: 'Short notes that every context holds.' },
      {
        tokensMax: tokens()
          .prefault(MEMORY_TOKENS_MAX)
          .describe('How large the block of notes may be.'),
        scope: z
          .enum(['conversation', 'agent'])
          .default('conversation')
          .describe(
            'Who sees a note: the conversation it was made in, or everyone who talks to the agent.',
          ),
      },
    ),
    schedule: tool({ on: true, about: 'Wakes the agent once or repeatedly.' }, {}),
    files: tool(
      { on: false, about: 'Reads files within allowed folders.' },
      {
        roots: z
          .array(z.string().min(1))
          .max(64)
          .default(['.'])
          .describe('The folders it may read, from the folder of the configuration file.'),
      },
    ),
    process: tool(
      { on: false, about: 'Starts commands in the background and watches what they say.' },
      {
        programs: z
          .array(z.string().min(1))
          .max(256)
          .default([])
          .describe('The programs it may start; an empty list allows none.'),
      },
    ),
  })
  .prefault({})
  .describe('What the agent can do.')

export const AGENT_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/
const PIN_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/

export const agent = z.strictObject({
  system: z
    .string()
    .default('You are a helpful assistant. You keep your promises and say when you are not sure.')
    .describe('The system prompt: the text, or `file:` and a path.'),
  pins: z
    .record(
      z
        .string()
        .regex(PIN_NAME, { error: 'is not a valid pin name: use letters, digits, . _ and -' })
        // The notes would take the place of this pin as soon as there are any.
        .refine((name) => name !== NOTES_PIN, {
          error: 'is reserved for the notes of the agent; choose another name',
        }),
      z.string(),
    )
    .default({})
    .describe('Texts that every context holds word for word, by name; `file:` is understood.'),
  model: mainRoute.prefault({}).describe('The model route.'),
  fallbacks: z
    .array(fallbackRoute)
    .max(8)
    .prefault([])
    .describe(
      'Routes that are tried when the first is down, in order. Each is written as `model` is.',
    ),
  tools,
  mcp,
  policy: z
    .enum(['steer', 'queue', 'interrupt', 'collect'])
    .default('steer')
    .describe(
      'What a message does while a turn runs: enter between two steps, wait for the next turn, ' +
        'end the turn, or wait a moment for more.',
    ),
  stepsMax: countSchema(1, 10_000).default(100).describe('Model requests in one turn, at most.'),
})

export type AgentConfig = z.output<typeof agent>
export type ToolsConfig = AgentConfig['tools']
