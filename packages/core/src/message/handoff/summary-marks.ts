/**
 * The summary that a client put in place of its older messages, without the marks that it makes for
 * programs: the delimiters of a handoff that `leave` wrote, and the tags of Claude Code and pi. Only lines
 * that are a mark as a whole are one.
 */
export function withoutMarks(text: string): string {
  const [, check] = /^\[handoff ([0-9a-f]{12}) by=[^\n]*\](?:\n|$)/.exec(text) ?? []
  if (check === undefined) return readLines(text.split('\n'), tagWords)
  // The second line tells the model how to read the sections.
  return readLines(text.split('\n').slice(2), (line) => sectionWords(line, check))
}

/** The words for a mark; null: the line is none. An empty one is left out. */
type Reader = (line: string) => string | null

function readLines(lines: readonly string[], read: Reader): string {
  const shown = lines.flatMap((line) => {
    const words = read(line)
    if (words === null) return [line]
    return words === '' ? [] : ['', `**${words}**`, '']
  })
  return shown.join('\n').trim()
}

const TAGS: ReadonlyMap<string, string> = new Map([
  ...(['analysis', '/analysis', 'summary', '/summary'].map((tag) => [tag, '']) as [
    string,
    string,
  ][]),
  ...([
    ['read-files', 'Files read'],
    ['/read-files', ''],
  ] as const),
  ...([
    ['modified-files', 'Files changed'],
    ['/modified-files', ''],
  ] as const),
])

function tagWords(line: string): string | null {
  const [, tag = ''] = /^<(\/?[a-z-]{1,20})>\s*$/.exec(line) ?? []
  return TAGS.get(tag) ?? null
}

const SECTIONS: ReadonlyMap<string, string> = new Map([
  ['rules', 'Standing instructions'],
  ['tasks', 'Tasks'],
  ['files', 'Files'],
  ['ledger', 'Exact facts'],
  ['summary', 'Summary'],
  ['end', ''],
])

function sectionWords(line: string, check: string): string | null {
  if (!line.startsWith(`[${check} `) || !line.endsWith(']')) return null
  const title = line.slice(check.length + 2, -1)
  const [, number, state] = /^message (\d+) (answered|open)/.exec(title) ?? []
  if (number !== undefined) return `Message #${number}, ${state}`
  return SECTIONS.get(title) ?? title
}
