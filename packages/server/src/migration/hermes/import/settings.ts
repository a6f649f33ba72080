import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'
import { isObject, type JsonObject, type JsonValue } from '#core/base/json'
import type { SettingNote } from '../../import-report.ts'
import type { ProfileFiles } from '../read/home.ts'

/**
 * Translates Hermes' `config.yaml`: a note for every key about compaction and its models, and YAML
 * for those that have a counterpart. Writes nothing and copies no secret.
 */
export interface TranslatedSettings {
  readonly settings: readonly SettingNote[]
  readonly proposal: string
}

const FILE_BYTES_MAX = 4 * 1024 * 1024
const PROMPT_VARIABLE = 'CONTEXT_COMPRESSION_PROMPT'

/** Our key (null: none) and a note; `{agent}` is the agent's name. */
type Counterpart = readonly [becomes: string | null, note: string]

const SAME = 'Means the same.'
const NEEDLESS = 'Not needed: '
const COMPRESSION: { readonly [key: string]: Counterpart } = {
  enabled: ['compaction.enabled', SAME],
  progress_notices: ['compaction.notices', SAME],
  threshold: ['compaction.softShare', 'Here a share of the window less the room for an answer.'],
  threshold_tokens: ['compaction.softTokens', SAME],
  target_ratio: ['compaction.targetShare', 'Here the size of the whole context afterwards.'],
  protect_first_n: ['compaction.protectFirst', SAME],
  protect_last_n: ['compaction.protectLast', SAME],
  prompt: ['compaction.prompt', 'Replaces the built-in instructions, as it did there.'],
  idle_compact_after_seconds: ['compaction.idleSeconds', SAME],
  context_timeout_seconds: ['auxiliary.compaction.deadlines.idleSeconds', 'The longest silence.'],
  context_total_ceiling_seconds: ['auxiliary.compaction.deadlines.totalSeconds', SAME],
  in_place: [null, `${NEEDLESS}a session never changes its id here.`],
  abort_on_summary_failure: [null, `${NEEDLESS}a failed summary changes nothing here.`],
  max_attempts: [null, `${NEEDLESS}attempts are limited by their rate.`],
  min_tail_user_messages: [null, `${NEEDLESS}see compaction.userTokens.`],
  tail_mode: [null, `${NEEDLESS}see compaction.keepTokens.`],
  model_thresholds: [null, 'Has no counterpart: shares are of each model’s own window.'],
}
const AUXILIARY: { readonly [key: string]: Counterpart } = {
  provider: ['provider', 'Check the name: providers are named differently here.'],
  model: ['model', SAME],
  base_url: ['baseUrl', SAME],
  timeout: ['deadlines.totalSeconds', SAME],
  context_length: ['windowTokens', SAME],
  api_key: [null, 'Keys are never copied; say with `credential` where it is kept.'],
  fallback_chain: [null, 'Write each of them under `fallbacks`.'],
  reasoning_effort: ['effort', SAME],
  extra_body: [null, 'Has no counterpart.'],
}
const TASKS: { readonly [name: string]: string } = {
  ...{ compression: 'compaction', title_generation: 'title', title: 'title' },
  ...{ vision: 'vision', memory: 'memory', flush_memories: 'memory' },
}

export async function translateSettings(
  { folder }: ProfileFiles,
  agent: string,
  prompt: string | undefined,
): Promise<TranslatedSettings> {
  const notes: SettingNote[] = []
  const proposal: Proposal = {}
  const config = folder === null ? {} : await readConfig(join(folder, 'config.yaml'))
  for (const [key, value] of entriesOf(config['compression'])) {
    const fallback = key.startsWith('hygiene_') || key.startsWith('micro_') ? HOUSEKEEPING : UNKNOWN
    note(`compression.${key}`, value, COMPRESSION[key] ?? fallback)
  }
  for (const [task, terms] of entriesOf(config['auxiliary'])) {
    const ours = TASKS[task]
    if (!isObject(terms)) note(`auxiliary.${task}`, terms, UNKNOWN)
    for (const [key, value] of entriesOf(terms)) {
      const [becomes, text] = counterpartOf(key, ours === undefined ? undefined : terms)
      const path = becomes === null ? null : `auxiliary.${ours}.${becomes}`
      note(`auxiliary.${task}.${key}`, provider(key, value), [path, text])
    }
  }
  const busy = isObject(config['display']) ? config['display']['busy_input_mode'] : undefined
  if (busy !== undefined) note('display.busy_input_mode', busy, [`agents.${agent}.policy`, SAME])
  const given = prompt ?? (folder === null ? undefined : await promptIn(join(folder, '.env')))
  if (given !== undefined) {
    note(PROMPT_VARIABLE, given, ['compaction.prompt', 'Replaces the built-in instructions.'])
  }
  return {
    settings: notes,
    proposal: Object.keys(proposal).length === 0 ? '' : stringify(proposal),
  }

  function note(key: string, value: JsonValue, [becomes, text]: Counterpart): void {
    const isEmpty = value === null || value === ''
    const told = key.endsWith('api_key') ? '(hidden)' : JSON.stringify(value)
    const target = isEmpty ? null : becomes
    const why = isEmpty && becomes !== null ? 'Was not set.' : text
    notes.push({ key, value: told, becomes: target, note: why })
    if (target !== null) put(proposal, target.split('.'), value)
  }
}

/** `terms`: all settings of the task, if we have that task. */
function counterpartOf(key: string, terms: JsonValue | undefined): Counterpart {
  const found = isObject(terms) ? (AUXILIARY[key] ?? UNKNOWN) : UNKNOWN
  const named = isObject(terms) ? terms['provider'] : undefined
  const followsMain = named === undefined || FOLLOWING.includes(named)
  return followsMain && OF_A_ROUTE.includes(key) ? NAMELESS : found
}

const FOLLOWING: readonly JsonValue[] = [null, '', 'auto', 'main']
/** Our configuration refuses these for a task that uses its agent's route. */
const OF_A_ROUTE = ['base_url', 'context_length', 'reasoning_effort']
const NAMELESS: Counterpart = [null, 'Belongs to a route of its own: name its provider, too.']
const UNKNOWN: Counterpart = [null, 'Has no counterpart.']
const HOUSEKEEPING: Counterpart = [null, `${NEEDLESS}there is one way of compacting here.`]

/** `auto` chose a provider; here a task uses the agent's own route by default. */
function provider(key: string, value: JsonValue): JsonValue {
  return key === 'provider' && value === 'auto' ? 'main' : value
}

interface Proposal {
  [key: string]: JsonValue | Proposal
}

function put(into: Proposal, path: readonly string[], value: JsonValue): void {
  const [first = '', ...rest] = path
  if (rest.length === 0) {
    into[first] = value
    return
  }
  const inner = into[first]
  const next: Proposal = isObject(inner) ? { ...inner } : {}
  into[first] = next
  put(next, rest, value)
}

async function readConfig(path: string): Promise<JsonObject> {
  const found = await stat(path).catch(() => null)
  if (found?.isFile() !== true || found.size > FILE_BYTES_MAX) return {}
  try {
    // The parser's limit refuses aliases that expand to gigabytes.
    const value = parse(await readFile(path, 'utf8'), { maxAliasCount: 100 }) as unknown
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

function entriesOf(value: JsonValue | undefined): readonly (readonly [string, JsonValue])[] {
  return isObject(value) ? Object.entries(value) : []
}

/** Reads only this variable, because the file contains keys. */
async function promptIn(path: string): Promise<string | undefined> {
  const found = await stat(path).catch(() => null)
  if (found?.isFile() !== true || found.size > FILE_BYTES_MAX) return undefined
  const lines = (await readFile(path, 'utf8')).split('\n')
  const line = lines.find((one) => one.replace(/^export\s+/, '').startsWith(`${PROMPT_VARIABLE}=`))
  const value = line?.slice(line.indexOf('=') + 1).trim()
  const unquoted = value === undefined ? '' : value.replace(/^(["'])(.*)\1$/s, '$2')
  return unquoted === '' ? undefined : unquoted
}
