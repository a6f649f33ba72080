import type { Diagnosis } from '../diagnose/diagnosis.ts'
import { type Chapter, renderStory, type Section, type StoryItem } from './story.ts'

/** For an issue or a wiki. No text of the store can become markup. */
export function renderMarkdown(diagnosis: Diagnosis): string {
  const { title, verdict, chapters } = renderStory(diagnosis)
  return `${[`# ${inert(title)}`, '', `**${inert(verdict)}**`, ...chapters.flatMap(chapterLines)].join('\n')}\n`
}

function chapterLines({ title, facts, sections }: Chapter): string[] {
  return [
    ...['', `## ${inert(title)}`, ''],
    ...facts.map((fact) => `- ${inert(fact)}`),
    ...sections.flatMap(sectionLines),
  ]
}

function sectionLines({ title, subtitle, lanes, timeline, groups }: Section): string[] {
  return [
    ...['', `### ${inert(title)}`, ''],
    ...(subtitle === null ? [] : [inert(subtitle), '']),
    ...lanes.map(({ label }) => `- ${inert(label)}`),
    ...(timeline.length === 0 ? [] : ['', '| When | What |', '| --- | --- |']),
    ...timeline.map(
      ({ time, text, weight }) =>
        `| ${time} | ${weight === 'plain' ? inert(text) : `**${inert(text)}**`} |`,
    ),
    ...groups.flatMap((group) => ['', `#### ${group.title}`, ...group.items.flatMap(itemLines)]),
  ]
}

function itemLines(
  { title, label, explanation, advice, evidence }: StoryItem,
  index: number,
): string[] {
  return [
    ...['', `${index + 1}. **${inert(title)}** (${inert(label)})`, ''],
    ...[`   ${inert(explanation)}`, ''],
    ...evidence.map((line) => `   - ${code(line)}`),
    ...(evidence.length === 0 ? [] : ['']),
    `   What to do: ${inert(advice)}`,
  ]
}

function inert(text: string): string {
  return text.replace(/[\\`*_{}[\]()<>#+!|~&$@]/g, (character) => `\\${character}`)
}

function code(text: string): string {
  return `\`${text.replaceAll('`', "'").replaceAll('|', '¦')}\``
}
