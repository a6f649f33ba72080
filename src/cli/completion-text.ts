import type { CommandNode } from './command-tree.ts'

/**
 * Completion for shells, written from the commands themselves. A script looks at the words typed so
 * far for the longest that name a command, then offers what that command takes.
 */
export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

export function completionText(shell: Shell, nodes: readonly CommandNode[]): string {
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

function bashScript(nodes: readonly CommandNode[]): string {
  return `# Save as ~/.local/share/bash-completion/completions/throughline
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
  any: 'COMPREPLY=($(compgen -f -- "$current")); return',
})}
  esac
  case "$path" in
${nodes
  .map((node) => `    ${quoted(node.path)}) word=${quoted(wordsOf(node).join(' '))} ;;`)
  .join('\n')}
  esac
  COMPREPLY=($(compgen -W "$word" -- "$current"))
  if [ "\${#COMPREPLY[@]}" -eq 0 ] && [ -n "$path" ]; then
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}
complete -o filenames -F _throughline throughline
`
}

function zshScript(nodes: readonly CommandNode[]): string {
  return `#compdef throughline
# Save as _throughline in a folder of your $fpath
_throughline() {
  local path='' word previous="\${words[CURRENT-1]}"
  local -a commands options
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "\${path:+$path }$word" in
      ${pathPattern(nodes)}) path="\${path:+$path }$word" ;;
    esac
  done
  case "$path:$previous" in
${valueCases(nodes, { choices: (words) => `compadd -- ${words}; return`, any: '_files; return' })}
  esac
  case "$path" in
${nodes.map(zshCase).join('\n')}
  esac
  (( \${#commands} )) && _describe command commands
  [[ "$PREFIX" == -* ]] && _describe -o option options
  [[ -n "$path" ]] && (( ! \${#commands} )) && _files
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
      ...node.options.map((option) => `${begin} ${fishOption(option)}`),
    ]
  })
  return `# Save as ~/.config/fish/completions/throughline.fish\n${lines.join('\n')}\n`
}

/** All words of the command, and none of those below it. */
function fishCondition({ path, commands }: CommandNode): string {
  if (path === '') return '__fish_use_subcommand'
  const seen = path.split(' ').map((word) => `__fish_seen_subcommand_from ${word}`)
  const below = commands.map(({ name }) => name).join(' ')
  const without = below === '' ? [] : [`not __fish_seen_subcommand_from ${below}`]
  return [...seen, ...without].join('; and ')
}

function fishOption({ names, summary, takesValue, choices }: OptionOf): string {
  const spelled = names.map((name) =>
    name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`,
  )
  const value =
    choices.length > 0 ? [`-x -a ${quoted(choices.join(' '))}`] : takesValue ? ['-r'] : []
  return [...spelled, ...value, `-d ${quoted(summary)}`].join(' ')
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

/** The cases of a word behind an option that takes a value. */
function valueCases(
  nodes: readonly CommandNode[],
  offers: { readonly choices: (words: string) => string; readonly any: string },
): string {
  return nodes
    .flatMap(({ path, options }) =>
      options
        .filter(({ takesValue }) => takesValue)
        .map(({ names, choices }) => {
          const pattern = names.map((name) => quoted(`${path}:${name}`)).join(' | ')
          const offer = choices.length > 0 ? offers.choices(choices.join(' ')) : offers.any
          return `    ${pattern}) ${offer} ;;`
        }),
    )
    .join('\n')
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
