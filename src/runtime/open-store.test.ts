import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openStore } from './open-store.ts'

it('a file that the system does not take is refused in words, not with a stack', async () => {
  const url = join(tmpdir(), 'a'.repeat(5_000))
  const opening = openStore({ url }, {}, tmpdir())
  await expect(opening).rejects.toMatchObject({
    ...{ code: 'store-refused', retryable: false },
    cause: { code: 'ENAMETOOLONG' },
  })
})
