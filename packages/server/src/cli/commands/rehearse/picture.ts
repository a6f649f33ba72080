import { clearScreenDown, moveCursor } from 'node:readline'
import type { AgentLine, Phase, Picture } from '../../../rehearsal/report.ts'
import { type Paint, paintOn } from '../../terminal/colours.ts'
import { countText, grouped } from '../../terminal/format.ts'
import { type Cell, type Column, drawTable } from '../../terminal/table.ts'
import { drawFill } from '../../terminal/usage-bar.ts'

/**
 * The progress of a rehearsal. A terminal shows one line per agent, redrawn in place; other outputs
 * get a plain line now and then, as a readable log.
 */
const PHASES: { readonly [phase in Phase]: string } = {
  starting: 'Starting the agents',
  driving: 'The worst day',
  settling: 'Coming to rest',
  asking: 'Asking every agent what it knows',
  judging: 'Judging',
}

const COLUMNS: readonly Column[] = [
  { title: 'AGENT' },
  { title: 'CONTEXT' },
  { title: 'COMPACTED', align: 'right' },
  { title: 'KILLED', align: 'right' },
  { title: 'MESSAGES', align: 'right' },
  { title: 'QUEUED', align: 'right' },
  { title: 'STATE' },
]

const PLAIN_MS = 5_000

export class RehearsalPicture {
  readonly #stream: NodeJS.WriteStream
  readonly #paint: Paint
  #rows = 0
  #phase: Phase | null = null
  #printedAt = 0

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream
    this.#paint = paintOn(stream)
  }

  draw(picture: Picture): void {
    if (this.#stream.isTTY) this.#redraw(picture)
    else this.#print(picture)
  }

  /** Clears the screen before the verdict. */
  end(): void {
    this.#clear()
  }

  #redraw(picture: Picture): void {
    this.#clear()
    const text = drawPicture(picture, this.#paint)
    this.#rows = text.split('\n').length - 1
    this.#stream.write(text)
  }

  #clear(): void {
    if (this.#rows === 0) return
    moveCursor(this.#stream, 0, -this.#rows)
    clearScreenDown(this.#stream)
    this.#rows = 0
  }

  #print(picture: Picture): void {
    const { phase, elapsedMs } = picture
    if (phase === this.#phase && elapsedMs - this.#printedAt < PLAIN_MS) return
    this.#phase = phase
    this.#printedAt = elapsedMs
    this.#stream.write(`${pictureLine(picture)}\n`)
  }
}

export function drawPicture({ phase, elapsedMs, agents }: Picture, paint: Paint): string {
  const title = `${paint('bold', PHASES[phase])} ${paint('dim', secondsOf(elapsedMs))}\n`
  if (agents.length === 0) return title
  return `${title}${drawTable(COLUMNS, agents.map(rowOf), paint)}`
}

function rowOf(agent: AgentLine): readonly Cell[] {
  const { name, contextTokens: tokens, windowTokens, compactions, kills } = agent
  return [
    name,
    drawFill({ tokens, windowTokens }),
    grouped(compactions),
    kills > 0 ? { text: grouped(kills), colour: 'red' } : '0',
    grouped(agent.acknowledged),
    agent.waiting > 0 ? { text: grouped(agent.waiting), colour: 'yellow' } : '0',
    stateOf(agent),
  ]
}

function stateOf({ state, isCompacting }: AgentLine): Cell {
  if (state === 'down') return { text: 'killed, restarting', colour: 'red' }
  if (isCompacting)
    return { text: state === 'idle' ? 'compacting' : `${state}, compacting`, colour: 'cyan' }
  return state === 'idle' ? { text: 'idle', colour: 'dim' } : { text: state, colour: 'green' }
}

export function pictureLine({ phase, elapsedMs, agents }: Picture): string {
  const sum = (figure: (agent: AgentLine) => number) =>
    agents.reduce((total, agent) => total + figure(agent), 0)
  const messages = sum((each) => each.acknowledged)
  const compactions = sum((each) => each.compactions)
  const kills = sum((each) => each.kills)
  const waiting = sum((each) => each.waiting)
  const compacted = agents.filter(({ compactions }) => compactions > 0).length
  return (
    `${PHASES[phase]}, ${secondsOf(elapsedMs)}: ${countText(messages, 'message')}, ` +
    `${countText(compactions, 'compaction')} (${compacted} of ${agents.length} agents), ` +
    `${countText(kills, 'kill')}, ${grouped(waiting)} queued`
  )
}

function secondsOf(ms: number): string {
  return `${Math.round(ms / 1_000)} s`
}
