import { expect, it } from 'vitest'
import type { ProcessHandle } from './process-handle.ts'
import { Stage } from './stage.ts'

type Parts = ConstructorParameters<typeof Stage>[0]

function emptyStage() {
  const offences: string[] = []
  const findings = { broken: (law: string, offence: string) => offences.push(`${law}: ${offence}`) }
  return { stage: new Stage({ findings } as unknown as Parts), offences }
}

/** A process whose start takes as long as this promise. */
const handle = (starting: Promise<void>) =>
  ({ name: 'first', start: () => starting }) as unknown as ProcessHandle

it('an act ends when the processes that it restarts run again', async () => {
  const { stage, offences } = emptyStage()
  const starting = Promise.withResolvers<void>()
  let isOver = false
  const act = stage.play([async () => stage.restart(handle(starting.promise))]).then(() => {
    isOver = true
  })
  await new Promise((resolve) => setImmediate(resolve))
  expect(isOver).toBe(false)
  starting.resolve()
  await act
  expect(offences).toEqual([])
})

it('a process that does not start again, and a scene that fails, are offences', async () => {
  const { stage, offences } = emptyStage()
  const failing = async function failing() {
    throw new Error('it rained')
  }
  const restarting = async () =>
    stage.restart(handle(Promise.reject(new Error('it does not start'))))
  await stage.play([failing, restarting])
  expect(offences).toEqual([
    'played: failing: it rained',
    'played: first: Error: it does not start',
  ])
})
