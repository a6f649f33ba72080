import { redact } from '#core/compaction/redact/redact'

/**
 * A provider's own message, as people are shown it beside ours: masked, on one line, and short. What could
 * end the quotation, start a line, hide or reorder text, or be read as Markdown or a mention is taken out, so
 * that it cannot pass for our words or act on a terminal or a chat platform. Empty: nothing is left.
 */
export function providerWords(message: string, key = ''): string {
  // Some providers repeat the key that they were sent; it can have a form that nobody would know.
  const known = [key, plainOf(key)].filter((each) => each.length >= KEY_MIN)
  const masked = (text: string) =>
    known.reduce((left, each) => left.replaceAll(each, '[secret:key]'), text)
  // Masked twice: a mark inside a key would hide it, and so would a part that was cut off.
  const plain = redact(masked(plainOf(redact(masked(message).slice(0, READ_MAX)))))
  const characters = [...plain]
  return characters.length <= SHOWN_MAX
    ? plain
    : `${characters.slice(0, SHOWN_MAX).join('').trimEnd()}…`
}

/** Enough for each message of the big providers, with the links to their pages. */
const SHOWN_MAX = 240
const READ_MAX = 2_000
/** A shorter one is a placeholder, such as `ollama`, and may be part of any word. */
const KEY_MIN = 8

function plainOf(text: string): string {
  return (
    text
      .replaceAll(/[\p{C}\p{Z}]+/gu, ' ')
      // Stacked marks would run over the lines above.
      .replaceAll(/(\p{M}{2})\p{M}+/gu, '$1')
      .replaceAll(/["“”„‟«»]/g, "'")
      .replaceAll(/[`*<>|~\\#@]+/g, ' ')
      // Brackets mark what was masked; a link has something right behind them.
      .replaceAll(/\](?=[([])/g, '] ')
      .replaceAll(/ +/g, ' ')
      .trim()
  )
}
