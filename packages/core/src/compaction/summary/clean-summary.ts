// Models open with a label if the conversation has one; older systems asked for it.
const LABELS = [
  /^\[context (?:summary|compaction)[^\]\n]{0,80}\][:.]?\s/i,
  /^(?:#{1,3} )?(?:\*\*)?(?:context |handoff |conversation )?summary(?:\*\*)?:?\s*\n/i,
]

/** The writer's text without wrapping: analysis, tags, code fence and legacy labels taken off. */
export function cleanSummary(text: string): string {
  let clean = text.trim()
  const open = clean.lastIndexOf('<summary>')
  if (open !== -1) {
    const close = clean.indexOf('</summary>', open)
    clean = clean.slice(open + '<summary>'.length, close === -1 ? undefined : close).trim()
  }
  const fenced = /^```[a-z]{0,10}\n/.exec(clean)
  if (fenced !== null && clean.endsWith('\n```')) clean = clean.slice(fenced[0].length, -4).trim()
  for (const label of LABELS) clean = clean.replace(label, '').trim()
  return clean
}
