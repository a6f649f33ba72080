import { expect, it } from 'vitest'
import { corpusDir, corpusFiles, sampleFiles } from '../../../../../test/support/corpus.ts'
import { made, WORD } from '../../../../../test/support/made-up.ts'
import { findSecrets, redact } from './redact.ts'

const BASE64 = `${WORD}+/`
const DOLLAR = '$'

const harmless: readonly (readonly [text: string, what: string])[] = [
  ['commit 3f786850e387550fdab836ed7e6dc881de23001b', 'a git hash'],
  ['session 550e8400-e29b-41d4-a716-446655440000 resumed', 'a UUID'],
  ['sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', 'a file hash'],
  [`data:image/png;base64,iVBORw0KGgo${made(400, BASE64)}`, 'an image'],
  ['"id":"toolu_01Eiija7gxqTyYUmbwqxVfUJ","call_id":"call_9Zs1XbqPVm4TtRk2"', 'tool ids'],
  ['password = getPassword()', 'a call'],
  ['password: string', 'a type'],
  ['password:\n  type: string\n  minLength: 8', 'a schema'],
  ['password:\n  - 8-16', 'a list of rules'],
  ['Enter your password:\n  then press Enter', 'an instruction'],
  ['The token:\n  required', 'a rule below'],
  ['https://a.b/c%20d?next=%2Fauth%2Ftoken%3Fkind%3Dapi&q=100%25', 'a link with a path'],
  ['token: string; secret?: string', 'types'],
  ['const token = request.headers.token', 'a member'],
  ['login(user=user, password=password)', 'a keyword argument'],
  ['if (password === other) return', 'a comparison'],
  ['PASSWORD=$DB_PASSWORD', 'a variable'],
  [`PASSWORD=${DOLLAR}{DB_PASSWORD:-}`, 'a shell expansion'],
  ['password: "{{ vault_password }}"', 'a template'],
  ['password: "/run/secrets/db_password"', 'a path'],
  ['"password": "config.database.password"', 'a quoted member'],
  ['"password": "https://vault.example.org/v1/db2"', 'an address'],
  ['password: "<your password>"', 'a stand-in'],
  ['password: "********"', 'stars'],
  ['"password": "Enter your password"', 'a label'],
  ['max_tokens: 4096, tokensBefore: 150000, token_count=12', 'counts'],
  ['The secret: keep the functions small. The token is read later.', 'prose'],
  ['secretName: my-app-credentials-v2', 'a name'],
  ['tokenizer: claude-opus-4-5-20251101', 'a model'],
  ['--- PASS: TestCheckpoint_Path/#00 (0.00s)', 'a passed test'],
  ['"authoredDate":"2026-01-26T16:34:41Z"', 'a date'],
  ['author_email="someone1@example.org"', 'an author'],
  ['src/auth/token.ts:120:14 - error TS2304', 'a line number'],
  ['risk-assessment-for-the-quarterly-report-2024', 'words with sk-'],
  ['http://localhost:3000/a@b https://example.org/@scope/pkg', 'URLs with @'],
  ['git@github.com:owner/name.git ssh://git@host/x', 'user names in URLs'],
  ['ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI user@host', 'a public key'],
  ['-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkq\n-----END PUBLIC KEY-----', 'a public key block'],
  [
    `Authorization: Bearer $TOKEN, 'authorization': \`Bearer ${DOLLAR}{token2}\``,
    'header templates',
  ],
  ['docker run -p 8080:80 x; mysql -p db', 'ports and prompts'],
  ['getpass = unix_getpass\nbypass = low_2pass', 'words that end in pass'],
  ['authorization = authorization[1].encode(2)', 'a header in code'],
  ['private_key: PKCS7PrivateKeyTypes', 'a type with a digit'],
  ['"nextToken": "RW5DdDJkMWYwZjM2MzM2VHVpOHJIUXl"', 'a place in a list'],
  ['my password is wrong', 'a state'],
  ['My password is not working, and the password is required.', 'states'],
  ['the password is 8-16 characters, base64 encoded', 'a rule'],
  ['Passwort ist falsch. La contraseña es incorrecta.', 'states in other languages'],
  ['the password is user.password', 'a member in a sentence'],
  ['the token is read later, the pin is low', 'words'],
  ['passphrase: must not be empty at all', 'a rule of phrases'],
  ['password: user->password', 'a member in C'],
  ['password = hash(salt, other)[2]', 'a call with arguments'],
  ['credential = identity.fromX509({\n', 'a call over lines'],
  ['Now see that the tests pass:"}],"stop":null', 'a sentence before JSON'],
  ['tl_some_long_identifier_of_a_timeline_object_name', 'a name that begins like a token'],
  ['rclone copy a: b: --progress; rclone config', 'commands without a password'],
  ['rclone copy token files, pass on', 'words in a command'],
  ['http://localhost:8080/#/users@all', 'a port before a fragment'],
  ['key-value-store, api key rotation, the access key: see below', 'words'],
]

it('leaves hashes, identifiers, types, calls, templates and prose alone', () => {
  const masked = harmless.filter(([text]) => redact(text) !== text)
  expect(masked).toEqual([])
})

it('masks less than one character in ten thousand of real conversations', () => {
  const files = [...sampleFiles(), ...corpusFiles('claude-code').slice(0, 20)]
  let characters = 0
  let masked = 0
  for (const file of files) {
    const text = file.read()
    characters += text.length
    for (const secret of findSecrets(text)) masked += secret.to - secret.from
  }
  expect(characters).toBeGreaterThan(corpusDir() === undefined ? 100_000 : 1_000_000)
  expect(masked / characters).toBeLessThan(0.0001)
})
