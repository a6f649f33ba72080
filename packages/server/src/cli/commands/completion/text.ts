import type { CommandNode, ValueKind } from '../../command-tree.ts'

/**
 * Completion scripts, generated from the commands. A script finds the longest command among the
 * words typed so far, then offers that command's arguments: files only where it takes a file, and
 * session ids from the configured store.
 */
export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type CompletionShell = (typeof SHELLS)[number]

export function completionText(shell: CompletionShell, nodes: readonly CommandNode[]): string {
  switch (shell) {
    case 'bash':
      return bashScript(nodes)
    case 'zsh':
      return zshScript(nodes)
    case 'fish':
      return fishScript(nodes)
    default:
      return shell satisfies never
  }
}

type OptionOf = CommandNode['options'][number]
type Offers = { readonly [kind in ValueKind]: string }

/** Ids contain no character that is special in a shell. */
const SESSION_IDS = `throughline sessions --json 2>/dev/null | sed -n 's/^{"id":"\\([^"]*\\)".*/\\1/p'`

const BASH: Offers = {
  file: 'COMPREPLY=($(compgen -f -- "$current"))',
  session: 'COMPREPLY=($(compgen -W "$(_throughline_sessions)" -- "$current"))',
  other: ':',
}

const ZSH: Offers = {
  file: '_files',
  session: 'compadd -- $(_throughline_sessions)',
  other: ':',
}

function bashScript(nodes: readonly CommandNode[]): string {
  return `# Save as ~/.local/share/bash-completion/completions/throughline
_throughline_sessions() { ${SESSION_IDS}; }
_throughline() {
  local path='' word previous="\${COMP_WORDS[COMP_CWORD-1]}" current="\${COMP_WORDS[COMP_CWORD]}"
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "\${path:+$path }$word" in
      ${pathPattern(nodes)}) path="\${path:+$path }$word" ;;
    esac
  done
  COMPREPLY=()
  case "$path:$previous" in
${valueCases(nodes, {
  choices: (words) => `COMPREPLY=($(compgen -W ${quoted(words)} -- "$current")); return`,
  any: (kind) => `${BASH[kind]}; return`,
})}
  esac
  case "$path" in
${nodes
  .map((node) => `    ${quoted(node.path)}) word=${quoted(wordsOf(node).join(' '))} ;;`)
  .join('\n')}
  esac
  COMPREPLY=($(compgen -W "$word" -- "$current"))
  [ "\${#COMPREPLY[@]}" -eq 0 ] || return
  case "$path" in
${argumentCases(nodes, BASH)}
  esac
}
complete -o filenames -F _throughline throughline
`
}

function zshScript(nodes: readonly CommandNode[]): string {
  return `#compdef throughline
# Save as _throughline in a folder of your $fpath
_throughline_sessions() { ${SESSION_IDS}; }
_throughline() {
  local path='' word previous="\${words[CURRENT-1]}"
  local -a commands options
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "\${path:+$path }$word" in
      ${pathPattern(nodes)}) path="\${path:+$path }$word" ;;
    esac
  done
  case "$path:$previous" in
${valueCases(nodes, {
  choices: (words) => `compadd -- ${words}; return`,
  any: (kind) => `${ZSH[kind]}; return`,
})}
  esac
  case "$path" in
${nodes.map(zshCase).join('\n')}
  esac
  (( \${#commands} )) && _describe command commands
  [[ "$PREFIX" == -* ]] && _describe -o option options
  case "$path" in
${argumentCases(nodes, ZSH)}
  esac
}
compdef _throughline throughline
`
}

function zshCase(node: CommandNode): string {
  const commands = [
    ...node.commands.map(({ name, summary }) => `${name}:${summary}`),
    ...node.choices,
  ]
  const options = node.options.flatMap(({ names, summary }) =>
    names.map((name) => `${name}:${summary}`),
  )
  const list = (words: readonly string[]) => words.map(quoted).join(' ')
  return `    ${quoted(node.path)}) commands=(${list(commands)}) options=(${list(options)}) ;;`
}

function fishScript(nodes: readonly CommandNode[]): string {
  const lines = nodes.flatMap((node) => {
    const condition = fishCondition(node)
    const begin = `complete -c throughline -n ${quoted(condition)}`
    return [
      ...node.commands.map(
        ({ name, summary }) => `${begin} -f -a ${quoted(name)} -d ${quoted(summary)}`,
      ),
      ...(node.choices.length === 0 ? [] : [`${begin} -f -a ${quoted(node.choices.join(' '))}`]),
      ...(node.argument === 'session' ? [`${begin} -f -a ${quoted(`(${SESSION_IDS})`)}`] : []),
      ...node.options.map((option) => `${begin} ${fishOption(option)}`),
    ]
  })
  return `# Save as ~/.config/fish/completions/throughline.fish\n${lines.join('\n')}\n`
}

/** Matches all words of the command and none of its subcommands. */
function fishCondition({ path, commands }: CommandNode): string {
  if (path === '') return '__fish_use_subcommand'
  const seen = path.split(' ').map((word) => `__fish_seen_subcommand_from ${word}`)
  const below = commands.map(({ name }) => name).join(' ')
  const without = below === '' ? [] : [`not __fish_seen_subcommand_from ${below}`]
  return [...seen, ...without].join('; and ')
}

function fishOption({ names, summary, value: kind, choices }: OptionOf): string {
  const spelled = names.map((name) =>
    name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`,
  )
  const value = choices.length > 0 ? [`-x -a ${quoted(choices.join(' '))}`] : fishValue(kind)
  return [...spelled, ...value, `-d ${quoted(summary)}`].join(' ')
}

function fishValue(kind: ValueKind | null): readonly string[] {
  switch (kind) {
    case null:
      return []
    case 'file':
      return ['-r']
    case 'session':
      return [`-x -a ${quoted(`(${SESSION_IDS})`)}`]
    case 'other':
      return ['-x']
    default:
      return kind satisfies never
  }
}

function wordsOf(node: CommandNode): readonly string[] {
  return [
    ...node.commands.map(({ name }) => name),
    ...node.choices,
    ...node.options.flatMap(({ names }) => names),
  ]
}

function pathPattern(nodes: readonly CommandNode[]): string {
  const paths = nodes.map(({ path }) => path).filter((path) => path !== '')
  return paths.map(quoted).join(' | ')
}

/** The cases for a word after an option that takes a value. */
function valueCases(
  nodes: readonly CommandNode[],
  offers: {
    readonly choices: (words: string) => string
    readonly any: (kind: ValueKind) => string
  },
): string {
  return nodes
    .flatMap(({ path, options }) =>
      options.flatMap(({ names, value, choices }) => {
        if (value === null) return []
        const pattern = names.map((name) => quoted(`${path}:${name}`)).join(' | ')
        const offer = choices.length > 0 ? offers.choices(choices.join(' ')) : offers.any(value)
        return [`    ${pattern}) ${offer} ;;`]
      }),
    )
    .join('\n')
}

/** The cases for a word that is an argument. */
function argumentCases(nodes: readonly CommandNode[], offers: Offers): string {
  return nodes
    .flatMap(({ path, argument }) =>
      argument === null || argument === 'other'
        ? []
        : [`    ${quoted(path)}) ${offers[argument]} ;;`],
    )
    .join('\n')
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
