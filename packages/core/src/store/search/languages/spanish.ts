import { irregularForms, isLatin, withoutEnding, wordSet } from './endings.ts'
import type { Language } from './language.ts'

const functionWords = wordSet(`
a ahora al algo alguien algun alguna ante antes aqui asi aun aunque cada como con contra cual
cuales cuando cuanta cuanto cuantos de del desde donde dos durante e el ella ellas ellos en entre
era eran eres es esa ese eso esta estaba estaban estamos estan estar estas este esto estos estoy
fue fueron ha haber habia han has hasta hay he hemos hizo hoy la las le les lo los mas me mi mis
mucho muy nada ni no nos nosotros nuestra nuestras nuestro nuestros o os otra otro para pero por
porque puede que quien quienes se segun ser si sido sin sobre solo somos son soy su sus tambien
tan tanto te tiene tienen toda todo todos tu tus un una unas uno unos y ya yo
`)
const irregular = irregularForms(`
ir voy vas va vamos van iba iban ido, hacer hago hace hacen hizo hice hicieron hecho hara haria,
tener tengo tiene tienen tuvo tuve tuvieron tendra, venir vengo viene vienen vino vine vinieron
vendra, decir digo dice dicen dijo dije dijeron dicho dira, poner pongo pone puso puse pusieron
puesto pondra, poder puedo puede pueden pudo pude pudieron podra podria, querer quiero quiere
quieren quiso quise quisieron querra, saber sabe saben supo supe supieron sabra, ver veo ve ven
vio vi vieron visto, dar doy da dan dio di dieron, salir salgo sale salen saldra, traer traigo trae
trajo traje trajeron, escribir escrito, abrir abierto, volver vuelto, romper roto, morir muerto,
jugar juego juega juegan
`)
const withoutInflection = withoutEnding(`
a o e ar er ir an en amo emo imo ando iendo yendo ado ada ido ida aba aban abamo ia ian iamo aste
iste aron ieron io are ara aran aremo ere era eran eremo ire ira iran iremo aria arian ariamo eria
erian iria irian ase iese iera ieran acion icion cion mente miento amiento imiento ador adora edor
edora idor idora aje
`)

function stem(word: string): string {
  if (!isLatin(word)) return word
  const one = (irregular.get(word) ?? word).replace(/(?<=...)e?s$/, '')
  // Stress changes the vowel of a stem ("probar", "prueba"), and spelling the consonant at its end.
  return withoutInflection(one)
    .replaceAll('ie', 'e')
    .replaceAll(/(?<![gq])ue/g, 'o')
    .replace(/z$/, 'c')
    .replace(/(?<=..)qu$/, 'c')
    .replace(/(?<=..)gu$/, 'g')
}

export const SPANISH_WORDS: Language = { name: 'es', functionWords, letters: 'áéíñóúü¿¡', stem }
