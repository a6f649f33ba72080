import type { Diagnosis } from '../diagnose/diagnosis.ts'
import { type Chapter, renderStory, type Section, type StoryItem } from './story.ts'

/** For a terminal. */
export function renderText(diagnosis: Diagnosis): string {
  const { title, verdict, chapters } = renderStory(diagnosis)
  return `${[title, verdict, ...chapters.flatMap(chapterLines)].join('\n')}\n`
}

function chapterLines({ title, facts, sections }: Chapter): string[] {
  return ['', title, ...facts.map((fact) => `  ${fact}`), ...sections.flatMap(sectionLines)]
}

function sectionLines({ title, subtitle, lanes, timeline, groups }: Section): string[] {
  return [
    '',
    subtitle === null ? title : `${title} (${subtitle})`,
    ...lanes.map(({ label }) => `  ${label}`),
    ...(timeline.length === 0 ? [] : ['', '  What happened']),
    ...timeline.map(
      ({ time, text, weight }) =>
        `    ${time}  ${weight === 'plain' ? ' ' : MARKS[weight]} ${text}`,
    ),
    ...groups.flatMap((group) => ['', `  ${group.title}`, ...group.items.flatMap(itemLines)]),
  ]
}

const MARKS = { harm: '!', risk: '?', note: '·' } as const

function itemLines(
  { title, label, explanation, advice, evidence }: StoryItem,
  index: number,
): string[] {
  return [
    `    ${index + 1}. ${title} [${label}]`,
    ...wrap(explanation, 7),
    ...evidence.map((line) => `       - ${line}`),
    ...wrap(`What to do: ${advice}`, 7),
  ]
}

const WIDTH = 96

function wrap(text: string, indent: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > WIDTH - indent) {
      lines.push(line)
      line = ''
    }
    line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line].map((one) => ' '.repeat(indent) + one)
}
