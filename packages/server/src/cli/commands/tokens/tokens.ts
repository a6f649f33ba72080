import { randomBytes } from 'node:crypto'
import { Command, InvalidArgumentError, Option } from 'commander'
import { isId } from '#core/base/ids'
import type { Store } from '#core/store/contract'
import type { TokenRow } from '#core/store/operational-rows'
import { FailedError, UsageError } from '../../../host/errors.ts'
import type { StoreFlags } from '../../../host/flags.ts'
import { EXIT } from '../../exit.ts'
import { withHelp } from '../../help.ts'
import { findNamed } from '../../named-session.ts'
import { addStoreOptions } from '../../store-options.ts'
import { paintOn } from '../../terminal/colours.ts'
import { moment } from '../../terminal/format.ts'
import { parseSpan } from '../../terminal/numbers.ts'
import { writeOutput } from '../../terminal/output.ts'
import { printable } from '../../terminal/printable.ts'
import { jsonLine, printNotice } from '../../terminal/stderr.ts'
import { drawTable } from '../../terminal/table.ts'

/** Tokens for HTTP. Each is printed once; the store holds only its hash. */
export function tokensCommand(): Command {
  return new Command('tokens')
    .summary('create, list and revoke access tokens for HTTP')
    .description(
      'Access tokens for HTTP. Loopback needs none unless the configuration requires it; any other ' +
        'address needs one.',
    )
    .addCommand(createCommand())
    .addCommand(rotateCommand())
    .addCommand(listCommand())
    .addCommand(revokeCommand())
}

interface CreateFlags extends StoreFlags {
  readonly id?: string
  readonly principal?: string
  readonly label: string
  readonly scope: 'read' | 'write' | 'operate'
  readonly session?: readonly string[]
  readonly expires?: number
  readonly json?: true
}

const LABEL_CHARACTERS_MAX = 200

function createCommand(): Command {
  const command = new Command('create')
    .summary('create a token and print it once')
    .description('Creates an access token and prints it. It cannot be shown again.')
    .addOption(
      new Option('--scope <scope>', 'what it may do; each scope includes those before it')
        .choices(['read', 'write', 'operate'])
        .default('write'),
    )
    .addOption(
      new Option(
        '--session <id...>',
        'only these sessions, by id or unique prefix; default: all',
      ).argParser((id: string, before: string[] = []) => [...before, parseId(id)]),
    )
    .addOption(
      new Option('--expires <time>', 'how long it is valid, such as 90d').argParser(parseSpan),
    )
    .addOption(
      new Option('--label <text>', 'who uses it; must be unique').default('').argParser((text) => {
        if (text.length <= LABEL_CHARACTERS_MAX) return text
        throw new InvalidArgumentError(`Use at most ${LABEL_CHARACTERS_MAX} characters.`)
      }),
    )
    .addOption(idOption())
    .addOption(
      new Option(
        '--principal <name>',
        'who it acts for: an Idempotency-Key counts once for all tokens of a principal ' +
          "(default: the token's id)",
      ).argParser(parseId),
    )
    .option('--json', 'print the token and its record as JSON')
    .action(async (flags: CreateFlags) => {
      const { withStoreRuntime } = await import('../../../host/with-runtime.ts')
      const { mintToken } = await import('../../../gateway/http/access/access.ts')
      process.exitCode = await withStoreRuntime(
        flags,
        async ({ store }) => {
          const now = Date.now()
          requireFree(await store.listTokens(), flags)
          const sessions = await Promise.all((flags.session ?? []).map((id) => named(store, id)))
          const minted = mintToken({
            id: flags.id ?? newId(),
            ...(flags.principal !== undefined && { principal: flags.principal }),
            scopes: [flags.scope, ...sessions.map((id) => `session:${id}`)],
            label: flags.label,
            now,
            expiresAt: flags.expires === undefined ? null : now + flags.expires,
          })
          await keepAndPrint(store, minted, flags)
          const { id } = minted.record
          printNotice(
            `Token ${id} was created. It is not shown again; \`tokens revoke ${id}\` revokes it.`,
          )
          printNotice('From now on every caller of the server, you included, needs a token.')
          return EXIT.done
        },
        { mayMake: true },
      )
    })
  return withHelp(addStoreOptions(command), {
    codes: [
      [EXIT.done, 'created and printed'],
      [EXIT.failed, 'there are too many tokens'],
      [EXIT.usage, 'wrong usage, or the id or label is in use'],
    ],
    examples: [
      'throughline tokens create --scope read --label "status page" --expires 90d',
      'TOKEN=$(throughline tokens create --session build-7)',
    ],
  })
}

/** A token can be named by its label or its id, so neither may be that of another one. */
function requireFree(tokens: readonly TokenRow[], { id, label }: CreateFlags): void {
  const names = new Set(tokens.flatMap((token) => [token.id, token.label]))
  const taken = [id, label].find((name) => name !== undefined && name !== '' && names.has(name))
  if (taken === undefined) return
  throw new UsageError(
    `Token ${printable(taken)} already exists. Choose another name, or rotate or revoke that token.`,
  )
}

/** A session that does not exist yet needs its complete id. */
async function named(store: Store, id: string): Promise<string> {
  const known = await findNamed(store, id)
  if (known === undefined) {
    printNotice(
      `note: there is no session ${id} yet; the token works once there is one. Check the id.`,
    )
  }
  return known ?? id
}

interface RotateFlags extends StoreFlags {
  readonly id?: string
  readonly expires?: number
  readonly json?: true
}

function rotateCommand(): Command {
  const command = new Command('rotate')
    .summary('create a replacement token for the same principal')
    .description(
      'Creates a token with the principal, scopes and label of another and prints it. A request ' +
        'repeated with the new token is recognized. The old one stays valid until it is revoked.',
    )
    .argument('<token>', 'the token to replace: its id or its label, as `list` shows them')
    .addOption(
      new Option(
        '--expires <time>',
        'how long it is valid (default: as long as the old token)',
      ).argParser(parseSpan),
    )
    .addOption(idOption())
    .option('--json', 'print the token and its record as JSON')
    .action(async (name: string, flags: RotateFlags) => {
      const { withStoreRuntime } = await import('../../../host/with-runtime.ts')
      const { mintToken } = await import('../../../gateway/http/access/access.ts')
      process.exitCode = await withStoreRuntime(flags, async ({ store }) => {
        const old = oneNamed(await store.listTokens(), name)
        const { principal, scopes, label } = old
        const now = Date.now()
        const span = old.expiresAt === null ? undefined : old.expiresAt - old.createdAt
        const valid = flags.expires ?? span
        const expiresAt = valid === undefined ? null : now + valid
        const minted = mintToken({
          ...{ id: flags.id ?? newId(), principal, scopes, label, now, expiresAt },
        })
        await keepAndPrint(store, minted, flags)
        printNotice(
          `Token ${minted.record.id} was created. When it is in use, revoke the old one: ` +
            `tokens revoke ${old.id}`,
        )
        return EXIT.done
      })
    })
  return withHelp(addStoreOptions(command), {
    codes: [
      [EXIT.done, 'created and printed'],
      [EXIT.failed, 'there are too many tokens'],
      [EXIT.usage, 'wrong usage, or no such token'],
    ],
    examples: [
      'throughline tokens rotate 1f0c44ab --expires 90d',
      'throughline tokens rotate "status page"',
    ],
  })
}

function idOption(): Option {
  return new Option('--id <id>', 'its name; random by default').argParser(parseId)
}

function newId(): string {
  return randomBytes(4).toString('hex')
}

/** By its id or its label. After a rotation, two tokens have the same label. */
function oneNamed(tokens: readonly TokenRow[], name: string): TokenRow {
  const withId = tokens.find(({ id }) => id === name)
  if (withId !== undefined) return withId
  const labelled = tokens.filter(({ label }) => label === name && label !== '')
  const [only] = labelled
  if (only === undefined) throw unknownToken(name)
  if (labelled.length === 1) return only
  const ids = labelled.map(({ id }) => id).join(', ')
  throw new UsageError(`The tokens ${ids} have this label; name one of them by its id.`)
}

function unknownToken(name: string): UsageError {
  return new UsageError(
    `There is no token ${printable(name)}; \`tokens list\` shows ids and labels.`,
  )
}

async function keepAndPrint(
  store: Store,
  { text, record }: { readonly text: string; readonly record: TokenRow },
  { json }: { readonly json?: true },
): Promise<void> {
  const outcome = await store.putToken(record)
  if (outcome.kind === 'taken') throw new UsageError(`Token ${record.id} already exists.`)
  if (outcome.kind === 'full') {
    throw new FailedError(
      `The store already has ${outcome.limit} tokens, the maximum; revoke some first.`,
    )
  }
  await writeOutput('-', json ? jsonLine({ token: text, ...withoutHash(record) }) : `${text}\n`)
}

interface ListFlags extends StoreFlags {
  readonly json?: true
}

function listCommand(): Command {
  const command = new Command('list')
    .summary('list tokens: who may do what, until when')
    .description('Lists access tokens, never their secrets. Only reads.')
    .option('--json', 'print one JSON object per line')
    .action(async (flags: ListFlags) => {
      const { withReadRuntime } = await import('../../../host/with-runtime.ts')
      process.exitCode = await withReadRuntime(flags, async ({ store }) => {
        const tokens = await store.listTokens()
        if (flags.json) await writeOutput('-', tokens.map(withoutHash).map(jsonLine).join(''))
        else if (tokens.length === 0) printNotice('No tokens.')
        else await writeOutput('-', drawTokens(tokens))
        return EXIT.done
      })
    })
  return withHelp(addStoreOptions(command), {
    codes: [
      [EXIT.done, 'listed, even if there are none'],
      [EXIT.failed, 'the store is busy or cannot be reached now'],
      [EXIT.usage, 'wrong usage, or no store there'],
    ],
    examples: ['throughline tokens list'],
  })
}

function drawTokens(tokens: readonly TokenRow[]): string {
  const now = Date.now()
  const columns = ['TOKEN', 'PRINCIPAL', 'SCOPES', 'MADE', 'EXPIRES', 'FOR'].map((title) => ({
    title,
  }))
  const rows = tokens.map(({ id, principal, scopes, label, createdAt, expiresAt }) => [
    id,
    principal,
    scopes.join(' '),
    moment(createdAt),
    expiresAt === null
      ? 'never'
      : expiresAt > now
        ? moment(expiresAt)
        : { text: `expired ${moment(expiresAt)}`, colour: 'red' as const },
    printable(label).replaceAll('\n', ' '),
  ])
  return drawTable(columns, rows, paintOn(process.stdout))
}

function withoutHash({ hash: _, ...token }: TokenRow): Omit<TokenRow, 'hash'> {
  return token
}

function revokeCommand(): Command {
  const command = new Command('revoke')
    .summary('revoke a token')
    .description(
      'Revokes an access token in every process: new requests are refused within two seconds, and ' +
        'open event streams deliver nothing more.',
    )
    .argument('[token]', 'its id or its label, as `list` shows them')
    .option('--label <text>', 'every token with exactly this label instead')
    .action(async (name: string | undefined, flags: RevokeFlags) => {
      const { withStoreRuntime } = await import('../../../host/with-runtime.ts')
      process.exitCode = await withStoreRuntime(flags, async ({ store }) => {
        for (const token of await revokedIds(store, name, flags)) {
          const outcome = await store.removeToken({ id: token })
          if (outcome.kind === 'unknown') throw unknownToken(token)
          printNotice(`Token ${token} was revoked.`)
        }
        return EXIT.done
      })
    })
  return withHelp(addStoreOptions(command), {
    codes: [
      [EXIT.done, 'revoked'],
      [EXIT.failed, 'the store is busy or cannot be reached now'],
      [EXIT.usage, 'wrong usage, or no such token'],
    ],
    examples: [
      'throughline tokens revoke 1f0c44ab',
      'throughline tokens revoke "status page"',
      'throughline tokens revoke --label "status page"',
    ],
  })
}

interface RevokeFlags extends StoreFlags {
  readonly label?: string
}

async function revokedIds(
  store: Store,
  name: string | undefined,
  { label }: RevokeFlags,
): Promise<readonly string[]> {
  if ((name === undefined) === (label === undefined)) {
    throw new UsageError('Name one token by its id or its label, or several by --label.')
  }
  const tokens = await store.listTokens()
  if (name !== undefined) return [oneNamed(tokens, name).id]
  const labelled = tokens.filter((token) => token.label === label)
  if (labelled.length > 0) return labelled.map((token) => token.id)
  throw new UsageError('No token has this label; `tokens list` shows the labels.')
}

function parseId(text: string): string {
  if (!isId(text)) {
    throw new InvalidArgumentError('Use 1 to 64 letters, digits, "_" or "-".')
  }
  return text
}
