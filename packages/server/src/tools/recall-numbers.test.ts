import { expect, it } from 'vitest'
import { z } from 'zod'
import type { Handoff } from '#core/message/handoff/handoff'
import type { Message } from '#core/message/message'
import { textOf } from '#core/message/text'
import { ToolHost } from '../../../../test/support/tool-host.ts'
import { defineTool, ok } from './define-tool.ts'
import { recallTool } from './recall.ts'

const shell = defineTool({
  ...{ name: 'shell', description: 'Runs a command.', isRepeatable: true },
  input: z.object({ command: z.string() }),
  run: async ({ input: { command } }) => ok(`ran ${markOf(command)}, ${'0123 '.repeat(120)}`),
})
const write = defineTool({
  ...{ name: 'write_file', description: 'Writes a file.', isRepeatable: true },
  input: z.object({ path: z.string(), content: z.string() }),
  run: async ({ input: { path } }) => ok(`written ${markOf(path)}`),
})

/** Every message and every call has its own mark, which its result repeats. */
const MARK = /\bm\d+[a-z]+\b/g
const markOf = (text: string) => text.match(MARK)?.join(' ')

const LIMITS = {
  ...{ hardTokens: 7_000, pinTokens: 200, handoffTokens: 2_500, inputTokens: 1_000 },
  ...{ stepTokens: 1_500, outputTokens: 400 },
}

/** Thirty rounds of a user message, parallel calls and a reply, with several compactions. */
async function workedSession() {
  const host = new ToolHost(['ada'])
  host.tools.set('ada', [shell, write, recallTool({ store: host.store })])
  const id = await host.open('ada', 's-ada', LIMITS)
  host.start()
  for (let round = 1; round <= 30; round++) {
    await host.ask(
      id,
      `<system-reminder>m${round}host</system-reminder>\nNever touch m${round}rule again. ` +
        `Now do m${round}ask, please. ${'It is long. '.repeat(20)}`,
      [
        `I begin with m${round}plan.`,
        { tool: 'shell', input: { command: `git push m${round}push` } },
        { tool: 'shell', input: { command: `make m${round}make` } },
        { tool: 'write_file', input: { path: `/srv/m${round}file.ts`, content: 'x' } },
      ],
      [`That was m${round}done.`],
    )
  }
  return { host, id }
}

/** Each number in a handoff, with the text that it refers to. */
function referencesIn(handoff: Handoff): readonly { number: number; text: string }[] {
  const lines = [handoff.summary, ...handoff.ledger.map(({ text }) => text)].join('\n').split('\n')
  return [
    ...handoff.preserved.map(({ number, message }) => ({ number, text: textOf(message) })),
    ...(handoff.rules ?? []),
    ...(handoff.host ?? []),
    ...handoff.files.map(({ number, path }) => ({ number, text: path })),
    ...lines.flatMap((line) => {
      const [, number, text = ''] = /^(?:- )?(?:Last \w+: )?#(\d+) (.*)/.exec(line) ?? []
      return number === undefined ? [] : [{ number: Number(number), text }]
    }),
  ]
}

it('opens the message that a number in a handoff refers to', async () => {
  const { host, id } = await workedSession()
  let shown: readonly Message[] = []
  host.plays.set('ada', (context) => {
    shown = context
    return ['Nothing.']
  })
  await host.say(id, 'What did you see?')
  await host.pass(3_000)
  const handoff = shown.find((message) => message.role === 'handoff')?.handoff
  expect(handoff?.compactions).toBeGreaterThan(2)
  const references = handoff === undefined ? [] : referencesIn(handoff)
  // A person's words, rules, host blocks, files, replies, actions and results of commands.
  for (const kind of ['ask', 'rule', 'host', 'file', 'done', 'push', 'make']) {
    const marked = references.filter(({ text }) => new RegExp(`\\bm\\d+${kind}\\b`).test(text))
    expect(marked.length, kind).toBeGreaterThan(0)
  }
  for (const { number, text } of references) {
    const [opened = ''] = await host.ask(id, 'Open it.', [
      { tool: 'recall', input: { from: number } },
    ])
    expect(opened, text).toContain(`#${number} `)
    for (const mark of text.match(MARK) ?? []) expect(opened, text).toContain(mark)
  }
})
