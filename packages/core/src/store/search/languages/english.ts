import { irregularForms, wordSet } from './endings.ts'
import type { Language } from './language.ts'
import { stem } from './stem.ts'

/**
 * English function words, and irregular forms that no rule reduces to their base. Both lists were
 * chosen by measurement (`npm run eval:recall`); the forms include a few common synonyms.
 */
const functionWords = wordSet(`
a about ago an and are as at be been being by can could did do does done for from had has have
having he her him his how i in is it its long many may me might much my no not of on or our s
she should t that the their them these they this those to us was we were what when where which
who whom whose why will with would you your
`)
const irregular = irregularForms(`
be am is are was were been, become became, begin began begun, bend bent, bite bit bitten, blow
blew blown, break broke broken, bring brought, build built, burn burnt, buy bought, catch
caught, choose chose chosen, come came, deal dealt, dig dug, do did done, draw drew drawn, dream
dreamt, drink drank drunk, drive drove driven, eat ate eaten, fall fell fallen, feed fed, feel
felt, fight fought, find found, fly flew flown, forget forgot forgotten, forgive forgave
forgiven, freeze froze frozen, get got gotten, give gave given, go went gone goes, grow grew
grown, hang hung, have has had, hear heard, hide hid hidden, hold held, keep kept, know knew
known, lay laid, lead led, learn learnt, leave left, lend lent, lie lain, light lit, lose lost,
make made, mean meant, meet met, pay paid, ride rode ridden, ring rang rung, rise rose risen,
run ran, say said, see saw seen, seek sought, sell sold, send sent, shake shook shaken, shine
shone, shoot shot, show shown, sing sang sung, sink sank sunk, sit sat, sleep slept, speak spoke
spoken, spend spent, stand stood, steal stole stolen, stick stuck, strike struck, swear swore
sworn, swim swam swum, take took taken, teach taught, tear tore torn, tell told, think thought,
throw threw thrown, understand understood, wake woke woken, wear wore worn, weave wove woven,
win won, write wrote written, rewrite rewrote rewritten, child children, man men, woman women,
person people, foot feet, tooth teeth, mouse mice, life lives, wife wives, knife knives, good
better best, bad worse worst, far further farther, analysis analyses, index indices indexes, mom
mum mother, dad father, photo photograph pic picture, bike bicycle
`)

export const ENGLISH_WORDS: Language = {
  name: 'en',
  functionWords,
  letters: '',
  stem: (word) => stem(irregular.get(word) ?? word),
}
