import type { Chance } from './random.ts'

/** Logs with and without faults, in the formats of the file and of the console. */
export interface LogSetting {
  readonly chance: Chance
  readonly start: number
  readonly root: string
  readonly child: string
  readonly other: string
}

export interface ScriptedLine {
  readonly at: number
  readonly level: string
  readonly tag: string | null
  readonly logger: string
  readonly message: string
}

export interface LogExpected {
  readonly kind: string
  readonly sessionId: string | null
}

export interface LogLife {
  readonly lines: readonly ScriptedLine[]
  readonly expected: readonly LogExpected[]
}

type Life = (setting: LogSetting) => LogLife

const COMPRESSION = 'agent.conversation_compression'

function line(at: number, tag: string | null, logger: string, message: string): ScriptedLine {
  return { at, level: 'INFO', tag, logger, message }
}

function started(at: number, tag: string | null, id: string, messages: number): ScriptedLine {
  const message = `context compression started: session=${id} messages=${messages} tokens=~1,000 model=m focus=None`
  return line(at, tag, COMPRESSION, message)
}

function done(
  at: number,
  tag: string | null,
  id: string,
  counts: string,
  isNew = true,
): ScriptedLine {
  const tokens = isNew ? 'rough_tokens=~17,131 awaiting_real_usage=true' : 'tokens=~9,501'
  return line(
    at,
    tag,
    COMPRESSION,
    `context compression done: session=${id} messages=${counts} ${tokens}`,
  )
}

const ROUTE = 'openai-codex (gpt-5.4-mini) at https://models.example/codex/'
const using = (at: number, tag: string, task = 'compression') =>
  line(at, tag, 'agent.auxiliary_client', `Auxiliary ${task}: using ${ROUTE}`)
const failed = (at: number, tag: string, error: string) =>
  line(
    at,
    tag,
    'root',
    `Failed to generate context summary: ${error}. Further summary attempts paused for 60 seconds.`,
  )
const answered = (at: number, tag: string) =>
  line(
    at,
    tag,
    'run_agent',
    `Turn ended: reason=text_response model=m api_calls=2/90 budget=2/90 tool_turns=1 last_msg_role=assistant response_len=120 session=${tag}`,
  )

export const LOG_LIVES: { readonly [name: string]: Life } = {
  quiet: ({ start, root }) => ({
    lines: [
      line(
        start,
        null,
        'gateway.run',
        "inbound message: platform=telegram user=u chat=c msg='hello'",
      ),
      line(
        start + 1,
        root,
        'run_agent',
        `conversation turn: session=${root} model=m provider=p platform=telegram history=8 msg='hello'`,
      ),
      answered(start + 9, root),
    ],
    expected: [],
  }),
  inPlace: ({ start, root, chance }) => {
    const tag = chance.holds(0.5) ? root : null
    return {
      lines: [
        using(start - 1, root),
        started(start, tag, root, 90),
        done(start + 30, tag, root, '90->9'),
      ],
      expected: [],
    }
  },
  followedRotation: ({ start, root, child }) => ({
    lines: [
      started(start, root, root, 120),
      done(start + 30, root, child, '120->8'),
      line(
        start + 31,
        null,
        'gateway.run',
        `Session split detected: ${root} → ${child} (compression)`,
      ),
      // The second compaction of the same turn still stands in the first id's bracket.
      started(start + 40, root, child, 44),
      done(start + 60, root, child, '44->12'),
    ],
    expected: [],
  }),
  twoAtOnce: ({ start, root, other }) => ({
    lines: [
      started(start, root, root, 50),
      started(start + 1, other, other, 50),
      done(start + 20, root, root, '50->5'),
      done(start + 21, other, other, '50->6'),
    ],
    expected: [],
  }),
  failedOnce: ({ start, root }) => ({
    lines: [
      started(start, root, root, 70),
      using(start + 1, root),
      failed(start + 20, root, 'Request timed out'),
      answered(start + 50, root),
    ],
    expected: [],
  }),
  drift: ({ start, root, child }) => ({
    lines: [started(start, root, root, 194), done(start + 55, root, child, '194->26', false)],
    expected: [{ kind: 'identity-changed', sessionId: root }],
  }),
  foreign: ({ start, root, other, chance }) => ({
    lines: [
      started(start, other, root, 39),
      done(start + 28, other, root, '39->13', chance.holds(0.5)),
    ],
    expected: [{ kind: 'foreign-tag', sessionId: root }],
  }),
  torn: ({ start, root }) => ({
    lines: [
      started(start, root, root, 169),
      using(start + 1, root),
      failed(start + 30, root, 'Codex auxiliary Responses stream interrupted'),
      done(start + 31, root, root, '169->8', false),
    ],
    expected: [{ kind: 'torn-summary', sessionId: root }],
  }),
  poisoned: ({ start, root, chance }) => ({
    lines: [
      using(start, root),
      failed(start + 20, root, 'Codex auxiliary Responses stream exceeded 20.0s total timeout'),
      answered(start + 60, root),
      ...Array.from({ length: chance.between(1, 4) }, (_, index) => [
        using(start + 100 + index * 50, root, 'flush_memories'),
        line(
          start + 100.4 + index * 50,
          root,
          'plugins.memory',
          'Extractor failed: Connection error.',
        ),
      ]).flat(),
    ],
    expected: [{ kind: 'poisoned-client', sessionId: root }],
  }),
  paused: ({ start, root, chance }) => ({
    lines: Array.from({ length: chance.between(3, 9) }, (_, index) =>
      line(
        start + index * 30,
        root,
        'agent.turn_context',
        `Skipping preflight compression: same-session cooldown active (~${300 - index} seconds remaining, session ${root})`,
      ),
    ),
    expected: [{ kind: 'stuck-compaction', sessionId: root }],
  }),
  dropped: ({ start, root }) => ({
    lines: [
      line(
        start,
        null,
        'gateway.run',
        `Dropping busy-mode follow-up for session agent:main:${root} — pending queue at cap (32).`,
      ),
    ],
    expected: [{ kind: 'dropped-message', sessionId: null }],
  }),
}

export function printLine(
  { at, level, tag, logger, message }: ScriptedLine,
  isConsole: boolean,
): string {
  const stamp = new Date(at * 1_000).toISOString().replace('T', ' ').replace('.', ',').slice(0, 23)
  const bracket = tag === null ? '' : ` [${tag}]`
  return isConsole
    ? `${stamp} - ${logger} - ${level}${bracket} - ${message}`
    : `${stamp} ${level}${bracket} ${logger}: ${message}`
}
