import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

it('a waiting command keeps the process alive, even without a visible progress line', async () => {
  const file = JSON.stringify(join(import.meta.dirname, 'progress.ts'))
  const script = `
    const { ProgressLine } = await import(${file})
    const progress = new ProgressLine('Waiting')
    const answer = new Promise((resolve) => setTimeout(resolve, 100).unref())
    await answer.finally(() => progress.end())
    console.log('answered')`
  const arguments_ = ['--input-type=module', '--eval', script]
  const { stdout, stderr } = await promisify(execFile)(process.execPath, arguments_)
  expect([stdout, stderr]).toEqual(['answered\n', ''])
})
