import { expect, it } from 'vitest'
import { FailedError, UsageError } from './errors.ts'

it.each([
  [UsageError, 'UsageError', 'usage'],
  [FailedError, 'FailedError', 'failed'],
])('programs tell a wrong request from one that failed by its code', (Kind, name, code) => {
  expect(new Kind('no')).toMatchObject({ name, code, retryable: false, message: 'no' })
})
