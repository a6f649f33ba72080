import assert from 'node:assert/strict'
import { entryNumber } from '../../../base/ids.ts'
import { openMemoryStore } from '../../memory/open.ts'
import { StoreFixture, said } from '../bench.ts'
import type { StoreCase } from '../case.ts'
import { find, searchFor } from './find.ts'

const FILLER = 'Nothing of note happened today and the office stayed quiet until the evening came. '

/** Of two texts in a language, the first is meant; the second has the exact forms of some words. */
const IN_LANGUAGES = [
  {
    texts: ['We bought three houses by the lakes.', 'The buyer left.'],
    question: 'buying a house at the lake',
  },
  {
    texts: ['Wir haben die Verträge mit den Häusern gekündigt.', 'Der Vertrag ist da.'],
    question: 'Welcher Vertrag war für das Haus und wer wird ihn kündigen?',
  },
  {
    texts: ['Nous avons réservé les billets pour les journaux.', 'Le billet est sur la table.'],
    question: 'Pour quel journal était la réservation du billet ?',
  },
  {
    texts: ['Las reuniones con los abogados ya comenzaron.', 'La reunión es para nosotros.'],
    question: '¿Cuándo comienza la reunión con el abogado?',
  },
  {
    texts: ['As crianças não apanharam os animais da varanda.', 'O animal está na gaiola.'],
    question: 'Qual animal a criança apanhou?',
  },
  {
    texts: ['Gli amici aprono gli alberghi della montagna.', 'Un amico è con noi in montagna.'],
    question: 'Quale amico apre un albergo?',
  },
  {
    texts: ['Мы заказали билеты на поезда до озера.', 'Поезд стоит у моста.'],
    question: 'На какой поезд был заказ билета?',
  },
]

/** Messages and questions of a few words, the same on every run. */
function conversation(messages: number): { texts: string[]; questions: string[] } {
  const words = ['red', 'green', 'blue', 'river', 'deploy', 'invoice', 'Lisbon', 'hotel', 'error']
  let seed = 7
  const pick = () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
    return words[Math.floor((seed / 2 ** 31) * words.length)] ?? ''
  }
  const sentence = (length: number) => Array.from({ length }, pick).join(' ')
  return {
    texts: Array.from({ length: messages }, (_, at) => {
      if (at % 9 === 4) return `${sentence(90)} rare${at}`
      return at % 9 === 7 ? sentence(20).replaceAll(' ', '_') : sentence(2 + (at % 7))
    }),
    questions: [
      ...['rare13 river', 'Lisbon hotel', 'red green blue', 'invoise', 'red_green', 'lisbon_Hotel'],
      ...words,
    ],
  }
}

/** The order of hits, which is the same on every engine. */
export const rankings: readonly StoreCase[] = [
  {
    name: 'search ranks as the store in memory does, whether entries are indexed yet or not',
    run: async ({ store }) => {
      const [here, reference] = [store, openMemoryStore()]
      const [fixture, other] = [await StoreFixture.open(here), await StoreFixture.open(reference)]
      const { texts, questions } = conversation(61)
      for (const [at, text] of texts.entries()) {
        for (const each of [fixture, other]) await each.exchange(text, texts[at + 1] ?? '')
        if (at % 20 !== 0) continue
        for (const text of questions) {
          const [found, wanted] = [
            await searchFor(here, fixture, { text }),
            await searchFor(reference, other, { text }),
          ]
          const shown = ({ hits }: typeof found) =>
            hits.map(({ entry, excerpt }) => [entry.number, excerpt])
          assert.deepEqual([found.total, shown(found)], [wanted.total, shown(wanted)], text)
        }
      }
    },
  },
  {
    name: 'matching neighbours raise an entry; a match in neighbours alone needs `near`',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.hear('We planned the trip to Lisbon.', 'The hotel was by the river.')
      for (let round = 0; round < 9; round++) await fixture.hear(FILLER.repeat(3))
      await fixture.hear('A hotel by some river burned down.', 'Sad.')
      const found = await find(store, fixture, 'Lisbon hotel river')
      assert.deepEqual([found[0], found.includes(12)], [2, true])
      assert.ok(!(await find(store, fixture, 'burned')).includes(13))
      assert.ok((await find(store, fixture, { text: 'burned', near: true })).includes(13))
    },
  },
  {
    name: "many entries with the question's common words do not hide the one with its rare word",
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      const letter = (parcel: number) => `The code word of parcel p1x${parcel} is elder.`
      await fixture.hear(`${letter(7)} ${FILLER.repeat(30)}`)
      for (let parcel = 20; parcel < 40; parcel++) await fixture.hear(letter(parcel))
      for (let asked = 37; asked < 40; asked++) {
        await fixture.exchange(`Question: what is the code word of parcel p1x${asked}?`, 'elder')
      }
      await fixture.exchange('Question: what is the code word of parcel p1x7?', 'I look it up.')
      for (const text of [
        'p1x7',
        'code word of parcel p1x7',
        'Question: what is the code word of parcel p1x7?',
        'code word that the office gave the parcel p1x7 in the evening',
      ]) {
        const found = await find(store, fixture, { text, near: true, limit: 2 })
        assert.ok(found.includes(1), `${text}: ${found}`)
      }
    },
  },
  {
    name: 'function words do not count beside others, and are found alone',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.hear('What did you do with it?', 'an orchid', 'Do what you can with that.')
      assert.deepEqual(await find(store, fixture, 'what did you do with the orchid'), [2])
      assert.deepEqual(await find(store, fixture, 'with what'), [1, 3].reverse())
    },
  },
  {
    name: 'a search finds irregular forms and corrects misspellings',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.hear('She went to the mountains', 'kubernetes was upgraded', 'other words')
      assert.deepEqual(await find(store, fixture, 'going'), [1])
      assert.deepEqual(await find(store, fixture, 'kuberntes'), [2])
    },
  },
  {
    name: 'words are found in other forms, each entry by the rules of its language',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      for (const { texts } of IN_LANGUAGES) await fixture.hear(...texts)
      for (const [at, { question }] of IN_LANGUAGES.entries()) {
        const [first] = await find(store, fixture, question)
        assert.equal(first, 2 * at + 1, `${question}: ${first}`)
      }
    },
  },
  {
    name: 'names are found by their parts and as a whole, phrases and paths as they are written',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.hear(
        'call compactMessages() in src/store/find.ts',
        'messages about a store that we find: TypeError: x is not a function',
        'a function that is not x',
      )
      assert.deepEqual(await find(store, fixture, 'compactMessages'), [1])
      assert.deepEqual(await find(store, fixture, 'compact'), [1])
      assert.deepEqual(await find(store, fixture, { text: 'src/store/find.ts', exact: true }), [1])
      assert.deepEqual(await find(store, fixture, { text: 'find', path: 'store/find.ts' }), [1])
      assert.deepEqual(await find(store, fixture, '"x is not a function"'), [2])
      assert.deepEqual(await find(store, fixture, '"not there" function'), [])
    },
  },
  {
    name: 'an exact search matches punctuation character by character',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.hear(
        'TypeError: Cannot read properties of undefined (reading "map")',
        'cannot read the properties, so reading maps is undefined for the TypeError',
        'at Object.<anonymous> (C:\\\\app\\\\main.js:10:5) exit code -1',
        'set MAX_RETRY_COUNT=5 in packages/core/src/store/find.ts',
        'the max count of a retry is 5, see find in core',
      )
      const exact = (text: string) => find(store, fixture, { text, exact: true })
      assert.deepEqual(await exact('undefined (reading "map")'), [1])
      assert.deepEqual(await exact('typeerror: cannot read'), [1])
      assert.deepEqual(await exact('Object.<anonymous> (C:'), [3])
      assert.deepEqual(await exact('main.js:10:5)'), [3])
      assert.deepEqual(await exact('MAX_RETRY_COUNT=5'), [4])
      assert.deepEqual(await exact('core/src/store'), [4])
      assert.deepEqual(await exact('store/core'), [])
      assert.deepEqual(await find(store, fixture, { text: 'find', path: 'store/find.ts' }), [4])
    },
  },
  {
    name: 'an identifier or path written as in the question ranks before its separate words',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      const amid = (text: string) => `${FILLER.repeat(9)}${text} ${FILLER.repeat(9)}`
      await fixture.hear(
        amid(
          'The default of MAX_RETRY_COUNT is in src/http/retry-policy.ts, readConfigFile reads it.',
        ),
        amid('max_retry_count and SRC/HTTP/Retry-Policy.ts were renamed; ReadConfigFile was not.'),
        amid(
          'Not MAX_RETRY_COUNT2: count. Not src/http/retry-policy.tsx: ts. readConfigFiles is new.',
        ),
      )
      for (let round = 0; round < 12; round++) {
        await fixture.hear('Count each retry up to the max.', 'The http retry policy: src and ts.')
      }
      for (const name of ['MAX_RETRY_COUNT', 'src/http/retry-policy.ts', 'readConfigFile']) {
        for (const text of [name, `\`${name}\`: default?`]) {
          for (const near of [false, true]) {
            const { hits } = await searchFor(store, fixture, { text, near })
            const first = hits.slice(0, 2).map(({ entry }) => entry.number)
            assert.deepEqual(first, [1, 2], `${text}: ${first}`)
            assert.ok(hits[0]?.excerpt.includes(name), `${text}: ${hits[0]?.excerpt}`)
          }
        }
      }
      // The others keep their order, on one page or on several.
      const apart = await find(store, fixture, 'max retry count')
      const whole = await find(store, fixture, 'MAX_RETRY_COUNT')
      const others = (numbers: readonly number[]) => numbers.filter((number) => number > 3)
      assert.deepEqual(others(whole), others(apart).slice(0, others(whole).length))
      const page = (skip: number) =>
        find(store, fixture, { text: 'MAX_RETRY_COUNT', limit: 2, skip })
      assert.deepEqual([await page(0), await page(2)].flat(), whole.slice(0, 4))
    },
  },
  {
    name: 'a hit shows the passage with the whole identifier, not one with its separate words',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      const apart = `${'Count the max of a retry. '.repeat(10)}\n`
      await fixture.hear(`${apart.repeat(3)}The default is MAX_RETRY_COUNT=5. ${FILLER}`)
      const { hits } = await searchFor(store, fixture, { text: 'MAX_RETRY_COUNT' })
      assert.match(hits[0]?.excerpt ?? '', /MAX_RETRY_COUNT=5/)
    },
  },
  {
    name: 'a hit shows the passage that matches best',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.hear(
        `${FILLER.repeat(20)} the needle is under the haystack ${FILLER.repeat(20)}`,
      )
      const { hits } = await searchFor(store, fixture, { text: 'needle haystack' })
      assert.match(hits[0]?.excerpt ?? '', /needle is under the haystack/)
      assert.ok((hits[0]?.excerpt.length ?? 0) <= 400)
    },
  },
  {
    name: "a hit shows both passages if an entry contains the question's words in two places",
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      const fact = 'The code word of parcel p3x72 is elder.'
      const order = 'use hand_over {"parcel":"p3x72"}'
      await fixture.hear(`${fact} ${FILLER.repeat(20)}\n${order}`, FILLER)
      const excerptFor = async (text: string) => {
        const { hits } = await searchFor(store, fixture, { text, near: true })
        return hits.find(({ entry }) => entry.number === 1)?.excerpt ?? ''
      }
      for (const text of ['p3x72', 'parcel p3x72', 'what about p3x72 tomorrow']) {
        const excerpt = await excerptFor(text)
        assert.ok(excerpt.startsWith(fact) && excerpt.endsWith(order), `${text}: ${excerpt}`)
        assert.equal(excerpt.split(' … ').length, 2)
        assert.ok(excerpt.length <= 610)
      }
      // One passage contains more of these words than the other.
      const alone = await excerptFor('code word parcel p3x72')
      assert.ok(alone.startsWith(fact) && !alone.includes(order), alone)
    },
  },
  {
    name: 'pages of hits follow each other, and the answer says how many match',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.hear('same one', 'same two', 'same three', 'other')
      const whole = await find(store, fixture, 'same')
      const pages = [0, 2].map((skip) =>
        searchFor(store, fixture, { text: 'same', limit: 2, skip }),
      )
      const [first, second] = await Promise.all(pages)
      const numbers = [first, second].flatMap((page) => page?.hits.map(({ entry }) => entry.number))
      assert.deepEqual([numbers, first?.total, second?.total], [whole, 3, 3])
      const before = (await fixture.row()).tail
      assert.deepEqual((await find(store, fixture, { text: 'same', before })).length, 3)
      assert.deepEqual(
        await find(store, fixture, { text: 'same', before: whole[0] as never }),
        whole.slice(1),
      )
    },
  },
  {
    name: 'a search can be limited to a speaker and to a period',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.exchange('orchid', 'an orchid, noted')
      assert.deepEqual(await find(store, fixture, { text: 'orchid', speaker: 'person' }), [1])
      assert.deepEqual(await find(store, fixture, { text: 'orchid', speaker: 'agent' }), [2])
      const told = await fixture.admit(said('an orchid blooms'), { lane: 'notification' })
      const [number] = await fixture.deliver(told)
      assert.deepEqual(await find(store, fixture, { text: 'orchid', speaker: 'person' }), [1])
      const notices = { text: 'orchid', speaker: 'notification' } as const
      assert.deepEqual(await find(store, fixture, notices), [number])
      await fixture.reply('Noted.', { ends: 'answered' })
      const tomorrow = Date.now() + 86_400_000
      assert.deepEqual(await find(store, fixture, { text: 'orchid', since: tomorrow }), [])
      assert.equal((await find(store, fixture, { text: 'orchid', until: tomorrow })).length, 3)
    },
  },
  {
    name: 'several sessions are ranked together, and no other is searched [I21]',
    run: async ({ store }) => {
      const [one, two, hidden] = [
        await StoreFixture.open(store),
        await StoreFixture.open(store),
        await StoreFixture.open(store),
      ]
      await one.hear('red', 'blue')
      await two.hear('red green')
      await hidden.hear('red green blue')
      const before = entryNumber(1)
      const earlier = await searchFor(store, one, {
        sessionId: [one.id, two.id],
        text: 'red',
        before,
      })
      assert.deepEqual(
        earlier.hits.map((hit) => hit.sessionId),
        [two.id],
      )
      const sessionId = [one.id, two.id]
      const { hits, total } = await searchFor(store, one, { sessionId, text: 'red green' })
      const shown = hits.map((hit) => [hit.sessionId, hit.entry.number])
      assert.deepEqual(
        [shown, total],
        [
          [
            [two.id, 1],
            [one.id, 1],
          ],
          2,
        ],
      )
    },
  },
]
