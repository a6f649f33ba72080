import { type CredentialSource, Credentials, type Environment } from '../model/routes/credential.ts'

/** A token or secret from where the configuration says it is; never kept. */
export async function readSecret(
  source: CredentialSource,
  environment: Environment,
): Promise<string> {
  return await new Credentials(environment).read(source)
}
