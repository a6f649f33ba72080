import { isObject, type JsonObject } from '#core/base/json'
import { Watchdog } from '../process/watchdog.ts'
import type { Tool } from '../tool.ts'
import { callAnswer, resourceAnswer } from './answer.ts'
import { cleanText, shortText } from './clean-text.ts'
import type { ConnectionParts } from './connection.ts'
import { ServerLink } from './link.ts'
import { isAllowedTool, toolName } from './names.ts'
import type { McpServerConfig } from './server-config.ts'

/**
 * All servers that this runtime's agents get tools from. Each agent has its own servers, so that no
 * agent learns from a server what another sent it. They run from `start` to `close`; in between
 * they follow the configuration. The current list of tools is always available at once; `onChange`
 * reports that it has changed.
 */
export interface McpServersParts extends Omit<ConnectionParts, 'groups'> {
  readonly onChange: () => void
  readonly onState?: (fact: {
    readonly agent: string
    readonly server: string
    readonly state: 'ready' | 'down'
    readonly reason: string
  }) => void
}

export type McpByAgent = ReadonlyMap<string, Readonly<Record<string, McpServerConfig>>>

export class McpServers {
  readonly #parts: McpServersParts
  readonly #watchdog = new Watchdog()
  readonly #closing = new Set<Promise<void>>()
  #links = new Map<string, { readonly agent: string; readonly link: ServerLink }>()
  #state: 'new' | 'started' | 'closed' = 'new'
  readonly #killAll = () => {
    for (const { link } of this.#links.values()) link.kill()
  }

  constructor(parts: McpServersParts) {
    this.#parts = parts
  }

  /** Applies a new set of servers: unchanged ones keep running, new ones start, the rest end. */
  configure(wanted: McpByAgent): void {
    const links = new Map<string, { readonly agent: string; readonly link: ServerLink }>()
    for (const [agent, servers] of wanted) {
      for (const [name, terms] of Object.entries(servers)) {
        const key = JSON.stringify([agent, name, terms])
        links.set(key, this.#links.get(key) ?? { agent, link: this.#link(agent, name, terms) })
      }
    }
    for (const [key, { link }] of this.#links) if (!links.has(key)) this.#end(link)
    this.#links = links
    if (this.#state === 'started') for (const { link } of links.values()) this.#own(link.start())
    this.#mindExit()
  }

  /** Resolves when each server has listed its tools or failed, at most after its `startMs`. */
  async start(): Promise<void> {
    if (this.#state !== 'new') return
    this.#state = 'started'
    this.#mindExit()
    await Promise.all([...this.#links.values()].map(({ link }) => link.start()))
  }

  /** As known now; names are unique. */
  toolsOf(agent: string): readonly Tool[] {
    const tools = new Map<string, Tool>()
    for (const { agent: owner, link } of this.#links.values()) {
      if (owner !== agent) continue
      for (const tool of toolsOf(link)) if (!tools.has(tool.name)) tools.set(tool.name, tool)
    }
    return [...tools.values()]
  }

  /** Servers that are down, for operators. */
  get problems(): readonly string[] {
    return [...this.#links.values()].flatMap(({ agent, link }) =>
      link.failure === null ? [] : [`MCP server ${link.name} of agent ${agent}: ${link.failure}`],
    )
  }

  /** May be called twice. */
  async close(): Promise<void> {
    this.#state = 'closed'
    for (const { link } of this.#links.values()) this.#end(link)
    await Promise.all(this.#closing)
    this.#mindExit()
    this.#watchdog.close()
  }

  #link(agent: string, name: string, terms: McpServerConfig): ServerLink {
    const { onChange, onState, ...parts } = this.#parts
    return new ServerLink(name, terms, {
      ...parts,
      groups: this.#watchdog,
      onChange: () => {
        if (this.#state === 'started') onChange()
      },
      onState: (fact) => onState?.({ agent, server: name, ...fact }),
    })
  }

  /** Created on demand, because most runtimes have no servers. */
  #mindExit(): void {
    process.off('exit', this.#killAll)
    if (this.#state === 'started' && this.#links.size > 0) process.on('exit', this.#killAll)
  }

  #end(link: ServerLink): void {
    this.#own(link.close())
  }

  #own(work: Promise<void>): void {
    const owned = work.finally(() => this.#closing.delete(owned))
    this.#closing.add(owned)
  }
}

const READ_RESOURCE = 'read_resource'

function toolsOf(link: ServerLink): readonly Tool[] {
  const { name: server, terms, known } = link
  const foreign = known.tools
    .filter(({ name }) => isAllowedTool(name, terms))
    .map(({ name, description, inputSchema }) => ({
      name: toolName(server, name),
      description: labelled(server, description),
      inputSchema,
      isForeign: true,
      isRepeatable: false,
      run: async ({ input }, signal) => {
        const asked = { name, arguments: isObject(input) ? input : {} }
        return await link.call('tools/call', asked, { signal, read: callAnswer })
      },
    })) satisfies readonly Tool[]
  const hasOne = known.hasResources && isAllowedTool(READ_RESOURCE, terms)
  return hasOne ? [...foreign, resourceTool(link)] : foreign
}

/**
 * A label names the server as the author, because a description is not an instruction of the
 * operator.
 */
function labelled(server: string, description: string): string {
  return `[MCP server ${server}] ${description}`.trim()
}

const RESOURCE_INPUT: JsonObject = {
  type: 'object',
  properties: {
    uri: { type: 'string', description: 'Which one; without it, a list of them comes back.' },
  },
  additionalProperties: false,
}

function resourceTool(link: ServerLink): Tool {
  return {
    name: toolName(link.name, READ_RESOURCE),
    description: labelled(link.name, 'Reads a resource by its URI; without a URI, lists them.'),
    inputSchema: RESOURCE_INPUT,
    isForeign: true,
    isRepeatable: true,
    run: async ({ input }, signal) => {
      const uri = isObject(input) ? input['uri'] : undefined
      if (typeof uri === 'string' && uri !== '') {
        return await link.call('resources/read', { uri }, { signal, read: resourceAnswer })
      }
      const listed = await link.call('resources/list', {}, { signal, read: listAnswer })
      if (listed.outcome !== 'ok') return listed
      // Not every server supports resource templates; that is not a failure.
      const asked = { signal, read: listAnswer }
      const templates = await link.call('resources/templates/list', {}, asked)
      const lines = [listed, templates].flatMap(({ outcome, output }) =>
        outcome === 'ok' && typeof output === 'string' && output !== '' ? [output] : [],
      )
      return { outcome: 'ok', output: lines.join('\n') || 'There are no resources.' }
    },
  }
}

const RESOURCES_MAX = 500

function listAnswer({ resources, resourceTemplates }: JsonObject) {
  const found = [resources, resourceTemplates].flatMap((list) => (Array.isArray(list) ? list : []))
  const lines = found.slice(0, RESOURCES_MAX).flatMap((each) => {
    if (!isObject(each)) return []
    const text = (key: string, max: number) =>
      typeof each[key] === 'string' ? shortText(each[key], max) : ''
    const uri = text('uri', 1_000) || text('uriTemplate', 1_000)
    return [uri, text('name', 100), text('description', 200)].filter(Boolean).join(' - ')
  })
  const more = found.length - lines.length
  const rest = more > 0 ? [`[${more} more]`] : []
  return { outcome: 'ok', output: cleanText([...lines, ...rest].join('\n')) } as const
}
