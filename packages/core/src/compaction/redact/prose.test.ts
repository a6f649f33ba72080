import { describe, expect, it } from 'vitest'
import { findInProse } from './prose.ts'

/** The kind and the text of every secret of a sentence. */
const found = (text: string) =>
  findInProse(text).map(({ kind, from, to }) => [kind, text.slice(from, to)])

const KEY = 'k9Qz4TtR7vWb2LmX8c'

describe('findInProse finds', () => {
  it.each([
    // A value of letters and digits counts, no matter who owns the password.
    ['The password is hunter2x!', 'hunter2x'],
    ['The password is tr0ub4dor and more', 'tr0ub4dor'],
    ['the password for the staging server is now tr0ub4dor.', 'tr0ub4dor'],
    ['the password is 9fQ2zLx7 of course it is', '9fQ2zLx7'],
    ['the password is "tr0ub4dor" of course', 'tr0ub4dor'],
    ['my password is Kiwi42 of course', 'Kiwi42'],
    ['the password is "Kiwi42" of course', 'Kiwi42'],
    ['the password is Kiwi42.', 'Kiwi42'],
    // A plain word: after a possessive, quoted or at the end.
    ['my password is swordfish', 'swordfish'],
    ['our password is swordfish, I think', 'swordfish'],
    ['my password is "swordfish" there', 'swordfish'],
    ['my old router password is swordfish.', 'swordfish'],
    ['my password is swordfish and it works', 'swordfish'],
    ['my pin is 4711', '4711'],
    ['my pin is 4711.', '4711'],
    ['my passphrase is "correct horse battery staple"', 'correct horse battery staple'],
    ['my passphrase is "a b c d e f g h i j k l"', 'a b c d e f g h i j k l'],
    // Three characters are enough.
    ['my password is "abc"', 'abc'],
    // Other languages, other quotes.
    ['mein Passwort lautet „Sonnenblume“', 'Sonnenblume'],
    ['das Passwort: tr0ub4dor', 'tr0ub4dor'],
    ['mot de passe : tr0ub4dor', 'tr0ub4dor'],
    ['我的密码是tr0ub4dor。', 'tr0ub4dor'],
    ['パスワードは「tr0ub4dor」です', 'tr0ub4dor'],
    ['パスワードは『tr0ub4dor』です', 'tr0ub4dor'],
    ['제 비밀번호는 tr0ub4dor', 'tr0ub4dor'],
    ['мой пароль это “swordfish” там', 'swordfish'],
    ['mon mot de passe est «tournesol» ici', 'tournesol'],
    ['my password is ‘swordfish’ there', 'swordfish'],
    // A quote that is never closed.
    ['my password is "tr0ub4dor', 'tr0ub4dor'],
    // The name of a field with words between it and the sign.
    ['the password for the database: tr0ub4dor', 'tr0ub4dor'],
  ])('%s', (text, value) => {
    expect(found(text)).toEqual([['password', value]])
  })

  it.each([`the api key is ${KEY}`, `our access token is ${KEY} for now`])('%s', (text) => {
    expect(found(text)).toEqual([['credential', KEY]])
  })

  it('every one of several', () => {
    const text = `my password is swordfish. The pin is tr0ub4dor, the token is ${KEY}`
    expect(found(text)).toEqual([
      ['password', 'swordfish'],
      ['password', 'tr0ub4dor'],
      ['credential', KEY],
    ])
    // A value that reads like a name is only a value.
    expect(found('my password is "the password is tr0ub4dor" there')).toEqual([
      ['password', 'the password is tr0ub4dor'],
    ])
    // Each search begins at the start.
    expect(found('my password is swordfish')).toEqual([['password', 'swordfish']])
  })
})

describe('findInProse leaves alone', () => {
  it.each([
    // No value, or one too short for a password.
    'my password is',
    'my password is "ab"',
    'my password is ""',
    'mein Passwort lautet „“',
    'mein Passwort lautet „Sonnen\nblume“',
    'what is a password anyway',
    // A plain word without a possessive, or in the middle of a sentence.
    'the password is swordfish',
    'my password is swordfish there',
    'the password is "swordfish"',
    'my password is expired',
    'mein Passwort ist falsch.',
    // Stand-ins, methods and sizes.
    'my password is $PASSWORD',
    'my password is <password>',
    'my password is ********',
    'my password is sha256',
    'my password is 12-character',
    'my pin is 471',
    'the pin is 4711',
    'my pin is 4711 there',
    'my password is !!!',
    // Several words without a possessive, or more than a pass phrase has.
    'the passphrase is "correct horse battery staple"',
    'my passphrase is "a b c d e f g h i j k l m"',
    // Paths, addresses and code.
    'my password is config.password',
    'my password is /etc/passwd2',
    'my password is https://pier.example/1',
    'my password is read(2)',
    // Words with digits, said of no one in the middle of a sentence.
    'the password is Kiwi42 there',
    // Neither letters only nor mixed.
    'my password is swo-rdfish.',
    // Keys that are words, stand-ins or too short.
    'the api key is harbour-master-of-the-pier',
    'the token is abc123',
    'the token is $TOKEN',
    `the token is ${KEY}§${KEY}`,
    // Assignments with English names have their own rules.
    'password: tr0ub4dor',
    'token = k9Qz4TtR7vWb2LmX8c',
  ])('%s', (text) => {
    expect(found(text)).toEqual([])
  })

  it('a possessive too far before the name', () => {
    expect(found(`my ${'very '.repeat(3)}password is swordfish`)).toHaveLength(1)
    expect(found(`my ${'very '.repeat(4)}password is swordfish`)).toEqual([])
  })
})
