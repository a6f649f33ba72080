import { spawn } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { programEnvironment } from './platform.ts'

describe('onEndSignal', () => {
  it('calls back on the first signal, and ends the process on the second', async () => {
    const source = `
      import { onEndSignal } from ${JSON.stringify(new URL('./platform.ts', import.meta.url).href)}
      onEndSignal((signal) => process.stdout.write(signal + '\\n'))
      setTimeout(() => {}, 20_000)
      process.stdout.write('ready\\n')`
    const child = spawn(process.execPath, ['--input-type=module', '-e', source])
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
    let said = ''
    for await (const chunk of child.stdout) {
      said += chunk
      if (said.endsWith('ready\n') || said.endsWith('ready\nSIGTERM\n')) child.kill('SIGTERM')
    }
    expect({ said, code: await ended }).toEqual({ said: 'ready\nSIGTERM\n', code: 143 })
  })
})

describe('programEnvironment', () => {
  it('passes no key to a program that an agent starts', () => {
    expect(
      programEnvironment({ PATH: '/bin', OPENAI_API_KEY: 'x', THROUGHLINE_STORE: 'y' }),
    ).toEqual({ PATH: '/bin' })
  })
})
