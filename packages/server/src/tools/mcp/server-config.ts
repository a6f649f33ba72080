/** A server as an operator names it, for one agent. Plain data: the same terms are the same server. */
export type McpServerConfig = McpProgram | McpAddress

interface CommonConfig {
  /** Tool names, or prefixes followed by `*`; absent: all. */
  readonly allow?: readonly string[]
  readonly deny?: readonly string[]
  /** From its start until it has listed its tools. */
  readonly startMs: number
  /** The longest silence of a call; a progress report restarts it. */
  readonly callMs: number
}

export interface McpProgram extends CommonConfig {
  readonly kind: 'program'
  readonly command: string
  readonly args: readonly string[]
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
  /** Names of variables that it inherits in addition to `env`, with their values at its start. */
  readonly variables: readonly string[]
}

export interface McpAddress extends CommonConfig {
  readonly kind: 'address'
  readonly url: string
  readonly headers: Readonly<Record<string, string | SecretSource>>
  /** Sent as a bearer token. */
  readonly credential?: SecretSource
}

/** The source of a key; the caller reads it. */
export type SecretSource = { readonly kind: string } & Readonly<Record<string, string | undefined>>
