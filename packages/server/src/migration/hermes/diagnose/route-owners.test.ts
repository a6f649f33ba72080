import { expect, it } from 'vitest'
import { RouteOwners } from './route-owners.ts'
import type { HermesRoute } from './routes.ts'

const PLACES = ['default', 'ada', 'nova'].map((name) => ({
  ...{ name, folder: null, store: `${name}/state.db`, logs: [], routingFile: null },
}))

const route = (owner: string): HermesRoute => ({
  ...{ key: `agent:${owner}:telegram:dm:1`, sessionId: `of ${owner}`, from: 'x', entry: {} },
})

it('every route is listed once, by its owner or by the profile that keeps it, wherever the gateway was started', () => {
  for (const kept of PLACES) {
    const owners = new RouteOwners(PLACES)
    const all = ['main', 'ada', 'nova', 'nobody'].map(route)
    const told = PLACES.flatMap((place) =>
      owners.of(place, place === kept ? all : [], () => false).map(({ key }) => key),
    )
    expect(told.toSorted()).toEqual(all.map(({ key }) => key).toSorted())
  }
})

it('a route goes to the profile that its key names, and `main` is the home itself', () => {
  const profiles = ['default', 'main', 'ada'].map((name) => ({
    ...{ name, folder: null, store: `${name}/state.db`, logs: [], routingFile: null },
  }))
  const owners = new RouteOwners(profiles)
  const all = ['main', 'main~', 'ada'].map(route)
  const told = profiles.map((place) =>
    owners.of(place, place.name === 'default' ? all : [], () => false).map(({ key }) => key),
  )
  expect(told).toEqual([
    ['agent:main:telegram:dm:1'],
    ['agent:main~:telegram:dm:1'],
    ['agent:ada:telegram:dm:1'],
  ])
})
