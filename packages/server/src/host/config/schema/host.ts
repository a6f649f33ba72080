import { z } from 'zod'
import { ALLOWANCE } from '../../../auxiliary/allowance.ts'
import type { CredentialSource } from '../../../model/routes/credential.ts'
import { routesSchema } from '../../../model/routes/routes.ts'
import { RETENTION_DAYS } from '../../../runtime/store-layers/retention.ts'
import { PROCESS_LIMITS } from '../../../tools/process/processes.ts'
import { discord, gatewayAgent, telegram } from './gateway.ts'
import { countSchema, needsRestart, seconds, tokens } from './values.ts'

/** Settings of the process and its host: store, HTTP, gateways, limits, logs. */

const location = z.string().min(1, { error: 'should be a path or a postgres:// address' })

export interface ConfiguredStore {
  readonly url: string
  readonly password?: CredentialSource | undefined
}

function isPostgres(url: string): boolean {
  return /^postgres(?:ql)?:\/\//i.test(url)
}

export const store = z
  .union(
    [
      location,
      z
        .strictObject({
          url: location.describe('A path, or a postgres:// address without a password.'),
          password: routesSchema.shape.main.shape.credential.describe(
            'Where the password of the database comes from, written as `credential` is.',
          ),
        })
        .refine(({ url, password }) => password === undefined || isPostgres(url), {
          path: ['password'],
          error: 'has no meaning for a store in a file',
        }),
    ],
    { error: 'should be a path, a postgres:// address, or a map with url and password' },
  )
  .transform((value): ConfiguredStore => (typeof value === 'string' ? { url: value } : value))
  .prefault('.throughline/throughline.db')
  .meta({
    description:
      'Where sessions are kept: a path from the folder of the configuration file, or a `postgres://` address.',
    ...needsRestart,
  })

const LOCAL = '127.0.0.1'

const ORIGIN = /^[a-z][a-z0-9+.-]{0,31}:\/\/[a-z0-9[\]:._-]{1,255}$/i
const secret = routesSchema.shape.main.shape.credential.unwrap()

const hooks = z
  .record(
    z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, {
      error: 'should be named with 1 to 64 letters, digits, "_" or "-"',
    }),
    z.strictObject({
      secret: secret.describe(
        'Where the secret comes from, written as `credential` is: `whsec_` and the key in base64.',
      ),
      previousSecret: secret
        .optional()
        .describe('Where the previous secret comes from, while it is being replaced.'),
      agent: gatewayAgent.describe(
        'The agent whose session gets the news: the one of the channel `hook` and the address `NAME`. Default: the first agent.',
      ),
      session: z
        .string()
        .regex(/^[A-Za-z0-9_-]{1,64}$/, { error: 'should be the id of a session' })
        .optional()
        .describe(
          'The session that gets the news, by its id. It must exist; until then the sender gets `404`.',
        ),
    }),
  )
  .default({})
  .describe('Programs that send news to `/v1/hooks/NAME`, signed as Standard Webhooks specifies.')

export const http = z
  .strictObject({
    enabled: z.boolean().default(true).describe('Whether `serve` answers over HTTP.'),
    host: z
      .string()
      .min(1)
      .default(LOCAL)
      .describe('The address to listen on. On any other than loopback, callers need a token.'),
    port: countSchema(0, 65_535).default(7420).describe('The port; 0: any free port.'),
    socket: z
      .string()
      .min(1)
      .optional()
      .describe(
        'A second listener on a Unix domain socket, for this user only and without a token.',
      ),
    requireToken: z
      .boolean()
      .default(false)
      .describe(
        'Require a token on loopback too. The first start creates one, in a file beside the store.',
      ),
    allowedHosts: z
      .array(z.string().min(1))
      .max(64)
      .default([])
      .describe('Host names under which clients may call the server, beside its own address.'),
    allowedOrigins: z
      .array(
        z.string().regex(ORIGIN, {
          error:
            'should be an origin such as https://example.org, without a path; `*` is not accepted',
        }),
      )
      .max(64)
      .default([])
      .describe(
        'Web pages of other origins that may call it (CORS), such as `https://example.org`.',
      ),
    trustedProxies: z
      .array(
        z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], {
          error: 'should be an address or a range, such as 10.0.0.0/8',
        }),
      )
      .max(64)
      .default([])
      .describe('Addresses or ranges of reverse proxies whose forwarding header is trusted.'),
    forwardingHeader: z
      .enum(['x-forwarded-for', 'forwarded'])
      .default('x-forwarded-for')
      .describe('The header with the client address. Name the one that your proxy writes.'),
    hooks,
    limits: z
      .strictObject({
        bodyBytesMax: countSchema(1_024, 67_108_864)
          .default(1_048_576)
          .describe('The largest request.'),
        depthMax: countSchema(4, 256).default(64).describe('How deep its JSON may be nested.'),
        connectionsMax: countSchema(1, 100_000)
          .default(1_000)
          .describe('Connections open at once.'),
        connectionsPerAddressMax: countSchema(1, 100_000)
          .default(300)
          .describe('The same, from one address; trusted proxies have no such limit.'),
        requestsPerMinute: countSchema(1, 10_000_000)
          .default(30_000)
          .describe('Per token, or for all callers together if no token is needed.'),
        failuresPerMinute: countSchema(1, 1_000_000)
          .default(30)
          .describe('Requests without a valid token, per address. Valid tokens are not affected.'),
        streamsMax: countSchema(1, 100_000).default(500).describe('Event streams open at once.'),
        streamsPerTokenMax: countSchema(1, 100_000)
          .default(150)
          .describe('The same, for one token, or for all callers together if no token is needed.'),
      })
      .prefault({})
      .describe('Limits beyond which the server refuses requests.'),
  })
  .prefault({})
  .meta({ description: 'The HTTP server.', ...needsRestart })

/** One key per chat platform (gateway.ts). HTTP has its own section. */
export const gateways = z
  .strictObject({ telegram, discord })
  .prefault({})
  .meta({ description: 'Chat platforms.', ...needsRestart })

const money = z
  .number()
  .min(0)
  .max(1_000_000_000)
  .optional()
  .describe('In your currency; calls without a known price do not count. Default: no limit.')

const cap = z
  .strictObject({
    tokens: tokens().optional().describe('Input and output together. Default: no limit.'),
    money,
  })
  .prefault({})

const price = z.number().min(0).max(1_000_000)

export const limits = z
  .strictObject({
    mailbox: z
      .strictObject({
        laneMailMax: countSchema(1, 1_000_000)
          .default(10_000)
          .describe('Messages that wait in one lane of a session before more are refused.'),
        sourceMailMax: countSchema(1, 1_000_000)
          .default(5_000)
          .describe('The same, for messages of one sender.'),
      })
      .prefault({})
      .describe('How much may wait.'),
    keepSentDays: countSchema(1, 36_500)
      .default(RETENTION_DAYS.sent)
      .meta({
        description:
          'Replies that were sent are removed from the outbox after so many days; the transcript keeps the answers.',
        ...needsRestart,
      }),
    keepCallDays: countSchema(1, 36_500)
      .default(RETENTION_DAYS.calls)
      .meta({
        description:
          'Model calls are listed for so many days (by step, turn and hour). After that the store keeps their sums for each day, session, agent and model.',
        ...needsRestart,
      }),
    processes: z
      .strictObject({
        secondsMax: seconds()
          .default(PROCESS_LIMITS.timeMs / 1_000)
          .describe('A command is ended after this long.'),
        outputBytesMax: countSchema(1_024, 1_073_741_824)
          .default(PROCESS_LIMITS.outputBytesMax)
          .describe('A command that writes more is ended.'),
        runningMax: countSchema(1, 10_000)
          .default(PROCESS_LIMITS.runningMax)
          .describe('Commands that run at once.'),
        runningPerSessionMax: countSchema(1, 10_000)
          .default(PROCESS_LIMITS.runningPerSessionMax)
          .describe('The same, for one session.'),
      })
      .prefault({})
      .meta({ description: 'What the tool `process` may start.', ...needsRestart }),
    budget: z
      .strictObject({
        windowSeconds: seconds()
          .default(ALLOWANCE.windowMs / 1_000)
          .describe('The span over which spending is counted.'),
        session: z
          .strictObject({
            tokens: tokens().prefault(20_000_000).describe('Input and output together.'),
            money,
          })
          .prefault({})
          .describe('For one session.'),
        host: z
          .strictObject({
            tokens: tokens().prefault(200_000_000).describe('Input and output together.'),
            money,
          })
          .prefault({})
          .describe('For everything on this host.'),
      })
      .prefault({})
      .meta({
        description: 'A hard limit on what auxiliary calls may spend.',
        ...needsRestart,
      }),
    spend: z
      .strictObject({
        turn: cap.describe('One turn.'),
        session: cap.describe('One session, in its whole life.'),
        agent: cap.describe('All sessions of one agent, in one day (UTC).'),
        day: cap.describe('All sessions of the store, in one day (UTC).'),
      })
      .prefault({})
      .meta({
        description:
          'What turns may spend. At a limit the turn pauses before the next model call; the operator allows the same amount once more, on the page or with `/continue` in the terminal.',
        ...needsRestart,
      }),
    prices: z
      .record(
        z.string(),
        z.strictObject({
          input: price.describe('Per million tokens.'),
          output: price.describe('Per million tokens.'),
          cacheRead: price.optional().describe('Per million tokens.'),
          cacheWrite: price.optional().describe('Per million tokens.'),
        }),
      )
      .default({})
      .meta({
        description: "Prices by the model's exact name; they win over the built-in list.",
        ...needsRestart,
      }),
  })
  .prefault({})
  .describe('Bounds of the host.')

export const logging = z
  .strictObject({
    level: z
      .enum(['silent', 'error', 'warn', 'info', 'debug'])
      .default('info')
      .describe('What is logged; never the content of conversations.'),
    file: z
      .string()
      .min(1)
      .optional()
      .meta({ description: 'The log file. Default: standard error.', ...needsRestart }),
    pretty: z
      .union([z.boolean(), z.literal('auto')], { error: 'should be true, false or auto' })
      .default('auto')
      .meta({
        description: 'Lines for people instead of JSON; `auto`: on a terminal.',
        ...needsRestart,
      }),
  })
  .prefault({})
  .describe('The log of the process.')
