import { expect, it } from 'vitest'
import { eventOf } from '../read/log.ts'
import { findPoisonedClients } from './client.ts'

const at = (time: string, tag: string | null, message: string) =>
  `2026-03-01 ${time} INFO${tag === null ? '' : ` [${tag}]`} agent.c: ${message}`
const using = (time: string, tag: string | null, route: string) =>
  at(time, tag, `Auxiliary compression: using ${route} (m) at https://x/`)
const timeout = (time: string, tag: string | null) =>
  at(time, tag, 'Failed to generate context summary: stream exceeded 20.0s total timeout. Paused.')
const refused = (time: string, tag: string | null) =>
  at(time, tag, 'Failed to generate context summary: Connection error..')

function routesOf(...lines: string[]): unknown[] {
  const events = lines.flatMap((text, at) => eventOf(text, { path: 'a', line: at + 1 }) ?? [])
  return findPoisonedClients(events).map(({ facts }) => facts['route'])
}

it('an error without a session mark is attributed to the last call of any session', () => {
  expect(
    routesOf(
      using('09:00:00', 'one', 'main'),
      timeout('09:00:20', null),
      using('09:05:00', 'one', 'main'),
      refused('09:05:01', null),
    ),
  ).toEqual([expect.stringContaining('main')])
})

it('an error of a session without calls is attributed to the last call of any session', () => {
  expect(
    routesOf(
      using('09:00:00', 'one', 'main'),
      timeout('09:00:20', 'one'),
      using('09:05:00', 'one', 'main'),
      refused('09:05:01', 'two'),
    ),
  ).toEqual([expect.stringContaining('main')])
})

it('an error with a mark belongs to the last call of its session', () => {
  expect(
    routesOf(
      using('09:00:00', 'one', 'main'),
      using('09:00:01', 'two', 'other'),
      timeout('09:00:20', 'one'),
      using('09:05:00', 'one', 'main'),
      using('09:05:00', 'two', 'other'),
      refused('09:05:01', 'one'),
    ),
  ).toEqual([expect.stringContaining('main')])
})

it('errors on another route, or hours later, have another cause', () => {
  const sick = [using('09:00:00', 'one', 'main'), timeout('09:00:20', 'one')]
  expect(routesOf(...sick, using('09:05:00', 'one', 'other'), refused('09:05:01', 'one'))).toEqual(
    [],
  )
  expect(routesOf(...sick, using('16:00:00', 'one', 'main'), refused('16:00:01', 'one'))).toEqual(
    [],
  )
})
