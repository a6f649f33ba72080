import { DAY_MS } from '../../base/clock.ts'
import type { MailNumber, SessionId } from '../../base/ids.ts'
import type { Fenced } from '../commits.ts'
import type { CommitVerb, RequestOf } from '../contract.ts'
import { hashKey } from '../rules/admit.ts'
import type { Route } from '../tables/rows.ts'
import type { LookupRequest, Strengths } from './snapshot.ts'

/**
 * The rows that each verb is known to read, so that the first round trip brings them. This affects
 * only speed: other rows are fetched when the rule asks for them.
 */
type Prefetch = {
  readonly [Verb in CommitVerb]: (request: RequestOf<Verb>) => readonly LookupRequest[]
}

const mailOf = (id: SessionId, numbers: readonly MailNumber[] = []): LookupRequest[] =>
  numbers.flatMap((number) => [
    ['mail', id, number] as const,
    ['sourcePendingOfMail', id, number] as const,
  ])
const blobsOf = (id: SessionId, hashes: readonly string[] = []): LookupRequest[] =>
  hashes.map((hash) => ['blobUses', id, hash])
const at = (
  name: 'route' | 'sessionOfRoute',
  route: Route,
  strength: Strengths['route'],
): LookupRequest => [name === 'route' ? strength : name, route.agent, route.channel, route.address]

interface Appends extends Fenced {
  readonly settles?: readonly MailNumber[]
}
const appends = ({ lease, settles }: Appends): LookupRequest[] => [
  ['session', lease.sessionId],
  ...mailOf(lease.sessionId, settles),
]
const held = ({ lease }: Pick<Fenced, 'lease'>): LookupRequest[] => [['session', lease.sessionId]]

const PREFETCH: Prefetch = {
  createSession: ({ id, route }) => [
    ['session', id],
    ...(route === undefined ? [] : [at('route', route, 'routeToChange')]),
  ],
  startAfresh: ({ source, key, route, id }) => [
    ['intake', hashKey(source, key)],
    at('route', route, 'routeToChange'),
    at('sessionOfRoute', route, 'routeToChange'),
    ['session', id],
  ],
  fork: ({ from, at: entry, id, source, key }) => [
    ['intake', hashKey(source, key)],
    ['session', from],
    ['session', id],
    ['entry', from, entry],
    ['forkPrefix', from, entry],
  ],
  pointRoute: ({ route, sessionId }) => [
    at('route', route, 'routeToChange'),
    ['session', sessionId],
  ],
  admit: ({ to, source, key, blobs }) => {
    const intake: LookupRequest = ['intake', hashKey(source, key)]
    if ('sessionId' in to) {
      const { sessionId } = to
      const sender: LookupRequest = ['sourcePending', sessionId, source.toWellFormed()]
      return [intake, ['session', sessionId], sender, ...blobsOf(sessionId, blobs)]
    }
    const { agent, channel, address } = to.route
    return [
      intake,
      at('route', to.route, 'route'),
      at('sessionOfRoute', to.route, 'route'),
      ['sourcePendingOfRoute', agent, channel, address, source.toWellFormed()],
    ]
  },
  withdraw: ({ sessionId, mail }) => [['session', sessionId], ...mailOf(sessionId, [mail])],
  settleControl: ({ lease, mail }) => [...held({ lease }), ...mailOf(lease.sessionId, mail)],
  stageBlob: ({ sessionId }) => [['session', sessionId]],
  dropStaged: ({ before }) => [['stagedBefore', before]],
  registerRunner: ({ id }) => [['runnerToChange', id]],
  renew: ({ runner }) => [['runnerToRenew', runner]],
  dismissRunner: ({ runner }) => [['runnerToChange', runner]],
  retireRunner: ({ runner }) => [
    ['heldBy', runner],
    ['runnerToChange', runner],
  ],
  acquire: ({ sessionId, runner }) => [
    ['session', sessionId],
    ['runner', runner],
    ['holderOf', sessionId],
    ['runningOf', sessionId],
  ],
  release: held,
  setWake: held,
  deliver: ({ lease, mail }) => [
    ...held({ lease }),
    ...mailOf(lease.sessionId, mail),
    ['waiting', lease.sessionId],
    ['unseen', lease.sessionId],
  ],
  commitReply: ({ lease, step, ends, attempt }) => [
    ...held({ lease }),
    ...blobsOf(lease.sessionId, step?.blobs),
    ...(attempt === undefined ? [] : [['attempt', attempt.id] as const]),
    ...(ends === undefined
      ? []
      : ([
          ['unseen', lease.sessionId],
          ['waitingStops', lease.sessionId],
        ] as const)),
  ],
  commitResults: ({ lease, results }) => [
    ...held({ lease }),
    ...results.flatMap(({ blobs }) => blobsOf(lease.sessionId, blobs)),
  ],
  recover: held,
  claimCompaction: ({ lease }) => [...held({ lease }), ['runningOf', lease.sessionId]],
  commitCompaction: (request) => [...appends(request), ['operation', request.operation]],
  failCompaction: ({ operation }) => [
    ['sessionOfOperation', operation],
    ['operation', operation],
  ],
  revert: (request) => [
    ...appends(request),
    ['runningOf', request.lease.sessionId],
    ['entry', request.lease.sessionId, request.target],
  ],
  pin: appends,
  setTasks: appends,
  changeSettings: appends,
  claimReply: ({ edge, claimant, at: due }) => [
    ['runner', claimant],
    ['nextReply', edge, due],
  ],
  // The session's lock also keeps out a step that adds a reply. Without it each transaction would
  // take the other's reply for the leader, and neither would be marked.
  settleReply: ({ sessionId, number }) => [
    ['session', sessionId],
    ['reply', sessionId, number],
  ],
  putDraft: ({ sessionId }) => [['session', sessionId]],
  recordAttempt: ({ id, sessionId }) => [
    ['attempt', id],
    ['session', sessionId],
  ],
  dropAttempts: ({ beforeDay, limit }) => [['attemptsBefore', beforeDay * DAY_MS, limit]],
  putSchedule: ({ id, sessionId }) => [
    ['session', sessionId],
    ['schedule', id],
    ['waitingSchedules', sessionId],
  ],
  cancelSchedule: ({ id }) => [['schedule', id]],
  fireSchedule: ({ id, dueAt }) => [
    ['sessionOfSchedule', id],
    ['schedule', id],
    ['intake', hashKey('schedule', `${id} ${dueAt}`)],
  ],
  putNote: ({ agent, scope, id, origin }) => [
    ...(origin === null ? [] : [['session', origin.sessionId] as const]),
    ['note', agent, scope, id],
    ['notes', agent, scope],
  ],
  removeNote: ({ agent, scope, id }) => [['note', agent, scope, id]],
  putToken: ({ id, hash }) => [['token', id], ['tokenOf', hash], ['tokens']],
  removeToken: ({ id }) => [['token', id]],
  setTitle: ({ sessionId }) => [['session', sessionId]],
  eraseEntries: ({ lease, entries, schedules = [] }) => [
    ...held({ lease }),
    ...entries.map((number): LookupRequest => ['entry', lease.sessionId, number]),
    ...entries.map((number): LookupRequest => ['repliesOf', lease.sessionId, number]),
    ...entries.map((number): LookupRequest => ['notesFrom', lease.sessionId, number]),
    ...schedules.map((id): LookupRequest => ['schedule', id]),
    ['handoffs', lease.sessionId],
    ['runningOf', lease.sessionId],
  ],
  eraseRetained: ({ sessionId }) => [['session', sessionId]],
  deleteSession: ({ sessionId }) => [
    ['session', sessionId],
    ['runningOf', sessionId],
  ],
  adoptSession: ({ session }) => [
    ['related', session.root ?? session.id],
    ['session', session.id],
  ],
  adoptEntries: ({ lease, entries }) => [
    ...held({ lease }),
    ...blobsOf(
      lease.sessionId,
      entries.flatMap((entry) => (entry.kind === 'input' ? (entry.blobs ?? []) : [])),
    ),
  ],
  recordEntries: ({ sessionId, source, key, what }) => [
    ['session', sessionId],
    ['intake', hashKey(source, key)],
    ...blobsOf(
      sessionId,
      what.kind === 'turn' ? what.steps.flatMap(({ blobs = [] }) => blobs) : [],
    ),
  ],
  dropSent: ({ after, limit }) => [
    ['repliesAfter', after?.sessionId ?? '', after?.number ?? 0, limit],
  ],
  putVectors: ({ sessionId, after, upto }) => [
    ['session', sessionId],
    ['embedded', sessionId],
    ['livingEntries', sessionId, after, upto],
  ],
  eraseSome: ({ sessionId, limit, after }) => [
    ['session', sessionId],
    ['remainingRows', sessionId, limit, after?.entry ?? 0, after?.mail ?? 0, after?.reply ?? 0, 0],
  ],
}

export function prefetch<Verb extends CommitVerb>(
  verb: Verb,
  request: RequestOf<Verb>,
): readonly LookupRequest[] {
  return PREFETCH[verb](request)
}

const CHANGES_ROUTE = new Set<CommitVerb>(['createSession', 'startAfresh', 'pointRoute'])
const CHANGES_RUNNER = new Set<CommitVerb>(['registerRunner', 'dismissRunner', 'retireRunner'])

export function strengthsOf(verb: CommitVerb): Strengths {
  const runner = CHANGES_RUNNER.has(verb) ? 'runnerToChange' : 'runner'
  return {
    runner: verb === 'renew' ? 'runnerToRenew' : runner,
    route: CHANGES_ROUTE.has(verb) ? 'routeToChange' : 'route',
  }
}
