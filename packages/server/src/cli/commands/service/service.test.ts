import { expect, it } from 'vitest'
import { screens } from '../../../../../../test/terminal/screens.ts'
import { programLocation } from '../../hint.ts'

const { screen } = screens()

it.each([
  'service print systemd',
  'service print launchd -- --port 8800',
  'service print nssm',
  'service print cron',
  'service print',
])('prints the whole screen of %s', async (line) => {
  const { packageFolder, workingFolder } = programLocation()
  const facts = { NODE: process.execPath, PACKAGE: packageFolder, HERE: workingFolder }
  const text = await screen(line)
  const told = Object.entries(facts).reduce((all, [name, fact]) => all.replaceAll(fact, name), text)
  expect(told).toMatchSnapshot()
})
