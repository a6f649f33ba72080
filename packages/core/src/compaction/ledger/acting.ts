/**
 * Which calls change something outside the conversation. Recognized by verbs: programs and tools
 * have many names, but "send", "commit" and "delete" are common to all.
 */
const ACTING = new Set(
  (
    'send post reply comment create update edit write delete remove cancel book pay refund ' +
    'transfer exchange return modify apply patch replace insert commit push publish deploy merge ' +
    'submit upload install move rename close set'
  ).split(' '),
)

/** The agent's own bookkeeping changes nothing outside. */
const BOOKKEEPING = new Set('todo todos task tasks plan think memory'.split(' '))

export function isActingTool(name: string): boolean {
  const words = name
    .slice(0, 100)
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
  return words.some((word) => ACTING.has(word)) && !words.some((word) => BOOKKEEPING.has(word))
}

const FILE_CHANGERS = new Set('rm mv cp mkdir touch chmod chown ln kill dd'.split(' '))
const READERS = new Set(
  'grep rg echo printf cat ls find sed awk head tail wc man pwd which cd tree jq sort'.split(' '),
)
const ACTING_VERBS = new Set([
  ...ACTING,
  ...'rm mv rebase reset tag revert restore cherry-pick clone checkout switch start stop restart up down'.split(
    ' ',
  ),
])
const READING_VERBS = new Set(
  'log diff show status branch rev-parse ls-tree ls-files blame list view get describe'.split(' '),
)

/** The first part of a command line that acts: `git push`, `gh pr create`, `kubectl apply`. */
export function actingPartOf(command: string): string | undefined {
  return partsOf(command).find((part) => {
    const [program = '', ...rest] = plainWordsOf(part)
    if (FILE_CHANGERS.has(program)) return true
    return !READERS.has(program) && rest.slice(0, 2).some((word) => ACTING_VERBS.has(word))
  })
}

/** Only reads: the results have the content, and the words are kept separately. */
export function isReadingCommand(command: string): boolean {
  return partsOf(command).every((part) => {
    const [program = '', verb = ''] = plainWordsOf(part)
    return READERS.has(program) || READING_VERBS.has(verb) || program.includes('=')
  })
}

function partsOf(command: string): string[] {
  return command
    .split(/&&|\|\||[;|]/)
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

/** Without flags, and without the folder of `git -C folder`. */
function plainWordsOf(part: string): string[] {
  return part
    .split(' ')
    .filter((word, index, words) => !word.startsWith('-') && words[index - 1] !== '-C')
}
