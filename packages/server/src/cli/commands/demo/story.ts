/** The messages of the tour. The stand-in answers, so they use plain words. */
export const FACT = 'The staging server is called heron-7, and its backup runs at 03:40.'
export const SLOW_QUESTION = 'slowly: When does the backup of heron-7 run?'

const SUBJECTS = [
  ...['the build', 'the importer', 'the search index', 'the invoices', 'the login page'],
  ...['the mobile app', 'the exports', 'the old printer', 'the test data', 'the release notes'],
] as const

/** One message of a long working day, about 2,000 tokens. */
export function workMessage(index: number): string {
  const subject = SUBJECTS[index % SUBJECTS.length]
  const notes = Array.from({ length: 48 }, (_, note) => {
    const ticket = 1_000 + index * 37 + note
    return `Ticket ${ticket}: ${subject} was checked on host n${(index * 7 + note) % 90} and nothing was changed there, see the notes of that day.`
  })
  return [`Here is what I know about ${subject} so far.`, ...notes].join(' ')
}

/** Short, so that the conversation does not outrun the background compaction. */
export function shortMessage(index: number): string {
  return `Note ${index}: nothing new about ${SUBJECTS[index % SUBJECTS.length]}.`
}
