import type { LiveReport } from '../../core/src/audit/log/live-audit.ts'
import { hashOf } from '../data/address.ts'
import { count } from '../parts/words.ts'

/** The laws of `throughline audit`, checked while the server runs. */
export function AuditPanel({ audit }: { readonly audit: LiveReport | null }) {
  return (
    <section class="card" aria-label="Audit">
      <h2>Audit</h2>
      <p class="dim">Proves from the audit logs that no message was lost.</p>
      {audit === null ? (
        <p class="dim">This process writes no audit log.</p>
      ) : (
        <>
          <p class="dim">
            {count(audit.figures.lines)} lines of {count(audit.logs)}{' '}
            {audit.logs === 1 ? 'log' : 'logs'}: {count(audit.figures.messages)} messages,{' '}
            {count(audit.figures.meanwhile)} of them during compactions
            {audit.isBehind && '; older lines are still being read'}.
          </p>
          <ul class="plain">
            {audit.laws.map(({ title, holds, offences, offencesCount, advice }) => (
              <li class={holds ? 'law' : 'law broken'}>
                <span class="law-mark" aria-hidden="true">
                  {holds ? '✓' : '✕'}
                </span>{' '}
                {title}
                <span class="unseen">{holds ? ' holds' : ' is broken'}</span>
                {!holds && (
                  <>
                    {offences.slice(0, 3).map(({ sessionId, problem }) => (
                      <p>
                        {sessionId !== null && <a href={hashOf(sessionId)}>{sessionId}</a>}{' '}
                        {problem}
                      </p>
                    ))}
                    {offencesCount > 3 && <p class="dim">and {count(offencesCount - 3)} more</p>}
                    <p class="dim">{advice}</p>
                  </>
                )}
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  )
}
