import { styleText } from 'node:util'

export type Colour =
  | ('green' | 'red' | 'yellow' | 'cyan' | 'magenta' | 'dim')
  | ('bold' | 'italic' | 'underline' | 'strikethrough')
export type Paint = (colour: Colour, text: string) => string

/** Colours on a terminal; obeys NO_COLOR and FORCE_COLOR. */
export function paintOn(stream: NodeJS.WriteStream): Paint {
  return (colour, text) => styleText(colour, text, { stream })
}

export const noPaint: Paint = (_colour, text) => text
