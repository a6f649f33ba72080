import { describe, expect, it } from 'vitest'
import { shellPath } from './shell-path.ts'

const GYP = '/npm/node_modules/@npmcli/run-script/lib/node-gyp-bin'

describe('shellPath', () => {
  it.each([
    ['npx', `/global/bin:/app/node_modules/.bin:${GYP}:/mine:/bin`, '/mine:/bin'],
    // A script that calls npx: the commands of its project stay.
    [
      'npx',
      `/global/bin:${GYP}:/app/node_modules/.bin:${GYP}:/bin`,
      `/app/node_modules/.bin:${GYP}:/bin`,
    ],
    // Started by a client that `npx throughline run` has started.
    ['npx', '/mine:/bin', '/mine:/bin'],
    ['agent', `/app/node_modules/.bin:${GYP}:/bin`, `/app/node_modules/.bin:${GYP}:/bin`],
    [undefined, `/odd:${GYP}:/bin`, `/odd:${GYP}:/bin`],
  ])('is the path that the caller of %s has: %s', (event, path, expected) => {
    expect(shellPath({ PATH: path, npm_lifecycle_event: event })).toBe(expected)
  })
})
