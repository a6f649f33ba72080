import type { CompactOptions } from '#core/compaction/compact-options'
import { DEFAULT_SETTINGS } from '#core/compaction/plan/defaults'
import { loadRequest } from '../../../host/flags.ts'
import type { CompactFlags } from './options.ts'

/**
 * The section `compaction` of the configuration, for compacting a file. Flags override it for one
 * run.
 */
export type FileCompaction = Pick<CompactOptions, 'budget' | 'prompt' | 'warnFrom'>

export async function fileCompaction(flags: CompactFlags): Promise<FileCompaction> {
  const { requireConfig } = await import('../../../host/config/load.ts')
  const { compactionPlan } = await import('../../../host/config/agents-of.ts')
  const set = [...(flags.set ?? []), ...settingsIn(flags)]
  const request = loadRequest({ ...flags, set })
  const { compaction } = requireConfig({ ...request, isFormOnly: true }).config
  const windowTokens = flags.window ?? DEFAULT_SETTINGS.windowTokens
  const { budget, prompt = '', warnFrom } = compactionPlan(compaction, { windowTokens })
  return { budget, warnFrom, ...(prompt.trim() !== '' && { prompt }) }
}

function settingsIn(flags: CompactFlags): readonly string[] {
  const { preset, targetTokens, keepTokens, userTokens, ledgerTokens, promptFile } = flags
  const prompt = promptFile === undefined ? undefined : `file:${promptFile}`
  return Object.entries({ preset, targetTokens, keepTokens, userTokens, ledgerTokens, prompt })
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `compaction.${key}=${value}`)
}
