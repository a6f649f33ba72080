import { ListenError } from '../../listening.ts'

/** The first descriptor after those of a terminal. */
const FIRST_FD = 3

/**
 * The listening sockets that systemd, or a program like it, opened for this process (`sd_listen_fds`):
 * one, or one for each address of `localhost`. Such a port is never free, so no other user can listen
 * there while the server is down. Removes the variables: they are not for the programs that this one
 * starts.
 */
export function takePassedSockets(env: NodeJS.ProcessEnv): readonly number[] {
  const { LISTEN_PID, LISTEN_FDS = '0' } = env
  if (LISTEN_PID !== `${process.pid}`) return []
  for (const name of ['LISTEN_PID', 'LISTEN_FDS', 'LISTEN_FDNAMES']) delete env[name]
  if (/^[012]$/.test(LISTEN_FDS)) return [FIRST_FD, FIRST_FD + 1].slice(0, Number(LISTEN_FDS))
  const why = `the service manager passed ${LISTEN_FDS} sockets, expected one or two: name 127.0.0.1 and [::1]`
  throw new ListenError('its sockets', new Error(why))
}
