import { z } from 'zod'
import { routesSchema } from '../../../model/routes/routes.ts'
import { gatewayAgent } from './gateway.ts'
import { countSchema, needsRestart } from './values.ts'

/** The section `http`: the server and the programs that send it news. */

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
