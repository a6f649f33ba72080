import { z } from 'zod'
import {
  type BudgetSettings,
  DEFAULT_SETTINGS,
  PRESETS,
  type PresetName,
  SECTION_TOKENS_MAX,
} from '#core/compaction/plan/defaults'
import { WARN_FROM } from '#core/compaction/report/outcome'
import { SESSION_SETTINGS } from '#core/session/settings'
import { countSchema, needsRestart, seconds, share, tokens } from './values.ts'

/** The section `compaction`: when a context is compacted, and what is kept. */

export const compaction = z
  .strictObject({
    enabled: z
      .boolean()
      .default(true)
      .describe(
        '`false` stops compaction ahead of need and when idle, but not one on request or one without which a turn cannot continue.',
      ),
    preset: z
      .enum(Object.keys(PRESETS) as [PresetName, ...PresetName[]])
      .optional()
      .describe('Start from the defaults of another system; keys set here override it.'),
    softShare: share()
      .optional()
      .describe('Share of the usable window at which a compaction is due. Default: 0.75.'),
    softTokens: tokens().optional().describe('The same in tokens; wins over the share.'),
    targetShare: share()
      .optional()
      .describe('Share of the usable window that a compacted context fills. Default: 0.35.'),
    targetTokens: tokens().optional().describe('The same in tokens; wins over the share.'),
    keepTokens: tokens(0)
      .optional()
      .describe(
        'How much of the newest part stays word for word. Default: a fifth, at most 20000.',
      ),
    protectFirst: countSchema(0, 1_000)
      .optional()
      .describe('Messages at the start that stay word for word. Default: 0.'),
    protectLast: countSchema(0, 1_000)
      .optional()
      .describe('Messages at the end that stay word for word. Default: 0.'),
    userTokens: tokens(0)
      .optional()
      .describe(
        `The user's own words in the handoff; unanswered ones stay whole beside it. Default: a share, at most ${SECTION_TOKENS_MAX.user}.`,
      ),
    ledgerTokens: tokens(0)
      .optional()
      .describe(
        `The list of paths, commands and errors. Default: a share, at most ${SECTION_TOKENS_MAX.ledger}.`,
      ),
    summaryTokens: tokens()
      .optional()
      .describe(`The summary itself. Default: a share, at most ${SECTION_TOKENS_MAX.summary}.`),
    prompt: z
      .string()
      .min(1)
      .optional()
      .describe('Replaces the built-in instructions: the text, or `file:` and a path.'),
    notices: z
      .boolean()
      .default(true)
      .describe('When people must wait, notify them that their message is stored.'),
    atHardLimit: z
      .enum(['digest', 'wait'])
      .default(SESSION_SETTINGS.atHardLimit)
      .describe(
        'When the next step no longer fits: `digest` continues at once with a digest, which a model rewrites in the background; `wait` waits for the model.',
      ),
    warnFrom: countSchema(0, 1_000)
      .default(WARN_FROM)
      .describe(
        'Warn the people in a session of repeated compaction from its n-th one on; 0: never.',
      ),
    idleSeconds: seconds('may be zero')
      .default(1_800)
      .describe(
        'A session that is idle for this long is compacted if that is worthwhile; 0: never.',
      ),
  })
  .transform(withPreset)
  .prefault({})
  .meta({ description: 'When a context is compacted, and what is kept.', ...needsRestart })

/** Fills in the values in effect, so that they can be displayed and compared. */
function withPreset<Said extends { readonly preset?: PresetName | undefined }>(said: Said) {
  const { softShare, targetShare, protectFirst, protectLast } = DEFAULT_SETTINGS
  const usual = { softShare, targetShare, protectFirst, protectLast }
  const preset: Partial<BudgetSettings> = said.preset === undefined ? {} : PRESETS[said.preset]
  return { ...usual, ...preset, ...said } as Said &
    Required<Pick<BudgetSettings, keyof typeof usual>>
}
