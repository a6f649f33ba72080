import { looksRandom } from './randomness.ts'
import type { Secret } from './secret.ts'

/**
 * Secrets recognized by their prefix. One pass finds all prefixes; a rule's tail is tried only
 * after its prefix. Discord's tokens have no prefix and are found by their dots.
 *
 * Linear by construction: a tail is a run that cannot fail once it is long enough, or it is bounded.
 */
interface Shape {
  readonly kind: string
  /**
   * Literal beginnings of three characters or more, in any order; a longer one wins over a shorter
   * one at the same place.
   */
  readonly begins: readonly string[]
  /** The pattern after the prefix. */
  readonly tail: string
  /** The pattern before the prefix that belongs to the secret. */
  readonly behind?: RegExp
  /** The beginning is no secret (a host, a field) and stays. */
  readonly keeps?: true
  /** The beginning is a common part of words, so it must begin a word itself. */
  readonly apart?: true
  readonly check?: (value: string) => boolean
}

const SHAPES: readonly Shape[] = [
  // Our own
  {
    kind: 'throughline',
    begins: ['tl_'],
    tail: '[\\w-]{40,80}',
    apart: true,
    check: (value) => /[A-Z]/.test(value) && /[a-z]/.test(value),
  },
  // Models
  { kind: 'openai', begins: ['sk-'], tail: '[\\w-]{20,400}', apart: true, check: looksRandom },
  { kind: 'anthropic', begins: ['sk-ant-'], tail: '[\\w-]{16,}' },
  { kind: 'openrouter', begins: ['sk-or-'], tail: '[\\w-]{16,}' },
  { kind: 'groq', begins: ['gsk_'], tail: '[A-Za-z0-9]{30,}' },
  { kind: 'xai', begins: ['xai-'], tail: '[A-Za-z0-9]{60,}' },
  { kind: 'perplexity', begins: ['pplx-'], tail: '[A-Za-z0-9]{32,}' },
  { kind: 'replicate', begins: ['r8_'], tail: '[A-Za-z0-9]{30,}' },
  { kind: 'nvidia', begins: ['nvapi-'], tail: '[\\w-]{40,}' },
  { kind: 'cerebras', begins: ['csk-'], tail: '[a-z0-9]{40,}' },
  { kind: 'tavily', begins: ['tvly-'], tail: '[\\w-]{20,}' },
  { kind: 'huggingface', begins: ['hf_', 'api_org_'], tail: '[A-Za-z0-9]{30,}' },
  { kind: 'langsmith', begins: ['lsv2_pt_', 'lsv2_sk_'], tail: '\\w{30,}' },
  // Source and packages
  {
    kind: 'github',
    begins: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_', 'github_pat_'],
    tail: '\\w{30,}',
  },
  {
    kind: 'gitlab',
    begins: ['glpat-', 'gldt-', 'glrt-', 'glptt-', 'glcbt-', 'glsoat-', 'glagent-', 'gloas-'],
    tail: '[\\w.-]{20,}',
  },
  { kind: 'atlassian', begins: ['ATATT3', 'ATBB', 'ATCTT3'], tail: '[\\w=-]{20,}', apart: true },
  { kind: 'npm', begins: ['npm_'], tail: '[A-Za-z0-9]{36,}' },
  { kind: 'pypi', begins: ['pypi-'], tail: '[\\w-]{50,}' },
  { kind: 'rubygems', begins: ['rubygems_'], tail: '[0-9a-f]{40,}' },
  { kind: 'docker', begins: ['dckr_pat_', 'dckr_oat_'], tail: '[\\w-]{20,}' },
  // Chat
  {
    kind: 'slack',
    begins: ['xoxa-', 'xoxb-', 'xoxe-', 'xoxp-', 'xoxr-', 'xoxs-', 'xoxc-', 'xoxd-', 'xapp-'],
    tail: '[A-Za-z0-9%-]{10,}',
  },
  {
    kind: 'slack-webhook',
    begins: [
      'hooks.slack.com/services/',
      'hooks.slack.com/workflows/',
      'hooks.slack.com/triggers/',
    ],
    tail: '[\\w/]{20,}',
    keeps: true,
  },
  {
    kind: 'discord-webhook',
    begins: ['discord.com/api/webhooks/', 'discordapp.com/api/webhooks/'],
    tail: '\\d{15,22}/[\\w-]{30,}',
    keeps: true,
  },
  {
    kind: 'teams-webhook',
    begins: ['webhook.office.com/webhookb2/'],
    tail: '[\\w@/-]{30,}',
    keeps: true,
  },
  { kind: 'telegram', begins: [':AA'], tail: '[\\w-]{32,64}', behind: /\d{6,12}$/ },
  // Clouds
  {
    kind: 'aws',
    begins: ['AKIA', 'ASIA', 'ABIA', 'ACCA'],
    tail: '[A-Z2-7]{16}(?![A-Za-z0-9])',
    apart: true,
  },
  { kind: 'google', begins: ['AIza'], tail: '[\\w-]{35,}', apart: true },
  { kind: 'google-oauth', begins: ['ya29.', 'GOCSPX-', '1//0'], tail: '[\\w-]{24,}', apart: true },
  { kind: 'azure', begins: ['8Q~'], tail: '[\\w.~-]{31,40}', behind: /[\w.~-]{3}$/ },
  { kind: 'azure-sas', begins: ['?sig=', '&sig='], tail: '[\\w%+/=-]{30,}', keeps: true },
  { kind: 'digitalocean', begins: ['dop_v1_', 'doo_v1_', 'dor_v1_'], tail: '[0-9a-f]{40,}' },
  { kind: 'heroku', begins: ['HRKU-'], tail: '[\\w-]{30,}' },
  { kind: 'databricks', begins: ['dapi'], tail: '[0-9a-f]{32}(?:-\\d)?(?![0-9a-z])', apart: true },
  {
    kind: 'planetscale',
    begins: ['pscale_pw_', 'pscale_tkn_', 'pscale_oauth_'],
    tail: '[\\w.-]{30,}',
  },
  { kind: 'supabase', begins: ['sbp_', 'sb_secret_'], tail: '\\w{20,}' },
  { kind: 'fly', begins: ['FlyV1 '], tail: '[\\w,+/=-]{30,}' },
  { kind: 'vault', begins: ['hvs.', 'hvb.', 'hvr.'], tail: '[\\w-]{20,}', apart: true },
  { kind: 'terraform', begins: ['.atlasv1.'], tail: '[\\w-]{40,}', behind: /[A-Za-z0-9]{14}$/ },
  { kind: 'pulumi', begins: ['pul-'], tail: '[0-9a-f]{40}', apart: true },
  {
    kind: 'doppler',
    begins: ['dp.pt.', 'dp.st.', 'dp.sa.', 'dp.ct.'],
    tail: '[\\w.-]{30,}',
    apart: true,
  },
  // Services
  {
    kind: 'stripe',
    begins: ['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_', 'whsec_'],
    tail: '[A-Za-z0-9+/=]{16,}',
  },
  {
    kind: 'twilio',
    begins: [...'0123456789abcdef'].map((digit) => `SK${digit}`),
    tail: '[0-9a-f]{31}(?![A-Za-z0-9])',
    apart: true,
  },
  { kind: 'sendgrid', begins: ['SG.'], tail: '[\\w-]{16,32}\\.[\\w-]{30,}', apart: true },
  { kind: 'brevo', begins: ['xkeysib-', 'xsmtpsib-'], tail: '[0-9a-f]{64}-\\w{10,}' },
  { kind: 'mailgun', begins: ['key-'], tail: '[0-9a-f]{32}(?![A-Za-z0-9])', apart: true },
  { kind: 'shopify', begins: ['shpat_', 'shpca_', 'shppa_', 'shpss_'], tail: '[0-9a-fA-F]{32,}' },
  { kind: 'square', begins: ['sq0atp-', 'sq0csp-'], tail: '[\\w-]{20,}' },
  { kind: 'linear', begins: ['lin_api_', 'lin_oauth_'], tail: '[A-Za-z0-9]{30,}' },
  { kind: 'notion', begins: ['ntn_', 'secret_'], tail: '[A-Za-z0-9]{40,}', apart: true },
  { kind: 'figma', begins: ['figd_'], tail: '[\\w-]{30,}' },
  { kind: 'postman', begins: ['PMAK-'], tail: '[\\w-]{40,}' },
  { kind: 'sentry', begins: ['sntrys_', 'sntryu_'], tail: '[\\w+/=]{30,}' },
  { kind: 'newrelic', begins: ['NRAK-'], tail: '[A-Z0-9]{20,}' },
  { kind: 'grafana', begins: ['glsa_', 'glc_'], tail: '[\\w+/=]{30,}' },
  { kind: 'onepassword', begins: ['ops_eyJ'], tail: '[\\w-]{40,}' },
  {
    kind: 'onepassword',
    begins: ['A3-'],
    tail: '[A-Z0-9]{6}(?:-[A-Z0-9]{5,11}){3,5}',
    apart: true,
  },
  { kind: 'vercel', begins: ['vercel_blob_rw_'], tail: '\\w{30,}' },
  {
    kind: 'vercel',
    begins: ['vcp_', 'vci_', 'vca_', 'vcr_', 'vck_'],
    tail: '[A-Za-z0-9]{24,}',
    apart: true,
  },
  // Forms that many services share
  {
    kind: 'jwt',
    // The header may be written with a space or a line end after its bracket.
    begins: ['eyJ', 'eyA', 'ewo', 'ew0'],
    // Signed: three parts, two of them JSON. Encrypted: header, key (or none), nonce, text and tag.
    tail:
      '[\\w-]{8,600}\\.(?:eyJ[\\w-]{6,}(?:\\.[\\w-]*){0,3}|' +
      '[\\w-]{0,1400}\\.[\\w-]{11,32}\\.[\\w-]{2,}\\.[\\w-]{20,90})',
    apart: true,
  },
  {
    kind: 'authorization',
    begins: ['Bearer ', 'bearer '],
    tail: '[\\w.~+/=-]{16,}',
    keeps: true,
    check: looksRandom,
  },
  {
    kind: 'authorization',
    begins: ['Basic '],
    tail: '[A-Za-z0-9+/]{12,}={0,2}',
    keeps: true,
    check: looksRandom,
  },
  { kind: 'age', begins: ['AGE-SECRET-KEY-1', 'age-secret-key-1'], tail: '[A-Za-z0-9]{40,}' },
]

const BEHIND_CHARACTERS_MAX = 40

const BEGINS = new Map(
  SHAPES.flatMap((shape) => {
    const tail = new RegExp(shape.tail, 'y')
    return shape.begins.map((begin) => [begin, { shape, tail }] as const)
  }),
)

// Longer beginnings first: an alternation takes the first that fits.
const ANY_BEGIN = new RegExp(
  [...BEGINS.keys()]
    .sort((a, b) => b.length - a.length)
    .map((begin) => begin.replace(/[.?/]/g, '\\$&'))
    .join('|'),
  'y',
)

// Secrets begin at very few positions. A rolling hash over three characters skips nearly all
// others, in less than half the time of a search for the alternation.
const ROLLED = 3
const HASH_BITS = 15
const MAY_BEGIN = new Uint8Array(2 ** HASH_BITS)
for (const begin of BEGINS.keys()) {
  let hash = 0
  for (let index = 0; index < ROLLED; index++) hash = roll(hash, begin.charCodeAt(index))
  MAY_BEGIN[hash] = 1
}

/** A character is shifted out after `ROLLED` more. */
function roll(hash: number, code: number): number {
  return ((hash << (HASH_BITS / ROLLED)) ^ code) & (2 ** HASH_BITS - 1)
}

export function findShapes(text: string): readonly Secret[] {
  const secrets: Secret[] = []
  let hash = 0
  let done = 0
  for (let index = 0; index < text.length; index++) {
    hash = roll(hash, text.charCodeAt(index))
    const from = index + 1 - ROLLED
    if (MAY_BEGIN[hash] === 0 || from < done) continue
    const secret = secretAt(text, from)
    if (secret === undefined) continue
    secrets.push(secret)
    if (secret.kind === 'aws') secrets.push(...findAwsSecret(text, secret.to))
    done = secret.to
  }
  return [...secrets, ...findDiscord(text)]
}

function secretAt(text: string, from: number): Secret | undefined {
  ANY_BEGIN.lastIndex = from
  const begin = ANY_BEGIN.exec(text)?.[0] ?? ''
  const entry = BEGINS.get(begin)
  if (entry === undefined) return undefined
  const { shape, tail } = entry
  if (shape.apart && !beginsWord(text, from)) return undefined
  tail.lastIndex = from + begin.length
  const rest = tail.exec(text)?.[0]
  if (rest === undefined || shape.check?.(rest) === false) return undefined
  const before = shape.behind?.exec(text.slice(Math.max(0, from - BEHIND_CHARACTERS_MAX), from))
  if (before === null) return undefined
  return {
    kind: shape.kind,
    from: shape.keeps ? from + begin.length : from - (before?.[0].length ?? 0),
    to: tail.lastIndex,
  }
}

const DISCORD_FIRST = /(?:(?<![\w-])|(?<=\\[nrt])|(?<=%[0-9A-F]{2}))[MNO][\w-]{22,27}$/
const DISCORD_REST = /\.[\w-]{6,7}\.[\w-]{27,}/y

/** Three runs of known lengths joined by dots, with no prefix but one letter. */
function findDiscord(text: string): readonly Secret[] {
  const secrets: Secret[] = []
  for (let at = text.indexOf('.'); at !== -1; at = text.indexOf('.', at + 1)) {
    if (text[at + 7] !== '.' && text[at + 8] !== '.') continue
    DISCORD_REST.lastIndex = at
    if (!DISCORD_REST.test(text)) continue
    const first = DISCORD_FIRST.exec(text.slice(Math.max(0, at - BEHIND_CHARACTERS_MAX), at))
    if (first === null) continue
    secrets.push({ kind: 'discord', from: at - first[0].length, to: DISCORD_REST.lastIndex })
  }
  return secrets
}

/** The secret half has no prefix; it is recognized by the key before it. */
function findAwsSecret(text: string, from: number): readonly Secret[] {
  const near = text.slice(from, from + 160)
  const hit = /(?<![\w+/=])[A-Za-z0-9+/]{40}(?![\w+/=])/.exec(near)
  if (hit === null || !looksRandom(hit[0])) return []
  return [{ kind: 'aws', from: from + hit.index, to: from + hit.index + 40 }]
}

/** A word also begins after an escaped line break (`\n` in JSON) or a percent code. */
function beginsWord(text: string, from: number): boolean {
  if (from === 0 || !/[A-Za-z0-9]/.test(text.charAt(from - 1))) return true
  return /\\[nrtbf]$|%[0-9A-Fa-f]{2}$|\\u[0-9a-f]{4}$/.test(text.slice(Math.max(0, from - 6), from))
}
