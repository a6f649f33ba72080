/**
 * Texts of our own in the forms that models give: summaries in several styles and languages, and
 * texts that are none. They are judged without their conversation, by form alone.
 */
export interface Case {
  readonly name: string
  readonly text: string
}

export const SUMMARIES: readonly Case[] = [
  {
    name: 'points without headings',
    text: `- Migrated the billing worker from cron to a queue (src/billing/worker.ts, src/queue/index.ts).
- Decided against Redis because the hosting plan has no persistent disk.
- The user wants no new dependency and German error texts.
- Tests: 41 pass, billing/refund.test.ts still fails with "expected 200, got 409".
- Next: find out why the refund is posted twice.`,
  },
  {
    name: 'prose about a private conversation',
    text: `The user is planning a trip to Lisbon in May with their partner Joana and asked for a hotel near Alfama under 140 euros a night. The assistant proposed three; the user chose Casa do Mirador and said that breakfast matters more than a balcony. They also discussed trains to Sintra. Still open: whether to rent a car for the third day. The user mentioned a nut allergy twice.`,
  },
  {
    name: 'instructions to the successor, in the second person',
    text: `You are taking over a coding session. The user asked for a dark mode in the settings page. You have finished the toggle (app/settings/Theme.tsx) and stored the choice under the key theme-v2. The user rejected a system-wide default: "don't touch my OS preference". Your next step is to write the migration of the old key. The user said not to bump the version.`,
  },
  {
    name: 'first person report',
    text: `I was asked to speed up the nightly import. I profiled it and found that parseRow allocates a Date per column. I replaced it with a table lookup, which took the run from 41 to 12 minutes. The user then asked for the same in exportRow; I have not begun that. The user's constraint: no change of the CSV format. Branch: perf/import-rows.`,
  },
  {
    name: 'ends with an open question of the work',
    text: `## Goal\nReplace the session store of the shop.\n## Done\n- Chose SQLite over Redis; table sessions has an index on expires_at.\n- The user approved the schema on Tuesday.\n## Open questions\n- Should expired rows be deleted by the worker or by the request?`,
  },
  {
    name: 'lists requests of the user in their words',
    text: `Conversation so far. The user asked: "can you make the header sticky?", then "could you also add your usual tests?", then "would you like to see the design file first?". All three are done in web/src/Header.tsx and web/test/header.spec.ts. The user asked last: "what do you think about the colours?" and got the answer that #0a5 fails contrast on white.`,
  },
  {
    name: 'polite ending below a proper handoff',
    text: `## Progress and decisions\n- The customer returned order W4410 and exchanged the lamp for item 9931.\n- The agent refunded 48.20 to the gift card.\n## What remains\n- The customer waits for a confirmation by mail.\n\nLet me know if anything else should be in here.`,
  },
  {
    name: 'bold labels',
    text: `**Primary request:** port the scheduler to Rust.\n**State:** scheduler/src/lib.rs compiles; tick() passes 12 of 14 tests.\n**Failed attempts:** tokio timers drift under load, abandoned.\n**User preferences:** no unsafe, no async-std.\n**Next:** fix the leap second case in tests/tick.rs.`,
  },
  {
    name: 'German',
    text: `## Fortschritt\n- Der Nutzer wollte die Rechnungen als PDF. Umgesetzt in rechnung/pdf.ts, Schrift: Inter.\n- Entscheidung: kein Wasserzeichen, weil der Nutzer es ablehnte.\n## Offen\n- Der Nutzer wartet auf die Umsatzsteuer für die Schweiz (8,1 %).`,
  },
  {
    name: 'German prose with formal pronouns of others',
    text: `Im Gespräch ging es um den Umzug der Kanzlei. Die Kundin bat darum, ihre Akten bis zum 3. März zu digitalisieren; ihr Kollege Herr Brandt soll ihnen Zugriff geben. Vereinbart wurde ein Budget von 4.200 Euro. Offen ist, wer die Schränke abholt.`,
  },
  {
    name: 'French',
    text: `L'utilisateur a demandé de corriger le calcul des congés. Le bug venait du fichier conges/calcul.py (arrondi au jour inférieur). Décision : garder l'ancien format du fichier CSV. Il reste à prévenir le service du personnel et à relancer les tests du mois de mai.`,
  },
  {
    name: 'Spanish',
    text: `El usuario pidió migrar la base de datos a PostgreSQL 17. Se hizo la copia en backups/2026-11-02.dump y se cambió el puerto a 5433. El usuario no quiere que se toque la tabla clientes. Queda pendiente revisar los índices de pedidos.`,
  },
  {
    name: 'Portuguese',
    text: `O usuário quer publicar o aplicativo até sexta-feira. A assinatura falhou porque o certificado venceu; foi renovado e guardado em certs/app.p12. Decidiu-se não usar o serviço antigo. Falta enviar a versão 2.4.1 para revisão.`,
  },
  {
    name: 'Russian',
    text: `Пользователь попросил перенести отчёты в новую систему. Сделано: таблица reports_v2, скрипт scripts/move.sql. Решено не удалять старые данные до конца месяца. Осталось проверить отчёт за октябрь; пользователь ждёт ответа.`,
  },
  {
    name: 'Japanese',
    text: `ユーザーは請求書の画面を速くするよう依頼した。原因は invoice_list の N+1 クエリで、repository/invoice.ts を修正した。ユーザーは新しいライブラリの追加を禁止した。残りの作業：十月分のデータで再計測する。`,
  },
  {
    name: 'Chinese',
    text: `用户要求把登录改成短信验证码。已完成 auth/sms.ts，测试 18 个全部通过。决定不使用第三方服务，因为用户担心费用。待办：为海外号码添加区号选择，用户希望周五前上线。`,
  },
  {
    name: 'terse log with message numbers',
    text: `#3 asked: fix flaky login test. #9 cause: clock skew in fixtures/clock.js. #14 fixed, CI run 8812 green. #17 asked: same for signup. #22 signup test rewritten, not yet run. Constraint (#5): keep Jest 29.`,
  },
  {
    name: 'with an apology of the agent inside',
    text: `The user wanted the invoices renumbered. The assistant first renumbered the wrong folder (2024 instead of 2025), apologised, and restored it from git stash@{1}. "I'm sorry, I can't undo the mail that went out" was its answer about the two mails to customers 118 and 240. Remaining: renumber invoices/2025, start at 1001.`,
  },
  {
    name: 'summary of advice',
    text: `The user asked how to train for a half marathon in March. The assistant recommended four runs per week, one of them long, and new shoes by January. The user's knee hurts after 8 km; the assistant advised seeing a physiotherapist and cutting speed work. They agreed on a plan that starts at 22 km per week.`,
  },
  {
    name: 'customer service',
    text: `Customer Mia Ortega (mia_ortega_1187) wanted to change flight HAT204 of reservation K1NW8N. The agent verified the passport, offered HAT136 on May 22, and quoted a difference of $87. The customer accepted, then asked about a second bag; policy allows one free bag in economy. Pending: charge gift_card_4421.`,
  },
]

export const CONTINUATIONS: readonly Case[] = [
  {
    name: 'notices an incomplete message',
    text: `I notice your message appears to be incomplete. Could you share the rest of what you wanted to ask? I want to be sure that I give you the right information.`,
  },
  {
    name: 'answers the newest question',
    text: `Sure! To make the header sticky, add \`position: sticky; top: 0\` to your header class and give it a z-index above your content. If your layout uses overflow hidden on a parent, you will need to remove it first. Let me know how it goes!`,
  },
  {
    name: 'advice without a greeting',
    text: `Start with two easy runs per week and add your long run on Sundays. You should replace your shoes every 700 kilometres, and you can use a foam roller after each session. If your knee hurts, stop and rest for a few days before you try again.`,
  },
  {
    name: 'goes on with a list',
    text: `4. Check your tyre pressure once a month, since cold weather lowers it.\n5. Keep your tank at least half full in winter.\n6. Pack a blanket, a shovel and a torch in your boot.\n\nWith these steps your car will get you through the season.`,
  },
  {
    name: 'asks what to do',
    text: `Before I continue: do you want me to keep the old endpoint alive for a while, or shall I remove it right away? Both are possible, but removing it breaks your mobile app until the next release.`,
  },
  {
    name: 'corrects itself in front of the user',
    text: `I need to stop and correct something. Earlier I told you that the museum opens at nine, but I cannot verify that. You should check the website before you go. Would you like tips for the afternoon instead?`,
  },
  {
    name: 'steps out of a role',
    text: `I think we should pause here. You asked me at the beginning to answer as a ship's captain, but your last questions were about taxes and recipes. Do you want me to stay in character, or should I answer as myself?`,
  },
  {
    name: 'thanks and goodbye',
    text: `You're welcome! Have a great trip, and feel free to come back if you need more ideas. Safe travels!`,
  },
  {
    name: 'customer service answer',
    text: `Your reservation K1NW8N has been updated. The difference of $87 will be charged to your card ending in 4421. You will receive a confirmation by email shortly. Is there anything else I can help you with today?`,
  },
  {
    name: 'congratulates',
    text: `Congratulations on your new job! Moving to a new city is exciting. Here are a few ideas for finding a flat: look at your commute first, set a budget of a third of your income, and visit your favourite area in the evening.`,
  },
  {
    name: 'claims that nothing was given',
    text: `It looks like there is no conversation for me to work with yet. Please paste your conversation here and I will gladly summarize it for you.`,
  },
  {
    name: 'plays both sides',
    text: `That depends on your budget.\n\n[USER]: And what about a used one?\n\n[ASSISTANT]: A used one is fine if the battery is above 85 percent.`,
  },
  {
    name: 'plays on with Human and Assistant',
    text: `Glad that it works now.\n\nHuman: Can you also add dark mode?\n\nAssistant: Of course! I will add a toggle to the settings page.`,
  },
  {
    name: 'German answer',
    text: `Gerne! Für Ihre Steuererklärung brauchen Sie die Lohnsteuerbescheinigung und Ihre Belege. Ich kann Ihnen eine Liste zusammenstellen. Möchten Sie, dass ich damit anfange?`,
  },
  {
    name: 'German advice with the familiar form',
    text: `Am besten stellst du dir einen Wecker und legst dir die Sachen am Abend bereit. Wenn dir das Aufstehen schwerfällt, hilft dir vielleicht ein Lichtwecker. Sag mir Bescheid, ob dein Plan aufgeht! Soll ich dir noch Übungen nennen?`,
  },
  {
    name: 'French answer',
    text: `Bien sûr ! Pour votre jardin, vous pouvez planter des lavandes au soleil. N'oubliez pas d'arroser vos jeunes plants. Souhaitez-vous une liste de fournisseurs près de chez vous ?`,
  },
  {
    name: 'Spanish answer',
    text: `¡Claro! Para su viaje usted necesita un pasaporte válido y le recomiendo reservar el tren con antelación. ¿Quiere que le busque un hotel cerca de la estación?`,
  },
  {
    name: 'Russian answer',
    text: `Конечно! Вам нужно обновить драйвер и перезагрузить компьютер. Если это не поможет, пришлите ваш журнал ошибок. Хотите, я подскажу, где вы его найдёте?`,
  },
  {
    name: 'Chinese answer',
    text: `好的！您可以先在设置里打开通知，然后重新登录您的账号。如果还有问题，您可以把截图发给我。需要我帮您检查其他设置吗？`,
  },
  {
    name: 'Japanese answer',
    text: `はい、承知しました。まず設定画面を開いてください。次に通知をオンにしてください。うまくいかない場合はお知らせください。ほかにお手伝いできることはありますか？`,
  },
  {
    name: 'long advice in sections',
    text: `That sounds like a great plan!\n\n**Before you leave:**\n1. Tell your bank.\n2. Copy your passport.\n\n**On the road:**\n1. Keep your cash in two places.\n2. Drink enough water.\n\n**Back home:**\n1. Wash your gear.\n2. Write down what you would change.\n\nI hope you have a wonderful time!`,
  },
  {
    name: 'apologises for a limit',
    text: `I apologize for the confusion. I don't have access to your calendar, so I can't see your meetings. If you tell me your free hours, I can propose a plan that suits you.`,
  },
]

export const OTHER_FAULTS: readonly (Case & { readonly fault: string; readonly ask?: string })[] = [
  {
    name: 'refusal',
    fault: 'refusal',
    text: `I can't help with summarizing this conversation.`,
  },
  {
    name: 'tool call in tags',
    fault: 'tool-call',
    text: `<tool_call>\n{"name": "read_file", "arguments": {"path": "src/main.ts"}}\n</tool_call>`,
  },
  {
    name: 'tool call as JSON',
    fault: 'tool-call',
    text: `{"name": "bash", "arguments": {"command": "npm test -- --runInBand", "timeout": 120}}`,
  },
  {
    name: 'call in the form of the quotation',
    fault: 'tool-call',
    text: `[call bash {"command":"git status --short"}]`,
  },
  {
    name: 'call after a short announcement',
    fault: 'tool-call',
    text: `Let me look at the file first.\n<function_calls>\n<invoke name="read"><parameter name="path">src/a.ts</parameter></invoke>\n</function_calls>`,
  },
  {
    name: 'loop of one sentence',
    fault: 'repetition',
    text: `The user asked for a report on the harbour. ${'The agent then read the next page of the survey and noted it. '.repeat(30)}`,
  },
  {
    name: 'loop of two lines',
    fault: 'repetition',
    text: '- The user wants the importer to accept semicolons as separators.\n- The parser in src/csv.ts was changed for that purpose alone.\n'.repeat(
      12,
    ),
  },
]
