/** Messages from chats, by language, one a line, none of which holds a standing rule. For choosing cues; read it freely. */
export const PRACTICE_OTHERS: Readonly<Record<string, string>> = {
  en: `
move the search bar above the table
the footer must stick to the bottom on mobile
i need the report as a pdf
make the font bigger on the landing page
the dropdown should close when i click outside
please add pagination to the orders view, 20 per page
the date picker shouldn't allow weekends
the avatar has to be square, not round
make sure it builds before you open the pr
make sure the modal closes on escape
can you add a unit test for parseDate
put the timestamp in the last column
you need to update the import in app.tsx too
it needs to handle empty arrays
the summary should be about 200 words
this poem should rhyme
the cover letter must fit on one page
give me a version without the intro
i want the second slide to have a big number on it
i'd like the chart in green
i want to see the totals per month in this report
we need to get this running today
let's use redis for the session store here
use the existing modal component for this dialog
don't use the modal here, a plain page is better
don't worry about the styling yet
don't bother with mobile for now
do not include the appendix in this version
without the last paragraph please
no, only the first two columns
only show the active ones in this list
only the header is wrong, rest is ok
just change the colour, nothing else
leave the nav as it is and change the hero
keep the old name for the variable in this pr
keep the first sentence, rewrite the rest
don't touch the tests for now, just make it compile
skip the docs in this round
write the test first for this one, then the fix
before you write the code, show me the schema
before merging this, rebase it on develop
after the rename run the build again
once that's done post the link here
when you're finished with that, look at issue 412
if it works, commit it
if that doesn't help, try clearing the cache
if the button is disabled it should be grey
when a user signs up, send them a welcome mail. can you wire that
when the timer hits zero the game is over and the score must be shown
whenever the socket drops the client should reconnect, currently it just dies
if no file is passed, read from stdin
every user should have a profile picture in the mockup
each card should show title, price and rating
all cards should have the same height
all the buttons on the checkout page should be rounded
make all headings in this doc blue
all fields are required in this form
every page of this pdf should have a page number
the api should never return the password hash, fix that endpoint
users must not be able to delete the last admin, add a guard
guests can only see the public boards. implement this in the policy file
a customer may have at most three open orders, enforce that in the model
the username can't be longer than 20 characters, add validation
the script must exit with 1 on failure
the robot may only turn left in this level
the crawler should wait 2 seconds between requests, add that
the importer has to skip duplicates
the function must be pure, it mutates the input right now
it must not crash on null
it should always return an array, even if empty. right now it returns undefined
the queue should never grow beyond 1000 entries, that's the bug
this regex should only match digits
the cookie must be httponly, please change it
the tooltip should appear on hover only
set the limit to 10 per page
increase the timeout to 60 seconds
use at most 3 colors in this logo
write it in under 100 words
max 2 pages please, it's for the handout
make it shorter, 3 sentences
answer yes or no
explain it briefly
summarize this article in 5 bullet points
translate the following into spanish, formal tone
write a poem about autumn, no rhymes
write me a limerick with no swear words
write a sign for the pool that says no diving
write a text for the gym: always wipe down the machines after use
draft a notice to tenants that bikes must not be left in the hall
write an email to my team that from monday everyone has to log their hours
write a rule for the firewall that blocks port 22
add a lint rule against console.log
create a policy document for remote work, employees must be reachable 9 to 5
make a checklist for pilots: never skip the fuel check etc
come up with ten commandments for programmers
write the terms of service: users may not resell the product
tell my boss that i'm sick
tell her she should never give up
reply that we only accept returns within 30 days
remind me on monday to pay the rent
book a room for two nights, non smoking
order 4 pizzas, one without cheese
find a restaurant near the station that's open on sunday
search for cheap flights to rome in may
add milk to the shopping list
plan dinner for six, nothing with pork this time
suggest a gift for my dad, not more than 40 euros
what's a good name for a cat
why do i always have to type the password twice
why can't i use await here
why must keys be unique
should every table have an id
is it bad to never close the connection
do i need to always call super
how do i stop windows from always restarting
does the library always return a promise
what does "never nester" mean
when do you use a mutex
which of them should i never mix
who decides when it's done
can you only run one at a time
can i use any port
are we allowed to use that logo
what would you do if you could never fail
i wonder why it only fails on ci
not sure if we should always cache that
i don't know if it has to be signed
i'm not sure whether we need to ask first
my teacher always said to check the units
my dad never let us watch tv
my manager told us not to work on weekends
my grandma says you should never go to bed angry
the sign at the door says no dogs
the manual says to never open the case
their docs say you must call init first
the wiki says all services have to be registered, is that outdated
the law says employers must pay overtime
the license requires that you keep the notice
the rules of the tournament say no coaching during the game
according to the guide, one should always prune roses in march
the faq claims they never share data
the ticket says the export must include vat
the client wants the logo to be bigger
the customer said the page must load in under 2 seconds
the pm wants every story to have an estimate, i think it's silly
he insists that we never need tests
she asked me to never call again
they told me i can't return it
he said "don't ever do that again" and i laughed
someone on reddit wrote to always use arch
apple requires all apps to support ipv6
the school wants all kids to wear uniforms
the compiler says it can not find the symbol
the error is: cannot read property of undefined
it says permission denied, you must be root
warning: do not use this in production
// do not edit by hand
// must be called before init()
# never change the order of these lines
# only for debugging
/* always keep in sync with the server */
-- never run this on prod
* @deprecated use parseAll instead
// TODO never retry more than 3 times
in my last job we always had standups at nine
we used to write everything in perl
back in school i never did my homework
in the nineties nobody tested anything
i always wanted to learn piano
i've never been to japan
i never said that
we always did it like that until the merger
they never told us about the change
nobody ever complained about it
it was never meant to be public
i only noticed it today
i had to restart it every hour
the old version always asked for a password
it always crashes when i open the second tab
this never happens on my machine
the printer never works
the bus only comes every hour
my dog always barks at the mailman
my husband never eats fish
the store is only open until six
all my friends have kids now
every house here has a garden
each level has three stars
everything is in the shared drive
nothing changed since yesterday
none of the tests ran
nobody answers the phone there
no one was home
there are no docs for that
we have no budget left
i have no idea
the limit is 50 requests
the maximum is 255
max is my brother
the budget is done, thanks
our deadline was yesterday
the deadline was moved to may
it costs 20 euros per month
we pay about 300 a month for hosting
the room can hold up to 40 people
the battery lasts at least ten hours
at least we tried
it took less than a minute
if i had known i would never have bought it
if we never ship it nobody will complain
if i lived in spain i would always eat outside
imagine every car had to stop at noon
suppose you could only eat one thing forever
let's say nobody is allowed to drive, what changes
assume a world without money, how would trade work
what if every request had to be signed
in theory every node should have the same state
ideally nobody would need a password
it would be cool if users could never lose data
hypothetically, if you had to choose only one
people always ask me that
people should vote
you can never have too many backups as they say
everyone needs a hobby
a good test should be fast
an apple a day keeps the doctor away
life must go on
cats should not drink milk, right
plants need water
kids must sleep a lot
in tennis you must serve diagonally
in poker you never show your hand
in france shops have to close on sundays
by default git never deletes branches
python never copies lists on assignment
rust never frees twice
css always wins here somehow
http requires a host header
the gpl requires you to share the source
the protocol allows only one session
postgres only vacuums when needed
the hook only runs on push
the token is only valid for an hour
this endpoint only accepts json
the server always sends a header
the parser never sees the comment
the loop always runs at least once
that flag must be off by mistake
it must have been the cache
you must be tired
that can't be right
that should do it
should be fixed now
must be a bug
never heard of it
never again haha
no thanks
no problem at all
not now
not yet, give me a minute
not what i meant
always happy to help i see
all good
all done, thanks a lot
every little helps
nothing else, thank you
that's all for today
only joking
don't worry
don't get me wrong, i like it
don't you think it's too dark
no need to test that
no need for tests in this case
you don't need to wait for me today
you can ignore that warning
you can delete the old branch now
you can push it now
feel free to change the wording
go ahead and deploy this
sure, do that
yes, remove it
yes please always good to have
ok then do it without the index
ok, use option 2
ok but make it optional
please continue
please try again, it timed out
please look into the failing build
please check if the invoice was sent
please undo the last change
please write the migration for this
please add a comment above that line explaining the hack
stop the container
stop here, i need to think
wait, don't push that yet
hold on, not that one
undo that
try it without the flag
i'll never understand css
i'm going to ask anna first
i'll always be thankful for that
i have to leave at five
i must say this is good work
i need to renew my passport by friday, what documents do i need
i should eat less sugar
i shouldn't have said that
i can't use my left hand at the moment
i don't like the second one
i don't want the blue one, take the red
i don't need the whole file
i prefer the first draft
i like the second version better
i want to learn go
i want a refund from them, write the letter
i want to buy a car, max 8000 euros, list some
we should go with the cheaper host i think
we should maybe avoid that topic at dinner
we have to be there at nine
we must be missing something
we need to talk about the roadmap
we only have two weeks left
we don't have any tests for that
we use jenkins at work. how do i get the logs
we never used that feature
our company has 40 employees and all of them get a laptop
our office is closed on friday
from now on it gets easier
starting monday i'm on vacation for two weeks
from next year on the tax is higher, write a note for our customers
in the future cars will drive themselves
this project started in 2015
in this repo there are two apps, which one is live
this codebase is a mess
for the rest of the day i'm offline
until then it was fine
the whole thing is confusing
the naming convention in that file is weird
i think the style is nice
the tone of this letter is too harsh, soften it
the rule for the discount is broken: it applies twice, fix it
the test must be flaky
the tests are all green
lint is clean
ci is red again
the branch is behind main
the commit is missing a signed-off line, amend it
the variable names in this function are bad, improve them
the comments in that file are outdated, delete them
rename the files in assets to lower case
sort the imports in this file
format this json
convert these dates to iso
replace tabs with spaces in that file
add types to this module
reduce the bundle, it should be under 200 kb
this query must run in less than 50 ms, can you optimize it
the migration has to run before the deploy today
here's what i want: a page with a form, and every field has a hint
requirements: login, upload, search. each upload max 5 mb. build it
spec: the app shows a map. users can add pins. pins can't overlap. go
build a todo app where tasks can never be deleted, only archived
create a chess bot that always opens with e4
make a bot that replies to every message with a meme
write a script that deletes all logs older than 7 days
write a function that never throws
write a class that can only be instantiated once
generate a password with at least 20 characters
`,
  de: `
verschieb das logo nach links
das formular muss bei leerer mail einen fehler zeigen
der text soll maximal 100 wörter haben
füg bitte noch einen test für diese funktion hinzu
warum darf man das nicht
mein chef sagt immer, man soll nie ohne backup arbeiten
die app stürzt immer beim start ab
damals durften wir nur montags deployen
im vertrag steht, dass der mieter immer lüften muss
wenn alle immer pünktlich wären, bräuchten wir das nicht
schreib einen aushang: bitte keine fahrräder im flur
nie gehört
kein problem, mach weiter
alle tests sind grün
ich muss um fünf los
jeder nutzer hat höchstens drei geräte, bau das ins schema ein
lass den ersten absatz so und kürze den rest
`,
  fr: `
déplace le logo à gauche
le formulaire doit afficher une erreur si le mail est vide
le texte doit faire 100 mots maximum
ajoute un test pour cette fonction
pourquoi on ne peut pas faire ça
ma mère dit toujours qu'il ne faut jamais mentir
l'appli plante toujours au démarrage
avant on ne testait jamais rien
le contrat dit que le locataire doit toujours prévenir
si tout le monde était toujours à l'heure, ce serait mieux
écris une affiche : ne pas fumer dans le hall
jamais entendu parler
pas de problème, continue
tous les tests passent
je dois partir à cinq heures
chaque client a au plus trois commandes, ajoute ça au schéma
garde le premier paragraphe et raccourcis le reste
`,
  es: `
mueve el logo a la derecha
el formulario debe mostrar un aviso si falta el nombre
el texto debe tener 100 palabras como máximo
añade una prueba para esta función
por qué no se puede hacer eso
mi madre siempre dice que nunca hay que mentir
la aplicación siempre se cierra al abrirla
entonces nunca probábamos nada
el contrato dice que el inquilino siempre debe avisar
si todos llegaran siempre a tiempo sería mejor
escribe un cartel: prohibido fumar en el pasillo
nunca lo había oído
no hay problema, sigue
todas las pruebas pasan
tengo que salir a las cinco
cada cliente tiene como máximo tres pedidos, ponlo en el esquema
deja el primer párrafo y acorta el resto
`,
  pt: `
move o logo para a esquerda
o formulário deve mostrar um erro se o nome estiver vazio
o texto deve ter no máximo 100 palavras
adiciona um teste para esta função
por que não dá para fazer isso
minha mãe sempre diz que nunca se deve mentir
o aplicativo sempre fecha quando abro
antigamente nunca testávamos nada
o contrato diz que o inquilino deve sempre avisar
se todos chegassem sempre na hora seria melhor
escreve um cartaz: proibido fumar no corredor
nunca ouvi falar
sem problema, continua
todos os testes passam
tenho que sair às cinco
cada cliente tem no máximo três pedidos, coloca isso no esquema
deixa o primeiro parágrafo e encurta o resto
`,
  it: `
metti il logo in alto
il modulo deve mostrare un errore se il nome è vuoto
il testo deve avere al massimo 100 parole
aggiungi un test per questa funzione
perché non si può fare
mia madre dice sempre che non bisogna mai mentire
l'app si chiude sempre all'avvio
allora non testavamo mai niente
il contratto dice che l'inquilino deve sempre avvisare
se tutti arrivassero sempre in orario sarebbe meglio
scrivi un cartello: vietato fumare nel corridoio
mai sentito
nessun problema, continua
tutti i test passano
devo uscire alle cinque
ogni cliente ha al massimo tre ordini, mettilo nello schema
lascia il primo paragrafo e accorcia il resto
`,
  ru: `
передвинь логотип влево
форма должна показывать ошибку, если имя пустое
текст должен быть не длиннее 100 слов
добавь тест для этой функции
почему так нельзя делать
моя мама всегда говорит, что никогда нельзя врать
приложение всегда падает при запуске
тогда мы никогда ничего не проверяли
в договоре написано, что жилец всегда должен предупреждать
если бы все всегда приходили вовремя, было бы лучше
напиши объявление: не курить в коридоре
никогда не слышал
без проблем, продолжай
все тесты прошли
мне надо уйти в пять
у каждого клиента не больше трёх заказов, добавь это в схему
оставь первый абзац и сократи остальное
`,
  ja: `
ロゴを左に移動して
名前が空のときはエラーを表示するようにフォームを直して
この文章は100字以内にまとめて
この関数のテストを追加して
どうしてそれはできないの
母はいつも嘘をついてはいけないと言っていた
アプリは起動するといつも落ちる
あの頃は何もテストしなかった
契約書には必ず連絡することと書いてある
みんながいつも時間通りに来たらいいのに
廊下は禁煙というポスターを書いて
聞いたことがない
問題ないです、続けて
テストは全部通りました
五時に出ないといけない
最初の段落はそのままで残りを短くして
`,
  zh: `
把标志移到左边
名字为空的时候表单要显示错误，改一下
这段文字要控制在100字以内
给这个函数加一个测试
为什么不能这样做
我妈妈总说永远不要撒谎
这个应用每次启动都崩溃
那时候我们从来不测试
合同里写着租客必须提前通知
要是大家都准时就好了
写一张告示：走廊里禁止吸烟
从来没听说过
没问题，继续
所有测试都通过了
我五点必须走
每个客户最多三个订单，把这个加到表结构里
第一段不要动，其余的缩短
`,
}
