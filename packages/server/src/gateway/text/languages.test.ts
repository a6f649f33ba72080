import { expect, it } from 'vitest'
import { highlight } from './highlight.ts'

const LANGUAGES = (
  'js javascript jsx ts typescript tsx mjs cjs c h cpp cc hpp cs csharp java kotlin kt swift go golang rs rust php dart scala ' +
  'zig py python rb ruby sh bash zsh shell fish dockerfile makefile make yaml yml toml ini conf json jsonc json5 jsonl ' +
  'css scss less html xml svg vue sql sqlite postgres postgresql mysql lua haskell hs elm diff patch DIFF Python klingon'
).split(' ')

const CODE = `// one
# two
-- three
; four
/* five
six */ <!-- seven --> 'it\\'s' "a \\"b\\" c" \`d
e\` """f
g""" 'open
1 0x1f 2.5e3 x1 $y _z
SELECT select fn def DOCTYPE import null None nil true local fi FROM important yes instanceof
+added
-removed
@@ 1 @@
`

it.each(LANGUAGES)('colours %s', (language) => {
  const spans = highlight(CODE, language)
  expect(spans.map(({ text }) => text).join('')).toBe(CODE)
  const coloured = spans.filter(({ kind }) => kind !== 'plain')
  expect(coloured.map(({ kind, text }) => `${kind} ${text}`).join('\n')).toMatchSnapshot()
})
