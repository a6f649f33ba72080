import { z } from 'zod'
import { ALLOWANCE } from '../../../auxiliary/allowance.ts'
import { RETENTION_DAYS } from '../../../runtime/store-layers/retention.ts'
import { PROCESS_LIMITS } from '../../../tools/process/processes.ts'
import { countSchema, needsRestart, seconds, tokens } from './values.ts'

/** The section `limits`: what may wait, run, be kept and be spent. */

const money = z
  .number()
  .min(0)
  .max(1_000_000_000)
  .optional()
  .describe('In your currency; calls without a known price do not count. Default: no limit.')

const cap = z
  .strictObject({
    tokens: tokens().optional().describe('Input and output together. Default: no limit.'),
    money,
  })
  .prefault({})

const price = z.number().min(0).max(1_000_000)

export const limits = z
  .strictObject({
    mailbox: z
      .strictObject({
        laneMailMax: countSchema(1, 1_000_000)
          .default(10_000)
          .describe('Messages that wait in one lane of a session before more are refused.'),
        sourceMailMax: countSchema(1, 1_000_000)
          .default(5_000)
          .describe('The same, for messages of one sender.'),
      })
      .prefault({})
      .describe('How much may wait.'),
    keepSentDays: countSchema(1, 36_500)
      .default(RETENTION_DAYS.sent)
      .meta({
        description:
          'Replies that were sent are removed from the outbox after so many days; the transcript keeps the answers.',
        ...needsRestart,
      }),
    keepCallDays: countSchema(1, 36_500)
      .default(RETENTION_DAYS.calls)
      .meta({
        description:
          'Model calls are listed for so many days (by step, turn and hour). After that the store keeps their sums for each day, session, agent and model.',
        ...needsRestart,
      }),
    processes: z
      .strictObject({
        secondsMax: seconds()
          .default(PROCESS_LIMITS.timeMs / 1_000)
          .describe('A command is ended after this long.'),
        outputBytesMax: countSchema(1_024, 1_073_741_824)
          .default(PROCESS_LIMITS.outputBytesMax)
          .describe('A command that writes more is ended.'),
        runningMax: countSchema(1, 10_000)
          .default(PROCESS_LIMITS.runningMax)
          .describe('Commands that run at once.'),
        runningPerSessionMax: countSchema(1, 10_000)
          .default(PROCESS_LIMITS.runningPerSessionMax)
          .describe('The same, for one session.'),
      })
      .prefault({})
      .meta({ description: 'What the tool `process` may start.', ...needsRestart }),
    budget: z
      .strictObject({
        windowSeconds: seconds()
          .default(ALLOWANCE.windowMs / 1_000)
          .describe('The span over which spending is counted.'),
        session: z
          .strictObject({
            tokens: tokens().prefault(20_000_000).describe('Input and output together.'),
            money,
          })
          .prefault({})
          .describe('For one session.'),
        host: z
          .strictObject({
            tokens: tokens().prefault(200_000_000).describe('Input and output together.'),
            money,
          })
          .prefault({})
          .describe('For everything on this host.'),
      })
      .prefault({})
      .meta({
        description: 'A hard limit on what auxiliary calls may spend.',
        ...needsRestart,
      }),
    spend: z
      .strictObject({
        turn: cap.describe('One turn.'),
        session: cap.describe('One session, in its whole life.'),
        agent: cap.describe('All sessions of one agent, in one day (UTC).'),
        day: cap.describe('All sessions of the store, in one day (UTC).'),
      })
      .prefault({})
      .meta({
        description:
          'What turns may spend. At a limit the turn pauses before the next model call; the operator allows the same amount once more, on the page or with `/continue` in the terminal.',
        ...needsRestart,
      }),
    prices: z
      .record(
        z.string(),
        z.strictObject({
          input: price.describe('Per million tokens.'),
          output: price.describe('Per million tokens.'),
          cacheRead: price.optional().describe('Per million tokens.'),
          cacheWrite: price.optional().describe('Per million tokens.'),
        }),
      )
      .default({})
      .meta({
        description: "Prices by the model's exact name; they win over the built-in list.",
        ...needsRestart,
      }),
  })
  .prefault({})
  .describe('Bounds of the host.')
