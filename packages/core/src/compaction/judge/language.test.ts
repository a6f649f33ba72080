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
