import { Credentials } from '../../model/credential.ts'
import type { Environment } from './overlay.ts'
import type { Config } from './schema.ts'

/**
 * The place of the store as its engine takes it: a path, or an address with the password in it. Holds
 * a secret from here on, so it is shown to nobody. Rejects with `CredentialError`.
 */
export async function readStorePlace({ store }: Config, env: Environment): Promise<string> {
  const { url, password } = store
  if (password === undefined || password.kind === 'none') return url
  const address = new URL(url)
  address.password = encodeURIComponent(await new Credentials(env).read(password))
  return address.href
}
