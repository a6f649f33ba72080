import type { JsonValue } from '../../../packages/core/src/base/json.ts'

/**
 * Documents with every kind of part and with fields that our model lacks. `old` stands wherever a
 * message of ours has a value of its own; what `old` is not in stays as it is.
 */
export const RICH: Readonly<Record<string, JsonValue>> = {
  'openai-chat': [
    { role: 'system', content: 'old rules', extra: 'x' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'old text', extra: 'x' },
        {
          type: 'image_url',
          image_url: { url: 'https://old.example/a.png', detail: 'low' },
          extra: 1,
        },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,oldA' } },
        { type: 'image_url', image_url: 'https://old.example/b.png' },
        {
          type: 'file',
          file: { file_data: 'data:application/pdf;base64,oldB', filename: 'old.pdf' },
        },
        { type: 'file', file: { file_id: 'old-file', extra: 'x' }, extra: 'y' },
        { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
      ],
    },
    {
      ...{ role: 'assistant', content: 'old answer', reasoning_content: 'old thought', extra: 'x' },
      tool_calls: [
        {
          ...{ id: 'old-1', type: 'function', extra: 'x' },
          function: { name: 'old_read', arguments: '{"path": "old"}', extra: 'y' },
        },
        { id: 'old-2', type: 'custom', custom: { name: 'old_patch', input: 'old patch' } },
      ],
    },
    { role: 'tool', tool_call_id: 'old-1', content: 'old result', extra: 'x' },
    { role: 'tool', tool_call_id: 'old-2', content: [{ type: 'text', text: 'old part' }] },
    { role: 'assistant', content: [{ type: 'refusal', refusal: 'old refusal', extra: 'x' }] },
    { role: 'assistant', content: null, refusal: 'no', tool_calls: [] },
    { role: 'user', content: 'old question', name: 'ann' },
  ],
  'openai-responses': [
    { role: 'developer', content: 'old rules', extra: 'x' },
    {
      ...{ type: 'message', role: 'user', extra: 'x' },
      content: [
        { type: 'input_text', text: 'old text', extra: 'x' },
        { type: 'input_image', image_url: 'https://old.example/a.png', detail: 'low' },
        { type: 'input_image', file_id: 'old-image' },
        { type: 'input_file', file_url: 'https://old.example/a.pdf', extra: 'x' },
        { type: 'input_file', file_data: 'data:text/plain;base64,oldA', filename: 'old.txt' },
        { type: 'input_file', file_id: 'old-file' },
      ],
    },
    {
      ...{ type: 'reasoning', id: 'rs_1', encrypted_content: 'seal' },
      summary: [{ type: 'summary_text', text: 'thought' }],
    },
    {
      ...{ type: 'function_call', call_id: 'old-1', name: 'old_read', id: 'fc_1' },
      arguments: '{"path": "old"}',
    },
    {
      type: 'custom_tool_call',
      call_id: 'old-2',
      name: 'old_patch',
      input: 'old patch',
      id: 'c_2',
    },
    { type: 'function_call_output', call_id: 'old-1', output: 'old result', id: 'o_1' },
    {
      ...{ type: 'custom_tool_call_output', call_id: 'old-2' },
      output: [{ type: 'input_text', text: 'old part' }],
    },
    {
      ...{ type: 'message', role: 'assistant', id: 'msg_1', status: 'completed' },
      content: [
        { type: 'output_text', text: 'old answer', annotations: [] },
        { type: 'refusal', refusal: 'old refusal', extra: 'x' },
      ],
    },
    { type: 'message', role: 'user', content: 'old question' },
  ],
  anthropic: {
    ...{ model: 'm', max_tokens: 5 },
    system: [{ type: 'text', text: 'old rules', cache_control: { type: 'ephemeral' } }],
    messages: [
      {
        ...{ role: 'user', extra: 'x' },
        content: [
          { type: 'text', text: 'old text', cache_control: { type: 'ephemeral' } },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'oldA' } },
          { type: 'image', source: { type: 'url', url: 'https://old.example/a.png' }, extra: 'x' },
          { type: 'image', source: { type: 'file', file_id: 'old-image' } },
          {
            ...{ type: 'document', title: 'old title', context: 'x' },
            source: { type: 'base64', media_type: 'application/pdf', data: 'oldB' },
          },
          { type: 'search_result', title: 'y' },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'thought', signature: 'seal' },
          { type: 'redacted_thinking', data: 'seal' },
          { type: 'text', text: 'old answer', citations: [] },
          { type: 'tool_use', id: 'old-1', name: 'old_read', input: { path: 'old' }, extra: 'x' },
          { type: 'tool_use', id: 'old-2', name: 'old_read', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'old-1', content: 'old result', extra: 'x' },
          {
            ...{ type: 'tool_result', tool_use_id: 'old-2', is_error: true },
            content: [{ type: 'text', text: 'old part' }],
          },
          { type: 'text', text: 'old words' },
        ],
      },
      { role: 'user', content: 'old question' },
    ],
  },
  'ai-sdk': [
    { role: 'system', content: 'old rules', providerOptions: { a: 1 } },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'old text', providerOptions: { a: 1 } },
        { type: 'image', image: 'https://old.example/a.png', extra: 'x' },
        { type: 'image', image: 'oldA', mediaType: 'image/png' },
        { type: 'image', image: 'oldB' },
        { type: 'file', data: 'oldC', mediaType: 'application/pdf', filename: 'old.pdf' },
        { type: 'file', data: 'data:text/plain;base64,oldD', mediaType: 'text/plain' },
        { type: 'file', data: 'oldE', mediaType: 'image/gif' },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'old thought', extra: 'x' },
        { type: 'text', text: 'old answer' },
        { type: 'tool-call', toolCallId: 'old-1', toolName: 'old_read', input: { path: 'old' } },
        { type: 'tool-call', toolCallId: 'old-2', toolName: 'old_read', args: { path: 'old' } },
        {
          type: 'tool-call',
          toolCallId: 'p-1',
          toolName: 'web',
          input: {},
          providerExecuted: true,
        },
      ],
    },
    {
      role: 'tool',
      content: [
        {
          ...{ type: 'tool-result', toolCallId: 'old-1', toolName: 'old_read', extra: 'x' },
          output: { type: 'text', value: 'old result' },
        },
        {
          ...{ type: 'tool-result', toolCallId: 'old-2', toolName: 'old_read' },
          output: { type: 'error-text', value: 'old error' },
        },
      ],
    },
    { role: 'user', content: 'old question' },
  ],
  gemini: [
    {
      ...{ role: 'user', extra: 'x' },
      parts: [
        { text: 'old text', extra: 'x' },
        { inlineData: { mimeType: 'image/png', data: 'oldA', displayName: 'x' }, extra: 'y' },
        { inlineData: { mimeType: 'application/pdf', data: 'oldB' } },
        { inlineData: { data: 'oldC' } },
        { fileData: { fileUri: 'https://old.example/a', mimeType: 'image/png' }, extra: 'x' },
        { executableCode: { code: 'x' } },
      ],
    },
    {
      role: 'model',
      parts: [
        { text: 'old thought', thought: true, thoughtSignature: 'seal', extra: 'x' },
        { text: 'old answer' },
        {
          functionCall: { id: 'old-1', name: 'old_read', args: { path: 'old' }, extra: 'x' },
          ...{ thoughtSignature: 'seal', extra: 'y' },
        },
        { functionCall: { id: 'old-2', name: 'old_read' } },
        { functionCall: { id: 'old-3', name: 'old_read', args: {} } },
        { text: '', thoughtSignature: 'seal' },
      ],
    },
    {
      role: 'user',
      parts: [
        {
          functionResponse: { id: 'old-1', name: 'old_read', response: { output: 'old result' } },
          extra: 'y',
        },
        {
          functionResponse: {
            ...{ id: 'old-2', name: 'old_read', response: { error: 'old error' }, extra: 'x' },
          },
        },
        { functionResponse: { id: 'old-3', name: 'old_read', response: { rows: ['old', 1] } } },
      ],
    },
    { role: 'user', parts: [{ text: 'old question' }] },
  ],
  langchain: [
    { type: 'system', content: 'old rules', extra: 'x' },
    {
      type: 'human',
      content: [
        { type: 'text', text: 'old text', extra: 'x' },
        { type: 'image_url', image_url: { url: 'https://old.example/a.png' } },
        { type: 'image', source_type: 'base64', mime_type: 'image/png', data: 'oldA' },
        { type: 'audio', mimeType: 'audio/wav', data: 'oldB', extra: 'x' },
        { type: 'file', url: 'https://old.example/a.pdf', mimeType: 'application/pdf' },
      ],
    },
    {
      ...{ type: 'ai', content: 'old answer', id: 'run-1', extra: 'x' },
      tool_calls: [{ name: 'old_read', args: { path: 'old' }, id: 'old-1', type: 'tool_call' }],
    },
    {
      ...{ type: 'tool', content: 'old result', tool_call_id: 'old-1', name: 'old_read' },
      ...{ status: 'error', extra: 'x' },
    },
    { type: 'human', content: 'old question' },
  ],
  'claude-code': [
    {
      ...{
        type: 'user',
        uuid: 'u1',
        parentUuid: null,
        timestamp: '2026-01-01T00:00:00Z',
        cwd: '/',
      },
      message: { role: 'user', content: 'old question', extra: 'x' },
    },
    {
      ...{ type: 'assistant', uuid: 'u2', parentUuid: 'u1', timestamp: '2026-01-01T00:00:01Z' },
      message: {
        ...{ role: 'assistant', id: 'm1', type: 'message', model: 'm' },
        content: [
          { type: 'text', text: 'old answer', extra: 'x' },
          { type: 'tool_use', id: 'old-1', name: 'old_read', input: { path: 'old' } },
        ],
      },
    },
    {
      ...{ type: 'user', uuid: 'u3', parentUuid: 'u2', timestamp: '2026-01-01T00:00:02Z' },
      message: {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'old-1', content: 'old result' }],
      },
    },
  ],
  codex: [
    { timestamp: '2026-01-01T00:00:00Z', type: 'session_meta', payload: { id: 's', cwd: '/' } },
    {
      ...{ timestamp: '2026-01-01T00:00:01Z', type: 'response_item' },
      payload: {
        type: 'message',
        role: 'user',
        content: [{ type: 'input_text', text: 'old text' }],
      },
    },
    {
      ...{ timestamp: '2026-01-01T00:00:02Z', type: 'response_item' },
      payload: { type: 'function_call', call_id: 'old-1', name: 'old_read', arguments: '"old"' },
    },
    {
      ...{ timestamp: '2026-01-01T00:00:03Z', type: 'response_item' },
      payload: { type: 'function_call_output', call_id: 'old-1', output: 'old result' },
    },
    {
      ...{ timestamp: '2026-01-01T00:00:04Z', type: 'response_item' },
      payload: {
        ...{ type: 'message', role: 'assistant' },
        content: [{ type: 'output_text', text: 'old answer' }],
      },
    },
  ],
  pi: [
    { type: 'session', version: 3, id: 's', timestamp: '2026-01-01T00:00:00Z', cwd: '/' },
    {
      ...{ type: 'message', id: 'e0', parentId: null, timestamp: '2026-01-01T00:00:01Z' },
      message: {
        ...{ role: 'system', content: [{ type: 'text', text: 'old rules' }], extra: 'x' },
        sections: { style: 'old style', gone: null },
      },
    },
    {
      ...{ type: 'message', id: 'e1', parentId: 'e0', timestamp: '2026-01-01T00:00:01Z' },
      message: {
        role: 'user',
        content: [
          { type: 'text', text: 'old text', extra: 'x' },
          { type: 'image', data: 'oldA', mimeType: 'image/png', extra: 'x' },
        ],
      },
    },
    {
      ...{ type: 'message', id: 'e2', parentId: 'e1', timestamp: '2026-01-01T00:00:02Z' },
      message: {
        ...{ role: 'assistant', api: 'openai-responses', model: 'm' },
        content: [
          { type: 'thinking', thinking: 'old thought', extra: 'x' },
          { type: 'text', text: 'old answer' },
          {
            type: 'toolCall',
            id: 'old-1',
            name: 'old_read',
            arguments: { path: 'old' },
            extra: 'x',
          },
          { type: 'toolCall', id: 'old-2', name: 'old_read' },
        ],
      },
    },
    {
      ...{ type: 'message', id: 'e3', parentId: 'e2', timestamp: '2026-01-01T00:00:03Z' },
      message: {
        ...{ role: 'toolResult', toolCallId: 'old-1', toolName: 'old_read', isError: true },
        ...{ content: [{ type: 'text', text: 'old result' }], extra: 'x' },
      },
    },
    {
      ...{ type: 'message', id: 'e4', parentId: 'e3', timestamp: '2026-01-01T00:00:04Z' },
      message: { role: 'toolResult', toolCallId: 'old-2', isError: false, content: 'old part' },
    },
    {
      ...{ type: 'custom_message', id: 'e5', parentId: 'e4', timestamp: '2026-01-01T00:00:05Z' },
      ...{ customType: 'x', content: 'old note', display: true },
    },
    {
      ...{ type: 'branch_summary', id: 'e6', parentId: 'e5', timestamp: '2026-01-01T00:00:06Z' },
      ...{ fromId: 'e0', summary: 'old summary' },
    },
    {
      ...{ type: 'message', id: 'e7', parentId: 'e6', timestamp: '2026-01-01T00:00:07Z' },
      message: { role: 'branchSummary', summary: 'old summary', extra: 'x' },
    },
    {
      ...{ type: 'message', id: 'e8', parentId: 'e7', timestamp: '2026-01-01T00:00:08Z' },
      message: { role: 'hook', content: 'old words', extra: 'x' },
    },
  ],
  hermes: [
    { role: 'system', content: 'old rules' },
    {
      role: 'user',
      content: `\0json:${JSON.stringify([
        { type: 'input_text', text: 'old text', extra: 'x' },
        { type: 'input_image', image_url: 'https://old.example/a.png', detail: 'low' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'oldA' } },
        { type: 'image', source: { type: 'url', url: 'https://old.example/b.png' }, extra: 'x' },
        { type: 'text', text: 'old words' },
      ])}`,
    },
    {
      ...{
        role: 'assistant',
        content: `\0json:${JSON.stringify([{ type: 'output_text', text: 'old answer' }])}`,
      },
      tool_calls: [
        { id: 'old-1', type: 'function', function: { name: 'old_read', arguments: '{"a":"old"}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'old-1', content: 'old result' },
    { role: 'user', content: 'old question' },
  ],
}
