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
    const made: readonly (readonly [isOn: boolean, make: () => Tool])[] = [
      [config.tasks.enabled, () => tasksTool({ store, countTokens })],
      [config.pin.enabled, () => pinTool({ store, countTokens })],
      [config.recall.enabled, () => recallTool({ store, embedQuestion })],
      [
        message.enabled,
        () => sendMessageTool({ store, countTokens, openRoute, rule, to, onAdmitted }),
      ],
      [
        memory.enabled,
        () => memoryTool({ store, countTokens, tokensMax: memory.tokensMax, isShared }),
      ],
      [config.schedule.enabled, () => scheduleTool({ store, countTokens, clock, timezone })],
      [files.enabled, () => filesTool({ store, roots: files.roots, privatePaths })],
      [process.enabled, () => processTool({ processes, programs: process.programs, folder, env })],
    ]
    return made.filter(([isOn]) => isOn).map(([, make]) => make())
  }
}
