// Builds the web page into the server's folder. npm runs this after `npm ci` in a clone (the script
// "prepare"), so that `npm start` needs no further step.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js')

// An installation without development dependencies has no Vite; the server then says that the page is missing.
if (existsSync(vite)) {
  execFileSync(process.execPath, [vite, 'build', 'packages/dashboard', '--logLevel', 'warn'], {
    cwd: root,
    stdio: 'inherit',
  })
}
