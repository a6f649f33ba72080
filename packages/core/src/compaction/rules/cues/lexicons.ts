import { ENGLISH_CUES } from './english.ts'
import { FRENCH_CUES } from './french.ts'
import { GERMAN_CUES } from './german.ts'
import { ITALIAN_CUES } from './italian.ts'
import { DUTCH_CUES, OTHER_CUES } from './others.ts'
import { PORTUGUESE_CUES } from './portuguese.ts'
import { SPANISH_CUES } from './spanish.ts'

export { EAST_ASIAN_CUES } from './east-asian.ts'
export { RUSSIAN_CUES } from './russian.ts'

export const LATIN = [
  ENGLISH_CUES,
  GERMAN_CUES,
  FRENCH_CUES,
  SPANISH_CUES,
  PORTUGUESE_CUES,
  ITALIAN_CUES,
  DUTCH_CUES,
  OTHER_CUES,
]

/** In every language: words that differ only in their endings. */
export const COMMON_CUES: string = `
money:€,$,£,¥,euro*,dolar*,dollar*,usd,eur,chf,cent*
limit:budget*,max*,min,minim*,limit*
due:deadline
want:prefer*,allerg*,alergi*,veget*,vegan*,important*,regel*,regol*,regla*,regra*,regle*,rule*,convention*,conven*,respect*,respet*,rispett*
forbidden:confiden*,secret*,privat*,anonym*,anonim*,intact*,intatt*,tabu,compatib*,congel*
ask:confirm*,consult*,autori*,approv*,aprob*,aprov*,permis*
only:exclusiv*
always:strict*
form:format*,formal*,formel*,styl*,estilo,stile,emoji*,iso,utc,json,markdown,snake_case,camelcase,anglic*,abrev*,abbrev*,concis*,simpl*,brev*,brief*,tabs
thing:commit*,branch*,variab*,paragra*,decimal*,source*,indent*,node,python,typescript
they:document*,docs,linter,manual*,artic*,contrat*,contract
maybe:problem*,perfect*,super,error*,erreur*
`
