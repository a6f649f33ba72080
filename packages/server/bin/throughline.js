#!/usr/bin/env node
// Starts the command from its sources in a clone and from `dist` in the published package. On a
// Node that is too old it starts itself again with the Node that `npm ci` put into node_modules.
// This file alone must run on any Node, so it uses nothing new.
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import module from 'node:module'
import { Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const NODE_MAJOR_MIN = 24
/** The first descriptor after those of a terminal. */
const FIRST_FD = 3

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
// In a clone the packages share one node_modules folder, two levels up.
const modules = [root, join(root, '..', '..')]
  .map((folder) => join(folder, 'node_modules'))
  .find((folder) => existsSync(folder))
const program = process.platform === 'win32' ? 'node.exe' : 'node'
const ownNode = join(modules ?? root, 'node', 'bin', program)

endWithNpm()

if (Number.parseInt(process.versions.node, 10) >= NODE_MAJOR_MIN) {
  if (process.env.THROUGHLINE_RESTARTED !== undefined) endWithParent()
  const source = join(root, 'src', 'cli', 'main.ts')
  // Removing types and compiling is most of the start. Where the folder cannot be written, nothing is kept.
  const cache = join(modules ?? root, '.cache', 'throughline')
  module.enableCompileCache(cache)
  // Threads hear of it this way only; each would take 40 MB more to remove the same types again.
  process.env.NODE_COMPILE_CACHE ??= cache
  const main = existsSync(source) ? source : join(root, 'dist', 'cli', 'main.js')
  await import(pathToFileURL(main).href)
} else if (existsSync(ownNode) && process.env.THROUGHLINE_RESTARTED === undefined) {
  restart()
} else {
  process.stderr.write(
    `throughline needs Node ${NODE_MAJOR_MIN} or newer, this is ${process.version}.\n` +
      'Install it from https://nodejs.org, or run `npx -p node@24 throughline …` where throughline is installed.\n',
  )
  process.exitCode = 1
}

function restart() {
  const sockets = passedSockets()
  const pipe = FIRST_FD + sockets.length
  const child = spawn(ownNode, process.argv.slice(1), {
    // The child sees the end of the pipe when this process ends, however it ends.
    stdio: ['inherit', 'inherit', 'inherit', ...sockets, 'pipe'],
    // If that Node is too old as well, say so instead of starting again and again.
    env: { ...process.env, THROUGHLINE_RESTARTED: `${pipe}` },
  })
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT']
  // A terminal sends Ctrl-C to both processes; a second one would end the child without order.
  const isOnTerminal = process.stdin.isTTY === true
  for (const signal of signals) {
    process.on(signal, () => {
      if (signal !== 'SIGINT' || !isOnTerminal) child.kill(signal)
    })
  }
  child.stdio[pipe].on('error', () => {}) // the child has ended
  child.on('error', (error) => {
    process.stderr.write(`throughline could not start ${ownNode}: ${error.message}\n`)
    process.exitCode = 1
  })
  child.on('exit', (code, signal) => {
    child.stdio[pipe].destroy()
    if (signal === null) process.exitCode = code
    else {
      for (const name of signals) process.removeAllListeners(name)
      process.kill(process.pid, signal)
    }
  })
}

/** The listening sockets that a service manager opened for this process (`sd_listen_fds`). */
function passedSockets() {
  const { LISTEN_PID, LISTEN_FDS } = process.env
  // Any other number is refused by the server, which says so.
  const count = LISTEN_PID === `${process.pid}` && /^[12]$/.test(LISTEN_FDS) ? LISTEN_FDS : 0
  return [FIRST_FD, FIRST_FD + 1].slice(0, Number(count))
}

/** Ends this process in order once the process that started it is gone. */
function endWithParent() {
  const fd = Number(process.env.THROUGHLINE_RESTARTED)
  delete process.env.THROUGHLINE_RESTARTED // not for the programs that this one starts
  // Sockets for the process that started this one are now for this one.
  if (process.env.LISTEN_PID === `${process.ppid}`) process.env.LISTEN_PID = `${process.pid}`
  const pipe = new Socket({ fd }).on('error', () => {}).on('close', endInOrder)
  pipe.resume()
  pipe.unref()
}

/**
 * `npx` and `npm start` start a shell that starts this process. They pass a signal to the shell alone,
 * or to nothing, so this process ends in order once one of them is gone. Not if the script says more
 * than this command: with `&` the shell may end before it.
 */
function endWithNpm() {
  const { npm_lifecycle_script: script = '' } = process.env
  delete process.env.npm_lifecycle_script // not for the programs that this one starts
  if (process.platform === 'win32' || !/^[^&;|\n]*throughline[^&;|\n]*$/.test(script)) return
  const started = starters()
  const timer = setInterval(() => {
    if (starters() === started) return
    clearInterval(timer)
    endInOrder()
  }, 1000)
  timer.unref()
}

/** The process that started this one, and npm if that is its shell. */
function starters() {
  const parent = process.ppid
  try {
    if (!/^(?:\S*\/)?sh\0-c\0/.test(readFileSync(`/proc/${parent}/cmdline`, 'utf8')))
      return `${parent}`
    // The name of a command may hold spaces and parentheses.
    const [, npm] =
      readFileSync(`/proc/${parent}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
    return `${parent} ${npm}`
  } catch {
    return `${parent}` // only Linux has these files
  }
}

function endInOrder() {
  process.kill(process.pid, 'SIGTERM')
}
