/**
 * Makes visible what an editor, a terminal or a browser obeys or does not draw: control characters,
 * marks of the writing direction, characters without width, and the tags and selectors that can hide a
 * text in another one. Line feeds and tabs stay, and so do the joiners and selectors that emoji and
 * some scripts need.
 */
export function showUnseen(text: string): string {
  return text.replace(UNSEEN, (character) => {
    const code = character.codePointAt(0) ?? 0
    return `‹U+${code.toString(16).toUpperCase().padStart(4, '0')}›`
  })
}

const UNSEEN_ANY = String.raw`(?![\n\t])[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]`
const JOINS_EMOJI = String.raw`(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])\u200d(?=\p{Extended_Pictographic})`
const SELECTS_EMOJI = String.raw`(?<=[\p{Emoji}\p{S}])[\ufe0e\ufe0f]`
/** Arabic, the scripts of India and their neighbours; never inside Latin, Greek or Cyrillic words. */
const JOINS_LETTERS = String.raw`(?<=[[\p{L}\p{M}]--[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Common}\p{Script=Inherited}]])[\u200c\u200d]`

const UNSEEN = new RegExp(`(?!${JOINS_EMOJI}|${SELECTS_EMOJI}|${JOINS_LETTERS})${UNSEEN_ANY}`, 'gv')
