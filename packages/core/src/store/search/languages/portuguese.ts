import { irregularForms, isLatin, withoutEnding, wordSet } from './endings.ts'
import type { Language } from './language.ts'

const functionWords = wordSet(`
a agora ainda algo alguem algum alguma ao aos aquela aquele aqui as assim ate atras cada com como
contra da das de dela dele depois desde do dos e ela elas ele eles em entao entre era eram essa
esse esta estamos estao estar estas estava estavam este estes estou eu foi foram fui ha isso isto
ja la lhe mais mas me mesmo meu meus minha minhas muito na nao nas nem nessa nesse nesta neste no
nos nossa nossas nosso nossos num numa o onde os ou outra outro para pela pelas pelo pelos por
porque pode qual quais quando quanta quanto quantos que quem se sem ser seu seus sim so sobre sou
sua suas tambem tao te tem temos tenho ter teu ti tinha toda todo todos tu tua um uma umas uns
vai vamos vao voce voces
`)
const irregular = irregularForms(`
ir vou vai vamos vao ia iam ido, fazer faco faz fazem fez fiz fizeram feito fara faria, ter tenho
tem teve tive tiveram tera teria, vir venho vem veio vim vieram vira, dizer digo diz dizem disse
disseram dito dira, por ponho poe poem pos pus puseram posto pora, poder posso pode podem pude
puderam podera poderia, querer quero quer querem quis quiseram, saber sei sabe sabem soube souberam,
ver vejo ve veem viu vi viram visto, dar dou da dao deu dei deram, trazer trago traz trouxe
trouxeram, sair sai saem saiu sairam, escrever escrito, abrir aberto aberta abertos abertas
`)
const withoutInflection = withoutEnding(`
a o e ao iao ar er ir am em amo emo imo ando endo indo ado ada ido ida ava avam avamo ia iam iamo ou
eu iu ei aram eram iram aste este iste ara era ira arei erei irei arao erao irao aremo eremo iremo
aria eria iria ariam eriam iriam asse esse isse acao icao cao mente mento amento imento ador adora
edor edora idor idora agem
`)

/** "redacoes" becomes "redacao", "jornais" becomes "jornal", "viagens" becomes "viagem". */
function singular(word: string): string {
  if (/[oa]es$|aos$/.test(word)) return `${word.slice(0, -3)}ao`
  if (word.length > 4 && /[aeou]is$/.test(word)) return `${word.slice(0, -2)}l`
  if (/ns$/.test(word)) return `${word.slice(0, -2)}m`
  return word.replace(/(?<=..[rz])es$|(?<=...)s$/, '')
}

function stem(word: string): string {
  if (!isLatin(word)) return word
  const rest = withoutInflection(singular(irregular.get(word) ?? word))
  return rest.replace(/(?<=..)qu$/, 'c').replace(/(?<=..)gu$/, 'g')
}

export const PORTUGUESE_WORDS: Language = {
  name: 'pt',
  functionWords,
  letters: 'àáâãçéêíóôõú',
  stem,
}
