import { it } from 'vitest'
import { crossTogether, TEST_MS_MAX } from './scenario.ts'

it(
  '9 agents, each a process, cross the threshold within 60 seconds [D9, D10, S22]',
  { timeout: TEST_MS_MAX },
  ({ onTestFinished }) => crossTogether(9, onTestFinished),
)
