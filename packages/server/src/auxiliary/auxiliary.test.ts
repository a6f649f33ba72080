import { describe, expect, it } from 'vitest'
import { HERE, scriptedTasks } from '../../../../test/model/scripted-tasks.ts'
import { image, user } from '../../../../test/support/builders.ts'
import { Routes, routesSchema } from '../model/routes/routes.ts'
import { NOTHING_SPENT } from './attempts.ts'
import { Auxiliary } from './auxiliary.ts'

const route = (model: string, more: object = {}) => ({
  ...{ provider: 'openai-chat', baseUrl: 'http://127.0.0.1:1/v1', model, ...more },
})
const options = { sessionId: HERE, signal: new AbortController().signal }

/** The agent's tasks, with the model, the effort and the purpose of each call. */
function agent(config: object, text = '- Oak.') {
  const { tasks, clock, asked } = scriptedTasks([{ text }])
  const routes = new Routes(routesSchema.parse(config))
  return {
    auxiliary: new Auxiliary({ tasks, routes, clock }),
    asked,
    calls: () => asked.map(({ route, purpose }) => [purpose, route.model, route.effort]),
  }
}

describe('the tasks of an agent', () => {
  it.each([
    [undefined, undefined],
    ['none', 'none'],
    ['minimal', 'minimal'],
    ['low', 'low'],
    ['medium', 'low'],
    ['max', 'low'],
  ])('on its main route, of effort %s, are asked for with %s', async (effort, expected) => {
    const { auxiliary, calls } = agent({ main: route('main', { effort }) })
    await auxiliary.writeTitle([user('Plan.')], options)
    expect(calls()).toEqual([['title', 'main', expected]])
  })

  it('keep the effort of a route of their own', async () => {
    const memory = route('small', { effort: 'high' })
    const { auxiliary, calls, asked } = agent({ main: route('main'), auxiliary: { memory } })
    await auxiliary.writeNotes([user('Plan.')], { ...options, known: 'Likes oak.' })
    expect(calls()).toEqual([['memory', 'small', 'high']])
    expect(JSON.stringify(asked[0]?.request)).toContain('===== noted already\\nLikes oak.')
  })

  it('quote no notes if there are none', async () => {
    const { auxiliary, asked } = agent({ main: route('main') })
    expect(await auxiliary.writeNotes([user('Plan.')], options)).toMatchObject({ value: ['Oak.'] })
    expect(JSON.stringify(asked[0]?.request)).not.toContain('===== noted already')
  })

  it('show an image to the first route that sees images, or to none', async () => {
    const blind = route('blind', { images: false })
    const seeing = agent({
      main: blind,
      fallbacks: [route('seer', { images: true, effort: 'max' })],
    })
    expect(await seeing.auxiliary.describeImage(image, options)).toMatchObject({ kind: 'written' })
    expect(seeing.calls()).toEqual([['vision', 'seer', 'low']])
    const own = agent({ main: blind, auxiliary: { vision: route('eye', { images: true }) } })
    await own.auxiliary.describeImage(image, options)
    expect(own.calls()).toEqual([['vision', 'eye', undefined]])
    const none = agent({ main: blind })
    expect(await none.auxiliary.describeImage(image, options)).toEqual({
      ...{ kind: 'failed', reason: 'no-route-sees-images', spend: NOTHING_SPENT },
    })
    expect(none.calls()).toEqual([])
  })
})
