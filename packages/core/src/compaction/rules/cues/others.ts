/** Languages of which only the plainest cues are known. */
export const DUTCH_CUES: string = `
always:altijd,nooit,elke keer,geen geval,overal,steeds
every:alle,alles,elke,elk,ieder*,niets,niemand
only:alleen,uitsluitend,in plaats van
dont:blijf van,stop met,niet meer,vermijd*
not:niet,geen,zonder
henceforth:vanaf nu,voortaan,vanaf vandaag,vervolg,toekomst,dit project,tenzij,zolang,totdat
when:als,wanneer,zodra,voordat,twijfel,eerst
must:moet*,hoort,horen,blijft,blijven,mag,mogen
forbidden:verboden,ongewijzigd,vertrouwelijk,met rust
want:ik wil,liever,zorg,denk eraan,onthoud,vergeet niet,belangrijk,noem me,spreek me,hou je
keep:hou,houd,laat,blijf,noem,spreek,raak,beperk
use:gebruik,schrijf,antwoord*,zet,stuur,verander,verwijder,werk
ask:vraag*,overleg,toestemming,goedkeuring,akkoord,bevestig*,laat me weten
limit:hoogstens,minstens,grens
than:meer dan,minder dan,onder,per
due:uiterlijk,klaar,inleveren
form:nederlands,engels,duits,stijl,taal,zinnen,woorden,tekens,kort*,datums,prijzen
past:was,waren,had,hadden,heb,heeft,hebben,werd,gisteren,zei,gezien
happens:werkt,faalt,crasht,gebeurt,duurt,kost,lijkt
i:ik,mij,mijn
they:hij,zij,ze,collega,baas,volgens,iemand
it:het,dit,dat
maybe:wat,waarom,hoe,welke,wie,waar,kun je,misschien,denk,zou,weet,bedankt,dank,goed,probleem,zorgen,geen idee,zoals altijd
once:nu,vandaag,deze keer,nog,opnieuw,volgende
be:is,zijn
skip:alsjeblieft,alstublieft,graag,en,maar
word:de,een,van,of,ook,in,op,aan,met,voor,naar,bij,te,om,die,je
`

/** Polish, Turkish and Swedish. */
export const OTHER_CUES: string = `
always:nigdy,zawsze,asla,her zaman,aldrig,alltid
henceforth:od teraz,bundan sonra,från och med
ask:zapytaj,bana sor,fråga
not:nie,bez,inte,utan
only:tylko,sadece,bara,endast
forbidden:zabronione,yasak,förbjudet
past:był*,var
they:on,ona,han,hon
word:i,w,na,do,bir,ve,bu,och,att,det,som,en
`
