import { z } from 'zod'
import { isObject } from '#core/base/json'
import { routesSchema } from '../../../model/routes/routes.ts'
import { SERVER_NAME } from '../../../tools/mcp/names.ts'
import type { McpServerConfig } from '../../../tools/mcp/server-config.ts'
import { seconds } from './values.ts'

/** Servers that provide tools over the Model Context Protocol. Each is a program or a URL. */
const credential = routesSchema.shape.main.shape.credential
const names = z.array(z.string().min(1).max(200)).max(256)

const PROGRAM_KEYS = ['args', 'env'] as const
const ADDRESS_KEYS = ['credential', 'headers'] as const

const server = z
  .strictObject({
    command: z.string().min(1).optional().describe('The program to start. Give this or `url`.'),
    args: names.optional().describe('Its arguments as a list; no shell reads them.'),
    env: z
      .array(
        z
          .string()
          .regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, { error: 'is not a valid variable name' }),
      )
      .max(64)
      .optional()
      .describe('Names of variables that it gets beside PATH, HOME and the language.'),
    url: z
      .url({ protocol: /^https?$/, error: 'should be an http:// or https:// address' })
      .optional()
      .describe('The address of a server that runs elsewhere (streamable HTTP).'),
    credential: credential.describe(
      'Where its key comes from, written as for models; sent as a bearer token.',
    ),
    headers: z
      .record(z.string().regex(/^[A-Za-z0-9-]{1,64}$/), z.union([z.string(), credential.unwrap()]))
      .optional()
      .describe('Sent with every request: a text, or where a key comes from.'),
    allow: names
      .optional()
      .describe('Tools that are offered, by name or `beginning*`. Default: all.'),
    deny: names.default([]).describe('Tools that are never offered; wins over `allow`.'),
    startSeconds: seconds()
      .max(600)
      .default(20)
      .describe('Time limit from its start until it has listed its tools.'),
    callSeconds: seconds()
      .max(115)
      .default(60)
      .describe('The longest silence of a call; progress restarts it.'),
  })
  .check(z.superRefine(checkServer, { when: ({ value }) => isObject(value) }))

export const mcp = z
  .record(
    z.string().regex(SERVER_NAME, {
      error: 'is not a valid server name: use 1 to 24 letters, digits and inner dashes',
    }),
    server,
  )
  .default({})
  .describe('Servers whose tools the agent gets, by name (MCP).')

type ServerConfig = z.output<typeof server>

function checkServer(value: Partial<ServerConfig>, context: z.RefinementCtx): void {
  const addIssue = (path: string, message: string) =>
    context.addIssue({ code: 'custom', path: [path], message, input: value })
  const { command, url } = value
  if (command === undefined && url === undefined) {
    addIssue('command', 'is missing; a server is a program (`command`) or an address (`url`)')
    return
  }
  if (command !== undefined && url !== undefined) {
    addIssue('url', 'has no meaning beside `command`; remove one of them')
    return
  }
  const [kind, others] =
    command === undefined ? (['url', PROGRAM_KEYS] as const) : (['command', ADDRESS_KEYS] as const)
  for (const key of others) {
    if (value[key] !== undefined) addIssue(key, `has no meaning for a server with \`${kind}\``)
  }
}

/** In the form that the tools folder expects. */
export function mcpTerms(
  servers: Readonly<Record<string, ServerConfig>>,
  { folder, env }: { readonly folder: string; readonly env: Readonly<Record<string, string>> },
): Readonly<Record<string, McpServerConfig>> {
  return Object.fromEntries(
    Object.entries(servers).map(([name, config]): [string, McpServerConfig] => {
      const { allow, deny, startSeconds, callSeconds } = config
      const common = {
        ...(allow !== undefined && { allow }),
        deny,
        startMs: startSeconds * 1_000,
        callMs: callSeconds * 1_000,
      }
      if (config.url === undefined) {
        const { command = '', args = [], env: variables = [] } = config
        return [name, { ...common, kind: 'program', command, args, folder, env, variables }]
      }
      const { url, headers = {}, credential: source } = config
      const secret = source === undefined ? {} : { credential: source }
      return [name, { ...common, kind: 'address', url, headers, ...secret }]
    }),
  )
}
