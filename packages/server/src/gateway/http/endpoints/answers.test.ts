import { expect, it } from 'vitest'
import { openSqliteStore } from '#core/store/sqlite/open'
import { openPlace } from '../../../../../../test/product/http-place.ts'
import { SESSION, screens } from '../../../../../../test/terminal/screens.ts'

/** Whole answers over a store that version 0.1.0 wrote, which no process serves. */

const { path } = screens()
const S = `/v1/sessions/${SESSION}`

type Asked = readonly [what: string, body?: unknown, headers?: Readonly<Record<string, string>>]

const byRoute = (address: string): Asked => [
  'POST /v1/sessions',
  { agent: 'main', route: { channel: 'web', address } },
  { 'idempotency-key': 'k' },
]
const keyed = (text: string): Asked => [`POST ${S}/messages`, { text }, { 'idempotency-key': 'm' }]
const origin = 'https://app.example'

const CONVERSATIONS: Readonly<Record<string, readonly Asked[]>> = {
  'lists of sessions': [
    ['GET /v1/sessions'],
    ['GET /v1/sessions?agent=other&limit=1&sort=active&state=open'],
    ['GET /v1/sessions?limit=0'],
    ['GET /v1/sessions?limt=1&limit=1'],
    ['GET /v1/sessions?limit=1&limit=1'],
  ],
  'one session': [
    [`GET ${S}`],
    [`GET ${S}/transcript?from=34&to=38`],
    [`GET ${S}/transcript?limit=2`],
    [`GET ${S}.snapshot.37/transcript?to=1`],
    [`GET ${S}/context`],
    [`GET ${S}/context?at=4`],
    [`GET ${S}/context?at=99`],
    [`GET ${S}/tasks`],
    [`GET ${S}/blobs/${'a1'.repeat(32)}`],
    [`GET ${S}/blobs/a1`],
    [`GET ${S}/export?to=pdf`],
    ['GET /v1/sessions/nobody'],
    ['GET /v1/sessions/a.b'],
  ],
  searches: [
    [`GET ${S}/search?q=harbour&limit=1&neighbours=1`],
    ['GET /v1/search?q=harbour&limit=1'],
    ['GET /v1/search'],
  ],
  'what a session keeps': [
    [`GET ${S}/pins`],
    [`GET ${S}/mailbox?limit=1`],
    [`GET ${S}/mailbox/1/outcome?waitMs=1`],
    [`GET ${S}/memory`],
    [`GET ${S}/compactions`],
    [`GET ${S}/compactions/37`],
    [`GET ${S}/compactions/36`],
  ],
  usage: [
    [`GET ${S}/usage`],
    [`GET ${S}/usage?by=step&turn=4`],
    ['GET /v1/usage'],
    ['GET /v1/usage?by=agent'],
    ['GET /v1/activity'],
  ],
  'the server itself': [
    ['GET /v1/agents'],
    ['GET /v1/access'],
    ['GET /v1/audit'],
    ['GET /v1/rehearsal'],
    ['GET /healthz'],
    ['GET /readyz'],
    ['GET /nothing'],
    ['PATCH /v1/sessions'],
  ],
  'pages of other origins': [
    ['OPTIONS /v1/sessions', undefined, { origin, 'access-control-request-method': 'POST' }],
    ['GET /healthz', undefined, { origin }],
    ['GET /healthz', undefined, { origin: 'https://evil.example' }],
    ['GET /v1/agents', undefined, { authorization: 'Bearer x' }],
  ],
  'new sessions': [
    ['POST /v1/sessions', { agent: 'main', id: 'made' }],
    ['POST /v1/sessions', { agent: 'main', id: 'made' }],
    ['POST /v1/sessions', { agent: 'nobody' }],
    byRoute('1'),
    byRoute('1'),
    byRoute('2'),
    ['GET /v1/sessions?sort=id'],
  ],
  'bodies that are refused': [
    ['POST /v1/sessions', { agent: 'main' }, { 'idempotency-key': 'a b' }],
    ['POST /v1/sessions', { agnt: 1, id: 'a b', constructor: 1 }],
    ['POST /v1/sessions', '{"agent"'],
    ['POST /v1/sessions', '[[[[[[[[]]]]]]]]'],
    ['POST /v1/sessions', `"${'x'.repeat(3_000)}"`],
    ['POST /v1/sessions', '{}', { 'content-type': 'text/plain' }],
    ['POST /v1/sessions', '{}', { 'content-encoding': 'gzip' }],
  ],
  messages: [
    keyed('Hello.'),
    keyed('Hello.'),
    keyed('Other.'),
    [`POST ${S}/messages?wait=reply`, { text: 'Hello again.' }],
    ['POST /v1/sessions/nobody/messages', { text: 'Hello.' }],
    [`GET ${S}/mailbox?state=pending`],
    [`DELETE ${S}/mailbox/16`],
    [`DELETE ${S}/mailbox/16`],
    [`DELETE ${S}/mailbox/999`],
    [`POST ${S}/stop`],
    [`POST ${S}/continue`],
  ],
  'pins, titles and notes': [
    [`PUT ${S}/pins/rule`, { text: 'Never on a Monday.' }],
    [`PUT ${S}/pins/a.b`, { text: 'x' }],
    [`DELETE ${S}/pins/rule`],
    [`PUT ${S}/title`, { title: 'A word' }],
    [`PUT ${S}/title`, { title: 'x'.repeat(900) }],
    ['PUT /v1/sessions/nobody/title', { title: 'x' }],
    [`PUT ${S}/notes/none`, { text: 'x' }],
    [`DELETE ${S}/notes/none`],
    [`DELETE ${S}/reminders/none`],
    ['POST /v1/hooks/none', {}],
  ],
  compactions: [
    [`POST ${S}/compactions`, { focus: 'harbour' }],
    [`POST ${S}/compactions`],
    [`POST ${S}/compactions/37/revert`],
    [`POST ${S}/compactions/36/revert`],
  ],
  'forks and removals': [
    [`POST ${S}/forks`, { at: 5, id: 'second' }],
    [`POST ${S}/forks`, { at: 999 }],
    [`DELETE ${S}`],
    ['DELETE /v1/sessions/second'],
    [`DELETE ${S}`],
    [`DELETE ${S}`],
    [`GET ${S}`],
    [`GET ${S}/transcript`],
    [`POST ${S}/messages`, { text: 'x' }],
    ['GET /v1/sessions?state=gone'],
  ],
}

it.each(Object.entries(CONVERSATIONS))('answers about %s', async (_about, asked) => {
  const store = await openSqliteStore({ path })
  const limits = { bodyBytesMax: 2_000, depthMax: 5, waitMsMax: 20 }
  const place = await openPlace({ store, runs: false, limits, allowedOrigins: [origin] })
  const told: string[] = []
  for (const [what, body, headers] of asked) {
    const [method = '', to = ''] = what.split(' ')
    const answer = await place.call(to, {
      ...{ method, headers: { 'x-request-id': 'r', ...headers } },
      ...(body !== undefined && { body }),
    })
    const named = [...answer.headers].filter(([name]) => !['date', 'keep-alive'].includes(name))
    const lines = named.map(([name, value]) => `${name}: ${value}`)
    told.push([what, answer.status, ...lines, answer.text].join('\n'))
  }
  await place.close()
  expect(plain(told.join('\n\n')).replaceAll(place.url, 'URL')).toMatchSnapshot()
})

/** Without what differs from run to run: times after those of the store, and names by chance. */
function plain(text: string): string {
  return text
    .replaceAll(/\b1\d{12}\b/g, (time) => (Number(time) > 1_795_000_000_000 ? 'NOW' : time))
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'UUID')
}
