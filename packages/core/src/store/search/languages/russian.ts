import { wordSet } from './endings.ts'
import { ENGLISH_WORDS } from './english.ts'
import type { Language } from './language.ts'

const functionWords = wordSet(`
а без более больше будет будут бы был была были было быть в вам вас весь во вот все всего всех вы
где да даже для до его ее если есть еще же за здесь и из или им их к как какая какие какои какого
какое какую каким каких кем когда кого кому которая которые которыи который кто куда ли либо лишь
меня мне можно мои моего моеи моя мы на над надо нам нас наш наша наше наши не него нее нет ни них
но ну о об однако он она они оно от очень по под после потому почему при про с сам свои свою себя
сеичас сколько со так также такои там те тебя тем то тогда того тоже только том тот ту ты у уже
хотя чего чем что чтобы эта эти это этого этои этом этот эту я
`)

/**
 * Snowball's rules for Russian (Porter, 2001), on letters without marks: "й" is "и" here. Endings are
 * looked for after the first vowel. Beyond those rules, verbs lose their last vowel, and nouns made of
 * verbs become verbs: "заказать" meets "заказ", and "обновление" meets "обновить".
 */
const VOWEL = /[аеиоуыэюя]/
const GERUND = /(?:[иы]в|(?<=[ая])в)(?:ши|шись)?$/
const REFLEXIVE = /с[яь]$/
const DEVERBAL = /[аея]ни(?:ями|[еиюя]|[ая]м|ях|ем|еи)$/
const ADJECTIVE = /(?:[иы]ми|[ео]го|[ео]му|[еиоы][еим]|[иы]х|[оеую]ю|[ая]я)$/
const PARTICIPLE = /(?:[иы]вш|ующ|(?<=[ая])(?:ем|нн|вш|ющ|щ))$/
const VERB =
  /(?:[иы]л[аио]?|[иы]ть?|ишь|ен[аоы]?|[еу]?ите|[еу]и|[иы]м|у[ею]т|ят|у?ю|[ая](?:л[аио]?|н[аоы]?|нно|[еи]те|ешь|ем|[ею]т|ть|и))$/
const NOUN = /(?:и?[ая]ми|и?[ая]х|и?[ая]м|и?ем|ом|[ео]в|и?еи|ои|[иь][еюя]|ии|[аеиоуыьюя])$/

function stemRussian(word: string): string {
  const vowel = word.search(VOWEL)
  if (vowel < 0) return word
  const rest = withoutInflection(word.slice(vowel + 1))
    .replace(/и$/, '')
    .replace(/(?<=...)ость?$/, '')
    .replace(/еише?$/, '')
    .replace(/нн$/, 'н')
    .replace(/ь$/, '')
  return word.slice(0, vowel + 1) + rest
}

function withoutInflection(tail: string): string {
  const gerund = tail.replace(GERUND, '')
  if (gerund !== tail) return gerund
  const active = tail.replace(REFLEXIVE, '')
  const noun = active.replace(DEVERBAL, '')
  if (noun !== active) return noun.replace(/(?<=[бвмпф])л$|(?<=..)[ое]в$/, '')
  const adjective = active.replace(ADJECTIVE, '')
  if (adjective !== active) return adjective.replace(PARTICIPLE, '')
  const verb = active.replace(VERB, '')
  return verb === active ? active.replace(NOUN, '') : verb.replace(/(?<=..)[еиоы]в$/, '')
}

export const RUSSIAN_WORDS: Language = {
  name: 'ru',
  functionWords,
  letters: 'абвгдеёжзийклмнопрстуфхцчшщъыьэюя',
  // English names are frequent in Russian text, and their script tells them apart.
  stem: (word) => (/^[а-я]+$/.test(word) ? stemRussian(word) : ENGLISH_WORDS.stem(word)),
}
