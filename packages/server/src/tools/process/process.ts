import { z } from 'zod'
import { defineTool, ok, refuse } from '../define-tool.ts'
import type { Tool } from '../tool.ts'
import { PATTERN_CHARACTERS_MAX, PATTERNS_MAX } from './matches.ts'
import { explainEnd, type Job, type Processes } from './processes.ts'

export const PROCESS_TOOL = 'process'

const READ_CHARACTERS_MAX = 20_000

const input = z.strictObject({
  action: z.enum(['start', 'output', 'list', 'stop']),
  program: z.string().min(1).max(500).optional(),
  args: z.array(z.string().max(20_000)).max(200).optional().describe('No shell reads them.'),
  watch: z
    .array(z.string().min(1).max(PATTERN_CHARACTERS_MAX))
    .max(PATTERNS_MAX)
    .optional()
    .describe('Regular expressions (RE2). A line that matches is sent to you as a notification.'),
  time_seconds: z.int().min(1).max(86_400).optional().describe('Stop it after so long.'),
  notify_end: z.boolean().optional().describe('Tell you when it ends; default true.'),
  id: z.string().max(64).optional().describe('For output and stop.'),
  from: z
    .int()
    .min(0)
    .optional()
    .describe('For output: begin at this character; default: the end.'),
})

export interface ProcessToolParts {
  /** Shared by all agents of a runtime, which closes it. */
  readonly processes: Processes
  /** The only commands that may be started, exactly as written. */
  readonly programs: readonly string[]
  readonly folder: string
  /** Their whole environment. */
  readonly env: Readonly<Record<string, string>>
}

/** Runs background programs from the operator's list. */
export function processTool({ processes, programs, folder, env }: ProcessToolParts): Tool {
  return defineTool({
    name: PROCESS_TOOL,
    description:
      'Run a program in the background: `start` it, read its `output`, `list` and `stop` programs. ' +
      'It does not wait; you are told when a line matches `watch` and when the program ends. ' +
      'Programs end when the server stops; you get a report of that too. ' +
      `Programs: ${programs.join(', ') || 'none'}. Without a shell: no pipes, no redirection.`,
    input,
    isRepeatable: false,
    run: async (call) => {
      const { sessionId, input } = call
      if (input.action === 'start') {
        const { program, args = [], watch = [], time_seconds, notify_end = true } = input
        if (program === undefined || !programs.includes(program)) {
          const wanted = program ?? '(none given)'
          return refuse(`${wanted} may not be started. Programs: ${programs.join(', ') || 'none'}.`)
        }
        const { limits } = processes
        const timeMs = time_seconds === undefined ? limits.timeMs : time_seconds * 1_000
        const wanted = { program, args, folder, env, watch, timeMs, reportsEnd: notify_end }
        const started = await processes.start(call, wanted)
        if (started.kind === 'refused') return refuse(started.problem)
        return ok(`Started as ${started.job.id}.`)
      }
      const jobs = processes.list(sessionId)
      const job = processes.find(sessionId, input.id ?? '')
      const past =
        input.action === 'list' || job === undefined ? await processes.listPast(sessionId) : []
      if (input.action === 'list') {
        const lines = [...past.map(({ text }) => text), ...jobs.map(lineOf)]
        return ok(lines.join('\n') || 'Nothing was started.')
      }
      if (job === undefined) {
        const known = past.find(({ id }) => id === input.id)
        if (known !== undefined) return refuse(`It does not run here. ${known.text}`)
        const ids = jobs.map(({ id }) => id).join(', ') || 'none'
        return refuse(`There is no program ${input.id ?? '(no id given)'}. Ids: ${ids}.`)
      }
      if (input.action === 'output') return ok(readOutput(job, input.from))
      job.child.stop()
      await job.child.ended
      return ok(lineOf(job))
    },
  })
}

function lineOf({ id, title, child }: Job): string {
  const state = child.end === null ? 'runs' : explainEnd(child.end)
  return `${id} (${title}) ${state}; ${child.output.end} characters of output`
}

function readOutput(job: Job, wanted: number | undefined): string {
  const { output } = job.child
  const { text, from, next } = output.read(
    wanted ?? output.end - READ_CHARACTERS_MAX,
    READ_CHARACTERS_MAX,
  )
  const lost = wanted !== undefined && from > wanted ? ` Earlier output is no longer kept.` : ''
  return `${lineOf(job)}.${lost} Characters ${from} to ${next}:\n${text}`
}
