import { expect, it } from 'vitest'
import { isOtherLanguage } from './language.ts'

const ENGLISH =
  'The server was moved to the new host, and the backup of that night is the one which we have. '.repeat(
    3,
  )
const GERMAN =
  'Bitte den Server auf dem neuen Rechner einrichten; das Backup ist nicht dabei, und es wird auch eine Kopie. '.repeat(
    3,
  )
const RUSSIAN = 'Пожалуйста, перенеси сервер на новую машину и проверь резервную копию.'
const JAPANESE =
  'サーバーを新しいホストに移してください。バックアップは昨夜のものです。設定はそのままにして、確認が終わったら教えてください。'

it('reports another language if both are clear', () => {
  const texts = { ENGLISH, GERMAN, RUSSIAN, JAPANESE }
  for (const [wrote, summary] of Object.entries(texts)) {
    for (const [asked, userText] of Object.entries(texts)) {
      expect(isOtherLanguage(summary, userText), `${wrote} for ${asked}`).toBe(wrote !== asked)
    }
  }
})

it('reports no other language if either text has only a few words', () => {
  expect(isOtherLanguage(ENGLISH, 'сервер?')).toBe(false)
  expect(isOtherLanguage('Done.', RUSSIAN)).toBe(false)
})

it('reports no other language if a tenth of the text is in the user’s script', () => {
  const userText = `${RUSSIAN.repeat(12)} ${GERMAN}`
  // A tenth in that script is enough, whichever other language is quoted.
  expect(isOtherLanguage(`${RUSSIAN} ${ENGLISH}`, userText)).toBe(false)
  expect(isOtherLanguage(`${RUSSIAN} ${ENGLISH.repeat(9)}`, userText)).toBe(true)
})

it.each([
  ['Greek', 'Παρακαλώ μετέφερε τον διακομιστή στο νέο μηχάνημα και έλεγξε το αντίγραφο ασφαλείας.'],
  ['Arabic', 'من فضلك انقل الخادم إلى الجهاز الجديد وتحقق من النسخة الاحتياطية لليلة الماضية.'],
  ['Hebrew', 'בבקשה העבר את השרת למחשב החדש ובדוק את הגיבוי של הלילה האחרון לפני שתמשיך.'],
  ['Hindi', 'कृपया सर्वर को नई मशीन पर ले जाएँ और पिछली रात का बैकअप जाँच लें, फिर मुझे बताएँ।'],
  ['Thai', 'กรุณาย้ายเซิร์ฟเวอร์ไปยังเครื่องใหม่และตรวจสอบข้อมูลสำรองของเมื่อคืนนี้ก่อนทำต่อ'],
  [
    'Korean',
    '서버를 새 컴퓨터로 옮기고 어젯밤 백업을 확인한 다음 설정은 그대로 두고 결과를 저에게 자세히 알려 주세요 부탁드립니다 감사합니다',
  ],
])('distinguishes %s from other scripts', (_, userText) => {
  expect(isOtherLanguage(ENGLISH, userText)).toBe(true)
  expect(isOtherLanguage(RUSSIAN.repeat(2), userText)).toBe(true)
  expect(isOtherLanguage(userText, userText)).toBe(false)
})

it('reads a language in twelve of its small words, three times those of another', () => {
  const english = (count: number) => 'the harbour '.repeat(count)
  const german = (count: number) => 'der Hafen '.repeat(count)
  expect(isOtherLanguage(english(12), german(12))).toBe(true)
  expect(isOtherLanguage(english(11), german(12))).toBe(false)
  expect(isOtherLanguage(english(12), german(11))).toBe(false)
  expect(isOtherLanguage(english(36) + german(12), german(12))).toBe(true)
  expect(isOtherLanguage(english(35) + german(12), german(12))).toBe(false)
})

it.each([
  ['de', 'der das und ist nicht mit'],
  ['fr', 'les est pas pour dans une'],
  ['es', 'el los las y del está'],
  ['pt', 'não os uma com um são'],
  ['it', 'il che di è sono gli'],
  ['nl', 'het een van niet dat op'],
  ['pl', 'się nie jest że na do'],
  ['sv', 'och att är inte det som'],
  ['tr', 've bir bu için ile olarak'],
])('knows %s from English by its small words', (_, words) => {
  const text = `${words} `.repeat(4)
  expect(isOtherLanguage('the and of that with this '.repeat(4), text)).toBe(true)
  expect(isOtherLanguage(text, text)).toBe(false)
})

it('looks at forty letters at least, at the end of a request and the beginning of a summary', () => {
  const russian = (letters: number) => 'ж'.repeat(letters)
  expect(isOtherLanguage('a'.repeat(40), russian(40))).toBe(true)
  expect(isOtherLanguage('a'.repeat(40), russian(39))).toBe(false)
  expect(isOtherLanguage('a'.repeat(39), russian(40))).toBe(false)
  expect(isOtherLanguage(`${'a'.repeat(90)}${russian(10)}`, russian(40))).toBe(false)
  expect(isOtherLanguage(`${'a'.repeat(91)}${russian(9)}`, russian(40))).toBe(true)
  expect(isOtherLanguage('a'.repeat(40), `${'a'.repeat(20_000)}${russian(19_000)}`)).toBe(true)
  expect(isOtherLanguage('a'.repeat(40), `${russian(20_000)}${'a'.repeat(20_000)}`)).toBe(false)
  // Half of the letters are no majority; of Latin ones nine tenths are needed.
  expect(isOtherLanguage('α'.repeat(40), `${'a'.repeat(20)}${russian(20)}`)).toBe(false)
  expect(isOtherLanguage('α'.repeat(40), `${'a'.repeat(20)}${russian(21)}`)).toBe(true)
  expect(isOtherLanguage('α'.repeat(40), `${'a'.repeat(90)}${russian(10)}`)).toBe(false)
  expect(isOtherLanguage('α'.repeat(40), `${'a'.repeat(91)}${russian(9)}`)).toBe(true)
})
