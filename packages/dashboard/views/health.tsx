import { useEffect, useRef, useState } from 'preact/hooks'
import type { LiveReport } from '../../core/src/audit/log/live-audit.ts'
import type { Rehearsal } from '../../server/src/gateway/http/diagnostics.ts'
import type { Health as HealthReport } from '../../server/src/runtime/runtime.ts'
import { call, errorText } from '../data/api.ts'
import { now } from '../data/clock.ts'
import { concernsIn, pastTroubleIn } from '../data/overview.ts'
import { agents, sessions } from '../data/session-list.ts'
import { Table } from '../parts/table.tsx'
import { Verdict } from '../parts/verdict.tsx'
import { ago, bytes, count, second, tokens } from '../parts/words.ts'
import { AuditPanel } from './audit-panel.tsx'
import { EventList } from './event-list.tsx'
import { RehearsalPanel } from './rehearsal-panel.tsx'

const READ_MS = 5_000
/** The interval while a rehearsal runs. */
const WATCH_MS = 1_000

/** The report of the runtime, with the size of the store and the number of event streams. */
interface Report extends HealthReport {
  readonly store: HealthReport['store'] & { readonly bytes: number | null }
  readonly streams: number
}

interface Seen {
  readonly report: Report
  readonly audit: LiveReport | null
  readonly rehearsal: Rehearsal | null
}

/** Whether the server is healthy and, if not, what is wrong. */
export function Health() {
  const [seen, setSeen] = useState<Seen | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const isWatched = seen?.rehearsal?.isRunning === true
  useEffect(() => {
    const read = async () => {
      if (document.hidden) return
      try {
        const [report, { audit }, { rehearsal }] = await Promise.all([
          call<Report>('/v1/health'),
          call<{ audit: LiveReport | null }>('/v1/audit'),
          call<{ rehearsal: Rehearsal | null }>('/v1/rehearsal'),
        ])
        setSeen({ report, audit, rehearsal })
        setProblem(null)
      } catch (error) {
        setProblem(errorText(error))
      }
    }
    void read()
    const timer = setInterval(() => void read(), isWatched ? WATCH_MS : READ_MS)
    return () => clearInterval(timer)
  }, [isWatched])
  return (
    <section class="health">
      <h1>Health</h1>
      {problem !== null && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {seen === null && problem === null && <p class="dim">Reading…</p>}
      {seen !== null && (
        <>
          <Verdict
            concerns={concernsIn(seen.report, seen.audit, sessions.value, now.value)}
            past={pastTroubleIn(seen.report, sessions.value, now.value)}
          />
          <Figures report={seen.report} />
          {seen.rehearsal !== null && <RehearsalPanel rehearsal={seen.rehearsal} />}
          <div class="cards wide">
            <AuditPanel audit={seen.audit} />
            <Parts report={seen.report} />
          </div>
          <EventList />
        </>
      )}
    </section>
  )
}

function Figures({ report }: { readonly report: Report }) {
  const { store, runner, connections, streams } = report
  return (
    <p class="figures">
      <span>
        <b>{store.bytes === null ? '–' : bytes(store.bytes)}</b>{' '}
        {store.bytes === null ? 'kept in memory' : 'in the store'}
      </span>
      <span>
        <b>{count(store.commits)}</b> commits
      </span>
      <span>
        <b>{count(runner.sessions)}</b> sessions in this process
      </span>
      <span>
        <b>{count(connections.evicted)}</b> of {count(connections.opened)} model connections closed
        early
      </span>
      <span>
        <b>{count(streams)}</b> event streams
      </span>
    </p>
  )
}

const ROUTE_STATES = {
  closed: 'in use',
  open: 'paused',
  'half-open': 'trying again',
  failing: 'failing',
} as const

function Parts({ report }: { readonly report: Report }) {
  const { runner, runners, routes, edges } = report
  const silentSince = useBeats(runners)
  const held = Map.groupBy(sessions.value, (session) => session.runner ?? '')
  return (
    <>
      <Table
        caption="Model routes"
        none="No model calls yet."
        head={['Route', 'Task', 'State', 'Failures', 'Next try']}
        rows={routes.map((route) => [
          route.route,
          route.task,
          <span class={`chip ${route.state}`}>{ROUTE_STATES[route.state]}</span>,
          count(route.failures),
          route.retryAt === null ? '' : second(route.retryAt),
        ])}
      />
      <Table
        caption="Processes"
        none="No process holds a session."
        head={['Process', 'Started', 'Sessions', 'State']}
        rows={runners.map(({ id, process, startedAt, leaseMs }) => [
          <span title={id}>
            {process}
            {id === runner.id && ' (this one)'}
          </span>,
          ago(startedAt),
          count(held.get(id)?.length ?? 0),
          Date.now() - (silentSince.get(id) ?? Date.now()) > leaseMs ? (
            <span class="chip failed">silent</span>
          ) : (
            <span class="chip committed">alive</span>
          ),
        ])}
      />
      <Table
        caption="Gateways"
        none="No chat platform is connected."
        head={['Gateway', 'Replies queued', 'Undeliverable']}
        rows={edges.map(({ name, waiting, dead }) => [name, count(waiting), count(dead)])}
      />
      <Table
        caption="Agents"
        none="No agent is configured."
        head={['Agent', 'Model', 'Provider', 'Window', 'Tools']}
        rows={agents.value.map((agent) => [
          agent.name,
          agent.model,
          agent.provider,
          tokens(agent.windowTokens),
          agent.tools.join(', ') || 'none',
        ])}
      />
    </>
  )
}

/** Beats are counted, not timed: a process whose beat has not changed since is silent. */
function useBeats(runners: HealthReport['runners']): ReadonlyMap<string, number> {
  const seen = useRef(new Map<string, { beat: number; since: number }>())
  for (const { id, beat } of runners) {
    if (seen.current.get(id)?.beat !== beat) seen.current.set(id, { beat, since: Date.now() })
  }
  return new Map([...seen.current].map(([id, { since }]) => [id, since]))
}
