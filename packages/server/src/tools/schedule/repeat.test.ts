import { expect, it } from 'vitest'
import { cronProblem, EVERY_MS_MIN, firstDue, nextDue, readRepeat, writeRepeat } from './repeat.ts'

const every = { kind: 'every', everyMs: 1_000 } as const
const cron = (pattern: string, timezone = 'UTC') => ({ kind: 'cron', pattern, timezone }) as const

it('is written as a word and its numbers', () => {
  expect(writeRepeat(every)).toBe('every 1000')
  expect(writeRepeat(cron('0 9 * * 1-5', 'Europe/Berlin'))).toBe('cron Europe/Berlin 0 9 * * 1-5')
  expect(EVERY_MS_MIN).toBe(60_000)
})

it.each([
  ['every 1', { kind: 'every', everyMs: 1 }],
  ['every 0', undefined],
  ['every -5', undefined],
  ['every 1.5', undefined],
  ['each 5', undefined],
  ['every', undefined],
  ['every x', undefined],
  ['held 4', undefined],
  ['', undefined],
  ['cron UTC', undefined],
  ['cron No/Where 0 9 * * *', undefined],
  ['cron Europe/Berlin 0 9 * * 1-5', cron('0 9 * * 1-5', 'Europe/Berlin')],
  ['cron UTC 0 9 * *', undefined],
  ['cron UTC 0 0 9 * * *', undefined],
])('%j is read as %j', (text, repeat) => {
  expect(readRepeat(text)).toEqual(repeat)
})

it.each([
  [cron('0 9 * * *'), null],
  [cron('  0  9 * * *  '), null],
  [cron('0 9 * *'), 'A cron text has five fields: minute hour day month weekday.'],
  [cron('0 0 9 * * *'), 'A cron text has five fields: minute hour day month weekday.'],
  [
    cron('0 9 * * *', 'x'.repeat(65)),
    `There is no time zone ${'x'.repeat(63)}…; give a name such as Europe/Berlin.`,
  ],
  [cron('0 0 31 2 *'), 'That never comes.'],
  [cron('61 9 * * *'), expect.stringContaining('61')],
])('the problem of %j is %j', (repeat, problem) => {
  expect(cronProblem(repeat)).toEqual(problem)
})

it.each([
  // due at, after, next
  [5_000, 5_000, 6_000],
  [5_000, 5_999, 6_000],
  [5_000, 6_000, 7_000],
  [5_000, 9_500, 10_000],
  [5_000, 1_000, 6_000],
])('every second, due at %i, is next due after %i at %i', (dueAt, after, next) => {
  expect(nextDue(every, dueAt, after)).toBe(next)
})

it.each([
  [5_000, 0, 1_000],
  [5_000, 1_000, 2_000],
  [5_500, 1_000, 1_500],
  [5_000, 4_999, 5_000],
  [5_000, 5_000, 6_000],
])('every second, due at %i, is first due after %i at %i', (dueAt, after, first) => {
  expect(firstDue(every, dueAt, after)).toBe(first)
})

it('9 a.m. stays 9 a.m. across daylight saving time [fault 75]', () => {
  const nine = cron('0 9 * * *', 'Europe/Berlin')
  const days = [Date.parse('2026-03-28T00:00:00Z')]
  for (let day = 0; day < 3; day++) days.push(nextDue(nine, 0, days.at(-1) ?? 0) ?? 0)
  expect(days.slice(1).map((day) => new Date(day).toISOString())).toEqual([
    '2026-03-28T08:00:00.000Z',
    '2026-03-29T07:00:00.000Z',
    '2026-03-30T07:00:00.000Z',
  ])
})

it('a cron text has its times whatever was due before', () => {
  const hourly = cron('0 * * * *')
  expect(nextDue(hourly, 7, 3_600_000)).toBe(7_200_000)
  expect(firstDue(hourly, 99_000_000, 3_599_999)).toBe(3_600_000)
  expect(nextDue(cron('0 0 31 2 *'), 0, 0)).toBeNull()
})
