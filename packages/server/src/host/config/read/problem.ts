import { KnownError } from '#core/base/errors'

/** The source of a value. */
export type ConfigOrigin =
  | {
      readonly kind: 'file'
      readonly file: string
      readonly line: number
      readonly column: number
    }
  | { readonly kind: 'environment'; readonly variable: string }
  | { readonly kind: 'flag'; readonly flag: string }
  | { readonly kind: 'default' }

export const DEFAULT_ORIGIN: ConfigOrigin = { kind: 'default' }

/** An error or warning in one sentence; never contains a secret. */
export interface ConfigProblem {
  readonly origin: ConfigOrigin
  readonly text: string
}

export type Path = readonly (string | number)[]

/** `agents.main.stepsMax`; names that contain a dot are quoted. */
export function pathText(path: Path): string {
  return path
    .map((key, at) => {
      if (typeof key === 'number') return `[${key}]`
      if (!/^[\w-]+$/.test(key)) return `[${JSON.stringify(key)}]`
      return at === 0 ? key : `.${key}`
    })
    .join('')
}

export function originText(origin: ConfigOrigin): string {
  switch (origin.kind) {
    case 'file':
      return `${origin.file}:${origin.line}:${origin.column}`
    case 'environment':
      return origin.variable
    case 'flag':
      return `--set ${origin.flag}`
    case 'default':
      return 'default'
    default:
      return origin satisfies never
  }
}

export function problemText({ origin, text }: ConfigProblem): string {
  return origin.kind === 'default' ? text : `${originText(origin)}: ${text}`
}

/** Holds all mistakes at once. */
export class ConfigError extends KnownError {
  override readonly name = 'ConfigError'
  readonly code = 'invalid-config'
  readonly retryable = false
  readonly problems: readonly ConfigProblem[]

  constructor(problems: readonly ConfigProblem[]) {
    super(
      `The configuration cannot be used.\n${problems.map((each) => `  ${problemText(each)}`).join('\n')}`,
    )
    this.problems = problems
  }
}
