import type { Diagnosis } from '../diagnose/diagnosis.ts'
import {
  type Chapter,
  type Moment,
  renderStory,
  type Section,
  type StoryItem,
  type StoryLane,
} from './story.ts'

/** A self-contained page: no scripts or requests, all text escaped, the timeline drawn. */
export function renderHtml(diagnosis: Diagnosis): string {
  const { title, verdict, chapters } = renderStory(diagnosis)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${inert(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${inert(title)}</h1>
<p class="verdict">${inert(verdict)}</p>
${chapters.map(chapterHtml).join('\n')}
<p class="foot">Examined ${inert(diagnosis.examinedAt)}. Times are UTC. The store was only read.</p>
</body>
</html>
`
}

const STYLE = `
:root{color-scheme:light dark;--ink:#1d2733;--paper:#fff;--line:#c9d1da;--harm:#c0341d;--risk:#9a6700;--note:#57606a;--lane:#8fb3d9}
@media(prefers-color-scheme:dark){:root{--ink:#e3e9f0;--paper:#12171d;--line:#39424d;--harm:#ff7b61;--risk:#e3b341;--note:#9aa5b1;--lane:#3f6a97}}
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:var(--ink);background:var(--paper)}
h1{font-size:1.5rem}h2{margin-top:2.5rem;border-bottom:1px solid var(--line)}h3{margin-top:2rem;overflow-wrap:anywhere}
.verdict{font-size:1.15rem;font-weight:600}.foot,.facts{color:var(--note)}
svg{width:100%;height:auto;display:block;margin:1rem 0}svg text{font:12px ui-monospace,monospace;fill:var(--ink)}
ol{padding-left:1.4rem}li{margin:.8rem 0}code{font:13px/1.4 ui-monospace,monospace;overflow-wrap:anywhere}
.harm>b{color:var(--harm)}.risk>b{color:var(--risk)}.note>b{color:var(--note)}.label{color:var(--note);font-size:.9rem}
table{border-collapse:collapse;width:100%}td{border-top:1px solid var(--line);padding:.25rem .6rem .25rem 0;vertical-align:top}
td:first-child{white-space:nowrap;font-variant-numeric:tabular-nums}tr.harm td{color:var(--harm)}tr.risk td{color:var(--risk)}
`

function chapterHtml({ title, facts, sections }: Chapter): string {
  return `<h2>${inert(title)}</h2>
<ul class="facts">${facts.map((fact) => `<li>${inert(fact)}</li>`).join('')}</ul>
${sections.map(sectionHtml).join('\n')}`
}

function sectionHtml({ title, subtitle, lanes, timeline, groups }: Section): string {
  const rows = timeline.map(
    ({ time, text, weight }) =>
      `<tr class="${weight}"><td>${inert(time)}</td><td>${inert(text)}</td></tr>`,
  )
  return `<section>
<h3>${inert(title)}</h3>
${subtitle === null ? '' : `<p>${inert(subtitle)}</p>`}
${drawTimeline(lanes, timeline)}
${rows.length === 0 ? '' : `<table>${rows.join('')}</table>`}
${groups
  .map((group) => `<h4>${group.title}</h4>\n<ol>${group.items.map(itemHtml).join('\n')}</ol>`)
  .join('\n')}
</section>`
}

function itemHtml({ title, label, severity, explanation, advice, evidence }: StoryItem): string {
  const lines = evidence.map((line) => `<li><code>${inert(line)}</code></li>`).join('')
  return `<li class="${severity}"><b>${inert(title)}</b> <span class="label">${inert(label)}</span>
<p>${inert(explanation)}</p>
${lines === '' ? '' : `<ul>${lines}</ul>`}
<p>What to do: ${inert(advice)}</p></li>`
}

const WIDTH = 900
const LANE_HEIGHT = 44
const MARGIN = 12

/** A bar per session from start to end, and a mark for each event. */
function drawTimeline(lanes: readonly StoryLane[], moments: readonly Moment[]): string {
  const times = [
    ...lanes.flatMap(({ from, to }) => [from, to]),
    ...moments.map(({ at }) => at),
  ].filter((at) => at !== null)
  if (lanes.length === 0 || times.length === 0) return ''
  const first = times.reduce((least, at) => Math.min(least, at))
  const span = times.reduce((most, at) => Math.max(most, at)) - first
  const location = (at: number | null) =>
    at === null || span === 0 ? MARGIN : MARGIN + ((at - first) / span) * (WIDTH - 2 * MARGIN)
  const lines = lanes.map(({ id, label, from, to }, index) => {
    const top = index * LANE_HEIGHT
    const [left, right] = [
      Math.min(location(from), location(to)),
      Math.max(location(from), location(to)),
    ]
    const marks = moments
      .filter(({ sessionId, weight }) => sessionId === id && weight !== 'plain')
      .map(
        ({ at, time, text, weight }) =>
          `<circle cx="${location(at).toFixed(1)}" cy="${top + 30}" r="6" fill="var(--${weight})"><title>${inert(`${time} ${text}`)}</title></circle>`,
      )
    return `<text x="${MARGIN}" y="${top + 16}">${inert(label)}</text><rect x="${left.toFixed(1)}" y="${top + 25}" width="${Math.max(2, right - left).toFixed(1)}" height="10" rx="3" fill="var(--lane)"/>${marks.join('')}`
  })
  const height = lanes.length * LANE_HEIGHT + 4
  return `<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="Sessions of this conversation over time">${lines.join('')}</svg>`
}

function inert(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
