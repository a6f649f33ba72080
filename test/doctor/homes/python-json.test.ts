import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { dumps, type Py, PyFloat } from './python-json.ts'

const VALUE: Py = {
  text: '"\\ \n\r\t\f\b\u007f\u001f\u2028 é 日 😀 \ud800 /',
  list: [1, 2n ** 70n, true, false, null, {}, []],
  floats: [1, 0.1, 1e15, 1e16, 123456789012345680, 1e22, 1e-4, 1e-5, -0, 1.5e300].map(
    (value) => new PyFloat(value),
  ),
  words: [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY].map(
    (value) => new PyFloat(value),
  ),
}
const READS = `import json, sys
value = json.loads(sys.stdin.read())
sys.stdout.write(json.dumps(value) + "\\n" + json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass").hex())`

it('writes JSON as Python writes it', (context) => {
  const python = spawnSync('python3', ['-c', READS], { input: dumps(VALUE), encoding: 'utf8' })
  if (python.error !== undefined) {
    console.log('not run: there is no python3')
    context.skip('not run: there is no python3')
  }
  const [ascii = '', raw = ''] = python.stdout.split('\n')
  expect(ascii).toBe(dumps(VALUE))
  const unpaired = dumps(VALUE, { ensureAscii: false }).replace('\ud800', '')
  expect(Buffer.from(raw, 'hex').toString('latin1').replace('\u00ed\u00a0\u0080', '')).toBe(
    Buffer.from(unpaired).toString('latin1'),
  )
})
