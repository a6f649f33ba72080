import { irregularForms, isLatin, withoutEnding, wordSet } from './endings.ts'
import type { Language } from './language.ts'

const functionWords = wordSet(`
a abbiamo ad agli ai al alla alle allo anche ancora c che chi ci cio col come con cosa cui da dagli
dai dal dalla dalle d degli dei del dell della delle dello di dopo dov dove due e ecco ed era erano
essere fa fra gia gli ha hai hanno ho i il in io l la le lei li lo loro lui ma me mi mia mie miei mio
molto ne nei nel nell nella nelle nello no noi non nostra nostre nostri nostro o ogni per perche piu
poi puo qual quale quali quando quanta quanti quanto quella quelle quelli quello questa queste
questi questo qui se sei si sia siamo solo sono sopra sta stata stati stato su sua sue sugli
sui sul sull sulla sulle suo suoi te ti tra tu tua tutta tutte tutti tutto un una uno va vi voi
`)
const irregular = irregularForms(`
andare vado vai va vanno andato, fare faccio fai fa fanno fatto fatta fatti fatte fece feci fara
faceva, venire vengo viene vengono venne venuto verra, tenere tengo tiene tengono tenne terra, dire
dico dice dicono detto detta disse diceva, disdire disdico disdice disdiciamo disdicono disdetto
disdetta disdetti disdette, mettere messo messa messi messe mise, prendere preso presa presi prese,
vedere visto vista visti viste vide vedra, sapere so sa sanno seppe sapra, potere posso puo possono
potra, volere voglio vuole vogliono vorra vorrei, dovere devo deve devono dovra dovrebbe, dare do da
danno dato diede, bere bevo beve bevono bevuto, uscire esco esce escono, scrivere scritto scritta
scritti scritte scrisse, leggere letto letta lesse, aprire aperto aperta aperti aperte, chiudere
chiuso chiusa chiusi chiuse, mordere morso morsa, rompere rotto rotta ruppe, perdere perso persa
perse, chiedere chiesto chiesta chiese, raccogliere raccolgo raccolgono raccolto raccolta, uovo
uova, uomo uomini
`)
const withoutInflection = withoutEnding(`
a e i o io are ere ire ato ata ati ate uto uta uti ute ito ita iti ite ando endo avo avi ava avano
avamo evo evi eva evano evamo ivo ivi iva ivano iamo ano ono asti ammo arono erono irono ero era
erai eremo erete eranno iro ira irai iremo iranno erei erebbe erebbero irebbe isco isci isce
iscono azione azioni izione izioni zione zioni mente mento menti amento amenti imento imenti tore
tori trice atore atori atrice itore itori
`)

function stem(word: string): string {
  if (!isLatin(word)) return word
  const rest = withoutInflection(irregular.get(word) ?? word).replace(/(?<=...)i$/, '')
  return rest.replace(/(?<=[cg])h$/, '')
}

export const ITALIAN_WORDS: Language = { name: 'it', functionWords, letters: 'àèéìòù', stem }
