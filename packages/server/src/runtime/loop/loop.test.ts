import { afterEach, describe, expect, it } from 'vitest'
import { operationId, sessionId } from '#core/base/ids'
import type { JsonValue } from '#core/base/json'
import type { Store } from '#core/store/contract'
import { OutcomeUnknownError, StoreBusyError } from '#core/store/errors'
import { openMemoryStore } from '#core/store/memory/open'
import { until } from '../../../../../test/support/runtime-place.ts'
import { type Loop, type LoopOptions, openLoop } from './loop.ts'
import { SessionLostError } from './replies.ts'

const SUMMARY = `## Progress and decisions
- We spoke of rivers. The user told again and again that the river is wide and slow here, and the agent saw it.
- Nothing was decided, nothing was asked for, and no tool was called.`

describe('a loop of one’s own', () => {
  it('gets the context, commits the answer before tools run, and their results after', async () => {
    const { loop, store } = await open()
    await loop.admit('s', user('What is the weather?'))
    const seen: JsonValue[][] = []
    for await (const step of loop) {
      seen.push([...step.messages])
      if (seen.length === 1) {
        const calls = await step.reply(calling('weather', '{"town":"Bergen"}'))
        expect(calls.map(({ name, input, key }) => ({ name, input, key }))).toEqual([
          { name: 'weather', input: { town: 'Bergen' }, key: 's-3-call_1' },
        ])
        const entries = await store.readEntries({ sessionId: 's', from: 3, to: 3 } as never)
        expect(entries[0]?.kind).toBe('assistant')
        for (const call of calls) call.done('rain')
      } else {
        expect(await step.reply({ role: 'assistant', content: 'It rains.' })).toEqual([])
        break
      }
    }
    expect(seen[1]?.map((message) => (message as { role: string }).role)).toEqual([
      ...['system', 'user', 'assistant', 'tool'],
    ])
    expect(JSON.stringify(seen[1])).toContain('rain')
  })

  it('tells a key of another session from a repetition', async () => {
    const { loop } = await open()
    expect(await loop.admit('s', user('Hello.'), 'k')).toMatchObject({ kind: 'admitted' })
    expect(await loop.admit('s', user('Hello.'), 'k')).toMatchObject({ kind: 'duplicate' })
    expect(await loop.admit('t', user('Hello.'), 'k')).toMatchObject({ kind: 'conflict' })
  })

  it('compacts beside the conversation, in the words of the writer', async () => {
    const { loop, store } = await open({
      summarize: async () => ({ text: SUMMARY, finish: 'stop' }),
    })
    const say = async (text: string) => {
      await loop.admit('s', user(text))
      for await (const step of loop) {
        await step.reply({ role: 'assistant', content: 'I see.' })
        return JSON.stringify(step.messages)
      }
      return ''
    }
    for (let n = 1; n <= 14; n++) {
      await say(`${n}: ${'The river is wide and slow here. '.repeat(60)}`)
    }
    await until(async () => ((await store.findSession(sessionId('s')))?.effective ?? 0) > 0)
    expect(await say('And now?')).toContain('We spoke of rivers.')
  })

  it('tells that an answer is durable, whatever became of the word that it was committed', async () => {
    const lost = () => new OutcomeUnknownError({ verb: 'commitReply', problem: 'test' })
    const busy = () => new StoreBusyError({ waitedMs: 0, problem: 'test' })
    const fates: readonly Fate[] = [
      { isDone: true, error: lost },
      { isDone: false, error: lost },
      { isDone: false, error: busy },
    ]
    for (const fate of fates) {
      const answers = [
        [{ role: 'assistant', content: 'Yes.' }, 0],
        [calling('weather', '{}'), 1],
      ] as const
      for (const [answer, wanted] of answers) {
        const fates = [fate]
        const { loop, store } = await open({ around: (inner) => faltering(inner, fates) })
        await loop.admit('s', user('Does it rain?'))
        for await (const step of loop) {
          const calls = await step.reply(answer)
          for (const call of calls) call.done('rain')
          expect(calls).toHaveLength(wanted)
          break
        }
        const session = await store.findSession('s' as never)
        const to = session?.tail
        const entries = await store.readEntries({ sessionId: 's', from: 1, to } as never)
        expect(entries.filter(({ kind }) => kind === 'assistant')).toHaveLength(1)
        expect(fates).toEqual([])
      }
    }
  }, 30_000)

  it('tells that an answer is lost when another took the session', async () => {
    const lost = () => new OutcomeUnknownError({ verb: 'commitReply', problem: 'test' })
    let store: Store | null = null
    const { loop } = await open({
      around: (inner) => {
        store = inner
        return faltering(inner, [{ isDone: false, error: lost }])
      },
    })
    await loop.admit('s', user('Hello?'))
    for await (const step of loop) {
      const durable = step.reply({ role: 'assistant', content: 'Yes.' })
      const operation = operationId('purge')
      await (store as Store | null)?.deleteSession({
        sessionId: sessionId('s'),
        operation,
        reason: '',
      })
      await expect(durable).rejects.toThrow(SessionLostError)
      break
    }
  })

  it('hands out no step whose turn was stopped before anybody took it', async () => {
    const { loop, store } = await open()
    await loop.admit('s', user('First.'))
    const row = async () => await store.findSession(sessionId('s'))
    await until(async () => (await row())?.turnState === 'running')
    const stop = { source: 'x', key: 'stop', lane: 'control', control: 'stop' } as const
    await store.admit({ to: { sessionId: sessionId('s') }, ...stop, body: {}, tokens: 0 })
    await until(async () => (await row())?.turnState === 'idle')
    await loop.admit('s', user('Second.'))
    for await (const step of loop) {
      expect(step.signal.aborted).toBe(false)
      expect(JSON.stringify(step.messages.at(-1))).toContain('Second.')
      await step.reply({ role: 'assistant', content: 'Yes.' })
      break
    }
  })

  it('refuses what is no message of its format', async () => {
    const { loop } = await open()
    await expect(loop.admit('s', { role: 'assistant', content: 'x' })).rejects.toThrow(
      'Expected one user message in the format openai-chat.',
    )
  })
})

const opened: { loop: Loop; close: () => Promise<void> }[] = []
afterEach(async () => {
  for (const { loop, close } of opened.splice(0)) {
    await loop.close()
    await close()
  }
})

interface Opening {
  readonly summarize?: NonNullable<LoopOptions['summarize']>
  readonly around?: (store: Store) => Store
}

async function open({ summarize, around = (store) => store }: Opening = {}) {
  const store = openMemoryStore()
  const loop = await openLoop({
    store: around(store),
    agent: 'mine',
    format: 'openai-chat',
    windowTokens: 8_000,
    system: 'You are brief.',
    ...(summarize !== undefined && { summarize }),
  })
  opened.push({ loop, close: () => store.close() })
  return { loop, store }
}

interface Fate {
  readonly isDone: boolean
  readonly error: () => Error
}

/** The first commits of replies meet these fates, one each. */
function faltering(store: Store, fates: Fate[]): Store {
  return {
    ...store,
    async commitReply(request) {
      const fate = fates.shift()
      if (fate === undefined) return await store.commitReply(request)
      if (fate.isDone) await store.commitReply(request)
      throw fate.error()
    },
  }
}

function user(content: string): JsonValue {
  return { role: 'user', content }
}

function calling(name: string, text: string): JsonValue {
  const call = { id: 'call_1', type: 'function', function: { name, arguments: text } }
  return { role: 'assistant', content: null, tool_calls: [call] }
}
