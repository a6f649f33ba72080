/**
 * Syntax highlighting in one pass. Models and strangers write the text, so every character is read
 * only once, for any input. Finds comments, strings, numbers and keywords; text in an unknown
 * language stays plain.
 */
export type CodeKind = 'plain' | 'comment' | 'string' | 'number' | 'keyword' | 'added' | 'removed'

export interface CodeSpan {
  readonly kind: CodeKind
  readonly text: string
}

interface Grammar {
  readonly lineComments: readonly string[]
  readonly blockComment?: readonly [open: string, close: string]
  readonly quotes: string
  /** Quotes of strings that may span lines. */
  readonly longQuotes?: string
  readonly keywords: ReadonlySet<string>
}

export function highlight(code: string, language: string): readonly CodeSpan[] {
  const name = language.toLowerCase()
  if (DIFFS.has(name)) return diffSpans(code)
  const grammar = GRAMMARS.get(name)
  return grammar === undefined ? [{ kind: 'plain', text: code }] : codeSpans(code, grammar)
}

export function isKnownLanguage(language: string): boolean {
  const name = language.toLowerCase()
  return DIFFS.has(name) || GRAMMARS.has(name)
}

const DIFFS = new Set(['diff', 'patch'])

function codeSpans(code: string, grammar: Grammar): readonly CodeSpan[] {
  const spans: CodeSpan[] = []
  let plainFrom = 0
  for (let at = 0; at < code.length; ) {
    const { kind, end } = tokenAt(code, at, grammar)
    if (kind !== 'plain') {
      if (plainFrom < at) spans.push({ kind: 'plain', text: code.slice(plainFrom, at) })
      spans.push({ kind, text: code.slice(at, end) })
      plainFrom = end
    }
    at = end
  }
  if (plainFrom < code.length) spans.push({ kind: 'plain', text: code.slice(plainFrom) })
  return spans
}

const WORD = /[\p{L}_$][\p{L}\p{N}_$]*/uy
const NUMBER = /\d[\w.]*/y

function tokenAt(code: string, at: number, grammar: Grammar): { kind: CodeKind; end: number } {
  const { lineComments, blockComment, quotes, longQuotes = '', keywords } = grammar
  if (blockComment !== undefined && code.startsWith(blockComment[0], at)) {
    const close = code.indexOf(blockComment[1], at + blockComment[0].length)
    return { kind: 'comment', end: close < 0 ? code.length : close + blockComment[1].length }
  }
  if (lineComments.some((mark) => code.startsWith(mark, at))) {
    return { kind: 'comment', end: lineEnd(code, at) }
  }
  const character = code[at] ?? ''
  if (longQuotes.includes(character)) return { kind: 'string', end: quoteEnd(code, at, true) }
  if (quotes.includes(character)) return { kind: 'string', end: quoteEnd(code, at, false) }
  const word = matchAt(WORD, code, at)
  if (word !== undefined) {
    return { kind: keywords.has(word) ? 'keyword' : 'plain', end: at + word.length }
  }
  const number = matchAt(NUMBER, code, at)
  if (number !== undefined) return { kind: 'number', end: at + number.length }
  return { kind: 'plain', end: at + 1 }
}

function matchAt(pattern: RegExp, code: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(code)?.[0]
}

function lineEnd(code: string, at: number): number {
  const end = code.indexOf('\n', at)
  return end < 0 ? code.length : end
}

/** The offset after the closing quote; an unclosed string ends with its line. */
function quoteEnd(code: string, start: number, isLong: boolean): number {
  for (let at = start + 1; at < code.length; at += 1) {
    if (code[at] === '\\') at += 1
    else if (code[at] === code[start]) return at + 1
    else if (code[at] === '\n' && !isLong) return at
  }
  return code.length
}

function diffSpans(code: string): readonly CodeSpan[] {
  return code.split(/(?<=\n)/).map((text) => {
    if (text.startsWith('+')) return { kind: 'added', text }
    if (text.startsWith('-')) return { kind: 'removed', text }
    return { kind: text.startsWith('@@') ? 'keyword' : 'plain', text }
  })
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(' '))
}

const SLASHES = { lineComments: ['//'], blockComment: ['/*', '*/'] } as const

const GRAMMARS: ReadonlyMap<string, Grammar> = new Map(
  (
    [
      [
        'js jsx ts tsx mjs cjs mts cts javascript typescript',
        {
          ...SLASHES,
          ...{ quotes: '"\'', longQuotes: '`' },
          keywords: words(
            'abstract as async await break case catch class const continue debugger declare default delete do else enum export extends false finally for from function if implements import in instanceof interface let new null of private protected public readonly return satisfies static super switch this throw true try type typeof undefined var void while yield',
          ),
        },
      ],
      [
        'c h cpp cc hpp java kotlin kt swift go golang rust rs csharp cs php scala dart zig',
        {
          ...SLASHES,
          quotes: '"`',
          keywords: words(
            'abstract async await auto bool boolean break byte case catch chan char class const continue crate default defer delete do double dyn else enum export extends extern false final finally float fn for foreach func function go goto guard if impl implements import in int interface internal is let long loop map match mod move mut namespace new nil null object override package private protected pub public range ref return self short signed sizeof static string struct super switch template this throw throws trait true try type typedef union unsafe unsigned use using val var virtual void volatile when where while yield',
          ),
        },
      ],
      [
        'py python',
        {
          lineComments: ['#'],
          quotes: '"\'',
          keywords: words(
            'and as assert async await break case class continue def del elif else except False finally for from global if import in is lambda match None nonlocal not or pass raise return self True try while with yield',
          ),
        },
      ],
      [
        'rb ruby',
        {
          lineComments: ['#'],
          quotes: '"\'`',
          keywords: words(
            'alias and begin break case class def do else elsif end ensure false for if in module next nil not or raise redo rescue retry return self super then true undef unless until when while yield',
          ),
        },
      ],
      [
        'sh bash zsh shell fish dockerfile makefile make',
        {
          lineComments: ['#'],
          ...{ quotes: '', longQuotes: '"\'`' },
          keywords: words(
            'break case cd continue do done echo elif else esac exit export fi for function if in local return select set shift source test then trap unset until while FROM RUN COPY CMD ENTRYPOINT ENV WORKDIR USER EXPOSE ARG',
          ),
        },
      ],
      [
        'yaml yml toml ini conf',
        { lineComments: ['#'], quotes: '"\'', keywords: words('true false null yes no on off') },
      ],
      ['json jsonc json5 jsonl', { ...SLASHES, quotes: '"', keywords: words('true false null') }],
      ['css scss less', { ...SLASHES, quotes: '"\'', keywords: words('important media import') }],
      [
        'html xml svg vue',
        {
          lineComments: [],
          blockComment: ['<!--', '-->'],
          quotes: '"',
          keywords: words('DOCTYPE'),
        },
      ],
      [
        'sql sqlite postgres postgresql mysql',
        {
          ...{ lineComments: ['--'], blockComment: ['/*', '*/'], quotes: '"\'' },
          keywords: bothCases(
            'add all alter and as asc begin between by case check column commit constraint create database default delete desc distinct drop else end except exists foreign from full group having if in index inner insert into is join key left like limit not null offset on or order outer primary references returning right rollback select set table then transaction trigger union unique update using values view when where with',
          ),
        },
      ],
      [
        'lua haskell hs elm',
        {
          ...{ lineComments: ['--'], quotes: '"' },
          keywords: words(
            'and break case class data do else elseif end false for function if import in let local module nil not of or repeat return then true type until where while',
          ),
        },
      ],
    ] satisfies readonly (readonly [string, Grammar])[]
  ).flatMap(([names, grammar]) =>
    names.split(' ').map((name): [string, Grammar] => [name, grammar]),
  ),
)

function bothCases(text: string): ReadonlySet<string> {
  return words(`${text} ${text.toUpperCase()}`)
}
