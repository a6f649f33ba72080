import type { Message } from '../../packages/core/src/message/message.ts'

/**
 * A made-up but lifelike agent session: a fifth of the messages are people's and replies, the rest
 * are calls with arguments and results of very uneven length. The same for the same numbers.
 */
export function makeConversation(count: number, charactersPerMessage: number): Message[] {
  const random = generator(count)
  const messages: Message[] = [
    { role: 'system', parts: [{ type: 'text', text: 'You are a careful engineer.' }] },
  ]
  for (let step = 0; messages.length < count; step++) {
    const id = `call_${step.toString(36).padStart(8, '0')}`
    const file = `/srv/app/src/${WORDS[step % WORDS.length]}/${WORDS[(step * 7) % WORDS.length]}-${step}.ts`
    if (step % 12 === 0) {
      messages.push({ role: 'user', parts: [{ type: 'text', text: prose(random, 300) }] })
    }
    const length = Math.floor(charactersPerMessage * 2 * (random() < 0.1 ? 5 : random()))
    messages.push(
      {
        role: 'assistant',
        parts: [
          { type: 'text', text: prose(random, 120) },
          { type: 'tool-call', id, name: 'bash', input: { command: `sed -n 1,80p ${file}`, step } },
        ],
      },
      {
        role: 'tool',
        parts: [
          {
            type: 'tool-result',
            callId: id,
            name: 'bash',
            output: [{ type: 'text', text: `${file}\n${code(random, length)}` }],
          },
        ],
      },
    )
    if (step % 12 === 11) {
      messages.push({ role: 'assistant', parts: [{ type: 'text', text: prose(random, 400) }] })
    }
  }
  return messages.slice(0, count)
}

const WORDS =
  'index router schema migrate tenant worker billing invoice cursor retry lease handler socket'.split(
    ' ',
  )

/** A small linear congruential generator: benches need the same input on every machine. */
function generator(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

function prose(random: () => number, length: number): string {
  const words: string[] = []
  for (let size = 0; size < length; ) {
    const word = WORDS[Math.floor(random() * WORDS.length)] ?? ''
    words.push(word)
    size += word.length + 1
  }
  return words.join(' ')
}

function code(random: () => number, length: number): string {
  const lines: string[] = []
  for (let size = 0; size < length; ) {
    const [a, b] = [WORDS[Math.floor(random() * 13)], WORDS[Math.floor(random() * 13)]]
    const line = `  const ${a}${lines.length} = await ${b}.${a}('${b}-${Math.floor(random() * 1e6)}', { ${a}: ${lines.length} })`
    lines.push(line)
    size += line.length + 1
  }
  return lines.join('\n')
}
