/**
 * Messages as people write them in chats, by language, one a line (⏎ is a line break). None holds a standing rule. Neither a cue nor a
 * weight may be chosen for a line of this file: read totals only.
 */
export const CHAT_OTHERS: Readonly<Record<string, string>> = {
  en: `
can you make the sidebar a bit narrower? it's eating half the screen
fix the failing test in cart.spec.ts
ok now add a dark mode toggle to the settings page
the header should be sticky
make sure the tests pass before you push this one
add a loading spinner while the list is fetching, should be centered
rename getUser to fetchUser everywhere in this file
please write a short bio for me, 80 words max, i'm a violin teacher in leeds
the login page must redirect to /home after success, right now it goes to /
this function should return null when the input is empty, not throw
can u translate this to english: "wir treffen uns um acht"
dont forget the semicolon on line 12
i want the second chart to use a log scale
remove the console.logs you just added
the export button needs to be next to the search box
it has to compile on windows too, otherwise ticket 88 can't be closed
try again but this time without the table
no not like that. put the legend at the bottom
let's go with option B
yes do it
you should probably check the migrations folder, i think the bug is in there
what happens if i never call close()?
should i always use useCallback for handlers?
is it true that you must never mix bleach and vinegar?
why does eslint want me to always return from this arrow function
do you think we should avoid orms in general or is that overkill
how do i make git always rebase on pull?
when should i use a set instead of a list
can i ask you something before we start?
would it be rude to never answer that email lol
does the api allow more than 100 items per page
my old boss used to say never deploy on fridays
the style guide says functions must not exceed 40 lines, is that common?
our landlord wrote "no pets allowed under any circumstances". what are my rights here
the readme says "always run npm ci first" but that fails with EACCES
in the contract it says the tenant must always give 30 days notice, summarize that clause for me
she told me i should never eat before swimming, is that a myth
kent beck says you should make it work, make it right, make it fast
the linter rule is called no-unused-vars and it is set to error
the doc reads: all requests must include an api key. where do i get one
my doctor told me to avoid salt
the error says "you must provide a valid token". what now
// never call this from the ui thread
# TODO: always validate input here
/* must not be null */
// don't touch, legacy hack from 2011
here's the comment above it: "do not remove, the build depends on this"
when i was at google we always wrote the design doc first
i used to never test my code, can you imagine
back then we only deployed on mondays
we never had this problem before the upgrade
i always get a 403 when i hit that endpoint
the cron job always fails around midnight and nobody knows why
it never worked on safari
every time i save, the cursor jumps to the top
each row has an id, a name and a price
the train always leaves five minutes late here
my kids never eat broccoli
only the admin sees that menu at the moment
all our servers are in frankfurt
the team is eleven people, two of them part time
i'm allergic to mondays haha
we don't have a staging environment
i don't have access to that repo
nobody has touched this code since 2019
if i were rich i'd never cook again
if we had more time we should rewrite the parser, but we don't
imagine a company where nobody may send email after six. would that work?
suppose users must confirm their phone number, how much would signup drop?
in a perfect world every endpoint would be documented
what if we never cached anything, how slow would it get?
say the rule was "no meetings before ten", would people like it?
write a haiku about never giving up
write a policy that says employees must always lock their screens
draft an email to the team telling them not to use the old printer anymore
make a poster for the kitchen: please always wash your cup
generate a list of house rules for our airbnb, like no smoking, no parties
add a rule to eslint that forbids default exports
add a check so users can never enter a negative amount
write a validator: password must have at least 12 characters
the form should not accept dates in the past
set max_retries to 5 and the timeout to 30s
bump the version to 2.4.0 and tag it
change the port to 8081
delete the tmp folder, i don't need it anymore
revert that last commit, it broke prod
run the tests again
show me the diff first
just give me the sql, no explanation needed here
keep the function signature as it is, just change the body
leave the third paragraph alone, rest looks good to rewrite
don't change the css for this fix, the problem is in the js
use the blue one for the hero image
use postgres instead of sqlite for this demo
for this one, please skip the tests, i only want to see the layout
use a for loop there instead of reduce
put a try/catch around the fetch call in loadProfile
shorten the second paragraph, it drags
can you explain why you changed the return type
make it pop more idk
the tooltip shouldn't cover the input
it would be nice if the avatar was round
i'd like a vegetarian lasagna recipe for six people tonight
find me a flight to lisbon on the 14th, not too early
remind me tomorrow at 9 to call the plumber
book the table for 8, not 7
cancel the reservation for saturday please, we're all sick
what should i cook with two eggs and some spinach
plan a 3 day trip to vienna, we want no museums this time
this letter must sound friendlier, she's a good client
the intro needs to be shorter and shouldn't mention the merger
please don't use the word synergy in this draft, it's a joke at our office
turn this into bullet points
ok great, thanks! that worked
hm still broken. same error as before
wait stop, wrong file
never mind, found it
nvm it was a typo
always a pleasure, thanks
never seen that error before, weird
no worries, take your time
not sure that's right, can you double check the third number
i don't think that's the reason
you didn't add the import
you forgot to close the div
you always explain things so well, thank you
that must be the reason then
it should work now, let me try
this should be easy
must be nice to never sleep
you can use the staging db for this
you may need to restart the server after that
feel free to refactor that helper while you're at it
go ahead and merge it
we could also just drop the table, what do you think
maybe we should ask legal about it first
i need to be at the airport by six so let's finish this quickly
the deadline for the grant is march 3rd, how many weeks is that
the budget was 4000 last year and they spent 5200
our budget meeting is on thursday, can you make three slides for it
how much would it cost at most
the limit is 2 mb per upload, which seems low
rate limit is 60 per minute according to their docs
each user can have up to 5 devices. model that in the schema
every invoice has one customer. create the prisma schema for that
a booking can never overlap with another one for the same room, write the constraint
the game should end when a player reaches 21
players must not see each other's cards. implement that in the server
the bot should only answer in the support channel, add that condition
make the api return 404 if the user doesn't exist
whenever the user clicks save, show a toast. build that please
if the file is missing create it with the defaults, that's what the function should do
when the list is empty it should display "nothing here yet"
implement retry: if a request fails, wait 2s and try again, up to 3 times
the cli must print the version with --version
i want it to validate emails before submitting
the new endpoint must be idempotent, see the ticket
all inputs in this form should have labels
every button on this page needs an aria-label, go through them
convert all the class components in src/legacy to hooks
replace every occurrence of foo with bar
update all the snapshots
all three tests should be green now, are they?
fix all type errors in this folder
i've decided to take the job in oslo!
my sister never calls
they only accept cash there
he doesn't want to see me anymore and i don't know what to do
i hate mondays. anyway, can you proofread this?
i prefer tea. my wife prefers coffee. what do we get for the guests
i like how you did the navbar
i love this color
im learning rust, the borrow checker always yells at me
people should be kinder to each other, don't you think
everyone should read that book
one must imagine sisyphus happy, who wrote that
politicians never keep their promises
you should never judge a book by its cover, where does that saying come from
cats always land on their feet, why
water must boil at 100 degrees right?
in chess the king can never move into check. explain castling next
in germany you have to separate your trash
by law the shop has to take it back within 14 days
according to the spec a client MUST NOT send a body with that request
RFC 2119 defines must, should and may
the model only supports 8k tokens
git doesn't track empty folders
typescript never narrows that, annoying
react always re-renders twice in strict mode
the cache is only cleared on restart
the nightly job deletes everything older than 30 days
ok so the plan is: first we fix the schema, then the import, then docs. start with the schema
lets first get it running and then worry about types
step 1: open the panel. step 2: do not touch the red wire. what's step 3 in the manual?
here is the log: ⏎ WARN you should never use root ⏎ ERROR must specify host ⏎ what's wrong with it
can you check whether the password must contain a digit
did i tell you to always use tabs? i don't remember
what did i say about the budget again
which rules did i give you so far?
was there something you were not allowed to do?
you don't need to run the whole suite for this
you don't have to apologize, it was my mistake
no need to be so formal haha
stop the server
stop, that's the wrong branch
wait for the build to finish, then send me the link
before you start, have a look at the screenshot
before we merge: did you see the comment by review bot?
after that, deploy to staging and tell me when it's up
as soon as the job is done send me the csv
until when is the shop open
unless i'm missing something this is a bug in their sdk
from now on the office will be closed on fridays, can you write an announcement
starting next week the canteen only takes cards. put that in the newsletter
as of today we are a gmbh, update the footer of this page
in the future we might support ios
next time i'm in berlin i'll visit the museum
in general i'm happy with it
usually it takes about ten minutes
normally the light blinks green
for all i know it could be dns
at least it compiles
at most three people will come i think
nothing works today
none of these options fit, give me three more
neither of them answered
without the flag it crashes
please be honest: is this essay any good?
please be quick, meeting starts in 5
be creative with the title for this one
answer in one word: is it prime?
tell me in two sentences what this repo does
explain like i'm five what a mutex is
reply to her that i can't make it
email him that the invoice must be paid by friday
tell the landlord he may not enter without notice
let the client know we never got the files
ask the vendor if they always ship on weekdays
commit this with the message "never trust user input"
name the branch fix/no-more-timeouts
the title should be "always be closing"
can we make the rule in the firewall stricter for this host
`,
  de: `
mach den button bitte etwas größer
die überschrift soll blau sein und mittig stehen
warum muss man bei git immer erst adden
früher haben wir nie getestet, das war vielleicht was
der zug kommt immer zu spät
in der hausordnung steht "keine haustiere", ist das überhaupt erlaubt?
schreib eine mail an den kunden, dass er die rechnung bis freitag zahlen muss
wenn ich mehr zeit hätte, würde ich nie wieder fertigpizza essen
`,
  fr: `
ajoute un bouton "annuler" à côté de celui-ci stp
le titre doit être en gras et centré sur cette page
pourquoi faut-il toujours relancer le serveur ?
mon ancien chef disait de ne jamais déployer le vendredi
il ne répond jamais à mes messages
corrige l'erreur à la ligne 40, ça plante au démarrage
le règlement dit que les vélos sont interdits dans la cour, c'est légal ça ?
si j'étais riche je ne travaillerais plus jamais
`,
  es: `
pon el logo a la izquierda y hazlo un poco más pequeño
el formulario tiene que mostrar un error si el correo está vacío
¿por qué siempre hay que reiniciar el servidor?
mi abuela decía que nunca hay que nadar después de comer
el autobús siempre llega tarde
traduce este párrafo al inglés porfa
antes nunca hacíamos pruebas, qué tiempos
si tuviera dinero no trabajaría nunca más
`,
  pt: `
coloca o botão do lado direito, por favor
a página tem que carregar a lista quando abrir, agora aparece vazia
por que é que eu sempre tenho que limpar o cache?
meu antigo chefe dizia para nunca fazer deploy na sexta
ele nunca responde meus emails
corrige o erro na linha 12 e roda os testes de novo
o contrato diz que é proibido fumar no prédio, resume essa parte
se eu ganhasse na loteria nunca mais trabalhava
`,
  it: `
sposta il menu a sinistra e fallo un po' più stretto
il titolo deve essere rosso in questa pagina
perché bisogna sempre riavviare il server?
il mio vecchio capo diceva di non fare mai deploy il venerdì
il treno arriva sempre in ritardo
scrivi una mail al cliente per dirgli che deve pagare entro venerdì
una volta non usavamo mai i test
se avessi tempo non mangerei mai più surgelati
`,
  ru: `
сделай кнопку побольше и сдвинь её вправо
заголовок должен быть синим на этой странице
почему всегда надо перезапускать сервер?
мой бывший начальник говорил никогда не деплоить в пятницу
он никогда не отвечает на письма
исправь ошибку в строке 15 и запусти тесты
раньше мы вообще не писали тесты
если бы я был богат, никогда бы больше не работал
`,
  ja: `
このボタンをもう少し大きくして
タイトルは青にして中央に置いてほしい
なぜいつもサーバーを再起動しないといけないの？
昔の上司は金曜日に絶対デプロイするなと言っていた
電車はいつも遅れてくる
15行目のエラーを直してテストを回して
前はテストなんて一度も書かなかった
もしお金持ちだったら二度と働かないのに
`,
  zh: `
把这个按钮放大一点，往右移
这个页面的标题应该是蓝色的
为什么每次都要重启服务器？
我以前的老板说千万不要周五上线
他从来不回我的邮件
修一下第15行的错误，然后跑测试
以前我们从来不写测试
如果我有钱，我就再也不上班了
`,
}
