import { describe, expect, it } from 'vitest'
import { costOfTenfold } from '../../../../../test/support/timing.ts'
import { findHostBlocks } from './host-blocks.ts'
import { ownWords, piecesOf, shortener, withoutHostBlocks } from './pieces.ts'

const log = Array.from({ length: 30 }, (_, at) => `2026-11-02 10:00:${10 + at} INFO id=${at}`).join(
  '\n',
)

describe('the pieces of a user’s message', () => {
  it.each([
    ['Claude Code', '<system-reminder>\nYou have 3 tasks.\n</system-reminder>\n'],
    [
      'Claude Code, twice',
      '<system-reminder>a</system-reminder><system-reminder>b</system-reminder>',
    ],
    [
      'Claude Code, a command',
      '<command-name>/init</command-name>\n<command-message>init</command-message>\n',
    ],
    [
      'Claude Code, a command without arguments',
      '<command-name>/exit</command-name>\n<command-args></command-args>\n',
    ],
    ['Claude Code, interrupted', '[Request interrupted by user for tool use]\n\n'],
    ['Codex', '<environment_context>\n<cwd>/srv</cwd>\n</environment_context>\n'],
    [
      'Codex, AGENTS.md',
      '# AGENTS.md instructions for /srv\n\n<INSTRUCTIONS>\nNever push.\n</INSTRUCTIONS>\n',
    ],
    ['Codex, permissions', '<permissions instructions>read-only</permissions instructions>\n'],
    ...[
      ...['user_instructions', 'skills_instructions', 'apps_instructions', 'plugins_instructions'],
      ...['collaboration_mode', 'model_switch', 'personality_spec', 'turn_aborted'],
      ...['user_shell_command', 'subagent_notification'],
    ].map((name) => [`Codex, ${name}`, `<${name}>\nNever push.\n</${name}>\n`]),
    [
      'opencode',
      'Called the Read tool with the following input: {"filePath":"a.ts"}\n<file>\n1| x\n</file>\n\n',
    ],
    ['pi', '<skill name="pdf" location="/s/pdf">Read PDFs.</skill>\n'],
    ['Hermes', '<memory-context>\nThe user likes tea.\n</memory-context>\n'],
    [
      'Hermes, task list',
      '[Your active task list was preserved across context compression]\n- [ ] a\n\n',
    ],
    [
      'Claude Code, a summary',
      'This session is being continued from a previous conversation that ran out of context.\n\nAnalysis: x\nPlease continue the conversation from where we left it off.\n',
    ],
    ['Cline', '<environment_details>\nVSCode\n</environment_details>\n'],
  ])('leave out the block of %s', (_, block) => {
    expect(ownWords(`${block}Please look at the map.`)).toBe('Please look at the map.')
    // A summary begins its message; quoted elsewhere it is the person's.
    if (block.startsWith('This session')) return
    expect(ownWords(`Please look at the map.\n\n${block}`)).toBe('Please look at the map.')
  })

  it.each([
    'Base directory for this skill: /s/pdf\n\n# Reading PDFs\n\nAlways use the tool.',
    'Another language model started to solve this problem\n\nThe sign is red.',
    'Operation stopped by hook: Another session is active.\n\nPress the up arrow key.',
    'Implement the following plan:\n\n# Paint\n\nPaint the sign red.\n\n\nIf you need specific details from before exiting plan mode (like exact code snippets), read the full transcript at: a.jsonl',
  ])('are none for a message that a program wrote: %s', (text) => {
    expect(ownWords(text)).toBe('')
  })

  it.each([
    'What does <system-reminder> mean?',
    'Use `</file>` to close it.',
    'Implement the following plan: paint the sign red.',
    '<task>Build the pier.</task>',
    '<user_query>Where is it?</user_query>',
    '<command-args>the pier</command-args>',
    'A list:\n- one\n- two\n- three',
    'Run `npm test -- --grep "a|b"` please.',
    '東京の港の地図を見て、水深を書いてください。'.repeat(30),
  ])('are all the person’s own text: %s', (text) => {
    expect(ownWords(text)).toBe(text)
  })

  it.each([
    ['a log', log],
    ['encoded bytes', 'QmFzZTY0IGlzIG5vIHNlbnRlbmNl'.repeat(40)],
    ['minified code', 'function a(b,c){return b.d[c]&&e(b,{f:1})};'.repeat(20)],
    ['numbers', Array.from({ length: 60 }, (_, at) => `${at}, ${at * 3.14}, ${at * 7}`).join('\n')],
    ['a fence', `\`\`\`\n${'some words of a file that is long enough\n'.repeat(20)}\`\`\``],
  ])('distinguish %s from sentences', (_, bulk) => {
    expect(ownWords(`Why does this fail?\n${bulk}\nIt worked on Monday.`)).toBe(
      'Why does this fail?\nIt worked on Monday.',
    )
    expect(ownWords(`Why does this fail?\n${bulk}`).trim()).toBe('Why does this fail?')
  })

  it('add up to the whole text', () => {
    const text = `a <env>b</env> c\n${log}\nd`
    expect(
      piecesOf(text)
        .map((piece) => piece.text)
        .join(''),
    ).toBe(text)
    expect(withoutHostBlocks(text)).toContain('INFO')
  })

  it('count lines that end in blanks as bulk: they were copied from a screen', () => {
    const screen = Array.from({ length: 8 }, (_, at) =>
      `  Ship ${at} is still in the harbour.`.padEnd(80),
    ).join('\n')
    expect(ownWords(`Take this scenario:\n${screen}\nWhat happens then?`)).toBe(
      'Take this scenario:\nWhat happens then?',
    )
  })

  it('shorten bulk, and leave sentences alone', () => {
    const text = `Why?\n${log}\nIt worked on Monday.`
    const short = shortener(text, (count) => `[${count} left out]`)(200)
    expect(short).toMatch(/^Why\?\n2026[\s\S]*left out\][\s\S]*\nIt worked on Monday\.$/)
    expect(short.length).toBeLessThanOrEqual(200)
  })

  it('shorten long sentences after the bulk, and short ones never', () => {
    const long = `The keeper ${'walked along the shore and '.repeat(12)}slept.`
    const text = `Why? ${long} It worked on Monday.\n${log}`
    const note = (count: number) => `[${count} left out]`
    expect(shortener(text, note)(text.length - 100)).toContain(long)
    const short = shortener(text, note)(200)
    expect(short).toMatch(/^Why\? The keeper[^.]* \[…\] [^.]*slept\. It worked on Monday\.\n/)
    expect(short).not.toContain('INFO')
    expect(short.length).toBeLessThanOrEqual(200)
    expect(shortener(text, note)(0)).toMatch(/^Why\? \[…\] {2}It worked on Monday\.\n/)
  })

  it('are found in linear time', () => {
    const prepare = (length: number) => () =>
      piecesOf('<file>\n[System note: x\n{"a":1}\n<system-reminder>'.repeat(length))
    expect(costOfTenfold(prepare, { size: 500 })).toBeLessThan(15)
  })
})

describe('findHostBlocks', () => {
  it.each([
    ...['system-reminder', 'command-name', 'command-message', 'local-command-stdout'],
    ...['local-command-stderr', 'local-command-caveat', 'bash-stdout', 'bash-stderr'],
    ...['ide_opened_file', 'ide_selection', 'ide_diagnostics', 'new-diagnostics'],
    ...['task-notification', 'user-prompt-submit-hook', 'session-start-hook'],
    ...['available-deferred-tools', 'persisted-output', 'teammate-message'],
    ...['environment_context', 'user_instructions', 'INSTRUCTIONS', 'permissions instructions'],
    ...['skills_instructions', 'apps_instructions', 'plugins_instructions'],
    ...['collaboration_mode', 'model_switch', 'personality_spec', 'turn_aborted'],
    ...['user_shell_command', 'subagent_notification', 'skill', 'env', 'files', 'file'],
    ...['directories', 'available_skills', 'project_context', 'project_instructions'],
    ...['memory-context', 'memory_context', 'recalled-memories', 'system-note'],
    ...['environment_details', 'file_content', 'folder_content', 'workspace_diagnostics'],
    ...['explicit_instructions', 'hook_context', 'attached_files'],
    ...['open_and_recently_viewed_files', 'user_info', 'git_status', 'project_layout'],
    ...['system_reminder', 'additional_data', 'available_tools', 'tool_list'],
  ])('finds a block of a host between <%s> and its end', (tag) => {
    const block = `<${tag}>a\nb</${tag}>`
    expect(findHostBlocks(`one ${block} two`)).toEqual([
      { from: 4, to: 4 + block.length, name: tag },
    ])
    expect(findHostBlocks(`one <${tag}> two`)).toEqual([])
    expect(findHostBlocks(`<${tag} id="1">a</${tag}>`)).toMatchObject([{ from: 0, name: tag }])
  })

  it.each([
    ['# AGENTS.md instructions for /src\nUse tabs.', 'agents-file'],
    [
      'Caveat: The messages below were generated by the user while running local commands.',
      'caveat',
    ],
    ['[Request interrupted by user]', 'interrupted'],
    ['Called the read tool with the following input: {}', 'opencode-call'],
    ['[Your active task list was preserved across context compression]', 'task-list'],
    ['[CONTEXT COMPACTION 3]', 'context-compaction'],
    ['[System note: x]', 'system-note'],
    ['[SYSTEM] x', 'system-note'],
    ['[IMPORTANT: The user has invoked x]', 'system-note'],
    ['[Skill loaded: x]', 'system-note'],
    ['This session is being continued from a previous conversation. x', 'summary'],
    ['Another language model started to solve this problem x', 'summary'],
    ['The conversation history before this point was compacted x', 'summary'],
    ['Base directory for this skill: /x', 'skill'],
    ['Operation stopped by hook: x', 'hook'],
  ])('recognizes the label of %s', (text, name) => {
    expect(findHostBlocks(text)).toMatchObject([{ from: 0, name }])
    expect(findHostBlocks(`I wrote: ${text}`)).toEqual([])
  })

  it('ends the summary of Claude Code with its last line, and others with their message', () => {
    const summary = 'This session is being continued from a previous conversation.\nIt was long.\n'
    const last = 'Please continue the conversation from where we left it off.'
    expect(findHostBlocks(`${summary}${last}\nAnd mine.`)).toEqual([
      { from: 0, to: summary.length + last.length, name: 'summary' },
    ])
    expect(findHostBlocks(summary)).toEqual([{ from: 0, to: summary.length, name: 'summary' }])
  })

  it('does not list a block within another', () => {
    const outer = '<system-reminder>a <env>b</env></system-reminder>'
    expect(findHostBlocks(`${outer}<env>c</env>`).map(({ name }) => name)).toEqual([
      ...['system-reminder', 'env'],
    ])
  })
})
