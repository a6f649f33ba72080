import type { Rehearsal } from '../../server/src/gateway/http/diagnostics.ts'
import { Fill } from '../parts/fill.tsx'
import { Table } from '../parts/table.tsx'
import { ago, count, duration } from '../parts/words.ts'

const PHASES: Readonly<Record<string, string>> = {
  starting: 'Starting the agents',
  driving: 'Running under faults',
  settling: 'Waiting until all work is done',
  asking: 'Asking every agent what it remembers',
  judging: 'Checking the laws',
}

/** A run of `throughline rehearse` on this machine, and then its verdict. */
export function RehearsalPanel({ rehearsal }: { readonly rehearsal: Rehearsal }) {
  const { phase, elapsedMs, agents, verdict, isRunning, writtenAt } = rehearsal
  const sum = (figure: (agent: Rehearsal['agents'][number]) => number) =>
    count(agents.reduce((total, agent) => total + figure(agent), 0))
  return (
    <div class="rehearsal">
      <p
        role="status"
        class={verdict === null ? '' : verdict.holds ? 'verdict well' : 'verdict ill'}
      >
        <b>Rehearsal</b> {isRunning && `${PHASES[phase] ?? phase}, ${duration(elapsedMs)}`}
        {verdict !== null && (verdict.holds ? '✓ every law holds' : '✕ a law is broken')}
        {!isRunning && verdict === null && 'ended without a verdict'}
        {!isRunning && <span class="dim">, {ago(writtenAt)}</span>}
      </p>
      {verdict !== null && verdict.broken.length > 0 && (
        <ul class="problems">
          {verdict.broken.map((each) => (
            <li>{each}</li>
          ))}
        </ul>
      )}
      <Table
        caption={`${sum((each) => each.acknowledged)} messages, ${sum((each) => each.compactions)} compactions, ${sum((each) => each.kills)} kills`}
        none="No agents yet."
        head={['Agent', 'Context', 'Compacted', 'Killed', 'Messages', 'Queued', 'State']}
        rows={agents.map((agent) => [
          agent.name,
          <Fill used={agent.contextTokens} window={agent.windowTokens} />,
          count(agent.compactions),
          count(agent.kills),
          count(agent.acknowledged),
          count(agent.waiting),
          <span
            class={`chip ${agent.state === 'down' ? 'failed' : agent.isCompacting ? 'preparing' : agent.state}`}
          >
            {agent.state === 'down' ? 'killed' : agent.isCompacting ? 'compacting' : agent.state}
          </span>,
        ])}
      />
    </div>
  )
}
