import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { explainOutcome, type Outcome } from '../../packages/server/src/model/outcomes/outcome.ts'

const guide = readFileSync(join(import.meta.dirname, '../../docs/guides/models.md'), 'utf8')
const table = guide.split('### When a call fails\n')[1]?.split('\n## ')[0] ?? ''

const ROUTE = {
  ...{ model: 'claude-sonnet-4-5', host: 'api.anthropic.com' },
  variable: 'ANTHROPIC_API_KEY',
}

const refused = (
  refusal: Extract<Outcome, { kind: 'refused' }>['refusal'],
  status?: number,
  code?: string,
): Outcome => ({
  ...{ kind: 'refused', refusal },
  ...(status !== undefined && { status }),
  ...(code !== undefined && { code }),
})

const FAILURES: readonly Outcome[] = [
  refused('bad-key', 401, 'authentication_error'),
  refused('no-credential'),
  refused('not-found', 404, 'not_found_error'),
  refused('rate-limit', 429, 'rate_limit_error'),
  refused('no-credit', 402),
  refused('server-error', 500, 'api_error'),
  refused('overloaded', 529, 'overloaded_error'),
  { kind: 'connection', fault: 'server-down', freshLoanHelps: false },
  { kind: 'malformed', what: 'redirect' },
  { kind: 'malformed', what: 'no-stream' },
  { kind: 'connection', fault: 'tls', freshLoanHelps: false },
  { kind: 'connection', fault: 'reset', freshLoanHelps: false },
  { kind: 'connection', fault: 'proxy', freshLoanHelps: false },
  { kind: 'deadline', deadline: 'first-byte' },
]

it('quotes in the guide to models exactly what a failed call says', () => {
  const made = [
    ...FAILURES.map((failure) => explainOutcome(failure, ROUTE)),
    explainOutcome(refused('no-credential'), { ...ROUTE, variable: null }),
  ]
  const quoted = [...table.matchAll(/^\| `([^`]+)`/gm)].map(([, text = '']) => text)
  expect(quoted.filter((text) => !made.some((whole) => whole.startsWith(text)))).toEqual([])
  expect(made.filter((whole) => !quoted.some((text) => whole.startsWith(text)))).toEqual([])
})
