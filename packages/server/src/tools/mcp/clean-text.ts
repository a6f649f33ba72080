import { clip } from '#core/base/line'

/**
 * A server's text is untrusted. It may reach a model, a terminal or a log, so control characters,
 * escapes, text directions and invisible characters are removed. The meaning of the text cannot be
 * made harmless; it is only kept short.
 */
// Cc without tab and line feed; directions, joiners and fillers without width; tags; variation
// selectors beyond the common ones, which can carry hidden bytes.
const UNSEEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu

export function cleanText(text: string): string {
  return text.toWellFormed().replaceAll('\r\n', '\n').replaceAll(UNSEEN, '')
}

/** Clipped before cleaning too, because cleaning a huge text takes time. */
export function shortText(text: string, charactersMax: number): string {
  return clip(cleanText(text.slice(0, 4 * charactersMax)).trim(), charactersMax)
}
