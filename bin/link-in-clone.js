// Runs after `npm ci` in a clone (the script "prepare"): puts the command where npx looks first.
// Without the link npx finds it too, but by way of its cache and with a page of warnings on a
// machine whose own Node is older than ours.
import { existsSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const bin = join(dirname(fileURLToPath(import.meta.url)), '..', 'node_modules', '.bin')
const link = join(bin, 'throughline')

// Windows starts commands by wrapper files instead of links: there npx's own way has to do.
if (existsSync(bin) && process.platform !== 'win32') {
  rmSync(link, { force: true })
  symlinkSync(join('..', '..', 'bin', 'throughline.js'), link)
}
