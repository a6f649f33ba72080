import { irregularForms, isLatin, wordSet } from './endings.ts'
import type { Language } from './language.ts'

const functionWords = wordSet(`
aber alle allem allen aller alles als also am an auch auf aus bei beim bin bis bist da damit dann
das dass dein deine dem den denn der des dich die dir doch dort du durch ein eine einem einen
einer eines er es etwas euch fur gab habe haben hat hatte hatten hier hin ich ihm ihn ihnen ihr
ihre ihrem ihren ihrer im in ins ist ja jede jedem jeden jeder jedes jetzt kann kein keine keinen
man mein meine meinem meinen meiner meines mich mir mit nach nicht noch nun nur ob oder ohne
schon sehr sein seine seinem seinen seiner sich sie sind so soll sollen sollte uber um und uns
unser unsere unserem unseren vom von vor wann war waren warum was weil welche welchem welchen
welcher welches wenn wer werde werden wie wieder will wir wird wo wohin wollen wollte wollten
wurde wurden zu zum zur
`)

const irregular = irregularForms(`
beginnen begann begonnen, bieten bot geboten, bleiben blieb geblieben, brechen bricht brach
gebrochen, brennen brannte gebrannt, bringen brachte gebracht, denken dachte gedacht, essen isst ass
gegessen, fahren fahrt fuhr gefahren, fallen fallt fiel gefallen, finden fand gefunden, fliegen flog
geflogen, geben gibt gab gegeben, gehen ging gegangen, gewinnen gewann gewonnen, halten halt hielt
gehalten, heissen hiess geheissen, helfen hilft half geholfen, kennen kannte gekannt, kommen kam
gekommen, laden ladt lud geladen, lassen lasst liess gelassen, laufen lauft lief gelaufen, lesen
liest las gelesen, liegen lag gelegen, nehmen nimmt nahm genommen, nennen nannte genannt, rufen rief
gerufen, schlafen schlaft schlief geschlafen, schlagen schlagt schlug geschlagen, schliessen
schloss geschlossen, schneiden schnitt geschnitten, schreiben schrieb geschrieben, schwimmen
schwamm geschwommen, sehen sieht sah gesehen, singen sang gesungen, sitzen sass gesessen, sprechen
spricht sprach gesprochen, stehen stand gestanden, steigen stieg gestiegen, sterben stirbt starb
gestorben, tragen tragt trug getragen, treffen trifft traf getroffen, treten tritt trat getreten,
trinken trank getrunken, tun tat getan, vergessen vergisst vergass, verlieren verlor verloren,
verstehen verstand verstanden, werfen wirft warf geworfen, wissen weiss wusste gewusst, ziehen zog
gezogen
`)

/**
 * After CISTEM (Weissweiler and Fraser, 2017): the prefix of participles goes, then endings one after
 * the other. Signs stand for groups of letters that count as one.
 */
function stem(word: string): string {
  if (!isLatin(word)) return word
  let rest = (irregular.get(word) ?? word)
    .replace(/^ge(?=....)/, '')
    .replaceAll('sch', '$')
    .replaceAll('ei', '%')
    .replaceAll('ie', '&')
    .replaceAll(/(.)\1/g, '$1*')
  while (rest.length > 3) {
    const next = rest.replace(/(?<=....)(?:ung|nd)$|(?<=...)e[mr]$|[tesn]$/, '')
    if (next === rest) break
    rest = next
  }
  return rest
    .replaceAll(/(.)\*/g, '$1$1')
    .replaceAll('&', 'ie')
    .replaceAll('%', 'ei')
    .replaceAll('$', 'sch')
}

export const GERMAN_WORDS: Language = { name: 'de', functionWords, letters: 'äöüß', stem }
