/**
 * Messages from chats, by language, one a line, each with a standing rule (between ‹ and › if there is more). For
 * choosing cues; read it freely.
 */
export const PRACTICE_RULES: Readonly<Record<string, string>> = {
  en: `
never rebase shared branches
always run the formatter before committing
please dont touch the migrations folder
dont log personal data
do not use any paid apis
no sarcasm please
no trailing whitespace
no new dependencies
no politics in the newsletter
no deployments after 3pm
no changes to the public interface without a deprecation note
i'd rather not have you open pull requests on your own
i'd rather keep things simple, so no frameworks
i would like you to always show the command before you run it
i'd like all answers as bullet lists
i'd love it if you kept replies under five lines
i'd prefer no jokes
i prefer short answers
i prefer plain sql over query builders
i prefer being asked over you guessing
i don't like long intros, skip them
i don't like when code is commented out, remove such code whenever you see it
i dont want surprises on the invoice, so tell me the cost beforehand
i don't want you to touch the css at all
i don't ever want marketing language in our docs
i never want to be called sir
i want every bug fix to come with a regression test
i want you to answer like a senior engineer
i want you to be critical
i want to approve every email that leaves the house
i need all figures with sources
i need you to log everything you do in worklog.md
i only speak french, so write french
i only use vim so don't give me vscode tips
i'm vegan, so leave out anything with milk or eggs
i'm allergic to peanuts, never suggest anything with them
i'm diabetic, keep the sugar low in all meal plans
i'm in new york so use eastern time
i'm a beginner, explain every term you use
i can't hear well so no phone calls, ever
i work night shifts, don't schedule anything before noon
i expect tests with every change
i insist on written confirmation for every booking
i hate exclamation marks, leave them out of everything
i always want to see the plan first
i decide what gets merged
i have to sign off on every release
in this project we write tests with pytest
in this repo everything is typescript
in this codebase errors are returned, not thrown
in our team the author of a pr merges it
in our docs we say "sign in" and not "login"
in my kitchen there's no pork, plan accordingly
on this server nothing runs as root
at our company invoices are net 30
we don't use orms
we don't commit secrets
we don't write jokes in error messages
we never ship on a friday afternoon
we never talk to the press directly
we always pin versions
we always reply within one working day
we only support the last two versions of every browser
we only hire through the agency
we use 2 spaces for indentation
we use british english
we write tests before the code
we follow the airbnb style guide
we stick to semver
we prefer small prs
we keep one component per file
we name branches feature/xyz
we go with utc for all timestamps
we agreed to review each other's code, so no self merges
we've settled on vitest, so nothing with jest anymore
our rule is that docs are updated with the code
our style is dry and factual
our product name is always spelled in lower case
our policy is no refunds after 30 days
our budget is 2000 euros in total, don't exceed it
the budget is 150 per week and that's final
the deadline is the 20th of december, plan everything around it
everything needs to be live by easter
this must be done by tuesday, no matter what
you have 500 dollars for ads, not a cent more
you have until the end of the month for the whole migration
stay under 10 euros a day
keep it under 3 api calls per minute
keep costs below 100 a month
keep every function below 20 lines
keep all secrets out of the repo
keep the changelog up to date with every change
keep me posted on every failed job
keep replies in plain text
keep quiet about the merger
max 3 retries for any request
max two paragraphs per answer
maximum 80 characters per line
at most five open prs at a time
at least 90% coverage for new code
no more than one mail per customer per week
not more than 3 suggestions at once
never spend more than 20 on a single item
never book anything non refundable
never give out my phone number
never answer legal questions, point to our lawyer
never ever run rm -rf
never assume, ask
always ask before installing something
always write the test first
always give me the short version first
always use the metric system
always cite the page
always address readers as "you"
always keep a copy of the original
ask before you spend money
ask me first if you want to change the schema
ask anna before you touch the billing code
ask for confirmation before each payment
check with the team before you close a ticket
check with me before posting anything
get approval from finance for anything over 1000
get my permission before sharing files
run the linter before every commit
run all tests after each change
run big changes by me first
wait for my approval before you merge
wait for review before merging, every time
let me know before you restart anything
let me review every post before it goes live
tell me whenever you skip a test
tell me when you're not sure
warn me before anything irreversible
notify me if spending goes above 50
show me the plan before you write code
show your sources
show the full command, always
if you don't know, say so
if you need a password, ask me, don't look for it
if you change an interface, tell me
if you are stuck for more than 10 minutes ask me
if anything looks odd, stop and tell me
if a customer gets angry hand over to a human
if a migration is needed write it as sql
if i ask for code, give me only the code
if i say "later" put it on the list
if there's a conflict, my version wins
if it's after 10pm don't notify me
in case of doubt choose the cheaper one
when in doubt, leave it out
when you're done with a task, update the board
when you add a dependency explain why
when you reply to customers be polite
when i'm away, anna decides
when i say code i mean typescript
when writing tests, don't use snapshots
when translating keep the product names in english
whenever you see a todo, make a ticket for it
whenever something fails, write down why
whenever i mention a price it's net
every time you learn something new about the setup, add it to notes.md
each time before you deploy, tag the release
every commit must reference a ticket
every function needs a return type
every post gets three hashtags
each file starts with the license header
each mail ends with our address
each service has its own database, keep it that way
all code in english
all times in utc
all answers in german please
all prs need a description
all payments go through me
all images must have alt text
all my meetings are 30 minutes max
all user input must be escaped
all of our mails are signed with "the garden team"
any new table needs a created_at column
any spending over 100 must be approved
any mention of the ceo has to be cleared with pr
anything customer facing must be reviewed by tom
anything in /archive is read only
nothing leaves this machine
nothing goes live without my ok
nothing is to be sent on weekends
nobody is to be told about this
nobody but me deletes branches
none of the files in legacy may change
no one else may see the drafts
only me and kim can approve refunds
only use the staging key
only touch files under src/app
only suggest things that ship to norway
only buy from local shops
only ever use parameterized queries
from now on, use pnpm
from now on you answer only with code
from now on call me boss
from today no more weekend work
from here on out everything gets a ticket
going forward please cc julia on all mails
in future, ask first
in the future write dates as day.month.year
as of today, all merges need two reviews
starting now, no more force pushing
until the release no new features
until i tell you otherwise, stay in read only mode
until further notice do not contact the supplier
unless i say otherwise, answer in english
unless it's urgent, don't call me
as long as i'm on leave send everything to mark
as long as the tests are red don't add features
during the freeze only bug fixes are allowed
while we are in beta, don't send newsletters
for the rest of the project use python 3.12
for the rest of this conversation be concise
for all new components use css modules
for every endpoint write an openapi entry
for legal stuff always refer to our lawyer
for dates use the iso format
for anything medical tell me to see a doctor
remember to always save the raw data
remember that the tone should be formal in all mails
remember i don't eat meat
remember, cents not euros
please remember that i'm left handed when you suggest tools
keep in mind that our users are on slow phones, so small bundles always
keep in mind i can't read cyrillic, always transliterate
note: our api is versioned, so breaking changes go into v2
note for the future: tables before text
fyi i'm colorblind so don't use colors to tell things apart
important: no personal data in prompts
important!! never restart the primary
rule: one topic per mail
house rule: nobody edits main.tf by hand
my rule is simple, no work mail on weekends
one more rule: when we play chess you never take back moves
a few rules. ‹no swearing, no spoilers, no politics.› ok lets start
what i want from you: honest feedback, no flattery
what i don't want: rewrites of things i didn't ask for
it's important that you never change the order of the columns
it is essential that backups run before every update
it's not allowed to store passwords in plain text
it is forbidden to contact customers after 8pm
it's ok to disagree with me, please do so whenever you think i'm wrong
would you please stop using so many emojis
could you from now on add the ticket number to commits
could you keep your answers shorter in general
can you please not use the word leverage
can you always give me the celsius value too
would be great if you could always add a link to the docs
you should always explain your reasoning
you should not change anything in prod
you must ask before deleting
you mustn't use internet sources older than 2020
you may not share this with third parties
you may only use the tools i listed
you can't use eval anywhere
you can read everything but you can't write outside of /tmp
you are only allowed to edit markdown files
you're not allowed to merge
you're to report to me every evening
you are never to sign contracts in my name
you have to use https everywhere
you don't get to decide on refunds, i do
you need my ok for everything that costs money
you'll write all replies in dutch
your answers should not be longer than three sentences
your commits should be small
your job is to review, not to write code
stop asking me if i want more
stop adding tests i didn't ask for
stop using tables
stop explaining obvious things
quit using smileys
avoid abbreviations
avoid any jargon
avoid words like synergy
avoid global state
skip the disclaimers
skip the intro in all your answers
leave the config alone
leave vendor code untouched
hands off my calendar
stay out of the finance folder
stay off main
stick to the facts
stick with vanilla js
prefer const over let
use spaces, never tabs
use only free images
use english for identifiers
use the formal tone with clients, always
use react query for all data fetching
use fake data in every example
use my second email for all newsletters
write comments in english
write like hemingway, always
write tests for everything you add
speak plainly
answer in italian
answer in two sentences max
reply only in json
respond with the file name only, every time
address me as doctor
call me lena
call the product "the box" in all texts
treat my notes as private
be concise
be honest even if it hurts, always
be careful with prod: read only
don't be so formal with me
don't be verbose
don't explain what i already know
don't give me links to pinterest
don't suggest restarting as a fix
don't guess versions, look them up
don't ever rename public functions
don't mix languages in one answer
don't merge without review
don't delete anything, move it to trash
don't go over budget
don't quote more than two lines from any book
the database is off limits
the old api is frozen
the master key never leaves the safe
the kids don't get sweets from us
the word "cheap" is taboo
the file secrets.env must never be committed
the logs have to stay on site
the tests must always be green on main
the design system is mandatory
the oncall person has the last word
the style stays minimal
prices always with tax
dates in iso format
comments above the line, not behind it
constants in upper case
names first, then numbers
tests belong next to the code
tests are mandatory for new features
secrets never go into env files
errors get logged, not printed
emails are signed by me only
customers are never blamed
customer names stay secret
merges happen on tuesdays only
releases only after qa signed off
reviews take at most a day
components shouldn't fetch data themselves
backups are kept for 90 days, don't delete them earlier
files in dist are generated, never edit them
php is off the table
small commits please
plain english please
tabs over spaces
thanks! ‹one request for the future: keep the tables narrow›
nice work. ‹from now on you don't have to ask for small fixes›
ok cool, ‹but don't ever change the lock file yourself›
hm. ‹i told you not to use any›. fix it
‹you're not to open links from mails.› what's in the inbox
that's fine. ‹but in general i want to see numbers, not adjectives›
here is the next chapter. ‹as always, don't change the dialogue›
good morning! ‹this week nothing over 30 euros please›. what's for dinner
we're almost there. ‹just make sure you never overwrite files in raw/›
fix the bug please. ‹and btw we don't do fixups on main, always a new branch›
ok merge. ‹btw i want you to squash all future merges›
add the test. ‹tests in this repo always go into __tests__›
`,
  de: `
committe nie ohne tests
bitte immer erst fragen, bevor du etwas installierst
keine emojis bitte
ab sofort alle antworten auf englisch
in diesem projekt nutzen wir nur leerzeichen
wir deployen nie freitags
das budget liegt bei 200 euro, bitte nicht überschreiten
bis ende juni muss alles fertig sein
ich möchte nicht, dass du ohne rücksprache mails verschickst
ich hätte gern immer zwei varianten zur auswahl
wenn etwas geld kostet, frag vorher
finger weg von der produktionsdatenbank
danke dir. ‹künftig bitte kürzere antworten›
jede funktion braucht einen test
höchstens drei vorschläge pro antwort
ohne mein ok geht nichts raus
sprich mich mit du an
vermeide fremdwörter
`,
  fr: `
ne commite jamais sans tests
demande toujours avant d'installer quelque chose
pas d'emojis s'il te plaît
désormais toutes les réponses en anglais
dans ce projet on utilise uniquement des espaces
on ne déploie jamais le vendredi
le budget est de 200 euros, ne le dépasse pas
tout doit être fini avant fin juin
je ne veux pas que tu envoies des mails sans mon accord
j'aimerais toujours avoir deux variantes
si quelque chose coûte de l'argent, demande d'abord
ne touche pas à la base de production
merci. ‹à l'avenir des réponses plus courtes›
chaque fonction doit avoir un test
trois propositions maximum par réponse
rien ne sort sans mon accord
tutoie-moi
évite les anglicismes
`,
  es: `
nunca hagas commit sin pruebas
pregunta siempre antes de instalar algo
sin emojis por favor
desde ahora todas las respuestas en inglés
en este proyecto usamos solo espacios
nunca desplegamos los viernes
el presupuesto es de 200 euros, no lo superes
todo tiene que estar listo antes de fin de junio
no quiero que envíes correos sin mi permiso
me gustaría tener siempre dos opciones
si algo cuesta dinero, pregunta primero
no toques la base de producción
gracias. ‹en el futuro respuestas más cortas›
cada función debe tener una prueba
máximo tres propuestas por respuesta
nada sale sin mi aprobación
trátame de tú
evita los anglicismos
`,
  pt: `
nunca faça commit sem testes
pergunte sempre antes de instalar algo
sem emojis por favor
de agora em diante todas as respostas em inglês
neste projeto usamos só espaços
nunca fazemos deploy na sexta
o orçamento é de 200 euros, não ultrapasse
tudo tem que estar pronto até o fim de junho
não quero que você mande emails sem a minha autorização
gostaria de ter sempre duas opções
se algo custar dinheiro, pergunte primeiro
não mexa no banco de produção
obrigado. ‹no futuro respostas mais curtas›
cada função deve ter um teste
no máximo três propostas por resposta
nada sai sem a minha aprovação
me trate por você
evite anglicismos
`,
  it: `
non committare mai senza test
chiedi sempre prima di installare qualcosa
niente emoji per favore
da adesso tutte le risposte in inglese
in questo progetto usiamo solo spazi
non facciamo mai deploy di venerdì
il budget è di 200 euro, non superarlo
tutto deve essere pronto entro fine giugno
non voglio che tu mandi mail senza il mio consenso
vorrei sempre avere due opzioni
se qualcosa costa, chiedi prima
non toccare il database di produzione
grazie. ‹in futuro risposte più brevi›
ogni funzione deve avere un test
massimo tre proposte per risposta
niente esce senza la mia approvazione
dammi del tu
evita gli anglicismi
`,
  ru: `
никогда не коммить без тестов
всегда спрашивай, прежде чем что-то устанавливать
без смайликов, пожалуйста
отныне все ответы на английском
в этом проекте используем только пробелы
мы никогда не деплоим по пятницам
бюджет 200 евро, не превышай его
всё должно быть готово до конца июня
я не хочу, чтобы ты отправлял письма без моего согласия
хочу всегда иметь два варианта
если что-то стоит денег, сначала спроси
не трогай рабочую базу
спасибо. ‹в будущем отвечай короче›
у каждой функции должен быть тест
не больше трёх предложений в ответе
ничего не уходит без моего одобрения
обращайся ко мне на ты
избегай англицизмов
`,
  ja: `
テストなしでコミットしないで
インストールする前に必ず聞いてください
絵文字は使わないでください
今後の返事はすべて英語でお願いします
このプロジェクトではスペースだけを使います
金曜日にはデプロイしません
予算は2万円です、超えないでください
6月末までにすべて終わらせてください
許可なくメールを送らないでほしい
いつも二つの案を出してほしい
お金がかかる場合は先に聞いて
本番のデータベースには触らないで
ありがとう。‹これからは短く答えて›
関数には必ずテストを書くこと
一回の返事につき提案は三つまで
私の承認なしに何も公開しない
敬語は使わなくていい、タメ口で話して
専門用語は避けて
`,
  zh: `
没有测试就不要提交
安装东西之前一定要先问我
请不要用表情
今后所有回答都用英文
这个项目里只用空格
我们周五从不上线
预算是两千元，不要超
所有工作必须在六月底前完成
没有我的同意不要发邮件
我希望每次都有两个方案
要花钱的话先问我
不要碰生产数据库
谢谢。‹以后回答短一点›
每个函数都必须有测试
每次回答最多三条建议
没有我的批准什么都不能发布
叫我老王
避免使用术语
`,
}
