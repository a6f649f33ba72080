import { expect, it } from 'vitest'
import { FailedError, UsageError } from './errors.ts'

it.each([
  [UsageError, 'UsageError', 'usage'],
  [FailedError, 'FailedError', 'failed'],
])('errors distinguish a wrong request from a failed one by their code', (Kind, name, code) => {
  expect(new Kind('no')).toMatchObject({ name, code, retryable: false, message: 'no' })
})
