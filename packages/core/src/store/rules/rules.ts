import type { CommitVerb, OutcomeOf, RequestOf } from '../contract.ts'
import * as admit from './admit.ts'
import { adoptSession } from './adopt.ts'
import { adoptEntries } from './adopt-entries.ts'
import * as attempts from './attempts.ts'
import * as compaction from './compaction.ts'
import * as creation from './create-session.ts'
import * as erase from './erase.ts'
import { fork } from './fork.ts'
import * as lease from './lease.ts'
import * as notes from './notes.ts'
import * as outbox from './outbox.ts'
import { recordEntries } from './record-entries.ts'
import type { Rows, Rule, Ruling, Stamp } from './ruling.ts'
import * as schedules from './schedules.ts'
import * as settings from './settings.ts'
import * as transcript from './transcript.ts'
import { putVectors } from './vectors.ts'

export type Rules = { readonly [Verb in CommitVerb]: Rule<Verb> }

/**
 * The rule of each verb. Tests give an engine a broken copy to check that the contract suite
 * notices.
 */
export const RULES: Rules = {
  createSession: creation.createSession,
  startAfresh: creation.startAfresh,
  fork,
  pointRoute: creation.pointRoute,
  admit: admit.admit,
  withdraw: admit.withdraw,
  settleControl: admit.settleControl,
  stageBlob: admit.stageBlob,
  dropStaged: admit.dropStaged,
  registerRunner: lease.registerRunner,
  renew: lease.renew,
  dismissRunner: lease.dismissRunner,
  retireRunner: lease.retireRunner,
  acquire: lease.acquire,
  release: lease.release,
  setWake: lease.setWake,
  deliver: transcript.deliverMail,
  commitReply: transcript.commitReply,
  commitResults: transcript.commitResults,
  recover: transcript.recover,
  claimCompaction: compaction.claimCompaction,
  commitCompaction: compaction.commitCompaction,
  failCompaction: compaction.failCompaction,
  revert: compaction.revert,
  pin: settings.pin,
  setTasks: settings.setTasks,
  changeSettings: settings.changeSettings,
  claimReply: outbox.claimReply,
  settleReply: outbox.settleReply,
  dropSent: outbox.dropSent,
  putDraft: outbox.putDraft,
  recordAttempt: attempts.recordAttempt,
  dropAttempts: attempts.dropAttempts,
  putSchedule: schedules.putSchedule,
  cancelSchedule: schedules.cancelSchedule,
  fireSchedule: schedules.fireSchedule,
  putNote: notes.putNote,
  removeNote: notes.removeNote,
  putToken: notes.putToken,
  removeToken: notes.removeToken,
  setTitle: settings.setTitle,
  eraseEntries: erase.eraseEntries,
  eraseRetained: erase.eraseRetained,
  deleteSession: erase.deleteSession,
  adoptSession,
  adoptEntries,
  recordEntries,
  eraseSome: erase.eraseSome,
  putVectors,
}

/** Runs the rule of a verb, given its name. */
export function applyRule<Verb extends CommitVerb>(
  verb: Verb,
  rows: Rows,
  request: RequestOf<Verb>,
  stamp: Stamp,
): Ruling<OutcomeOf<Verb>> {
  const rule: Rules[Verb] = RULES[verb]
  return rule(rows, request, stamp)
}
