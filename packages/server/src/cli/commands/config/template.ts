import type { ModelChoice } from './choices.ts'

/**
 * The first throughline.yaml: the answers to the questions, and comments on what to change next.
 */
export interface InitAnswers {
  readonly agent: string
  readonly choice: ModelChoice
  readonly store: string
  /** The path of the JSON schema, as seen from the file. */
  readonly schema: string
}

export function configTemplate({ agent, choice, store, schema }: InitAnswers): string {
  const { provider, model, baseUrl, windowTokens } = choice
  const route = [
    `provider: ${provider}`,
    ...(model === undefined ? [] : [`model: ${quoted(model)}`]),
    ...(baseUrl === undefined ? [] : [`baseUrl: ${quoted(baseUrl)}`]),
    ...(windowTokens === undefined
      ? []
      : [`windowTokens: ${windowTokens} # as the server was started`]),
  ]
  return `# yaml-language-server: $schema=${schema}
# Every key, its default and its meaning: throughline config schema. Editors read them from the file above.
# Keys and passwords do not belong here; name the variable, file or command that holds them.

agents:
  ${agent}:
    system: |-
      You are a helpful assistant. You keep your promises and say when you are not sure.
    model:
${route.map((line) => `      ${line}`).join('\n')}
    # tools:
    #   files: {roots: [.]}        # let it read files in these folders
    # pins:
    #   language: Answer in English.

# A path, or postgres://user@host/database
store: ${quoted(store)}

# compaction:
#   softShare: 0.75                # compact when the usable window is this full
#   targetShare: 0.35

# http:
#   port: 7420
`
}

/** A JSON string is also a valid YAML string. */
function quoted(text: string): string {
  return /^[A-Za-z0-9./][A-Za-z0-9./_-]*$/.test(text) && !/^[\d.]+$/.test(text)
    ? text
    : JSON.stringify(text)
}
