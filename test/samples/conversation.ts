import type { Message } from '../../packages/core/src/message/message.ts'
import { textOf } from '../../packages/core/src/message/text.ts'
import type { Answer, Ask } from '../../packages/server/src/stand-in/protocols/protocol.ts'

/**
 * The conversation that every client plays: what the person says, and what the stand-in answers and
 * calls. The words are ours; a client maps each action to a tool of its own.
 */
export type Action =
  | { readonly do: 'read'; readonly path: string }
  | { readonly do: 'write'; readonly path: string; readonly text: string }
  | { readonly do: 'run'; readonly command: string }
  | { readonly do: 'look'; readonly path: string }

export interface Turn {
  readonly ask: string
  /** One per request of the client; those but the last call tools. */
  readonly steps: readonly Step[]
}

export interface Step {
  readonly thought?: string
  readonly text?: string
  readonly actions?: readonly Action[]
}

export const FILES: { readonly [name: string]: string } = {
  'notes.md': '# Open day\n\nThe open day of the lighthouse is on 12 June.\nThe keeper is Ada.\n',
  'boats.txt': 'Heron\nGannet\nPetrel\n',
}

/** A red square of 16 by 16 points. */
export const PICTURE = 'sign.png'
export const PICTURE_BYTES = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAFklEQVR42mM4IKBAEmIY1TCqYfhqAAA4oPABhec5ggAAAABJRU5ErkJggg==',
  'base64',
)

export const TURNS: readonly Turn[] = [
  {
    ask: 'Please read notes.md. On which day is the open day?',
    steps: [
      {
        thought: 'The date must be in the notes.',
        text: 'I will look into the notes.',
        actions: [{ do: 'read', path: 'notes.md' }],
      },
      { text: 'The open day is on 12 June, and Ada is the keeper.' },
    ],
  },
  {
    ask: 'Compare boats.txt with guests.txt, please. “Größe” matters: höchstens drei Boote ⛵.',
    steps: [
      {
        actions: [
          { do: 'read', path: 'boats.txt' },
          { do: 'read', path: 'guests.txt' },
        ],
      },
      { text: 'There are three boats: Heron, Gannet and Petrel. guests.txt does not exist.' },
    ],
  },
  {
    ask: 'Then write plan.md with the date and count its words.',
    steps: [
      {
        text: 'First the plan.',
        actions: [{ do: 'write', path: 'plan.md', text: '# Plan\n\n12 June: three boats.\n' }],
      },
      { thought: 'Now the count.', actions: [{ do: 'run', command: 'wc -w plan.md; exit 3' }] },
      { text: 'plan.md has six words; the command ended with code 3.' },
    ],
  },
  {
    ask: 'Look at sign.png: which colour has the sign?',
    steps: [{ actions: [{ do: 'look', path: PICTURE }] }, { text: 'The sign is red.' }],
  },
]

export const SUMMARY =
  'The open day of the lighthouse is on 12 June; Ada is the keeper. plan.md names three boats: Heron, Gannet and Petrel. The sign is red. Still to do: invite the guests.'

export const LAST: Turn = {
  ask: 'When is the open day, and what is still to do?',
  steps: [{ text: 'It is on 12 June. The guests are still to be invited.' }],
}

const ALL = [...TURNS, LAST]

/** Every text of the conversation and of its files, as a client may quote it. */
export const OURS: readonly string[] = [
  ...ALL.flatMap(({ ask, steps }) => [
    ask,
    ...steps.flatMap(({ thought = '', text = '' }) => [thought, text]),
  ]),
  ...Object.values(FILES),
  SUMMARY,
].filter((text) => text !== '')

/**
 * What the stand-in answers: the step that is due since the newest of our asks, or a summary where the
 * client offers no tools or says something of its own last, which is its wish for one.
 */
export function answerTo(
  { messages, tools }: Ask,
  toCall: (action: Action) => Answer['calls'][number],
): Partial<Answer> {
  const last = messages.findLast(({ role }) => role !== 'system')
  const isWish = tools.length === 0 || (last?.role === 'user' && turnOf(last) === undefined)
  if (isWish) return { text: SUMMARY }
  const at = messages.findLastIndex((message) => turnOf(message) !== undefined)
  const ask = messages[at]
  const made = messages.slice(at + 1).filter(({ role }) => role === 'assistant').length
  const step = ask && turnOf(ask)?.steps[made]
  if (step === undefined) return { text: SUMMARY }
  const { thought = '', text = '', actions = [] } = step
  return { reasoning: thought, text, calls: actions.map(toCall) }
}

function turnOf(message: Message): Turn | undefined {
  return message.role === 'user' ? ALL.find(({ ask }) => textOf(message).includes(ask)) : undefined
}
