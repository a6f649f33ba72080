/** `npm run size`: how large what people import becomes in a bundle, and what it needs of Node. */
import { bundle, PROGRAMS } from './bundle.ts'

const kilobytes = (bytes: number) => `${(bytes / 1000).toFixed(1)} kB`.padStart(9)

process.stdout.write(`${'bundle, minified'.padEnd(34)}${'size'.padStart(9)}${'gzip'.padStart(9)}\n`)
for (const [name, program] of Object.entries(PROGRAMS)) {
  const { bytes, gzipped, imports } = await bundle(program)
  const needs = imports.length === 0 ? '' : `  imports ${imports.join(', ')}`
  process.stdout.write(`${name.padEnd(34)}${kilobytes(bytes)}${kilobytes(gzipped)}${needs}\n`)
}
