import { z } from 'zod'
import { AGENT_NAME, agent } from './agent.ts'
import { compaction } from './compaction.ts'
import { gateways } from './gateway.ts'
import { http } from './http.ts'
import { limits } from './limits.ts'
import { logging } from './logging.ts'
import { recallSettings } from './recall.ts'
import { compactionTask, memoryTask, plainTask } from './route.ts'
import { store } from './store.ts'

/**
 * The configuration: the only definition of its keys, their meaning and their
 * defaults. The JSON schema, the guide, the names of variables and every check come from it.
 */
const auxiliary = z
  .strictObject({
    compaction: compactionTask.describe('Writes the handoff summary.'),
    title: plainTask.describe('Names sessions for lists.'),
    memory: memoryTask.describe('Proposes notes before a compaction.'),
    vision: plainTask.describe('Describes images for models that see none.'),
  })
  .prefault({})
  .describe('Model calls beside the conversation.')

const agents = z
  .record(
    z.string().regex(AGENT_NAME, {
      error:
        'is not a valid agent name: use up to 64 letters, digits, _ and -, a letter or digit first',
    }),
    agent.prefault({}),
  )
  .refine((all) => Object.keys(all).length > 0, { error: 'should name at least one agent' })
  .prefault({ main: {} })
  .describe('The agents by name. Without any there is one, `main`, on the stand-in model.')

export const configSchema = z.strictObject({
  agents,
  compaction,
  auxiliary,
  store,
  http,
  gateways,
  recall: recallSettings,
  limits,
  logging,
})

export type Config = z.output<typeof configSchema>
export type CompactionConfig = Config['compaction']
export type AuxiliaryConfig = Config['auxiliary']
export type TaskName = keyof AuxiliaryConfig
