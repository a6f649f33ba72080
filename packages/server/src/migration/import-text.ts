import { clip, oneLine } from '#core/base/line'
import { counted } from './hermes/findings/finding.ts'
import { changedKinds, KINDS, type KindCount } from './hermes/import/kinds.ts'
import type {
  ConversationReport,
  ImportReport,
  ProfileReport,
  RouteReport,
  RowCount,
  UnreadProfile,
} from './import-report.ts'
import { unaccounted } from './import-report.ts'

/** The import report for people: what was imported, what was not, and the totals. */
export function renderImport({ profiles, unread, isDryRun }: ImportReport): string {
  return [
    ...profiles.map((profile) => renderProfile(profile, isDryRun)),
    ...unread.map(renderUnread),
  ].join('\n')
}

function renderUnread({ name, store, problem }: UnreadProfile): string {
  return lines([
    `Profile ${name} (${store}) was not imported, or not to its end: ${problem}`,
    `  \`throughline doctor hermes ${store}\` tells what is left of it.`,
  ])
}

const CONVERSATIONS_MAX = 200

function renderProfile(profile: ProfileReport, isDryRun: boolean): string {
  const { name, store, agent, remarks, conversations } = profile
  const isLog = profile.unit === 'line'
  const changed = conversations.filter(({ outcome }) => outcome !== 'unchanged')
  const shown = changed.slice(0, CONVERSATIONS_MAX)
  const unchanged = conversations.length - changed.length
  return lines([
    `${isLog ? 'Logs of' : 'Profile'} ${name} (${store}) ${isDryRun ? 'would become' : isLog ? 'are' : 'is'} agent ${agent}.`,
    ...remarks.map((remark) => `  ${remark}`),
    ...(shown.length > 0 ? ['', 'Conversations:'] : []),
    ...shown.flatMap((one) => renderConversation(one, isLog)),
    ...(changed.length > shown.length ? [`  and ${changed.length - shown.length} more`] : []),
    ...(unchanged > 0 ? [`  ${unchanged} had nothing new.`] : []),
    ...section('Routes:', profile.routes.map(renderRoute)),
    ...section(
      `Notes (shown to every conversation with agents.${agent}.tools.memory.scope: agent):`,
      profile.memories.map(({ id, file, outcome }) => `  ${id}  ${outcome}  from ${file}`),
    ),
    ...section(
      'Settings:',
      profile.settings.map(
        ({ key, value, becomes, note }) =>
          `  ${key} = ${short(value)}${becomes === null ? '' : `  ->  ${becomes}`}\n      ${note}`,
      ),
    ),
    ...(profile.proposal === ''
      ? []
      : ['', 'For throughline.yaml:', ...indent(profile.proposal.trimEnd())]),
    ...section(
      'Not brought:',
      profile.leftBehind.map(({ what, path, advice }) => `  ${what} in ${path}\n      ${advice}`),
    ),
    '',
    ...renderSum(profile.rows, isLog ? 'Line' : 'Row', profile.kinds),
  ])
}

function renderConversation(conversation: ConversationReport, isLog: boolean): string[] {
  const { rootId, sessionId, ids, title, outcome, rows, messages, compactions } = conversation
  const { restored, differences } = conversation
  const names = title === null ? '' : `  ${JSON.stringify(title)}`
  const parts = [
    counted(messages, 'message'),
    ...(compactions > 0 ? [counted(compactions, 'handoff')] : []),
    ...(restored.length > 0 ? [`${counted(restored.length, 'lost one')} put back`] : []),
  ]
  return [
    `  ${sessionId === '' ? named(rootId) : sessionId}  ${outcome}  ${rows.in} ${isLog ? 'lines' : 'rows'}: ${parts.join(', ')}${names}`,
    ...(sessionId === rootId || sessionId === '' ? [] : [`      was ${named(rootId)}`]),
    ...(ids.length > 1 ? [`      continued as ${named(ids.slice(1).join(', '))}`] : []),
    ...(restored.length > 0
      ? [`      put back: ${restored.length === 1 ? 'row' : 'rows'} ${short(restored.join(', '))}`]
      : []),
    ...differences.map((difference) => `      ${oneLine(difference)}`),
  ]
}

const ROUTES: { readonly [outcome in RouteReport['outcome']]: string } = {
  pointed: 'points to it',
  unchanged: 'pointed to it before',
  taken: 'points to another session here and was left',
  nowhere: 'points to a session that the store does not have',
  'not-brought': 'was not imported',
  torn: 'cannot be read and was not imported; point this route to its session by hand',
}

function renderRoute({ key, sessionId, route, outcome }: RouteReport): string {
  const here = route === null ? '' : ` as ${route.channel} ${route.address}`
  return `  ${named(key)}${here}: ${sessionId === '' ? '' : `${sessionId}, `}${ROUTES[outcome]}`
}

function renderSum(rows: RowCount, unit: 'Row' | 'Line', kinds: KindCount | null): string[] {
  const lost = unaccounted(rows)
  const changed = kinds === null ? 0 : changedKinds(kinds)
  return [
    `${unit}s there: ${rows.in}. Brought now: ${rows.brought}. Here before: ${rows.before}. ` +
      `Copies: ${rows.copies}.${unit === 'Line' ? ` Without words: ${rows.silent}.` : ''} Left: ${rows.left}.`,
    ...(kinds === null ? [] : [renderKinds(kinds)]),
    lost === 0 && changed === 0
      ? `Every ${unit.toLowerCase()} is accounted for.`
      : lost === 0
        ? `${changed} calls, results or pictures changed their form. Please report this, with the lines above.`
        : `${lost} ${unit.toLowerCase()}s are not accounted for. Please report this, with the lines above.`,
  ]
}

function renderKinds({ given, made }: KindCount): string {
  const parts = KINDS.map((kind) => `${made[kind]} of ${given[kind]} ${kind}`)
  return `Arrived: ${parts.join(', ')}.`
}

function section(title: string, body: readonly string[]): string[] {
  return body.length === 0 ? [] : ['', title, ...body]
}

function lines(all: readonly string[]): string {
  return all.map((line) => `${line}\n`).join('')
}

function indent(text: string): string[] {
  return text.split('\n').map((line) => `  ${line}`)
}

/** A name that another program chose: a line break in it could imitate another line. */
function named(name: string): string {
  return clip(oneLine(name), 500)
}

function short(text: string): string {
  return text.length > 120 ? `${text.slice(0, 117)}...` : text
}
