import { useEffect, useState } from 'preact/hooks'
import type { Health as HealthReport } from '../../src/runtime/runtime.ts'
import { call, wordsOf } from '../data/api.ts'
import { agents } from '../data/session-list.ts'
import { ago, count, tokens } from '../parts/words.ts'

const READ_MS = 5_000

/** Is it well, and if not, what is wrong. */
export function Health() {
  const [report, setReport] = useState<HealthReport | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  useEffect(() => {
    const read = async () => {
      if (document.hidden) return
      try {
        setReport(await call<HealthReport>('/v1/health'))
        setProblem(null)
      } catch (error) {
        setProblem(wordsOf(error))
      }
    }
    void read()
    const timer = setInterval(() => void read(), READ_MS)
    return () => clearInterval(timer)
  }, [])
  return (
    <section class="health">
      <h1>Health</h1>
      {problem !== null && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {report !== null && <Report report={report} />}
    </section>
  )
}

function Report({ report }: { readonly report: HealthReport }) {
  const { isReady, problems, store, runner, runners, routes, edges } = report
  const isWell = isReady && problems.length === 0
  return (
    <>
      <p class={isWell ? 'verdict well' : 'verdict ill'} role="status">
        {isWell ? '✓ Ready; nothing to look at.' : '✕ Somebody should look.'}
      </p>
      {problems.length > 0 && (
        <ul class="problems">
          {problems.map((each) => (
            <li>{each}</li>
          ))}
        </ul>
      )}
      <p class="figures">
        <span>
          <b>{count(store.commits)}</b> commits in the store (schema {store.schema})
        </span>
        <span>
          <b>{count(runner.sessions)}</b> sessions held by this process
        </span>
        <span>
          <b>{runner.holdsLease ? 'yes' : 'no'}</b> this process may act
        </span>
      </p>
      <Table
        caption="Model routes"
        head={['Route', 'Model', 'Breaker', 'Failures', 'Tried again']}
        rows={routes.map((route) => [
          route.route,
          route.model,
          <span class={`chip ${route.state}`}>{route.state}</span>,
          count(route.failures),
          route.retryAt === null ? '' : new Date(route.retryAt).toLocaleTimeString('en'),
        ])}
      />
      <Table
        caption="Runners"
        head={['Runner', 'Process', 'Last beat']}
        rows={runners.map(({ id, process, beat }) => [
          id === runner.id ? `${id} (this one)` : id,
          `${process}`,
          beat > 1e12 ? ago(beat) : count(beat),
        ])}
      />
      <Table
        caption="Edges"
        head={['Edge', 'Replies waiting', 'Given up']}
        rows={edges.map(({ name, waiting, dead }) => [name, count(waiting), count(dead)])}
      />
      <Table
        caption="Agents"
        head={['Agent', 'Model', 'Provider', 'Window', 'Tools']}
        rows={agents.value.map((agent) => [
          agent.name,
          agent.model,
          agent.provider,
          tokens(agent.windowTokens),
          agent.tools.join(', '),
        ])}
      />
    </>
  )
}

function Table(props: {
  readonly caption: string
  readonly head: readonly string[]
  readonly rows: readonly (readonly (string | preact.JSX.Element)[])[]
}) {
  const { caption, head, rows } = props
  return (
    <div class="table">
      <table>
        <caption>{caption}</caption>
        <thead>
          <tr>
            {head.map((each) => (
              <th scope="col">{each}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.length === 0 && (
            <tr>
              <td colSpan={head.length} class="dim">
                None
              </td>
            </tr>
          )}
          {rows.map((row) => (
            <tr>
              {row.map((cell) => (
                <td>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
