import { expect, it } from 'vitest'
import { noPaint } from '../../terminal/colours.ts'
import { welcomeText } from './welcome.ts'

const facts = {
  ...{ url: 'http://127.0.0.1:7420', store: 'a.db', isStandIn: false, found: [], program: 'npx t' },
  ...{ agents: [{ name: 'main', model: 'm' }], open: 'own-user' as const, tokenFile: null },
  named: null,
}

it('names the Unix socket beside the address', () => {
  const text = welcomeText({ ...facts, socket: '/run/a.sock' }, noPaint)
  expect(text).toContain('Unix socket /run/a.sock')
  expect(welcomeText({ ...facts, socket: null }, noPaint)).not.toContain('socket')
})

it('names the store in what to try next if it was named', () => {
  const text = welcomeText({ ...facts, socket: null, named: 'my store.db' }, noPaint)
  expect(text).toContain(
    "npx t chat --store 'my store.db'\n  npx t sessions --store 'my store.db'\n",
  )
  expect(welcomeText({ ...facts, socket: null }, noPaint)).toContain('npx t chat\n')
})

const linesOf = (changed: Partial<Parameters<typeof welcomeText>[0]> = {}) =>
  welcomeText({ ...facts, socket: null, ...changed }, noPaint).split('\n')

it('says who is served, where, and what to try', () => {
  const agents = [...facts.agents, { name: 'b', model: 'n' }]
  expect(linesOf({ agents, open: 'nobody', tokenFile: '/t' })).toEqual([
    '● Serving 2 agents: main (m), b (n) at http://127.0.0.1:7420',
    '  Conversations are kept in a.db.',
    '  The token for this address is in /t.',
    '',
    'Try next, in another terminal:',
    '  npx t chat',
    '  npx t sessions',
    `  curl -s -H "authorization: Bearer $(cat '/t')" -H 'content-type: application/json' http://127.0.0.1:7420/v1/sessions -d '{"agent":"main","id":"first"}'`,
    `  curl -s -H "authorization: Bearer $(cat '/t')" -H 'content-type: application/json' 'http://127.0.0.1:7420/v1/sessions/first/messages?wait=reply' -d '{"text":"Hello."}'`,
    '',
    'Ctrl-C stops it cleanly; conversations continue at the next start.',
    '',
  ])
})

it('shows no address and no request if HTTP is off', () => {
  const text = linesOf({ url: null, open: 'every-user' }).join('\n')
  expect(text).not.toMatch(/http|curl|token|WARNING/)
  expect(text).toContain('npx t chat')
})

it('says who needs no token', () => {
  const said = (open: 'nobody' | 'own-user' | 'every-user') => linesOf({ open })
  expect(said('own-user')[2]).toContain('only your own user')
  expect(said('every-user')[2]).toContain('WARNING: every user')
  expect(said('nobody')[2]).toBe('')
  const curl = (open: 'nobody' | 'own-user') => said(open).find((line) => line.includes('curl'))
  expect(curl('nobody')).toContain('Bearer $TOKEN"')
  expect(curl('own-user')).not.toContain('Bearer')
})

it.each<[Partial<Parameters<typeof welcomeText>[0]>, readonly string[]]>([
  [
    { open: 'own-user', socket: '/run/a.sock' },
    [
      '  Without a token only your own user (and root) can use this address.',
      '  Your own user needs no token at the Unix socket /run/a.sock.',
    ],
  ],
  [
    { open: 'every-user' },
    [
      '  WARNING: every user of this machine can read and write all sessions at this address.',
      '  To require a token, made at the next start, set http.requireToken: true',
    ],
  ],
  [{ open: 'nobody' }, []],
  [{ open: 'nobody', tokenFile: '/t' }, ['  The token for this address is in /t.']],
  [{ open: 'every-user', url: null }, []],
])('says who may use it whole: %j', (changed, hints) => {
  const lines = linesOf(changed)
  const at = changed.url === null ? '' : ' at http://127.0.0.1:7420'
  expect(lines.slice(0, hints.length + 3)).toEqual([
    `● Serving 1 agent: main (m)${at}`,
    '  Conversations are kept in a.db.',
    ...hints,
    '',
  ])
  const agents = [] as const
  const asks = linesOf({ ...changed, agents }).filter((line) => line.includes('/v1/sessions '))
  expect(asks.map((line) => line.split(" -d '")[1])).toEqual(
    changed.url === null ? [] : [`{"agent":"main","id":"first"}'`],
  )
})

it('says how to get a real model while the stand-in answers', () => {
  const hint = (found: readonly string[]) =>
    linesOf({ isStandIn: true, found }).find((line) => /stand-in/.test(line))
  expect(hint([])).toContain("Set a provider's key or start an Ollama, then: npx t config init")
  expect(hint(['A is set', 'B is set'])).toContain(
    'Found: A is set; B is set. To switch: npx t config init',
  )
  expect(linesOf().some((line) => /stand-in/.test(line))).toBe(false)
})
