import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { configSchema } from '../../../host/config/schema/schema.ts'
import type { ProfileFiles } from '../read/home.ts'
import { translateSettings } from './settings.ts'

const folder = mkdtempSync(join(tmpdir(), 'throughline-settings-'))
afterAll(() => rmSync(folder, { recursive: true }))

async function translate(place: string | null, prompt?: string) {
  return await translateSettings({ folder: place } as ProfileFiles, 'main', prompt)
}

async function translated(yaml: string) {
  writeFileSync(join(folder, 'config.yaml'), yaml)
  const { settings, proposal } = await translate(folder)
  return { becomes: settings.map(({ becomes }) => becomes), proposal: parse(proposal) as unknown }
}

describe('the settings of an auxiliary task', () => {
  it('take its effort over', async () => {
    const { becomes, proposal } = await translated(
      'auxiliary: { title: { provider: anthropic, model: m, reasoning_effort: low } }',
    )
    expect(becomes).toContain('auxiliary.title.effort')
    expect(proposal).toEqual({
      auxiliary: { title: { provider: 'anthropic', model: 'm', effort: 'low' } },
    })
  })

  it('are proposed in a form that the configuration accepts, even if they follow the agent', async () => {
    const { proposal } = await translated(
      'auxiliary: { compression: { provider: auto, model: m, reasoning_effort: high, context_length: 9000, base_url: "", timeout: 60 } }',
    )
    expect(configSchema.safeParse(proposal).error?.issues).toBeUndefined()
    expect(proposal).toEqual({
      auxiliary: { compaction: { provider: 'main', model: 'm', deadlines: { totalSeconds: 60 } } },
    })
  })
})

/** A line for each note. */
async function notesOf(yaml: string): Promise<readonly string[]> {
  writeFileSync(join(folder, 'config.yaml'), yaml)
  const { settings } = await translate(folder)
  return settings.map(({ key, value, becomes, note }) => `${key} = ${value} -> ${becomes}: ${note}`)
}

it('reads a value that aliases put in a hundred places, and nothing of a file with more', async () => {
  const keysOf = async (places: number) => {
    const list = Array(places - 1)
      .fill('*a')
      .join(', ')
    const notes = await notesOf(`compression: { threshold: &a 0.5, other: [${list}] }`)
    return notes.map((note) => note.split(' ')[0])
  }
  expect(await keysOf(100)).toEqual(['compression.threshold', 'compression.other'])
  expect(await keysOf(101)).toEqual([])
})

it('tells what becomes of each setting about compaction', async () => {
  const keys = [
    ...['enabled', 'progress_notices', 'threshold', 'threshold_tokens', 'target_ratio'],
    ...['protect_first_n', 'protect_last_n', 'prompt', 'idle_compact_after_seconds'],
    ...['context_timeout_seconds', 'context_total_ceiling_seconds', 'in_place'],
    ...['abort_on_summary_failure', 'max_attempts', 'min_tail_user_messages', 'tail_mode'],
    ...['model_thresholds', 'hygiene_mode', 'micro_mode', 'mode'],
  ]
  const yaml = `compression:\n${keys.map((key, at) => `  ${key}: ${at + 1}\n`).join('')}`
  expect(
    await notesOf(`${yaml}display: { busy_input_mode: queue, theme: dark }\nother: 1`),
  ).toEqual([
    'compression.enabled = 1 -> compaction.enabled: Means the same.',
    'compression.progress_notices = 2 -> compaction.notices: Means the same.',
    'compression.threshold = 3 -> compaction.softShare: Here a share of the window less the room for an answer.',
    'compression.threshold_tokens = 4 -> compaction.softTokens: Means the same.',
    'compression.target_ratio = 5 -> compaction.targetShare: Here the size of the whole context afterwards.',
    'compression.protect_first_n = 6 -> compaction.protectFirst: Means the same.',
    'compression.protect_last_n = 7 -> compaction.protectLast: Means the same.',
    'compression.prompt = 8 -> compaction.prompt: Replaces the built-in instructions, as it did there.',
    'compression.idle_compact_after_seconds = 9 -> compaction.idleSeconds: Means the same.',
    'compression.context_timeout_seconds = 10 -> auxiliary.compaction.deadlines.idleSeconds: The longest silence.',
    'compression.context_total_ceiling_seconds = 11 -> auxiliary.compaction.deadlines.totalSeconds: Means the same.',
    'compression.in_place = 12 -> null: Not needed: a session never changes its id here.',
    'compression.abort_on_summary_failure = 13 -> null: Not needed: a failed summary changes nothing here.',
    'compression.max_attempts = 14 -> null: Not needed: attempts are limited by their rate.',
    'compression.min_tail_user_messages = 15 -> null: Not needed: see compaction.userTokens.',
    'compression.tail_mode = 16 -> null: Not needed: see compaction.keepTokens.',
    'compression.model_thresholds = 17 -> null: Has no counterpart: shares are of each model’s own window.',
    'compression.hygiene_mode = 18 -> null: Not needed: there is one way of compacting here.',
    'compression.micro_mode = 19 -> null: Not needed: there is one way of compacting here.',
    'compression.mode = 20 -> null: Has no counterpart.',
    'display.busy_input_mode = "queue" -> agents.main.policy: Means the same.',
  ])
  const { proposal } = await translate(folder)
  expect(parse(proposal)).toEqual({
    compaction: {
      ...{ enabled: 1, notices: 2, softShare: 3, softTokens: 4, targetShare: 5, protectFirst: 6 },
      ...{ protectLast: 7, prompt: 8, idleSeconds: 9 },
    },
    auxiliary: { compaction: { deadlines: { idleSeconds: 10, totalSeconds: 11 } } },
    agents: { main: { policy: 'queue' } },
  })
})

it('tells what becomes of each setting of an auxiliary task', async () => {
  const notes = await notesOf(`auxiliary:
  vision:
    { provider: acme, model: m, base_url: u, timeout: 1, context_length: 2, api_key: secret,
      fallback_chain: [], reasoning_effort: low, extra_body: {}, other: 3 }
  compression: { provider: auto, model: null }
  title: { provider: main, reasoning_effort: low }
  title_generation: { base_url: u, model: '' }
  memory: { provider: '', context_length: 1 }
  flush_memories: { provider: null, model: m }
  dreams: { provider: acme, model: m }
  broken: 5`)
  const nameless = 'Belongs to a route of its own: name its provider, too.'
  const named = 'Check the name: providers are named differently here.'
  expect(notes).toEqual([
    `auxiliary.vision.provider = "acme" -> auxiliary.vision.provider: ${named}`,
    'auxiliary.vision.model = "m" -> auxiliary.vision.model: Means the same.',
    'auxiliary.vision.base_url = "u" -> auxiliary.vision.baseUrl: Means the same.',
    'auxiliary.vision.timeout = 1 -> auxiliary.vision.deadlines.totalSeconds: Means the same.',
    'auxiliary.vision.context_length = 2 -> auxiliary.vision.windowTokens: Means the same.',
    'auxiliary.vision.api_key = (hidden) -> null: Keys are never copied; say with `credential` where it is kept.',
    'auxiliary.vision.fallback_chain = [] -> null: Write each of them under `fallbacks`.',
    'auxiliary.vision.reasoning_effort = "low" -> auxiliary.vision.effort: Means the same.',
    'auxiliary.vision.extra_body = {} -> null: Has no counterpart.',
    'auxiliary.vision.other = 3 -> null: Has no counterpart.',
    `auxiliary.compression.provider = "main" -> auxiliary.compaction.provider: ${named}`,
    'auxiliary.compression.model = null -> null: Was not set.',
    `auxiliary.title.provider = "main" -> auxiliary.title.provider: ${named}`,
    `auxiliary.title.reasoning_effort = "low" -> null: ${nameless}`,
    `auxiliary.title_generation.base_url = "u" -> null: ${nameless}`,
    'auxiliary.title_generation.model = "" -> null: Was not set.',
    'auxiliary.memory.provider = "" -> null: Was not set.',
    `auxiliary.memory.context_length = 1 -> null: ${nameless}`,
    'auxiliary.flush_memories.provider = null -> null: Was not set.',
    'auxiliary.flush_memories.model = "m" -> auxiliary.memory.model: Means the same.',
    'auxiliary.dreams.provider = "acme" -> null: Has no counterpart.',
    'auxiliary.dreams.model = "m" -> null: Has no counterpart.',
    'auxiliary.broken = 5 -> null: Has no counterpart.',
  ])
})

it.each([
  ['', undefined],
  ['CONTEXT_COMPRESSION_PROMPT=Be brief.', 'Be brief.'],
  ['KEY=1\nexport CONTEXT_COMPRESSION_PROMPT= "Be brief." \nOTHER=2', 'Be brief.'],
  ['CONTEXT_COMPRESSION_PROMPT=\'Be "brief".\'', 'Be "brief".'],
  ['CONTEXT_COMPRESSION_PROMPT="', '"'],
  ['CONTEXT_COMPRESSION_PROMPT=""', undefined],
  ['MY_CONTEXT_COMPRESSION_PROMPT=a\nCONTEXT_COMPRESSION_PROMPTS=b', undefined],
])('reads the prompt from %j', async (env, prompt) => {
  const place = mkdtempSync(join(folder, 'env-'))
  writeFileSync(join(place, '.env'), env)
  const note = {
    ...{ key: 'CONTEXT_COMPRESSION_PROMPT', value: JSON.stringify(prompt) },
    ...{ becomes: 'compaction.prompt', note: 'Replaces the built-in instructions.' },
  }
  expect((await translate(place)).settings).toEqual(prompt === undefined ? [] : [note])
})

it('takes the prompt of the process before that of the file, and works without a folder', async () => {
  const place = mkdtempSync(join(folder, 'env-'))
  writeFileSync(join(place, '.env'), 'CONTEXT_COMPRESSION_PROMPT=a')
  const given = [await translate(place, 'b'), await translate(null, 'b'), await translate(null)]
  expect(given.map(({ settings }) => settings.map(({ value }) => value))).toEqual([
    ...[['"b"'], ['"b"'], []],
  ])
  expect(given.at(-1)).toEqual({ settings: [], proposal: '' })
})

it('takes a configuration that it cannot read for an empty one', async () => {
  const place = mkdtempSync(join(folder, 'config-'))
  const path = join(place, 'config.yaml')
  const yaml = 'compression: { enabled: true }\n#'
  const count = async () => (await translate(place)).settings.length
  const counts = []
  for (const text of [yaml, '[1]', 'a: [', '3']) {
    writeFileSync(path, text)
    counts.push(await count())
  }
  // 4 MiB and one byte more.
  for (const length of [4_194_304, 4_194_305]) {
    writeFileSync(path, yaml.padEnd(length, '#'))
    counts.push(await count())
  }
  rmSync(path)
  mkdirSync(path)
  expect([...counts, await count()]).toEqual([1, 0, 0, 0, 1, 0, 0])
  const env = join(place, '.env')
  writeFileSync(env, 'CONTEXT_COMPRESSION_PROMPT=a\n')
  truncateSync(env, 4_194_304)
  const held = await count()
  truncateSync(env, 4_194_305)
  expect([held, await count()]).toEqual([1, 0])
})
