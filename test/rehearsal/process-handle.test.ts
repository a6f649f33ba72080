import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import {
  AgentGone,
  ProcessHandle,
} from '../../packages/server/src/rehearsal/stage/process-handle.ts'
import { temporary } from './temporary.ts'

const place = temporary()
const handles: ProcessHandle[] = []

afterEach(async () => {
  for (const handle of handles.splice(0)) await handle.remove()
})
afterAll(place.remove)

/** An agent of the stage, and what the rehearsal would hear of its failures. */
function agentOn(path: string) {
  const failures: string[] = []
  const handle = new ProcessHandle(
    {
      ...{ name: 'scene-twin', serves: ['scene-twin'], folder: place.folder, isOnStage: true },
      ...{ modelUrl: 'http://127.0.0.1:9', windowTokens: 10_000, sabotage: null },
      location: { kind: 'sqlite', path },
    },
    { PATH: process.env['PATH'], ...place.env },
    {
      ...{ effect: () => {}, wait: () => {}, fact: () => {} },
      failure: (_, text) => failures.push(text),
    },
  )
  handles.push(handle)
  return { handle, failures }
}

describe('the end of an agent', () => {
  it('is no failure if it was asked to end', async () => {
    const { handle, failures } = agentOn(join(place.folder, 'mine.db'))
    await handle.start()
    await handle.end()
    expect(failures).toEqual([])
    await expect(handle.ask({ what: 'rest', isResting: true })).rejects.toThrow(AgentGone)
  })

  it('is a failure without a request to end', async () => {
    const { handle, failures } = agentOn(join(import.meta.filename, 'mine.db'))
    await expect(handle.start()).rejects.toThrow('scene-twin could not begin')
    expect(failures).toEqual([
      expect.stringMatching(/^begin: /),
      expect.stringMatching(/^ended by itself \(1\): /),
    ])
  })
})
