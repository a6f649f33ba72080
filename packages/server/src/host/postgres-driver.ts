/**
 * The driver for stores on a server. Core finds one of its own only if it is installed around it,
 * which a global installation does not do.
 */
export async function loadPostgresDriver() {
  return (await import('pg')).default
}
