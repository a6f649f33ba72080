import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DIGITS, LOWER, made, UPPER, WORD } from '../../../../../test/support/made-up.ts'
import { tries } from '../../../../../test/support/seeded-random.ts'
import { findSecrets, redact } from './redact.ts'

const HEX = '0123456789abcdef'
const BASE64 = `${WORD}+/`

const jwtPart = (length: number) => `eyJ${made(length, WORD, length)}`
const pem = (label: string, body: string) =>
  `-----BEGIN ${label}-----\n${body}\n-----END ${label}-----`
const pemBody = [made(64, BASE64, 1), made(64, BASE64, 2), made(40, BASE64, 3)].join('\n')

/** Secrets that are known by themselves: kind, text. */
const CANARIES: readonly (readonly [kind: string, secret: string])[] = [
  ['throughline', `tl_${made(43, `${WORD}_-`)}`],
  ['openai', `sk-${made(48, WORD)}`],
  ['openai', `sk-proj-${made(150, `${WORD}_-`)}`],
  ['openai', `sk-svcacct-${made(100, WORD)}`],
  ['anthropic', `sk-ant-api03-${made(93, `${WORD}_-`)}AA`],
  ['openrouter', `sk-or-v1-${made(64, HEX)}`],
  ['groq', `gsk_${made(52, WORD)}`],
  ['xai', `xai-${made(80, WORD)}`],
  ['perplexity', `pplx-${made(48, WORD)}`],
  ['replicate', `r8_${made(37, WORD)}`],
  ['nvidia', `nvapi-${made(64, WORD)}`],
  ['cerebras', `csk-${made(48, LOWER + DIGITS)}`],
  ['tavily', `tvly-${made(32, WORD)}`],
  ['huggingface', `hf_${made(34, UPPER + LOWER)}`],
  ['langsmith', `lsv2_pt_${made(32, HEX)}_${made(10, HEX)}`],
  ...['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'].map((b) => ['github', b + made(36, WORD)] as const),
  ['github', `github_pat_${made(22, WORD)}_${made(59, WORD)}`],
  ['gitlab', `glpat-${made(20, `${WORD}_-`)}`],
  ['gitlab', `glrt-${made(20, WORD)}`],
  ['atlassian', `ATATT3xFfGF0${made(180, WORD)}`],
  ['npm', `npm_${made(36, WORD)}`],
  ['pypi', `pypi-AgEIcHlwaS5vcmc${made(120, WORD)}`],
  ['rubygems', `rubygems_${made(48, HEX)}`],
  ['docker', `dckr_pat_${made(27, WORD)}`],
  ['slack', `xoxb-${made(12, DIGITS)}-${made(12, DIGITS)}-${made(24, WORD)}`],
  ['slack', `xapp-1-A${made(10, UPPER)}-${made(13, DIGITS)}-${made(64, HEX)}`],
  ['telegram', `${made(9, '123456789')}:AA${made(33, `${WORD}_-`)}`],
  ['discord', `M${made(23, WORD)}.${made(6, WORD)}.${made(38, WORD)}`],
  ['aws', `AKIA${made(16, `${UPPER}234567`)}`],
  ['aws', `ASIA${made(16, `${UPPER}234567`)}`],
  ['google', `AIza${made(35, `${WORD}_-`)}`],
  ['google-oauth', `ya29.${made(120, WORD)}`],
  ['google-oauth', `GOCSPX-${made(28, WORD)}`],
  ['azure', `${made(3, WORD)}8Q~${made(34, WORD)}`],
  ['digitalocean', `dop_v1_${made(64, HEX)}`],
  ['heroku', `HRKU-${made(60, WORD)}`],
  ['databricks', `dapi${made(32, HEX)}`],
  ['planetscale', `pscale_pw_${made(43, WORD)}`],
  ['supabase', `sbp_${made(40, HEX)}`],
  ['vault', `hvs.${made(90, WORD)}`],
  ['terraform', `${made(14, WORD)}.atlasv1.${made(67, WORD)}`],
  ['brevo', `xkeysib-${made(64, HEX)}-${made(16, WORD)}`],
  ['vercel', `vercel_blob_rw_${made(16, WORD)}_${made(30, WORD)}`],
  ['pulumi', `pul-${made(40, HEX)}`],
  ['doppler', `dp.pt.${made(43, WORD)}`],
  ['stripe', `sk_live_${made(24, WORD)}`],
  ['stripe', `rk_test_${made(24, WORD)}`],
  ['stripe', `whsec_${made(32, WORD)}`],
  ['twilio', `SK${made(32, HEX)}`],
  ['sendgrid', `SG.${made(22, WORD)}.${made(43, WORD)}`],
  ['mailgun', `key-${made(32, HEX)}`],
  ['shopify', `shpat_${made(32, HEX)}`],
  ['square', `sq0csp-${made(43, WORD)}`],
  ['linear', `lin_api_${made(40, WORD)}`],
  ['notion', `ntn_${made(46, WORD)}`],
  ['figma', `figd_${made(40, WORD)}`],
  ['postman', `PMAK-${made(24, HEX)}-${made(34, HEX)}`],
  ['sentry', `sntrys_${made(80, WORD)}`],
  ['newrelic', `NRAK-${made(27, UPPER + DIGITS)}`],
  ['grafana', `glsa_${made(32, WORD)}_${made(8, HEX)}`],
  ['onepassword', `ops_eyJ${made(200, WORD)}`],
  [
    'onepassword',
    `A3-${made(6, UPPER)}-${made(6, UPPER)}-${['', '', ''].fill(made(5, UPPER)).join('-')}`,
  ],
  ['vercel', `vcp_${made(52, WORD)}`],
  ['jwt', `${jwtPart(33)}.${jwtPart(80)}.${made(43, `${WORD}_-`)}`],
  // Encrypted: with a wrapped key, and with one that both sides have.
  [
    'jwt',
    `${jwtPart(60)}.${made(342, WORD)}.${made(16, WORD)}.${made(90, WORD)}.${made(22, WORD)}`,
  ],
  ['jwt', `eyAi${made(60, WORD)}..${made(22, WORD)}.${made(90, WORD)}.${made(43, WORD)}`],
  ['jwt', `${jwtPart(60)}..${made(22, WORD)}.${made(90, WORD)}.${made(43, WORD)}`],
  ['age', `AGE-SECRET-KEY-1${made(58, UPPER + DIGITS)}`],
  ['private-key', pem('RSA PRIVATE KEY', pemBody)],
  ['private-key', pem('OPENSSH PRIVATE KEY', pemBody)],
  ['private-key', pem('PGP PRIVATE KEY BLOCK', `Version: 1\n\n${pemBody}`)],
]

/** Where a secret may stand; `before` and `after` must survive. */
const CONTEXTS: readonly (readonly [before: string, after: string])[] = [
  ['', ''],
  ['I set it to ', ' and it worked.'],
  ['(see ', ')'],
  ['{"value":"', '","n":1}'],
  ['{\\"value\\":\\"', '\\"}'],
  ['first line\\n', '\\nlast line'],
  ['curl -d ', ' example.org/x'],
  ["export X='", "'\necho done"],
  ['https://example.org/?x=', '&y=1'],
  ['https://example.org/?x%3D', '#top'],
  ['Ключ: ', ' — готово'],
  ['密钥是', '，好的'],
  ['🔑', '🔑'],
  ['`', '`'],
  ['| a | ', ' |'],
]

describe('redact', () => {
  // One of 750 looks like words joined by separators.
  it('masks every token of our own', () => {
    const tokens = Array.from({ length: 10_000 }, (_, number) => {
      return `tl_${createHash('sha256').update(`${number}`).digest('base64url')}`
    })
    expect(tokens.filter((token) => redact(`use ${token} now`).includes(token))).toEqual([])
  })

  it('masks every known shape in every place and leaves the text around it', () => {
    const missed: string[] = []
    for (const [kind, secret] of CANARIES) {
      for (const [before, after] of CONTEXTS) {
        const clean = redact(before + secret + after)
        if (clean !== `${before}[secret:${kind}]${after}`) missed.push(`${kind}: ${clean}`)
      }
    }
    expect(missed).toEqual([])
  })

  const password = made(14, `${WORD}!%*`)
  const key = made(40, BASE64)
  const hex = made(32, HEX)

  const named: readonly (readonly [text: string, clean: string])[] = [
    // Assignments
    [`PASSWORD=${password}`, 'PASSWORD=[secret:password]'],
    ['export DB_PASS=swordfish', 'export DB_PASS=[secret:password]'],
    ["password = 'swordfish'", "password = '[secret:password]'"],
    ['const password: string = "swordfish"', 'const password: string = "[secret:password]"'],
    [
      '{"user":"a","password":"it\'s; me","n":1}'.replace('; ', ';'),
      '{"user":"a","password":"[secret:password]","n":1}',
    ],
    [
      '{\\"password\\": \\"swordfish\\", \\"n\\": 1}',
      '{\\"password\\": \\"[secret:password]\\", \\"n\\": 1}',
    ],
    ['db:\n  password: swordfish\n  port: 1', 'db:\n  password: [secret:password]\n  port: 1'],
    ["password: '!QAZ[2wsx'", "password: '[secret:password]'"],
    ["password = b'swordfish'", "password = b'[secret:password]'"],
    ['{"a":1,"password":"swordf1sh', '{"a":1,"password":"[secret:password]'],
    ['- name: DB_PASSWORD\n  value: swordf1sh', '- name: DB_PASSWORD\n  value: [secret:password]'],
    [
      '{"name":"DB_PASSWORD","value":"swordfish"}',
      '{"name":"DB_PASSWORD","value":"[secret:password]"}',
    ],
    ['passphrase: "correct horse battery staple"', 'passphrase: "[secret:password]"'],
    ['Server=db;Uid=sa;Pwd=Sw0rd!fish;', 'Server=db;Uid=sa;Pwd=[secret:password];'],
    ['<password>swordfish</password>', '<password>[secret:password]</password>'],
    ['?user=a&password=swordfish&x=1', '?user=a&password=[secret:password]&x=1'],
    [`api_key: ${hex}`, 'api_key: [secret:credential]'],
    [`"apiKey": "${hex}",`, '"apiKey": "[secret:credential]",'],
    [`X-Api-Key: ${hex}`, 'X-Api-Key: [secret:credential]'],
    [`client_secret='${password}x9'`, "client_secret='[secret:credential]'"],
    [`aws_secret_access_key = ${key}`, 'aws_secret_access_key = [secret:credential]'],
    [
      `DefaultEndpointsProtocol=https;AccountName=a;AccountKey=${key}==;`,
      'DefaultEndpointsProtocol=https;AccountName=a;AccountKey=[secret:credential];',
    ],
    [
      `Endpoint=sb://a.b/;SharedAccessKeyName=x;SharedAccessKey=${key}=`,
      'Endpoint=sb://a.b/;SharedAccessKeyName=x;SharedAccessKey=[secret:credential]',
    ],
    [
      `users:\n- user:\n    client-key-data: ${made(200, BASE64)}\n    token: ${made(60, WORD)}`,
      'users:\n- user:\n    client-key-data: [secret:credential]\n    token: [secret:credential]',
    ],
    [`//registry.example/:_authToken=${hex}`, '//registry.example/:_authToken=[secret:credential]'],
    [
      `{"auths":{"r":{"auth":"${made(32, BASE64)}"}}}`,
      '{"auths":{"r":{"auth":"[secret:credential]"}}}',
    ],
    [`TOKEN_FOR_DEPLOY=${made(40, WORD)}`, 'TOKEN_FOR_DEPLOY=[secret:credential]'],
    [`text\\nPASSWORD=${made(12, WORD)}\\nmore`, 'text\\nPASSWORD=[secret:password]\\nmore'],
    // Where a value ends: signs inside a password, and the same signs behind one
    ['password: Tr0ub4dor&3xyz', 'password: [secret:password]'],
    ['password: Tr0ub4dor&3xyz, then go', 'password: [secret:password], then go'],
    ['PASSWORD=Tr0ub;4dor|3xyz', 'PASSWORD=[secret:password]'],
    ['PASSWORD=Tr0ub4dor\\&3xyz cmd', 'PASSWORD=[secret:password] cmd'],
    ['PASSWORD=Tr0ub4dor&& cmd', 'PASSWORD=[secret:password]&& cmd'],
    ['PASSWORD=Tr0ub4dor! cmd', 'PASSWORD=[secret:password] cmd'],
    ['password: Tr0ub(4dor', 'password: [secret:password]'],
    ["password: Tr0ub'4dor", 'password: [secret:password]'],
    ['password: Tr0ub<4dor', 'password: [secret:password]'],
    ['<p>password: Tr0ub4dor</p>', '<p>password: [secret:password]</p>'],
    ['?password=Tr0ub4dor&3xyz', '?password=[secret:password]&3xyz'],
    ['password=Tr0ub4dor&user=a', 'password=[secret:password]&user=a'],
    ['{password: Tr0ub4dor, user: a}', '{password: [secret:password], user: a}'],
    ['open(password=Tr0ub4dor).then(x)', 'open(password=[secret:password]).then(x)'],
    ["ALTER ROLE a PASSWORD 'Tr0ub''4dor'", "ALTER ROLE a PASSWORD '[secret:password]'"],
    ["tool --password='Tr0ub'\\''4dor' -v", "tool --password='[secret:password]' -v"],
    ['password: &pw Tr0ub4dor', 'password: &pw [secret:password]'],
    ['password: |\n  Tr0ub4dor\nuser: a', 'password: |\n  [secret:password]\nuser: a'],
    ['password:\n  Tr0ub4dor&3xyz\nuser: a', 'password:\n  [secret:password]\nuser: a'],
    [`a:\r\n  api_key:\r\n    ${hex}`, 'a:\r\n  api_key:\r\n    [secret:credential]'],
    // As a part of a URL
    [`?next=api_key%3D${hex}%26x%3D1`, '?next=api_key%3D[secret:credential]%26x%3D1'],
    [
      `%7B%22access_token%22%3A%22${hex}%22%7D`,
      '%7B%22access_token%22%3A%22[secret:credential]%22%7D',
    ],
    ['u?q=password%3Dh%75nt%21er2%26', 'u?q=password%3D[secret:password]%26'],
    ['mnemonic: legal winner thank year wave', 'mnemonic: [secret:password]'],
    ['postgres://app:sw/rd#fish@db/x', 'postgres://app:[secret:url]@db/x'],
    ['PGPASSWORD=/n1caXmRO7gq', 'PGPASSWORD=[secret:password]'],
    // Flags and commands
    ['rclone obscure swordfish', 'rclone obscure [secret:password]'],
    [
      `rclone config create nas sftp host h user u pass ${made(30, WORD)}`,
      'rclone config create nas sftp host h user u pass [secret:password]',
    ],
    [
      `rclone config password nas pass ${made(30, WORD)}`,
      'rclone config password nas pass [secret:password]',
    ],
    [
      `rclone lsd :sftp,host=h,user=bob,pass=${made(30, WORD)}:folder`,
      'rclone lsd :sftp,host=h,user=bob,pass=[secret:password]:folder',
    ],
    [
      `[nas]\ntype = sftp\npass = ${made(30, `${WORD}_-`)}`,
      '[nas]\ntype = sftp\npass = [secret:password]',
    ],
    [`rclone ls a: --sftp-pass ${made(30, WORD)}`, 'rclone ls a: --sftp-pass [secret:password]'],
    [
      `rclone ls :sftp,host=h,pass=${made(30, WORD)}`,
      'rclone ls :sftp,host=h,pass=[secret:password]',
    ],
    ['tool --password swordfish --verbose', 'tool --password [secret:password] --verbose'],
    ['tool --password=swordfish -v', 'tool --password=[secret:password] -v'],
    [`tool --token ${hex}`, 'tool --token [secret:credential]'],
    ['mysql -u root -pswordfish db', 'mysql -u root -p[secret:password] db'],
    ["sshpass -p 'swordfish' ssh a", "sshpass -p '[secret:password]' ssh a"],
    ['docker login -u a -p swordfish r', 'docker login -u a -p [secret:password] r'],
    ['curl -s -u admin:swordfish https://a.b', 'curl -s -u admin:[secret:password] https://a.b'],
    ['redis-cli -h a -a swordfish ping', 'redis-cli -h a -a [secret:password] ping'],
    [
      "CREATE USER a IDENTIFIED BY 'swordfish';",
      "CREATE USER a IDENTIFIED BY '[secret:password]';",
    ],
    ["ALTER ROLE a WITH PASSWORD 'swordfish'", "ALTER ROLE a WITH PASSWORD '[secret:password]'"],
    ['machine a login b password swordfish', 'machine a login b password [secret:password]'],
    // URLs
    ['postgres://app:swordfish@db:5432/x', 'postgres://app:[secret:url]@db:5432/x'],
    ['mysql://root:sw@rd:fish@db/x', 'mysql://root:[secret:url]@db/x'],
    ['mongodb+srv://a:swordfish@c.example.net/x', 'mongodb+srv://a:[secret:url]@c.example.net/x'],
    ['redis://:swordfish@cache:6379', 'redis://:[secret:url]@cache:6379'],
    [`https://${made(32, WORD)}@git.example.org/x`, 'https://[secret:url]@git.example.org/x'],
    [
      `https://hooks.slack.com/services/T${made(8, UPPER)}/B${made(8, UPPER)}/${made(24, WORD)}`,
      'https://hooks.slack.com/services/[secret:slack-webhook]',
    ],
    [
      `https://discord.com/api/webhooks/${made(18, DIGITS)}/${made(68, WORD)}`,
      'https://discord.com/api/webhooks/[secret:discord-webhook]',
    ],
    [
      `https://a.blob.core.windows.net/c?sv=2022&sig=${made(43, WORD)}%3D&se=1`,
      'https://a.blob.core.windows.net/c?sv=2022&sig=[secret:azure-sas]&se=1',
    ],
    // Headers
    [`Authorization: Bearer ${made(30, WORD)}`, 'Authorization: Bearer [secret:authorization]'],
    [
      `-H "authorization: Basic ${made(24, BASE64)}==" x`,
      '-H "authorization: Basic [secret:authorization]" x',
    ],
    [`{'Authorization': 'token ${hex}'}`, "{'Authorization': 'token [secret:authorization]'}"],
    [`sent Bearer ${made(30, WORD)} there`, 'sent Bearer [secret:authorization] there'],
    ['Cookie: sid=abc123; theme=dark\nHost: a', 'Cookie: sid=[secret:cookie]\nHost: a'],
    [`Set-Cookie: sid=${hex}; Path=/; HttpOnly\r\nX: 1`, 'Set-Cookie: sid=[secret:cookie]\r\nX: 1'],
    // Blocks
    [`AKIA${made(16, UPPER)},${made(40, BASE64)}`, '[secret:aws],[secret:aws]'],
    [
      JSON.stringify({ private_key: `${pem('PRIVATE KEY', pemBody)}\n`, a: 1 }),
      '{"private_key":"[secret:private-key]\\n","a":1}',
    ],
    [
      `-----BEGIN EC PRIVATE KEY-----\n${made(64, BASE64)}\n${made(64, BASE64, 5)}`,
      '[secret:private-key]',
    ],
    [
      // A password that is the name of a command is none.
      'sshpass -p mysql ssh -pine host',
      'sshpass -p [secret:password] ssh -pine host',
    ],
    [
      `-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,${hex}\n\n${pemBody}\n... (truncated)`,
      '[secret:private-key]\n... (truncated)',
    ],
  ]

  it('masks the value after a name, in a URL, a header or a command, and keeps the rest', () => {
    expect(named.map(([text]) => redact(text))).toEqual(named.map(([, clean]) => clean))
  })

  it.each([
    ['my password is ', 'hunter2', ''],
    ['My password is ', 'swordfish', '.'],
    ['my wifi password is "', 'correct horse battery staple', '"'],
    ['The root password on prod is now ', 'Summer2024', '!'],
    ['our password for the build server was changed to ', 'Tr0ub4dor&3xyz', ', please note'],
    ['My PIN is ', '4711', '.'],
    ['my API key is ', made(24, HEX), ' (new)'],
    ['mein Passwort ist ', 'Geheim42', ''],
    ['Das Kennwort für die Datenbank lautet „', 'Geheim42', '“'],
    ['mi contraseña es ', 'gato1234', ' y nada más'],
    ['mon mot de passe est ', 'Soleil99', ''],
    ['la mia password è ', 'gatto1234', ''],
    ['minha senha é ', 'gato1234', '.'],
    ['mijn wachtwoord is ', 'welkom01', ''],
    ['мой пароль это ', 'qwerty77', ''],
    ['Пароль: ', 'Солнце99', ''],
    ['我的密码是 ', 'hunter2', '。'],
    ['パスワードは', 'hunter2', 'です'],
    ['비밀번호는 ', 'hunter2', '입니다'],
  ])('masks a password in a sentence: %s', (before, secret, after) => {
    expect(redact(before + secret + after)).toMatch(/^(.*)\[secret:(?:password|credential)\](.*)$/s)
    expect(redact(before + secret + after).replace(/\[secret:[a-z]+\]/, '')).toBe(before + after)
  })

  const INVISIBLE = [
    '\u200b',
    '\u200d',
    '\u2060',
    '\u00ad',
    '\ufeff',
    '\ufe0f',
    '\u{e0101}',
    '\\u200b',
    '\u001b[01;31m',
    '\u001b[K',
    '\\u001b[0m',
    '\\x1b[m',
    '\\033[0;32m',
  ]

  it.each(['token\u00a0=\u00a0', 'api_key\u2009:\u202f', 'token\t=\t', '| api_key | '])(
    'masks a value behind spaces and signs of web pages and tables: %j',
    (before) => {
      const masked = redact(`${before}q7Rt2Lm9Xw4Zb8Kd1Vs6 rest`)
      expect(masked.replace(/\[secret:\w+\]/, '*')).toBe(`${before}* rest`)
    },
  )

  it('masks secrets that contain invisible characters, and leaves other text with them alone', () => {
    for (const hidden of INVISIBLE) {
      for (const [kind, secret] of CANARIES.slice(0, 12)) {
        const inside = `${secret.slice(0, 2)}${hidden}${secret.slice(2, 9)}${hidden}${secret.slice(9)}`
        expect(redact(`a ${inside} b`)).toBe(`a [secret:${kind}] b`)
      }
      expect(redact(`pass${hidden}word: hunt${hidden}er2&x9`)).toBe(
        `pass${hidden}word: [secret:password]`,
      )
    }
    const seen = 'co\u00adop\u200bera\u00adtion 👨\u200d👩\u200d👧 می\u200cخواهم ❤\ufe0f'
    expect(redact(seen)).toBe(seen)
  })

  it('masks secrets in letters and digits of full width', () => {
    const widen = (text: string) =>
      text.replace(/[\w-]/g, (narrow) => String.fromCharCode(narrow.charCodeAt(0) + 0xfee0))
    for (const [kind, secret] of CANARIES.slice(0, 12))
      expect(redact(`a ${widen(secret)} b`)).toBe(`a [secret:${kind}] b`)
  })

  it('masks a secret inside a forged mark', () => {
    const secret = `ghp_${made(36, WORD)}`
    expect(redact(`[secret: ${secret}]`)).toBe('[secret: [secret:github]]')
    expect(redact(`[secret:${secret}]`)).toBe('[secret:[secret:github]]')
    expect(redact(`[secret:github${secret}`)).toBe('[secret:[secret:credential]')
  })

  const fragments = [
    ...CANARIES.filter((_, index) => index % 6 === 0).map(([, secret]) => secret),
    ...[
      'password',
      'token',
      'SECRET_KEY',
      'Authorization',
      'Cookie',
      'auth',
      '--password',
      'mysql',
    ],
    ...['[secret:', 'jwt]', '[secret:password]', ']', 'sk-', '://', '@', 'Bearer ', '-----BEGIN '],
    ...[
      ':',
      '=',
      ' ',
      '"',
      "'",
      '\\',
      '\\n',
      '\n',
      '<',
      '>',
      '/',
      '&',
      '-p',
      'a=b; ',
      '🔑',
      '\ud800',
    ],
    ...['my password is ', '密码是', '\u200b', '\u00ad', '(', '[', '{', ';', ',', '!', '|\n  '],
    ...['hunter2', 'x', '12345678', made(40, WORD), made(40, HEX), 'PRIVATE KEY-----'],
  ]

  it('masking twice changes nothing', () => {
    const texts = fc.array(fc.constantFrom(...fragments), { maxLength: 14 })
    fc.assert(
      fc.property(texts, (pieces) => {
        const clean = redact(pieces.join(''))
        expect(findSecrets(clean)).toEqual([])
        expect(redact(clean)).toBe(clean)
      }),
      { numRuns: tries(4_000) },
    )
  })

  it('finds secrets in order, without overlaps, inside the text', () => {
    const texts = fc.array(fc.constantFrom(...fragments), { maxLength: 14 })
    fc.assert(
      fc.property(texts, (pieces) => {
        const text = pieces.join('')
        let end = 0
        for (const secret of findSecrets(text)) {
          expect(secret.from).toBeGreaterThanOrEqual(end)
          expect(secret.to).toBeGreaterThan(secret.from)
          end = secret.to
        }
        expect(end).toBeLessThanOrEqual(text.length)
      }),
      { numRuns: tries(2_000) },
    )
  })
})
