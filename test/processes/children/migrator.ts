import { writeSync } from 'node:fs'
import { openPlace } from '../place.ts'

/** Opens a store of an older program; where that ends is planted (die-migrating.ts). */
process.stdin.on('end', () => process.exit(1)).resume()
const store = await openPlace(JSON.parse(process.argv[2] ?? ''))
writeSync(1, 'opened\n')
await store.close()
process.exit(0)
