import { z } from 'zod'
import type { CredentialSource } from '../../../model/routes/credential.ts'
import { routesSchema } from '../../../model/routes/routes.ts'
import { needsRestart } from './values.ts'

/** The section `store`: where sessions are kept. */

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
