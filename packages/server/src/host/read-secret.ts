import { type CredentialSource, Credentials, type Environment } from '../model/routes/credential.ts'

/** Reads a token or secret from its configured source, and never caches it. */
export async function readSecret(
  source: CredentialSource,
  environment: Environment,
): Promise<string> {
  return await new Credentials(environment).read(source)
}
