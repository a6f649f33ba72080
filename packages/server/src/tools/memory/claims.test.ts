import { describe, expect, it } from 'vitest'
import { findClaim, mentions } from './claims.ts'

/** Notes that deny something the agent was told or did, each with an entry that refutes it. */
const CLAIMS: Readonly<Record<string, readonly (readonly [note: string, entry: string])[]>> = {
  English: [
    ['I have no record of the Lisbon deploy', 'The deploy to Lisbon failed'],
    ["I don't remember the Lisbon deploy", 'The deploy to Lisbon failed'],
    ['I was never told about the Lisbon deploy', 'The deploy to Lisbon failed'],
    ['The Lisbon deploy is not in my records', 'The deploy to Lisbon failed'],
    ['Not aware of any Lisbon deploy', 'The deploy to Lisbon failed'],
    ['I never received the sign-off from Tony.', 'Tony: here is my sign-off'],
    ['Another parallel session of myself made the git commits.', 'I made three git commits'],
    ["I have been idle since Natasha's result.", 'Natasha: [RESULT] all green'],
    ['No reply from Natasha was received.', 'Natasha: [RESULT] all green'],
    ["I haven't seen any invoice from Acme", 'Invoice 4711 from Acme attached'],
    ['Nobody ever told me about the migration window', 'The migration window is Sunday'],
    ['The user did not tell me the staging address', 'The staging address is 10.0.0.7'],
    ['The budget for Q3 was never discussed.', 'The budget for Q3 is 4,000'],
    ["Tony's sign-off never reached me.", 'Tony: here is my sign-off'],
    ['We did not get the contract draft', 'The contract draft is attached'],
    ['I cannot recall the rollback plan.', 'Rollback plan: restore the snapshot'],
    ["It wasn't me who renamed the bucket", 'I renamed the bucket'],
    ['A different instance of me sent the newsletter', 'The newsletter is sent'],
    ['My memory has no trace of the Lisbon deploy', 'The deploy to Lisbon failed'],
    ['Status: idle, nothing pending from Natasha', 'Natasha: please check the result'],
    ['I lost all memory of the Oslo meeting', 'The Oslo meeting is on Friday'],
    ['No approval from Ada has reached me.', 'Ada: you have my approval'],
    ['The approval from Ada did not arrive in this conversation.', 'Ada: you have my approval'],
    ['A duplicate instance of me sent the newsletter', 'The newsletter is sent'],
    ['There is no mention of the Oslo meeting', 'The Oslo meeting is on Friday'],
  ],
  German: [
    [
      'Ich habe keine Aufzeichnung über das Deployment in Lissabon.',
      'Das Deployment in Lissabon schlug fehl',
    ],
    [
      'Ich erinnere mich nicht an das Deployment in Lissabon',
      'Das Deployment in Lissabon schlug fehl',
    ],
    ['Ich habe die Freigabe von Tony nie erhalten.', 'Tony: hier ist die Freigabe'],
    ['Mir wurde das Wartungsfenster nie mitgeteilt', 'Das Wartungsfenster ist am Sonntag'],
    ['Niemand hat mir vom Wartungsfenster erzählt', 'Das Wartungsfenster ist am Sonntag'],
    ['Das Budget wurde nie besprochen', 'Das Budget beträgt 4000'],
    ['Eine andere Instanz von mir hat die Commits gemacht', 'Ich habe drei Commits gemacht'],
    ['Ich war untätig, keine Nachricht von Natascha bekommen', 'Natascha: bitte prüfen'],
    ['Ich weiß nichts von einer Rechnung der Firma Acme', 'Rechnung 4711 der Firma Acme'],
  ],
  French: [
    ["Je n'ai jamais reçu la validation de Tony", 'Tony : voici la validation'],
    ["Je n'ai aucune trace du déploiement à Lisbonne", 'Le déploiement à Lisbonne a échoué'],
    ['Je ne me souviens pas du déploiement à Lisbonne', 'Le déploiement à Lisbonne a échoué'],
    ["On ne m'a jamais parlé de la migration", 'La migration est prévue dimanche'],
    ["Le budget n'a jamais été discuté", 'Le budget est de 4000'],
    ['Une autre session parallèle de moi-même a poussé les commits', "J'ai poussé les commits"],
    ['Aucun message de Natasha', 'Natasha : le résultat est vert'],
  ],
  Spanish: [
    ['Nunca recibí la aprobación de Tony', 'Tony: aquí está la aprobación'],
    ['No tengo registro del despliegue en Lisboa', 'El despliegue en Lisboa falló'],
    ['No recuerdo el despliegue en Lisboa', 'El despliegue en Lisboa falló'],
    ['Nadie me informó de la migración', 'La migración es el domingo'],
    ['No he visto la factura de Acme', 'Adjunto la factura de Acme'],
    ['Otra sesión paralela de mí mismo hizo los commits', 'El agente hizo los commits'],
  ],
  Portuguese: [
    ['Nunca recebi a aprovação do Tony', 'Tony: aqui está a aprovação'],
    ['Não tenho registro da implantação em Lisboa', 'A implantação em Lisboa falhou'],
    ['Não me lembro da implantação em Lisboa', 'A implantação em Lisboa falhou'],
    ['Ninguém me avisou da migração', 'A migração é no domingo'],
  ],
  Italian: [
    ["Non ho mai ricevuto l'approvazione di Tony", "Tony: ecco l'approvazione"],
    ['Non ho alcuna traccia del rilascio a Lisbona', 'Il rilascio a Lisbona è fallito'],
    ['Non mi ricordo del rilascio a Lisbona', 'Il rilascio a Lisbona è fallito'],
    ['Nessuno mi ha informato della migrazione', 'La migrazione è domenica'],
  ],
  Dutch: [
    ['Ik heb de goedkeuring van Tony nooit ontvangen', 'Tony: hier is de goedkeuring'],
    ['Ik heb geen herinnering aan de uitrol in Lissabon', 'De uitrol in Lissabon mislukte'],
    ['Niemand heeft mij de migratie gemeld', 'De migratie is gemeld'],
  ],
  Russian: [
    ['Я не получал подтверждение от Тони', 'Тони: вот подтверждение'],
    [
      'У меня нет записей о развёртывании в Лиссабоне',
      'развёртывании в Лиссабоне произошла ошибка',
    ],
    ['Я не помню развёртывание в Лиссабоне', 'развёртывание в Лиссабоне упало'],
    ['Мне никто не сообщал про миграцию', 'миграцию назначили на воскресенье'],
  ],
  Chinese: [
    ['我没有收到里斯本部署', '里斯本部署失败了'],
    ['我不记得里斯本部署', '里斯本部署失败了'],
    ['没有关于里斯本部署的记录', '里斯本部署失败了'],
  ],
  Japanese: [
    ['リスボン展開の記録がありません', 'リスボン展開は失敗しました'],
    ['私はリスボン展開を覚えていません', 'リスボン展開は失敗しました'],
  ],
}

/** Claims that match no phrase of the list. */
const OTHER_CLAIMS: readonly string[] = [
  'Sign-off from Tony: never got it',
  'I do not have the transcript of our talk about pricing',
  "We've not been sent the keys for the vault",
  'I am not aware that the user asked for a refund',
  'I see no message from Natasha in this session',
  'It seems some other instance of myself answered Natasha',
  'I had no idea about the outage',
  'I was not present when the schema was decided',
  'My history does not contain the refund request',
  "I can't find any trace of the refund request",
  'Von der Rückerstattung ist mir nichts bekannt',
  'Über die Rückerstattung liegt mir keine Information vor',
  'Ich kann mich an das Gespräch über Preise nicht erinnern',
  'Eine Antwort von Natascha ist nie bei mir angekommen',
  "Je n'étais pas au courant de la panne",
  "Je n'ai pas connaissance de la panne",
  'No me consta la devolución',
  'No estaba al tanto de la devolución',
  'Não fui informado da devolução',
  'Non ero al corrente del rimborso',
  'Ik wist niets van de terugbetaling',
  'Мне неизвестно о возврате',
  'Я ничего не знаю о возврате',
  '我对退款没有印象',
  '我从未被告知退款',
  '返金について聞いたことがありません',
  '환불에 대한 기록이 없습니다',
]

/** Notes that deny something about others, the world, or future work. */
const FACTS: readonly string[] = [
  'The Lisbon deploy failed',
  'Remember to call',
  'No records were lost in Lisbon',
  'The user does not like tea',
  'The customer never received the parcel',
  'Acme did not get the invoice',
  'The user does not remember his PIN',
  'Never push to main without asking',
  'I never delete files without asking',
  'Do not deploy on Fridays',
  'User has no knowledge of Rust',
  'She was not told about the surprise party',
  'The printer is idle after five minutes',
  'Close idle connections after 30 s',
  'The user was never married',
  'There is no evidence of a leak in the pipe',
  'No pets are allowed in the flat',
  'He does not eat meat',
  'The API has no rate limit',
  'The build does not need Docker',
  'Tests must not use the network',
  'The user never drinks coffee after noon',
  'Anna did not reply to Bob',
  'The server did not receive the webhook',
  'No reply is needed for newsletters',
  'The tenant was not informed of the rent rise',
  'Another session of the conference starts at nine',
  'A second copy of the contract is in the safe',
  'The user wants no messages after 20:00',
  'The parser cannot read CSV',
  'Prefers not to be asked twice',
  'The user is not aware of the new law',
  'The cache does not remember failed lookups',
  'Nothing is cheaper than the night train',
  'Not every note needs a date',
  'The database has no table for invoices',
  'No traces of nuts in the cake: allergic',
  'Der Kunde hat das Paket nie erhalten',
  'Der Nutzer mag keinen Tee',
  'Niemals freitags deployen',
  'Der Mieter wurde nicht informiert',
  'Er erinnert sich nicht gern an die Schule',
  'Keine Haustiere in der Wohnung',
  'Das Programm braucht kein Docker',
  "Le client n'a jamais reçu le colis",
  "L'utilisateur n'aime pas le thé",
  'Ne jamais déployer le vendredi',
  'Pas de réunion le lundi',
  "Le locataire n'a pas été informé",
  'El cliente no ha recibido el paquete',
  'Al usuario no le gusta el té',
  'No desplegar los viernes',
  'Ella nunca come carne',
  'O cliente não recebeu o pacote',
  'O usuário não gosta de chá',
  'Nunca implantar na sexta',
  'Il cliente non ha ricevuto il pacco',
  "All'utente non piace il tè",
  'Mai rilasciare di venerdì',
  'De klant heeft het pakket nooit ontvangen',
  'De gebruiker houdt niet van thee',
  'Клиент не получил посылку',
  'Пользователь не любит чай',
  'Не развёртывать по пятницам',
  '客户没有收到包裹',
  '用户不喜欢茶',
  '周五不要部署',
  '顧客は荷物を受け取っていません',
  '金曜日には展開しない',
  'The user has not decided on a colour',
  'Refunds are not possible after 14 days',
  'The client has never been to Oslo',
  'User dislikes being told what to do',
  'No meetings before ten, please',
  'The team did not agree on the schema',
  'Emails without a subject are ignored',
  'I should not answer in German',
  'I must never share the vault keys',
  'My user did not sleep well',
  'Our tests do not cover the parser',
  'We do not ship on Fridays',
  'I am not allowed to book flights',
  'The user asked me not to send reminders',
  'The user never told his boss about the plan',
  'Der Nutzer weiß nichts von der Überraschung',
  'Wir haben keine Garage',
  'Ich soll nicht auf Deutsch antworten',
  'Je ne dois pas répondre en anglais',
  "Nous n'avons pas de garage",
  'No debo responder en inglés',
  'No tenemos garaje',
  'Não devo responder em inglês',
  'Non devo rispondere in inglese',
  'Ik mag niet in het Engels antwoorden',
  'Я не должен отвечать по-английски',
  '我不应该用英语回答',
  '英語で答えないこと',
  '고객은 소포를 받지 못했습니다',
  'The user has no memory card in his camera',
]

describe('a claim of missing memory [S30]', () => {
  const cases = Object.entries(CLAIMS).flatMap(([language, notes]) =>
    notes.map(([note, entry]) => [language, note, entry] as const),
  )

  it('is recognized in ten languages, and finds the entry that refutes it [S30]', () => {
    const missed = cases.filter(([, note, entry]) => !mentions(findClaim(note)?.words ?? [], entry))
    expect(missed.map(([, note]) => [note, findClaim(note)?.words])).toEqual([])
    expect(cases.length).toBeGreaterThanOrEqual(60)
  })

  it('is recognized by a denial and a word of memory or receipt in one clause [S30]', () => {
    expect(OTHER_CLAIMS.filter((note) => findClaim(note) === null)).toEqual([])
  })

  it('is not seen in a note that denies something else [S30]', () => {
    expect(FACTS.filter((note) => findClaim(note) !== null)).toEqual([])
    expect(FACTS.length).toBeGreaterThanOrEqual(60)
  })

  it('is not refuted by an entry about something else [S30]', () => {
    const words = findClaim('I have no record of the Lisbon deploy')?.words ?? []
    expect(mentions(words, 'Lisbon is a city')).toBe(false)
  })

  it('takes linear time for any note [S30]', () => {
    for (const piece of ['no ', 'habe nie ', 'mir nicht ', '没有', 'ich ', 'never told ', ', ']) {
      const text = piece.repeat(2_000)
      const started = process.threadCpuUsage()
      findClaim(text)
      const { user } = process.threadCpuUsage(started)
      expect(user / 1_000).toBeLessThan(500)
    }
  })
})
