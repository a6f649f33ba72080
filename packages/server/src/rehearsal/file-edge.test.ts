import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { FileEdge } from './file-edge.ts'
import { readLines } from './kept.ts'

const folder = mkdtempSync(join(tmpdir(), 'throughline-edge-'))
afterAll(() => rmSync(folder, { recursive: true }))

it('writes one line per reply that it sends, and none while it is closed', async () => {
  const edge = new FileEdge(folder)
  const send = (number: number) =>
    edge.send({ sessionId: 's', number, attempt: 2, claimant: 'c', text: 'Hello.' } as never)
  expect(edge.name).toBe('file')
  expect(await send(1)).toEqual({ kind: 'sent', receipt: '1' })
  edge.open(false)
  const waiting = send(2)
  await Promise.resolve()
  expect(readLines(join(folder, 'sent'))).toEqual(['s 1 2 c'])
  edge.open(true)
  expect(await waiting).toEqual({ kind: 'sent', receipt: '2' })
  expect(readLines(join(folder, 'sent'))).toEqual(['s 1 2 c', 's 2 2 c'])
})
