import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { describe, expect, it } from 'vitest'
import { handoff } from '../../../../test/support/builders.ts'
import { costOfTenfold, fastestMs } from '../../../../test/support/timing.ts'
import { writeEnvelope } from '../message/handoff/envelope.ts'
import type { AssistantMessage, Message, Part } from '../message/message.ts'
import { messageCounter } from './count.ts'
import { estimateMessage, estimatePart, estimateText, estimateTools } from './estimate.ts'
import { exactCounter } from './exact.ts'
import type { ModelFamily } from './family.ts'

const FAMILIES: readonly ModelFamily[] = ['claude', 'openai', 'gemini', 'generic']
const exact = exactCounter(countTokens)

/** Bytes without a pattern, the same in every run. */
function noise(length: number): Buffer {
  let state = 11
  const bytes = Array.from({ length }, () => {
    state = (state * 16807) % 2147483647
    return state >> 8
  })
  return Buffer.from(bytes)
}

const SAMPLES = {
  prose: 'The runtime keeps the transcript whole and shows the model what it needs next. ',
  code: 'export function measure(items: readonly Item[]): number {\n  return items.length\n}\n',
  chinese: '我们需要在数据库中查找用户的会话记录，然后把结果写入新的表中。',
  japanese: 'このセッションは長期間続くため、古いメッセージを要約して渡します。',
  korean: '이 세션은 오랫동안 계속되므로 오래된 메시지를 요약하여 전달합니다.',
  cyrillic: 'Нам нужно найти запись сессии пользователя в базе данных. ',
  greek: 'Πρέπει να βρούμε την εγγραφή της συνεδρίας στη βάση δεδομένων. ',
  arabic: 'نحتاج إلى العثور على سجل جلسة المستخدم في قاعدة البيانات. ',
  hindi: 'हमें डेटाबेस में उपयोगकर्ता के सत्र का रिकॉर्ड ढूंढना है। ',
  thai: 'เราต้องค้นหาบันทึกเซสชันของผู้ใช้ในฐานข้อมูลและเขียนผลลัพธ์',
  emoji: '😀🎉🚀🔥👍🏽👩‍💻🧪✅❌⚠️',
  boxes: '┌──────────┐\n│ ├── └── │\n└──────────┘\n',
  base64: noise(600).toString('base64'),
  hex: noise(600).toString('hex'),
}

function call(input: AssistantMessage['parts'][number]): Message {
  return { role: 'assistant', parts: [input] }
}

describe('estimateText', () => {
  it('is within a factor of two of o200k for every script, base64 and hex', () => {
    const off = Object.entries(SAMPLES)
      .map(([name, sample]) => [name, sample.repeat(10)] as const)
      .map(([name, text]) => [name, estimateText(text, 'openai') / exact(text)] as const)
      .filter(([, ratio]) => ratio < 0.5 || ratio > 2)
    expect(off).toEqual([])
  })

  it('counts characters by the density of the family on ordinary text', () => {
    const text = SAMPLES.code.repeat(50)
    expect(estimateText(text, 'claude')).toBe(Math.ceil(text.length / 2.87))
    expect(estimateText(text, 'openai')).toBe(Math.ceil(text.length / 3.5))
  })

  it('counts a sequence of short words of digits as ordinary text', () => {
    for (const length of [31, 32, 33, 34]) {
      const text = `${'4f'.repeat(20).slice(0, length)} `.repeat(20)
      expect(estimateText(text, 'claude')).toBe(Math.ceil(text.length / 2.87))
    }
  })

  it('counts long white space by far less than its length', () => {
    for (const space of [' ', '\n', '\t']) {
      expect(estimateText(space.repeat(2_000), 'openai')).toBeLessThan(150)
    }
    const table = `left${' '.repeat(400)}right`
    expect(estimateText(table, 'openai')).toBeLessThan(40)
  })

  it('finds a dense run at any place', () => {
    const run = SAMPLES.hex.slice(0, 64)
    for (let offset = 0; offset < 70; offset++) {
      const around = '.'.repeat(offset)
      const found = estimateText(`${around}${run}${around}`, 'openai')
      expect(found - estimateText(around + around, 'openai')).toBeGreaterThanOrEqual(39)
    }
  })

  it('is zero for an empty text, positive for others, and larger for a longer text', () => {
    for (const family of FAMILIES) {
      expect(estimateText('', family)).toBe(0)
      for (const sample of Object.values(SAMPLES)) {
        const once = estimateText(sample, family)
        expect(once).toBeGreaterThan(0)
        expect(estimateText(sample + sample, family)).toBeGreaterThan(once)
      }
      expect(estimateText('\ud800\udc00\ud800', family)).toBeGreaterThan(0)
    }
  })

  it.each([...Object.values(SAMPLES), 'a', ' ', '1', 'a1', `${'a'.repeat(63)}.`, '\ud800', '='])(
    'takes linear time over %j repeated',
    (piece) => {
      const prepare = (length: number) => {
        const text = piece.repeat(Math.ceil(length / piece.length))
        return () => estimateText(text, 'claude')
      }
      expect(costOfTenfold(prepare, { size: 100_000, floorMs: 5 })).toBeLessThan(15)
    },
  )
})

describe('estimateMessage', () => {
  const text = SAMPLES.prose.repeat(20)

  it('counts prose as less dense than the output of tools', () => {
    const said = estimatePart({ type: 'text', text }, 'claude')
    const printed = estimatePart(
      { type: 'tool-result', callId: 'a', output: [{ type: 'text', text }] },
      'claude',
    )
    expect(said).toBeLessThan(printed)
  })

  it('counts the name and the arguments of a call, written or parsed alike', () => {
    const input = { path: 'src/main.ts', lines: [1, 2, 3], nested: { deep: text } }
    const parsed = { type: 'tool-call', id: 'a', name: 'read', input } as const
    const written = { ...parsed, inputText: JSON.stringify(input) }
    const bare = { ...parsed, input: {} }
    const gain = estimatePart(parsed, 'claude') - estimatePart(bare, 'claude')
    expect(gain).toBeGreaterThan(text.length / 2.87)
    const both = estimatePart(written, 'claude') / estimatePart(parsed, 'claude')
    expect(Math.abs(both - 1)).toBeLessThan(0.02)
  })

  it('counts every part of a message and its frame', () => {
    const parts: Part[] = [
      { type: 'text', text },
      { type: 'image', source: { kind: 'id', id: 'a' } },
      { type: 'file', source: { kind: 'url', url: 'https://example.org/a.pdf' } },
    ]
    const message: Message = {
      role: 'user',
      parts: parts as Extract<Message, { role: 'user' }>['parts'],
    }
    for (const family of FAMILIES) {
      const sum = parts.reduce((tokens, part) => tokens + estimatePart(part, family), 0)
      expect(estimateMessage(message, family)).toBe(sum + 4)
    }
  })

  it('counts an image the same for any number of bytes', () => {
    const image = (data: string) =>
      estimatePart(
        { type: 'image', source: { kind: 'base64', mediaType: 'image/png', data } },
        'claude',
      )
    expect(image('A'.repeat(4_000_000))).toBe(image('A'))
    expect(image('A')).toBe(1_600)
  })

  it('counts a text file by its text and a document by its pages', () => {
    const file = (mediaType: string, data: string) =>
      estimatePart({ type: 'file', source: { kind: 'base64', mediaType, data } }, 'openai')
    expect(file('text/plain', 'A'.repeat(14_000))).toBe(3_000)
    expect(file('application/pdf', 'A'.repeat(400_000))).toBe(6 * 2_500)
  })

  it('counts reasoning once, by its text if that is known', () => {
    const value = { type: 'thinking', thinking: text, signature: noise(3_000).toString('base64') }
    const plain = estimatePart({ type: 'reasoning', text }, 'claude')
    const sealed = { provider: 'anthropic', value } as const
    expect(estimatePart({ type: 'reasoning', text, sealed }, 'claude')).toBe(plain)
  })

  it('counts sealed reasoning by the size of the sealed content', () => {
    const value = { type: 'reasoning', encrypted_content: noise(6_000).toString('base64') }
    const sealed = { provider: 'openai', value } as const
    const tokens = estimatePart({ type: 'reasoning', text: '', sealed }, 'openai')
    expect(tokens).toBeGreaterThan(1_600)
    expect(tokens).toBeLessThan(1_800)
    expect(estimatePart({ type: 'opaque', provider: 'openai', value }, 'openai')).toBe(tokens)
  })

  it('counts a handoff by the text it is written as', () => {
    const tokens = estimateMessage(handoff({ summary: text }), 'claude')
    expect(tokens).toBeGreaterThan(estimatePart({ type: 'text', text }, 'claude'))
  })

  it('counts the values of tool schemas, however deep', () => {
    let schema: Parameters<typeof estimateTools>[0] = 'leaf'
    for (let depth = 0; depth < 100_000; depth++) schema = [schema]
    expect(estimateTools(schema, 'openai')).toBeGreaterThan(0)
    const tools = [{ name: 'read', description: text, parameters: { type: 'object' } }]
    const ratio = estimateTools(tools, 'openai') / (JSON.stringify(tools).length / 3.5)
    expect(Math.abs(ratio - 1)).toBeLessThan(0.05)
  })

  it('counts messages in no more time than it takes to write them down some times', () => {
    const input = { command: SAMPLES.code.repeat(3) }
    const messages = Array.from({ length: 1_000 }, (_, index): Message => {
      const id = `call-${index}`
      const output = [{ type: 'text', text: SAMPLES.code.repeat(25) } as const]
      return index % 2 === 0
        ? call({ type: 'tool-call', id, name: 'bash', input })
        : { role: 'tool', parts: [{ type: 'tool-result', callId: id, output }] }
    })
    const countAll = () => {
      for (const message of messages) estimateMessage(message, 'claude')
    }
    // Measured 1 ms for 1.6 million characters, which JSON writes in 2. With ten busy processes for each core
    // the ratio was once above 4.
    expect(fastestMs(countAll)).toBeLessThan(16 * fastestMs(() => JSON.stringify(messages)))
  })
})

describe('a counter of a program', () => {
  const count = messageCounter('generic', (text) => 1_000 + text.length)
  const empty = messageCounter('generic', () => 0)({ role: 'user', parts: [] })

  it('counts the texts of a message, and the estimate counts the rest', () => {
    const image: Part = { type: 'image', source: { kind: 'url', url: 'https://a.example/b.png' } }
    const text: Part = { type: 'text', text: 'abc' }
    const output = [text, image, text] as const
    const written: Part = { type: 'tool-call', id: 'c', name: 'look', input: { a: 1 } }
    for (const [parts, tokens] of [
      [[], 0],
      [[text], 1_003],
      [[text, text], 2_006],
      [[image], estimatePart(image, 'generic')],
      [[written], 1_000 + 'look {"a":1}'.length],
      [[{ ...written, inputText: '{ "a": 1 }' }], 1_000 + 'look { "a": 1 }'.length],
      [[{ type: 'tool-result', callId: 'c', output }], 2_006 + estimatePart(image, 'generic')],
    ] as const) {
      const message = { role: 'assistant', parts } as unknown as Message
      expect(count(message) - empty).toBe(tokens)
    }
    expect(empty).toBe(estimateMessage({ role: 'user', parts: [] }, 'generic'))
  })

  it('counts a handoff as it is written, and without it the estimate counts', () => {
    const message = handoff()
    const { parts } = writeEnvelope(message.handoff)
    expect(count(message)).toBe(count({ role: 'user', parts: [...parts] }))
    for (const family of FAMILIES)
      expect(messageCounter(family)(message)).toBe(estimateMessage(message, family))
  })
})
