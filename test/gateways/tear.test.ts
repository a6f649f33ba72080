import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { textOf } from '../../packages/core/src/message/text.ts'
import type { Agent } from '../../packages/server/src/runtime/agent.ts'
import type { RuntimeOptions } from '../../packages/server/src/runtime/open-runtime.ts'
import type { StandIn, StandInOptions } from '../../packages/server/src/stand-in/index.ts'
import { processTool } from '../../packages/server/src/tools/process/process.ts'
import { heldHandoffs } from '../support/held-handoffs.ts'
import { until } from '../support/until.ts'
import type { ChatPlace } from './contract.ts'
import { openDiscordChat } from './discord/chat-place.ts'
import { openTelegramPlace, SUMMARIES } from './telegram/place.ts'

/** The scenario of the report in which a message tore a summary, over each platform. */
interface TornPlace extends ChatPlace {
  readonly model: StandIn
}

interface TearTerms {
  readonly windowTokens: number
  readonly agent: Partial<Agent>
  readonly model: StandInOptions
  readonly seams: RuntimeOptions['seams']
}

const PLACES: Readonly<Record<string, (terms: TearTerms) => Promise<TornPlace>>> = {
  Telegram: openTelegramPlace,
  Discord: openDiscordChat,
}

const WATCHER = `
const { existsSync } = require('node:fs')
const timer = setInterval(() => {
  if (!existsSync(process.argv[1])) return
  console.log(['DevTools', 'listening', 'on', 'ws://127.0.0.1:9222/devtools'].join(' '))
  clearInterval(timer)
}, 10)`
const LINE = 'The pump ran without a fault until the evening. '
const NOTHING = { role: 'user', parts: [] } as const

for (const [name, open] of Object.entries(PLACES)) {
  it.concurrent(
    `${name}: a watch-pattern notification and a message that arrive during a preflight compaction are in the next turn, each once, after a real summary`,
    () => tear(open, 'wait'),
    60_000,
  )
}

it.concurrent(
  'a notification and a message that arrive while a digest is installed at the hard limit are in the next turn, each once, and a model rewrites the digest',
  () => tear(openTelegramPlace, 'digest'),
  60_000,
)

async function tear(
  open: (terms: TearTerms) => Promise<TornPlace>,
  atHardLimit: 'wait' | 'digest',
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'throughline-tear-'))
  const trigger = join(folder, 'now')
  const { seams, release } = heldHandoffs()
  const place = await open({
    seams,
    windowTokens: 8_000,
    agent: {
      settings: { softShare: 1, idleCompactionMs: null, atHardLimit },
      tools: ({ processes }) => [
        processTool({ processes, programs: [process.execPath], folder, env: {} }),
      ],
    },
    model: {
      script: ({ model, messages }) => {
        if (model === SUMMARIES || textOf(messages.at(-1) ?? NOTHING).startsWith('use ')) return
        return { text: 'Noted.' }
      },
    },
  })
  try {
    const { runtime, model, channel, address, store } = place
    const start = {
      ...{ action: 'start', program: process.execPath, args: ['-e', WATCHER, trigger] },
      ...{ watch: ['DevTools'], notify_end: false },
    }
    place.say(`use process ${JSON.stringify(start)}`)
    await until(() => place.shown().length === 1)
    const id = await runtime.findRoute({ agent: 'main', channel, address })
    if (id === undefined) throw new Error('No session.')
    const session = runtime.session(id)
    const isPausing = async () => (await session.summary())?.state === 'waiting-for-compaction'
    const filler = LINE.repeat(Math.floor(place.lengthMax / LINE.length))
    while (!(await isPausing())) {
      const before = place.shown().length
      place.say(filler)
      await until(async () => place.shown().length > before || (await isPausing()))
    }
    // Now, while the summary is being written, as in the report.
    writeFileSync(trigger, '')
    place.say('Is the next user message safe.')
    await until(async () => (await session.summary())?.waiting === 2)
    const during = await store.listOperations({ sessionId: id, limit: 10 })
    expect(during.map(({ state }) => state)).toEqual(['running'])

    release()
    await until(async () => {
      const summary = await session.summary()
      return summary?.state === 'idle' && summary.waiting === 0
    })
    const expected =
      atHardLimit === 'wait' ? ['model committed'] : ['rewrite committed', 'digest committed']
    await until(async () => {
      const operations = await store.listOperations({ sessionId: id, limit: 10 })
      return `${operations.map(({ by, state }) => `${by} ${state}`)}` === `${expected}`
    })
    const entries = (await session.transcript({ from: 1, to: 1_000 })) ?? []
    const compaction = entries.find(({ kind }) => kind === 'compaction')?.number ?? 0
    const inputs = entries.flatMap(({ kind, number, message }) =>
      kind === 'input' && message !== null ? [{ number, text: textOf(message) }] : [],
    )
    for (const words of ['DevTools listening', 'next user message']) {
      const found = inputs.filter(({ text }) => text.includes(words))
      expect([words, found.length]).toEqual([words, 1])
      expect(found[0]?.number).toBeGreaterThan(compaction)
    }
    const parts = (await session.context({}))?.parts ?? []
    expect(parts.find(({ kind }) => kind === 'summary')?.text.length).toBeGreaterThan(100)
    // The model has seen both, and the notice and every answer reached the chat.
    const asked = model.journal.entries.filter(({ bodyText }) => !bodyText.includes(SUMMARIES))
    const both = asked.filter(
      ({ bodyText }) => /DevTools listening/.test(bodyText) && /next user message/.test(bodyText),
    )
    expect(both.length).toBeGreaterThan(0)
    const notices = place.shown().filter((text) => text.includes('putting a long conversation'))
    expect(notices).toHaveLength(1)
    await until(() => place.shown().at(-1) === 'Noted.')
  } finally {
    await place.close()
    rmSync(folder, { recursive: true, force: true })
  }
}
