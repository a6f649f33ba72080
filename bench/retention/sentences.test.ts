import { describe, expect, it } from 'vitest'
import { assistant, toolCall, toolResult, user } from '../../test/support/builders.ts'
import {
  CORPUS_ABSENT,
  corpusConversations,
  corpusDir,
  corpusFiles,
  sampleFiles,
} from '../../test/support/corpus.ts'
import { keptSentences } from './sentences.ts'

describe('short sentences of a person in a handoff of 3,000 tokens', () => {
  it('are all kept in the samples of coding agents, envelopes and all', async () => {
    const samples = [...corpusConversations(sampleFiles())]
    const kept = await Promise.all(samples.map((sample) => keptSentences(sample, 3_000)))
    expect(kept.filter((each) => each?.isCompacted && each.hasHostBlocks).length).toBeGreaterThan(0)
    expect(kept.flatMap((each) => each?.lost ?? [])).toEqual([])
  })

  it('come before long sentences, pastes, reminders, summary and ledger', async () => {
    const work = Array.from({ length: 60 }, (_, at) => [
      toolCall(`call${at}`, { command: `make depth-${at} --chart /srv/charts/north-${at}.tif` }),
      toolResult(`call${at}`, `sounding ${at}: ${'7.25 fathoms, '.repeat(40)}`),
      assistant(
        `Chart ${at} shows a shoal at ${at}.5 degrees; ${'it was drawn again. '.repeat(15)}`,
      ),
    ]).flat()
    const short = Array.from(
      { length: 100 },
      (_, at) => `Buoy ${at} belongs to the harbour of Wick.`,
    )
    const long = `${'the light that the old keeper used to tend in winter and '.repeat(12)}is out.`
    const paste = Array.from({ length: 90 }, (_, at) => `${at},${at * 3.5},${at * 7}`).join('\n')
    const reminder = `<system-reminder>${'Use the chart tool. '.repeat(80)}</system-reminder>`
    const messages = [
      user(`${reminder}\n${short.slice(0, 50).join(' ')}\n${paste}\n${long}`),
      ...work,
      user(`${short.slice(50).join(' ')}\n${long}`),
      ...work,
    ]
    const conversation = { format: 'anthropic', messages, notes: [] } as const
    const kept = await keptSentences({ name: 'own', set: 'cline', conversation }, 3_000)
    expect(kept).toMatchObject({ sentences: 100, isCompacted: true })
    expect(kept?.lost).toEqual([])
  })

  it('come before a plan that the program sends in the user’s place', async () => {
    const step = (at: number) => `- Draw the chart of bay ${at} again in charts/bay-${at}.svg.`
    const plan = Array.from({ length: 200 }, (_, at) => step(at)).join('\n')
    const end =
      'If you need specific details from before exiting plan mode, read the transcript at: a.jsonl'
    const said = Array.from({ length: 8 }, (_, at) => [
      user(`The harbour master of town number ${at} wants blue ink.`),
      assistant(`The chart ${at} is blue now, and ${'the ink is dry. '.repeat(60)}`),
    ]).flat()
    const messages = [user(`Implement the following plan:\n\n${plan}\n\n\n${end}`), ...said]
    const conversation = { format: 'anthropic', messages, notes: [] } as const
    const kept = await keptSentences({ name: 'own', set: 'cline', conversation }, 3_000)
    expect(kept).toMatchObject({ sentences: 8, isCompacted: true, lost: [] })
  })

  it('are all kept in recorded sessions of Claude Code', async (context) => {
    if (corpusDir() === undefined) context.skip(CORPUS_ABSENT)
    const lost: (readonly [name: string, sentence: string])[] = []
    for (const session of corpusConversations(corpusFiles('claude-code'))) {
      const kept = await keptSentences(session, 3_000)
      lost.push(...(kept?.lost ?? []).map((sentence) => [session.name, sentence] as const))
    }
    expect(lost).toEqual([])
  })
})
