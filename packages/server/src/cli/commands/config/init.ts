import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { cancel, intro, isCancel, outro, select, text } from '@clack/prompts'
import { createFile, replaceFile } from '#core/base/files/write'
import { AGENT_NAME } from '../../../host/config/schema/agent.ts'
import { UsageError } from '../../../host/errors.ts'
import { EXIT } from '../../exit.ts'
import { commandForm, programLocation } from '../../hint.ts'
import { cannotWrite } from '../../terminal/output.ts'
import { printNotice } from '../../terminal/stderr.ts'
import { findChoices, type ModelChoice } from './choices.ts'
import { schemaText } from './schema-text.ts'
import { configTemplate, type InitAnswers } from './template.ts'

/** `throughline config init`. Writes two files: the configuration, and beside it its schema. */
export interface InitFlags {
  readonly yes?: true
  readonly force?: true
  readonly output: string
}

const SCHEMA = '.throughline/config.schema.json'
const STORE = '.throughline/throughline.db'

export async function runInit({ yes, force, output }: InitFlags): Promise<number> {
  if (!force && existsSync(output)) {
    throw new UsageError(`${output} already exists; --force replaces it.`)
  }
  if (!yes && !(process.stdin.isTTY && process.stdout.isTTY)) {
    throw new UsageError('There is no terminal for questions; --yes uses the first model found.')
  }
  const choices = await findChoices(process.env)
  const [best] = choices
  const answers = yes ? { agent: 'main', choice: best, store: STORE } : await ask(choices)
  if (answers === undefined) return EXIT.failed
  write(output, configTemplate({ ...answers, schema: `./${SCHEMA}` }), force === true)
  writeSchema(join(dirname(output), SCHEMA))
  const { choice } = answers
  const program = commandForm(programLocation())
  const what = choice.model === undefined ? '' : `, model ${choice.model}`
  const say = yes ? printNotice : outro
  say(`Wrote ${output}: ${choice.label} (${choice.hint})${what}.`)
  printNotice(`Try next:\n  ${program} config check\n  ${program} serve`)
  return EXIT.done
}

async function ask(
  choices: readonly ModelChoice[],
): Promise<Omit<InitAnswers, 'schema'> | undefined> {
  intro('A first throughline.yaml')
  const at = await select({
    message: 'Which model answers?',
    options: choices.map(({ label, hint }, value) => ({ value, label, hint })),
  })
  const choice = isCancel(at) ? undefined : choices[at]
  if (choice === undefined) return calledOff()
  const named =
    choice.model === undefined
      ? undefined
      : await text({ message: 'Its name at the provider?', initialValue: choice.model })
  if (isCancel(named)) return calledOff()
  const agent = await text({
    message: 'What is your agent’s name?',
    initialValue: 'main',
    validate: (name = '') =>
      AGENT_NAME.test(name) ? undefined : 'Letters, digits, _ and -; a letter or digit first.',
  })
  if (isCancel(agent)) return calledOff()
  const store = await text({
    message: 'Where are sessions kept? (a path, or postgres://user@host/database)',
    initialValue: STORE,
    validate: (path = '') =>
      URL.parse(path)?.password ? 'Without the password; see the guide.' : undefined,
  })
  if (isCancel(store)) return calledOff()
  const model = named?.trim()
  return { agent, store: store.trim() || STORE, choice: model ? { ...choice, model } : choice }
}

function calledOff(): undefined {
  cancel('Nothing was written.')
}

/** Written atomically, and never over a file that appeared meanwhile. */
function write(path: string, content: string, mayReplace: boolean): void {
  try {
    if (mayReplace) replaceFile(path, content)
    else createFile(path, content)
  } catch (error) {
    throw cannotWrite(path, error)
  }
}

/** Only editors read it; everything else works without it. */
function writeSchema(path: string): void {
  try {
    replaceFile(path, schemaText())
  } catch (error) {
    printNotice(`The schema for editors was not written: ${(error as Error).message}`)
  }
}
