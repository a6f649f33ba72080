import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { UsageError } from '../../../host/errors.ts'
import { findSabotages } from './sabotage.ts'

const HERE = new URL('./rehearse.ts', import.meta.url).href

describe('findSabotages', () => {
  it('finds the planted bugs of a clone by name', async () => {
    const sabotages = await findSabotages(HERE)
    const { name } = sabotages.list[0] ?? { name: '' }
    expect(sabotages.find(name)).toMatchObject({ name })
    expect(sabotages.environment(name)).toMatchObject({ AGENT_MUTANT: name })
    expect(() => sabotages.find('nothing-of-the-kind')).toThrow(/--sabotage list/)
  })

  it('is refused if the package has no tests or is built', async () => {
    const elsewhere = pathToFileURL('/nowhere/src/cli/rehearse.ts').href
    await expect(findSabotages(elsewhere)).rejects.toThrow(UsageError)
    await expect(findSabotages(HERE.replace(/ts$/, 'js'))).rejects.toThrow(/Clone the repository/)
  })
})
