/** Bugs for `npm run drill:planted`: at least one for each law of the proxy. */
export const SOURCES = 'packages/server/src'

export interface Planted {
  readonly law: number
  readonly what: string
  readonly file: string
  readonly from: string
  readonly to: string
}

export const PLANTED: readonly Planted[] = [
  {
    ...{ law: 1, what: 'bodies are written again' },
    file: 'runtime/client-sessions/recorder.ts',
    from: 'return { send: [request.body], boundary: 0 }',
    to: 'return { send: [Buffer.from(JSON.stringify({ a: 1, ...JSON.parse(request.body.toString()) }))], boundary: 0 }',
  },
  {
    ...{ law: 2, what: 'the handoff is not the stored one' },
    file: 'runtime/client-sessions/recorder.ts',
    from: 'const items = isOwn ? boundary.items :',
    to: 'const items = isOwn ? boundary.items.replace("[handoff", "[handoff" + Date.now()) :',
  },
  {
    ...{ law: 3, what: 'boundaries are not read from the store' },
    file: 'runtime/client-sessions/entries.ts',
    from: 'const boundary = boundaryOf(entry)',
    to: 'const boundary = null as ReturnType<typeof boundaryOf>; boundaryOf(entry)',
  },
  {
    ...{ law: 4, what: 'a request goes on before it is recorded' },
    file: 'runtime/client-sessions/recorder.ts',
    from: 'await this.#within(RECORD_MS_MAX, session.record(placed))',
    to: 'void session.record(placed)',
  },
  {
    ...{ law: 5, what: 'another order of keys makes another unit' },
    file: 'proxy/unit.ts',
    from: 'unit.inputText ?? sorted(unit.input)',
    to: 'unit.inputText ?? unit.input',
  },
  {
    ...{ law: 6, what: 'thinking is part of a history' },
    file: 'proxy/wire/anthropic.ts',
    from: "    case 'thinking':\n",
    to: '',
  },
  {
    ...{ law: 7, what: 'message borders count' },
    file: 'proxy/history.ts',
    from: 'node = tree.follow(node, item.hashes)',
    to: 'node = tree.follow(node, item.hashes); if (node.depth < after) node = placed.start',
  },
  {
    ...{ law: 8, what: 'only the newest branch is known' },
    file: 'proxy/unit-tree.ts',
    from: '    this.head = this.upTo(to)\n',
    to: '    this.head = this.upTo(to)\n    this.head.children.clear()\n',
  },
  {
    ...{ law: 9, what: 'a Codex title is a conversation' },
    file: 'proxy/identify.ts',
    from: "if (turn['thread_source'] === 'thread_title') return 'side'",
    to: '',
  },
  {
    ...{ law: 10, what: 'the header of sub-agents is ignored' },
    file: 'proxy/identify.ts',
    from: "const agent = headers['x-claude-code-agent-id'] ?? null",
    to: 'const agent = null',
  },
  {
    ...{ law: 11, what: 'the cut lies before the first uncovered unit' },
    file: 'proxy/outgoing.ts',
    from: 'if (after === depth) return { divided: null, next: index + 1 }',
    to: 'if (before === depth && after > depth) return { divided: null, next: index }',
  },
  {
    ...{ law: 11, what: 'an open call is no reason not to cut' },
    file: 'proxy/outgoing.ts',
    from: 'if (open.size > 0 || item.hashes.length === 0) continue',
    to: 'if (item.hashes.length === 0) continue',
  },
  {
    ...{ law: 12, what: 'a request waits for the summary' },
    file: 'runtime/client-sessions/recorder.ts',
    from: 'if (tokens > soft) void this',
    to: 'if (tokens > soft) await this',
  },
  {
    ...{ law: 13, what: 'late usage counts' },
    file: 'runtime/client-sessions/recorder.ts',
    from: 'if (newest !== sent.boundary || isUndone(end)) return',
    to: 'if (isUndone(end)) return',
  },
  {
    ...{ law: 14, what: 'reminders are not recognized' },
    file: 'proxy/client-notes.ts',
    from: "  'system-reminder',\n",
    to: '',
  },
  {
    ...{ law: 15, what: 'reported usage is changed' },
    file: 'gateway/proxy/serve.ts',
    from: 'if (!response.write(chunk)) {',
    to: 'if (!response.write(chunk.toString().replace(\'"input_tokens":7\', \'"input_tokens":9\'))) {',
  },
  {
    ...{ law: 16, what: 'the handoff comes when the window is full' },
    file: 'runtime/client-sessions/frame.ts',
    from: 'export const SOFT_SHARE = 0.65',
    to: 'export const SOFT_SHARE = 1.5',
  },
  {
    ...{ law: 17, what: 'a fault of ours reaches the client' },
    file: 'runtime/client-sessions/recorder.ts',
    from: 'return (await this.#begin(request)) ?? untouched\n    } catch (error) {',
    to: 'return (await this.#begin(request)) ?? untouched\n    } catch (error) {\n      throw error',
  },
  {
    ...{ law: 18, what: 'the stream is believed: a rewind is not stored' },
    file: 'runtime/client-sessions/stored-session.ts',
    from: 'if (planned.rewindTo !== null) {\n      const node',
    to: 'if (planned.rewindTo === -1) {\n      const node',
  },
  {
    ...{ law: 19, what: 'headers are logged' },
    file: 'runtime/client-sessions/recorder.ts',
    from: 'const identity = identify(facts)',
    to: "const identity = identify(facts); this.#options.logger.info(request.headers, 'request')",
  },
  {
    ...{ law: 20, what: 'no usage line for Codex' },
    file: 'migration/leave/client-log.ts',
    from: 'input_tokens: tokens, output_tokens: 0, total_tokens: tokens',
    to: 'output_tokens: 0',
  },
  {
    ...{ law: 20, what: 'a wrong ordinal' },
    file: 'migration/leave/client-log.ts',
    from: 'ordinal: ordinal + 2',
    to: 'ordinal: ordinal + 1',
  },
  {
    ...{ law: 21, what: 'a lost race is not tried again' },
    file: 'runtime/client-sessions/stored-session.ts',
    from: "if (outcome.by === 'fence') this.#lease = null",
    to: "throw new NotRecordedError('lost')",
  },
  {
    ...{ law: 22, what: 'answers are held back' },
    file: 'gateway/proxy/serve.ts',
    from: 'response.flushHeaders()',
    to: 'response.cork()',
  },
  {
    ...{ law: 23, what: 'the stand-in refuses system messages among the others' },
    file: 'stand-in/read-body.ts',
    from: ", 'system-position']",
    to: ']',
  },
]
