import type { ToolDependencies } from '../runtime/tools/tool-dependencies.ts'
import { filesTool } from '../tools/files/files.ts'
import { memoryTool } from '../tools/memory/memory.ts'
import { pinTool } from '../tools/pin.ts'
import { processTool } from '../tools/process/process.ts'
import { recallTool } from '../tools/recall.ts'
import { scheduleTool } from '../tools/schedule/schedule.ts'
import { sendMessageTool } from '../tools/send-message/send-message.ts'
import { tasksTool } from '../tools/tasks.ts'
import type { Tool } from '../tools/tool.ts'
import type { ToolsConfig } from './config/schema/agent.ts'

/** The built-in tools that an agent's configuration enables. */
export function builtInTools(
  config: ToolsConfig,
  context: {
    readonly folder: string
    readonly env: Readonly<Record<string, string>>
    readonly privatePaths: readonly string[]
  },
): (dependencies: ToolDependencies) => readonly Tool[] {
  const { folder, env, privatePaths } = context
  return (dependencies) => {
    const { store, clock, embedQuestion, countTokens, onAdmitted, openRoute, processes } =
      dependencies
    const { send_message: message, memory, files, process } = config
    const timezone = Intl.DateTimeFormat().resolvedOptions().timeZone
    const isShared = memory.scope === 'agent'
    const { to, messagesMax, tokensMin } = message
    const rule = { messagesMax, tokensMin }
    const made: { readonly [name in keyof ToolsConfig]: () => Tool } = {
      tasks: () => tasksTool({ store, countTokens }),
      pin: () => pinTool({ store, countTokens }),
      recall: () => recallTool({ store, embedQuestion }),
      send_message: () => sendMessageTool({ store, countTokens, openRoute, rule, to, onAdmitted }),
      memory: () => memoryTool({ store, countTokens, tokensMax: memory.tokensMax, isShared }),
      schedule: () => scheduleTool({ store, countTokens, clock, timezone }),
      files: () => filesTool({ store, roots: files.roots, privatePaths }),
      process: () => processTool({ processes, programs: process.programs, folder, env }),
    }
    const names = Object.keys(made) as (keyof ToolsConfig)[]
    return names.filter((name) => config[name].enabled).map((name) => made[name]())
  }
}
