export const SPANISH_CUES: string = `
always:siempre,nunca,jamas,cada vez,todo momento,los casos,ningun caso,bajo ning*,por defecto,en general,excepci*,ninguna manera,estrict*,obligatoriamente,sin falta
every:todo,toda,todos,todas,cada,nada,nadie,ningun*,cualqui*
only:solo,sólo,solamen*,unicame*,en lugar,en vez,y no
dont:no *es,no *as,no me *es,no me *as,no lo *es,no lo *as,no *e,no se toca*,no se pued*,no se deb*,no se *a,no se *an,no deb*,no pued*,deja de,que no,evit*,procura no,nada de,ni se te,no tiene* que
not:no,ni,sin
henceforth:a partir,ahora en adelant*,desde ahora,en adelant*,sucesiv*,futuro,desde hoy,nuevo aviso,este proyect*,el resto,lo contrar*
unless:salvo,a menos,excepto,mientras no,hasta que
when:si,cuando,siempre que,antes,antes de,despues de,en cuanto,en caso,la duda,primero
must:debe,deben,debes,deber*,tiene que,tienen que,tienes que,hay que,ha de,han de,necesit*,requier*,obligatori*,hace falta,va,van,queda*,se escribe*,se hace,se usa*,pasa por,pasan por,lleva*,puede,pueden,pasar por
forbidden:prohib*,intocab*,como esta,como están,como estan,tal cual,privado,lectura,vetado,manos,alejate,en paz,entre nosotro*
want:prefier*,quiero,queremo*,quisier*,gustari*,deseo,espero que,necesito que,odio,no soporto,agradec*,te pido,asegur*,recuerd*,en cuenta,present*,olvid*,norma,procura,intenta,trata de,cuid*,ojo,usamos,trabaja*,nuestro estilo,tute*,tratame,llamame,se llama,mejor,cumpl*
keep:manten*,deja,deje,limit*,conserv*,sea,se breve,cine*,quedate,trata,firma,habla,redonde*,espera
use:usa,use,usar,utili*,escrib*,respond*,mencion*,documen*,haz
ask:pregunt*,avis*,dime*,aprueb*,visto bueno,mi ok,consent*,luz verde,mostrar*,con migo,conmigo
limit:no mas de,como mucho,a lo sumo,hasta un,tope,presupu*,super*,exced*,gast*,al menos
than:mas de,menos de,pasar,por,entre
due:fecha limite,plazo,tardar,tarde,listo,lista,termina*,entreg*,para el,antes del
form:español,espanol,ingles,frances,aleman,tono,idioma,sangria,tabula*,espacio*,viñetas,mayuscu*,minuscu*,comilla*,respues*,cort*,usted,sencill*,iva,unidade*,voz
past:trabajá*,no pude,fue,fueron,era,eran,estaba*,habia*,he,ha,han,hemos,dijo,ayer,ya,anoche,pasad*,queria,tuve,hubo,vi,*aron,*ieron,*aba,*aban,*abamos,*aste,*ó,*é,*í,pude,hiciera,debimos,olvidad*,vencio
happens:funcion*,falla*,pasa,ocurre,arranca,cuesta,parece,devuelv*,imprime,queja,hierve,permite,lleno,caido,llega,tarda,reinici*,hay,sirve
i:yo,sé,tengo,encuentro,puedo,estoy,entiend*
they:él,ella,ellos,su,sus,le,compañe*,jefe,jefa,hermano,amigo,gente,usuario*,segun,medico,alguien,dice,dicen,mi
it:esto,eso,este,esta,ese
maybe:no te preocupes,no se preocupe,por que,como,cual*,quien*,donde,cuanto*,puedes,podria*,que es,quiza*,tal vez,creo,pienso,supongo,seguram*,debe de,habria,tuviera,hubiera,seria,sabia,no sé,a veces,gracias,bien,genial,vale,ok,hola,preocup*,no importa,mucho,como siempre
once:ahora,otra vez,de nuevo,hoy,esta vez,por ahora,momento,segund*,linea,siguien*,proximo,ultim*,pasemos,todavia,aun
do:anade,agrega,corrige,reemplaza,ver,desplie*,publica,renombr*,mira,abre,muestra*,encuent*,explica,borra,elimina,añade,ejecuta,traduce,resume,cambia,modific*,manda,prueba,continu*,sigue,ve,crea,mueve,copia,lee,compara,instala,busca,arregla
thing:frase*,parrafo*,palabra*,caracte*,lineas,comenta*,mensaje*,nombres,fechas,precios,importe*,numeros,rama,tablas,fuente*,depend*,bibliot*
be:es,está,están,son,ser,estar
skip:por favor,porfa,y,pero,tambien
word:el,la,los,las,un,una,de,del,o,en,con,para,que,lo,se,a,al,archivo*,carpeta,base,datos,tu,te,me,mas,yo apruebo,nos
`
