/**
 * What people who leave Hermes or Codex must find here, by number. S1 to S30 come from public issues
 * and pull requests of those projects; D1 to D11 are the acceptance criteria of the issue on session
 * ids that change in a compaction. Tests name them in their titles.
 */
export const BEHAVIOURS: readonly string[] = [
  'a message, a notification or an interrupt that arrives while a summary is written does not abort it, and is the next thing the agent sees',
  'shielding is per task: other auxiliary tasks can be interrupted, and a hung stream ends by its deadline',
  'shields belong to one call and reach no other session or task',
  'after a timeout or a connection error the cached client is evicted, and other tasks on the route do not inherit its state',
  'a compaction is tried once more on a fresh client before a lesser rung; no static marker replaces a summary',
  'an auxiliary task with the provider `main` follows the live main route, also after the main model is switched',
  'the prompt asks for a handoff to another model, its wrapping is removed, and the system text stays byte for byte the same',
  'answered messages of the user are kept within a token budget, newest first; the one that crosses it is cut in the middle',
  'images and parts of unknown kinds survive, and never crash a compaction',
  'before a turn, the incoming request is left out of the summary and follows it in full',
  'the task list comes before the summary, with unfinished tasks only, and replaces an older one',
  'prompt and budgets come from file, environment and command line, at every entry point',
  'no two neighbouring messages of one role go to a provider that refuses that',
  'the warning about repeated compaction comes from the second one on, once each, and its threshold is configurable',
  'which files were read survives, with content hashes',
  'a cut never separates a tool call from its result',
  'a compaction does not change the session id on any branch: success, failure, timeout, conflict, crash, restart',
  'one compaction per session at a time; a second request joins it; sessions never alias',
  'messages that arrive during a compaction are kept in order, and the first turns after it see them all',
  'the lines of a compaction carry one session id and one operation id, and the log alone proves it',
  'snapshots have derived names that can be read and never receive a message',
  'nine and thirteen agents on one host cross the threshold together: no id changes, nothing is lost, no loop of thanks',
  'the id that changes and the compaction under another session’s name are each reproduced by a planted bug, and absent here',
  'a compaction writes little more than its handoff, and no turn waits for it',
  'damaged stores are diagnosed, explained, and repaired or migrated without touching the original',
  'the session-stability contract is written down for readers, and the guide matches the code',
  'preserved messages carry their state, answered or open',
  'an offline evaluation guards what compaction retains',
  'no loop and no stuck session needs a restart; runs as a service on Linux, macOS and Windows',
  'the agent writes no note that denies what its transcript holds',
]

export const CRITERIA: readonly string[] = [
  'the line that ends a compaction names the session of the line that began it',
  'new messages still reach that session',
  'the next context of the session holds the compacted history',
  'no line of a compaction names another session as its operand',
  'no second compaction of a session begins before the first has ended',
  'a message that arrives during a compaction is kept until it ends',
  'the first turn after the compaction has that message in its context',
  'the agent does not report "no record" of that message',
  'nine agents that cross the threshold within a minute keep their session ids',
  'none of the nine loses a message that was delivered to it during its compaction',
  'no loop of acknowledgments follows between the nine',
]
