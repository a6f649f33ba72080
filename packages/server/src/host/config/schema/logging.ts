import { z } from 'zod'
import { needsRestart } from './values.ts'

/** The section `logging`. */

export const logging = z
  .strictObject({
    level: z
      .enum(['silent', 'error', 'warn', 'info', 'debug'])
      .default('info')
      .describe('What is logged; never the content of conversations.'),
    file: z
      .string()
      .min(1)
      .optional()
      .meta({ description: 'The log file. Default: standard error.', ...needsRestart }),
    pretty: z
      .union([z.boolean(), z.literal('auto')], { error: 'should be true, false or auto' })
      .default('auto')
      .meta({
        description: 'Lines for people instead of JSON; `auto`: on a terminal.',
        ...needsRestart,
      }),
  })
  .prefault({})
  .describe('The log of the process.')
