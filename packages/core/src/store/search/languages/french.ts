import { irregularForms, isLatin, withoutEnding, wordSet } from './endings.ts'
import type { Language } from './language.ts'

const functionWords = wordSet(`
a ai as au aux avait avec avez avoir avons bien c ce ceci cela celle celui ces cet cette chaque
chez combien comme comment d dans de deja des donc dont du elle elles en encore est et etait etaient
ete etes etre eu fait il ils j je l la le les leur leurs lors lui m ma mais me meme mes moi mon n
ne ni nos notre nous on ont ou par parce pas pendant peut plus pour pourquoi qu quand que quel
quelle quelles quels qui quoi s sa sans se sera ses si soit son sont sous sur t ta te tes toi ton
tous tout toute toutes tres trop tu un une va vers voici voila vos votre vous y
`)
const irregular = irregularForms(`
aller vais vas va vont ira irai iront irait alle, faire fais fait font faisait fera ferai feront
ferait, venir viens vient viennent viendra venu, tenir tiens tient tiennent tiendra tenu, prendre
prends prend prennent prenait pris prise prises, mettre mets met mis mise mises, voir vois voit
voient voyait vu vue vus verra, savoir sais sait savent su saura, pouvoir peux peut peuvent pu
pourra pourrait, vouloir veux veut veulent voulu voudra voudrait, devoir dois doit doivent
devra devrait, dire dis dit disent disait dite dites, ecrire ecris ecrit ecrivent ecrivait, lire
lis lit lisent lu lue, recevoir recois recoit recoivent recu recue recus, boire bois boit boivent
bu, oeil yeux, travail travaux, nouveau nouvel nouvelle nouvelles nouveaux, beau bel belle belles
beaux, vieux vieil vieille vieilles
`)
const withoutInflection = withoutEnding(`
e ee er ez iez ent ente on ion oir ai ait aient ant ante era erai eront eron erez erait eraient i ie
ir ira irai iront irait isson issez issent issait issaient issant u ue a eur euse rice ment ement
ation ition aison age
`)

/** "chevaux" becomes "cheval", "banques" becomes "banque". */
function singular(word: string): string {
  if (word.length > 5 && /[^e]aux$/.test(word)) return `${word.slice(0, -2)}l`
  return word.length > 3 && /[sx]$/.test(word) ? word.slice(0, -1) : word
}

function stem(word: string): string {
  if (!isLatin(word)) return word
  const one = singular(irregular.get(word) ?? word).replace(/(?<=if)ication$/, 'ier')
  return withoutInflection(one.replace(/(?<=..d)re$/, ''))
    .replace(/(?<=...)[ei]$/, '')
    .replace(/([lnt])\1$/, '$1')
    .replace(/(?<=..)qu$/, 'c')
    .replace(/(?<=..)gu$/, 'g')
}

export const FRENCH_WORDS: Language = { name: 'fr', functionWords, letters: 'àâçèéêëîïôùûœ', stem }
