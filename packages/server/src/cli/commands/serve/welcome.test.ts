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
