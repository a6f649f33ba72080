// Runs after `npm ci` in a clone (the script "prepare"): puts the command where npx looks first, and
// builds the web page, so that `npm start` needs no extra step.
// Without the link npx finds it too, but by way of its cache and with a page of warnings on a
// machine whose own Node is older than ours.
import { execFileSync } from 'node:child_process'
import { existsSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const bin = join(root, 'node_modules', '.bin')
const link = join(bin, 'throughline')

// Windows starts commands by wrapper files instead of links: there npx's own way has to do.
if (existsSync(bin) && process.platform !== 'win32') {
  rmSync(link, { force: true })
  symlinkSync(join('..', '..', 'bin', 'throughline.js'), link)
}

// Without the development dependencies there is nothing to build it with; the server says so.
const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js')
if (existsSync(vite) && existsSync(join(root, 'dashboard'))) {
  execFileSync(process.execPath, [vite, 'build', 'dashboard', '--logLevel', 'warn'], {
    cwd: root,
    stdio: 'inherit',
  })
}
