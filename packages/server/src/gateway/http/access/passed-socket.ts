import { ListenError } from '../node-server.ts'

/** The first descriptor after those of a terminal. */
const FIRST_FD = 3

/**
 * The listening socket that systemd, or a program like it, opened for this process (`sd_listen_fds`);
 * undefined: none. Such a port is never free, so no other user can listen there while the server is
 * down. Removes the variables: they are not for the programs that this one starts.
 */
export function takePassedSocket(env: NodeJS.ProcessEnv): number | undefined {
  const { LISTEN_PID, LISTEN_FDS = '0' } = env
  if (LISTEN_PID !== `${process.pid}`) return undefined
  for (const name of ['LISTEN_PID', 'LISTEN_FDS', 'LISTEN_FDNAMES']) delete env[name]
  if (LISTEN_FDS === '0') return undefined
  if (LISTEN_FDS === '1') return FIRST_FD
  const why = `the service manager passed ${LISTEN_FDS} sockets, expected one: name one ListenStream`
  throw new ListenError('its socket', new Error(why))
}
