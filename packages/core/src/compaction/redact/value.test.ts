import { describe, expect, it } from 'vitest'
import { DIGITS, LOWER, made, UPPER, WORD } from '../../../../../test/support/made-up.ts'
import { isStandIn, isWordy, looksRandom } from './randomness.ts'
import { findShapes } from './shapes.ts'
import { bareValue, openingQuote, quotedValue, VALUE_CHARACTERS_MAX } from './value.ts'

describe('quotedValue', () => {
  it.each([
    ['one word', 'sword" x', '"', 'sword'],
    ['blanks and other quotes', 'it\'s `a` phrase" x', '"', "it's `a` phrase"],
    ['an escaped quote', 'sw\\"ord" x', '"', 'sw\\"ord'],
    ['an escaped backslash before the end', 'sword\\\\" x', '"', 'sword\\\\'],
    ['a quote that SQL doubles', "sw''ord' x", "'", "sw''ord"],
    ['a quote that a shell leaves and enters again', "sw'\\''ord' x", "'", "sw'\\''ord"],
    ['a doubled quote with nothing behind it', "sword'' x", "'", 'sword'],
    ['a doubled quote of another kind', 'sw""ord" x', '"', 'sw'],
    ['an escaped opening', 'sw"ord\\" x', '\\"', 'sw"ord'],
    ['a prefixed opening', "sword' x", "b'", 'sword'],
    ['nothing', '" x', '"', undefined],
    ['nothing, escaped', '\\" x', '\\"', undefined],
    ['a line that ends before the quote', 'sword fish\n" x', '"', 'sword'],
    ['a carriage return before the quote', 'sword fish\r\n" x', '"', 'sword'],
    ['a text that was cut', 'sword', '"', 'sword'],
    ['a text that was cut at once', '', '"', undefined],
  ])('reads %s', (_, text, opened, value) => {
    const before = 'key='
    expect(quotedValue(before + text, before.length, opened)).toBe(value)
  })

  it('looks for the closing quote only so far', () => {
    const longest = 'a'.repeat(VALUE_CHARACTERS_MAX - 1)
    expect(quotedValue(`${longest}" x`, 0, '"')).toBe(longest)
    const cut = quotedValue(`a b${longest}"`, 0, '"')
    expect(cut).toBe('a')
  })
})

describe('openingQuote', () => {
  it.each([
    ['"x"', '"'],
    ["'x'", "'"],
    ['`x`', '`'],
    ['b"x"', 'b"'],
    ["$'x'", "$'"],
    ['b`x`', ''],
    ['\\"x\\"', '\\"'],
    ['\\\\\\"x', '\\\\\\"'],
    ['\\\\\\\\"x', '\\\\\\\\"'],
    ['\\\\\\\\\\"x', ''],
    ['x"', ''],
    ['', ''],
  ])('of %s is %s', (text, quote) => {
    expect(openingQuote(`= ${text}`, 2)).toBe(quote)
  })
})

describe('bareValue', () => {
  it.each([
    ['sword fish', 'sword'],
    ['sword.', 'sword'],
    ['sword?! x', 'sword'],
    ['...', undefined],
    ['', undefined],
    ['(x)', undefined],
    ['read(x)', undefined],
    ['read(', undefined],
    ['sw#rd(x)', 'sw#rd(x'],
    ['sword(x', 'sword(x'],
    ['sw;ord', 'sw;ord'],
    ['sw; ord', 'sw'],
    ['sw;port=1', 'sw'],
    ['sw&ord', 'sw&ord'],
    ['sw</a>', 'sw'],
    ['sw<3x', 'sw<3x'],
    ['sw\\&ord x', 'sw\\&ord'],
    ['sw\\nord', 'sw'],
  ])('of %s is %s', (text, value) => {
    expect(bareValue(`= ${text}`, 2)).toBe(value)
  })

  it('ends at every & of a query', () => {
    expect(bareValue('sw&ord', 0, true)).toBe('sw')
  })

  it('continues for 64 characters after the first sign that could end it', () => {
    const value = bareValue(`a${';b'.repeat(100)}`, 0)
    expect(value).toBe(`a${';b'.repeat(64)}`)
  })
})

describe('isStandIn', () => {
  it.each([
    ...[
      'null',
      'NONE',
      'string',
      'redacted',
      'Password',
      'yes',
      '****',
      'xxxx',
      '...',
      '•••',
      '---',
    ],
    ...[
      '$PASSWORD',
      '$'.concat('{PASSWORD}'),
      '$(cat a)',
      '%s',
      '%(name)s',
      '<your key>',
      '<key',
      '{key}',
    ],
    ...[
      '[hidden]',
      '(none)',
      '@password',
      '!secret',
      '\\n',
      'process.env.KEY',
      'os.environ',
      'env.A',
    ],
    ...['args.key', '--', '…', 'a$'.concat('{B}c'), 'a{{b}}', 'args.password'],
  ])('takes %s for a placeholder', (value) => {
    expect(isStandIn(value)).toBe(true)
  })

  it.each([
    ...['hunter2', 'nullable', 'my-password', '*a*', 'xxy', 'a$b', '100%', 'abc[1]', 'nothing'],
    ...['<a><b>', 'a@b', 'environment'],
  ])('takes %s for a value', (value) => {
    expect(isStandIn(value)).toBe(false)
  })
})

describe('looksRandom', () => {
  it.each([
    ['a value of 16 mixed characters', 'a8f3k2q9z7x1m4b6', true],
    ['one of 15', 'a8f3k2q9z7x1m4b', false],
    ['hex', '3f2a9c1d7b8e4f60', true],
    ['letters alone', 'qwertyuiopasdfgh', false],
    ['digits alone', '1234567890123456', false],
    ['words and numbers', 'claude-sonnet-4-5-20250929', false],
    ['a name in capitals', 'PKCS7KeyTypesForAll', false],
    ['two characters in turn', 'a1a1a1a1a1a1a1a1', false],
    ['a long value with little in it at first', `${'a1'.repeat(100)}3f2a9c1d7b8e4f60`, false],
  ])('judges %s', (_, value, expected) => {
    expect(looksRandom(value)).toBe(expected)
  })

  it.each([
    ...['gpt-4o', 'us-east-1', 'main.example:8080', 'camelCaseWord', 'UTF8', 'abc_DEF_12', ''],
  ])('takes %s for words', (value) => {
    expect(isWordy(value)).toBe(true)
  })

  it.each(['a1b2c3', 'x9fK2', '12345678901', 'a+b'])('does not take %s for words', (value) => {
    expect(isWordy(value)).toBe(false)
  })
})

const HEX = '0123456789abcdef'

describe('findShapes', () => {
  /** Beginnings, the characters after them, and how many there are at least. */
  it.each<[string, readonly string[], string, number]>([
    ['openai', ['sk-'], WORD, 20],
    ['anthropic', ['sk-ant-'], WORD, 16],
    ['openrouter', ['sk-or-'], WORD, 16],
    ['groq', ['gsk_'], WORD, 30],
    ['xai', ['xai-'], WORD, 60],
    ['perplexity', ['pplx-'], WORD, 32],
    ['replicate', ['r8_'], WORD, 30],
    ['nvidia', ['nvapi-'], WORD, 40],
    ['cerebras', ['csk-'], LOWER + DIGITS, 40],
    ['tavily', ['tvly-'], WORD, 20],
    ['huggingface', ['hf_', 'api_org_'], WORD, 30],
    ['langsmith', ['lsv2_pt_', 'lsv2_sk_'], WORD, 30],
    ['github', ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_', 'github_pat_'], WORD, 30],
    [
      'gitlab',
      ['glpat-', 'gldt-', 'glrt-', 'glptt-', 'glcbt-', 'glsoat-', 'glagent-', 'gloas-'],
      WORD,
      20,
    ],
    ['atlassian', ['ATATT3', 'ATBB', 'ATCTT3'], WORD, 20],
    ['npm', ['npm_'], WORD, 36],
    ['pypi', ['pypi-'], WORD, 50],
    ['rubygems', ['rubygems_'], HEX, 40],
    ['docker', ['dckr_pat_', 'dckr_oat_'], WORD, 20],
    [
      'slack',
      ['xoxa-', 'xoxb-', 'xoxe-', 'xoxp-', 'xoxr-', 'xoxs-', 'xoxc-', 'xoxd-', 'xapp-'],
      WORD,
      10,
    ],
    ['google', ['AIza'], WORD, 35],
    ['google-oauth', ['ya29.', 'GOCSPX-', '1//0'], WORD, 24],
    ['digitalocean', ['dop_v1_', 'doo_v1_', 'dor_v1_'], HEX, 40],
    ['heroku', ['HRKU-'], WORD, 30],
    ['planetscale', ['pscale_pw_', 'pscale_tkn_', 'pscale_oauth_'], WORD, 30],
    ['supabase', ['sbp_', 'sb_secret_'], WORD, 20],
    ['fly', ['FlyV1 '], WORD, 30],
    ['vault', ['hvs.', 'hvb.', 'hvr.'], WORD, 20],
    ['pulumi', ['pul-'], HEX, 40],
    ['doppler', ['dp.pt.', 'dp.st.', 'dp.sa.', 'dp.ct.'], WORD, 30],
    ['stripe', ['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_', 'whsec_'], WORD, 16],
    ['shopify', ['shpat_', 'shpca_', 'shppa_', 'shpss_'], HEX, 32],
    ['square', ['sq0atp-', 'sq0csp-'], WORD, 20],
    ['linear', ['lin_api_', 'lin_oauth_'], WORD, 30],
    ['notion', ['ntn_', 'secret_'], WORD, 40],
    ['figma', ['figd_'], WORD, 30],
    ['postman', ['PMAK-'], WORD, 40],
    ['sentry', ['sntrys_', 'sntryu_'], WORD, 30],
    ['newrelic', ['NRAK-'], UPPER + DIGITS, 20],
    ['grafana', ['glsa_', 'glc_'], WORD, 30],
    ['onepassword', ['ops_eyJ'], WORD, 40],
    ['vercel', ['vcp_', 'vci_', 'vca_', 'vcr_', 'vck_'], WORD, 24],
    ['age', ['AGE-SECRET-KEY-1', 'age-secret-key-1'], WORD, 40],
  ])(
    'knows the beginnings of %s, with enough characters behind them',
    (kind, begins, alphabet, min) => {
      for (const begin of begins) {
        const secret = begin + made(min, alphabet)
        expect(findShapes(`a ${secret} b`)).toEqual([{ kind, from: 2, to: 2 + secret.length }])
        expect(findShapes(`a ${begin}${made(min - 1, alphabet)} b`)).toEqual([])
      }
    },
  )

  it.each<[string, readonly string[], string]>([
    [
      'slack-webhook',
      ['services', 'workflows', 'triggers'].map((way) => `hooks.slack.com/${way}/`),
      made(20, WORD),
    ],
    [
      'discord-webhook',
      ['discord.com/api/webhooks/', 'discordapp.com/api/webhooks/'],
      `${made(15, DIGITS)}/${made(30, WORD)}`,
    ],
    ['teams-webhook', ['webhook.office.com/webhookb2/'], made(30, WORD)],
    ['azure-sas', ['?sig=', '&sig='], made(30, WORD)],
    ['authorization', ['Bearer ', 'bearer '], made(24, WORD)],
    ['authorization', ['Basic '], made(24, WORD)],
  ])('keeps the text before the secret of %s', (kind, begins, secret) => {
    for (const begin of begins) {
      const from = begin.length
      expect(findShapes(`${begin}${secret} b`)).toEqual([{ kind, from, to: from + secret.length }])
      expect(findShapes(`${begin}${secret.slice(0, 5)} b`)).toEqual([])
    }
  })

  it.each([
    `tl_${made(43, `${WORD}_-`)}`,
    ...['sk-', 'ATBB', 'AIza', 'ya29.', 'hvs.', 'dp.pt.', 'ntn_', 'vcp_'].map(
      (begin) => begin + made(48, WORD),
    ),
    `pul-${made(48, HEX)}`,
    `AKIA${made(16, UPPER)}`,
    `dapi${made(32, HEX)}`,
    `SK${made(32, HEX)}`,
    `SG.${made(22, WORD)}.${made(43, WORD)}`,
    `key-${made(32, HEX)}`,
    `A3-${made(6, UPPER)}-${['', '', '', ''].fill(made(5, UPPER)).join('-')}`,
    `eyJ${made(33, WORD)}.eyJ${made(80, WORD)}.${made(43, WORD)}`,
  ])('finds %s only at the beginning of a word', (secret) => {
    expect(findShapes(secret)).toHaveLength(1)
    expect(findShapes(`word${secret}`)).toEqual([])
    expect(findShapes(`\\n${secret}`)).toHaveLength(1)
    expect(findShapes(`%3D${secret}`)).toHaveLength(1)
    expect(findShapes(`\\u003d${secret}`)).toHaveLength(1)
    expect(findShapes(`\\n0${secret}`)).toEqual([])
  })

  it.each([
    ['aws', (length: number) => `AKIA${made(length, UPPER)}`, 16],
    ['aws', (length: number) => `ABIA${made(length, UPPER)}`, 16],
    ['aws', (length: number) => `ACCA${made(length, UPPER)}`, 16],
    ['databricks', (length: number) => `dapi${made(length, HEX)}`, 32],
    ['mailgun', (length: number) => `key-${made(length, HEX)}`, 32],
    ['twilio', (length: number) => `SK${made(length, HEX)}`, 32],
  ] as const)('wants exactly as many characters for %s as it has', (kind, secret, length) => {
    const found = (characters: number) =>
      findShapes(`a ${secret(characters)} b`).map((each) => each.kind)
    expect([found(length - 1), found(length), found(length + 1)]).toEqual([[], [kind], []])
  })
})
