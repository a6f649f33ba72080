import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { wordsIn } from '../words.ts'
import { LANGUAGES, languageOf } from './languages.ts'

/** Forms of one word in each line: they must have one root. */
const FORMS = {
  en: ['deploy deployed deploys deploying', 'go went goes going', 'index indices indexes'],
  de: [
    'Haus Hauses Häuser Häusern',
    'kündigen kündige kündigt gekündigt Kündigung Kündigungen',
    'Straße Strassen Straßen',
    'schreiben schrieb geschrieben',
    'Server Servers',
    'neu neue neuer neues neuen',
  ],
  fr: [
    'journal journaux',
    'réserver réservé réservée réservons réservait réservation réservations',
    'nouveau nouvelle nouveaux nouvelles',
    'sœur soeurs',
    'vendre vends vendent vendu vendait',
    'modifier modifié modification',
    'client cliente clients',
  ],
  es: [
    'reunión reuniones',
    'probar pruebo prueban probó probado',
    'empezar empezó empecé empiezan',
    'pagar pagó pagué pagamos pagaron',
    'nuez nueces',
    'servidor servidores',
    'hacer hizo hecho hacemos',
  ],
  pt: [
    'reunião reuniões',
    'jornal jornais',
    'viagem viagens',
    'ficar fiquei ficou ficaram',
    'começar começo começou começavam',
    'luz luzes',
    'pão pães',
  ],
  it: [
    'amico amici amiche',
    'banca banche',
    'prenotare prenotato prenotò prenotano prenotazione prenotazioni',
    'finire finisco finiscono finito',
    'foglio fogli',
    'server',
  ],
  ru: [
    'билет билета билетов билетами',
    'новый новая новые нового новых',
    'заказ заказать заказал заказали',
    'обновление обновления обновлением',
    'компания компании компанию компаний',
    'deploy deployed',
  ],
}

const named = (name: string) => LANGUAGES.find((each) => each.name === name)

describe.each(Object.entries(FORMS))('%s', (name, lines) => {
  it.each(lines)('has one root for %s', (line) => {
    const roots = wordsIn(line).map((word) => named(name)?.stem(word.toLowerCase()))
    expect(new Set(roots).size, roots.join(' ')).toBe(1)
  })

  it('leaves words of digits, signs and other scripts alone', () => {
    for (const word of ['v2', '42', 'p1x7', '設計', 'naïve2', 'ss', 'es']) {
      expect(named(name)?.stem(word)).toBe(word)
    }
  })

  it('reduces every word to the beginning of one, and never to nothing', () => {
    const letters = fc.constantFrom(...'abcdegilmnoprstuvzабеийклмностьюя')
    fc.assert(
      fc.property(fc.string({ unit: letters, minLength: 1, maxLength: 64 }), (word) => {
        const root = named(name)?.stem(word) ?? ''
        expect(root.length).toBeGreaterThan(0)
        // The shortest irregular forms have two letters: "pu" is found by "pouvoir".
        expect(root.length).toBeLessThanOrEqual(Math.max(3, word.length) + 1)
      }),
    )
  })
})

describe('languageOf', () => {
  const languageIn = (text: string, spoken: string[] = []) =>
    languageOf(text, wordsIn(text), new Set(spoken)).name

  it.each([
    ['en', 'The server was restarted, and it works again.'],
    ['de', 'Der Server wurde neu gestartet und läuft wieder.'],
    ['fr', 'Le serveur a été redémarré et il fonctionne de nouveau.'],
    ['es', 'El servidor se ha reiniciado y ya funciona otra vez.'],
    ['pt', 'O servidor foi reiniciado e já funciona outra vez.'],
    ['it', 'Il server è stato riavviato e ora funziona di nuovo.'],
    ['ru', 'Сервер перезапущен, теперь работает.'],
  ])('recognizes %s', (name, text) => {
    expect(languageIn(text)).toBe(name)
  })

  it.each([
    '',
    'kubernetes',
    'const el = document.querySelector("#la"); for (const e of es) el.append(e)',
    'ok github.com/go-git/go-git/v5 (cached)\n'.repeat(50),
    'https://example.com/docs/api/v2',
    'Zoë paid for the café in São Paulo with the card that she has from her bank',
    '設計のレビュー',
  ])('takes for English what is inconclusive: %s', (text) => {
    expect(languageIn(text)).toBe('en')
  })

  it('takes the one that is spoken, if several have the same signs', () => {
    expect(languageIn('quando e quanto?', ['it'])).toBe('it')
    expect(languageIn('quando e quanto?', ['pt'])).toBe('pt')
  })
})
