import {
  checkCount,
  checkKey,
  checkKeys,
  checkNumber,
  checkOneOf,
  checkSignal,
  checkString,
  checkText,
  invalidOption,
  show,
} from '../base/option-checks.ts'
import { pinNameProblem } from '../message/handoff/pinned.ts'
import type { AgentSession } from './agent-types.ts'
import type { AnyFormat } from './typed-formats/format.ts'

/**
 * A session handle that checks its arguments. A misspelt `key` would otherwise make a repeated
 * message a new one, and a misspelt word of `erase` would erase.
 */
export function checkedSession<F extends AnyFormat>(session: AgentSession<F>): AgentSession<F> {
  return {
    ...session,
    async send(message, options = {}) {
      checkCall(options, ['key'])
      return await session.send(message, options)
    },
    async answer(to, options = {}) {
      checkMail(to)
      checkCall(options, ['signal'])
      return await session.answer(to, options)
    },
    async ask(message, options = {}) {
      checkCall(options, ['key', 'signal'])
      return await session.ask(message, options)
    },
    async record(turn) {
      checkKeys(turn, ['key', 'input', 'made'], 'turn')
      checkKey(turn.key)
      return await session.record(turn)
    },
    async history(query = {}) {
      checkKeys(query, ['before', 'limit'], 'query')
      if (query.before !== undefined) checkNumber('before', query.before)
      checkCount('limit', query.limit, 'entries')
      return await session.history(query)
    },
    async search(text, query = {}) {
      checkSearch(text, query)
      return await session.search(text, query)
    },
    async compactionReport(query = {}) {
      checkKeys(query, ['entry'], 'query')
      if (query.entry !== undefined) checkNumber('entry', query.entry)
      return await session.compactionReport(query)
    },
    events(query = {}) {
      checkKeys(query, ['after', 'signal'], 'query')
      if (query.after !== undefined) checkNumber('after', query.after, 0)
      checkSignal(query.signal)
      return session.events(query)
    },
    async stop(options = {}) {
      checkCall(options, ['key', 'signal'])
      return await session.stop(options)
    },
    async compact(options = {}) {
      checkCall(options, ['key', 'signal', 'focus'])
      checkString('focus', options.focus)
      return await session.compact(options)
    },
    async undo(options = {}) {
      checkCall(options, ['key', 'signal'])
      return await session.undo(options)
    },
    async pin(name, text, options = {}) {
      const problem = pinNameProblem(typeof name === 'string' ? name : '')
      if (problem !== null) throw invalidOption('name', `"name" is ${show(name)}: ${problem}.`)
      if (text !== null && (typeof text !== 'string' || text === '')) {
        throw invalidOption('text', `"text" is ${show(text)}. Give a text, or null to unpin it.`)
      }
      checkCall(options, ['key', 'signal'])
      return await session.pin(name, text, options)
    },
    async fork(options = {}) {
      checkCall(options, ['at', 'id', 'key'])
      if (options.at !== undefined) checkNumber('at', options.at)
      const forked = await session.fork(options)
      return 'session' in forked ? { ...forked, session: checkedSession(forked.session) } : forked
    },
    async erase(what) {
      checkErasure(what)
      return await session.erase(what)
    },
  }
}

function checkCall(options: object, known: readonly string[]): void {
  checkKeys(options, known)
  const { key, signal } = options as { readonly key?: unknown; readonly signal?: unknown }
  if (key !== undefined) checkKey(key)
  checkSignal(signal)
}

function checkMail(to: unknown): void {
  const mail = typeof to === 'object' && to !== null && 'mail' in to ? to.mail : undefined
  if (Number.isSafeInteger(mail) && (mail as number) > 0) return
  throw invalidOption(
    'mail',
    `"mail" is ${show(mail)}. Give what \`send\` returned, if its kind is "sent".`,
  )
}

export function checkSearch(text: unknown, query: { readonly limit?: number }): void {
  if (typeof text !== 'string') throw invalidOption('text', `"text" is ${show(text)}.`)
  checkKeys(query, ['limit'], 'query')
  checkCount('limit', query.limit, 'entries')
}

function checkErasure(what: Parameters<AgentSession<AnyFormat>['erase']>[0]): void {
  checkKeys(what, ['entries', 'reason', 'forks'], 'what')
  const { entries, reason, forks } = what
  if (Array.isArray(entries)) {
    for (const entry of entries) checkNumber('entries', entry)
  } else if (entries !== 'all') {
    throw invalidOption('entries', `"entries" is ${show(entries)}. Give numbers, or "all".`)
  }
  checkText('reason', reason)
  checkOneOf('forks', forks, ['refuse', 'keep', 'purge'])
}
