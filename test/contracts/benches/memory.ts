import type { StoreBench } from '../../../packages/core/src/store/contract-suite/case.ts'
import { openMemoryStore } from '../../../packages/core/src/store/memory/open.ts'
import { key, MemoryTables } from '../../../packages/core/src/store/memory/tables.ts'
import { RULES, type Rules } from '../../../packages/core/src/store/rules/rules.ts'
import type { Entry } from '../../../packages/core/src/store/tables/rows.ts'

export async function memoryBench(rules: Rules = RULES): Promise<StoreBench & AsyncDisposable> {
  const tables = new MemoryTables()
  const store = openMemoryStore({ tables, rules })
  const change = (rows: Entry[] | undefined, number: number, fields: Partial<Entry>) => {
    const entry = rows?.[number - 1]
    if (rows !== undefined && entry !== undefined)
      rows[number - 1] = { ...entry, ...fields } as Entry
  }
  return {
    store,
    sibling: async () => openMemoryStore({ tables, rules }),
    fresh: async () => openMemoryStore({ rules }),
    dismiss: async (runner) => {
      const beat = tables.runner(runner)?.beat ?? 0
      await store.dismissRunner({ runner, beat })
    },
    harm: {
      changeBody: async (id, number) => change(tables.entries.get(id), number, { body: '"harm"' }),
      changeHead: async (id, number) => change(tables.entries.get(id), number, { at: 7 }),
      remove: async (id, number) => {
        const rows = tables.entries.get(id)
        rows?.splice(number - 1, 1)
      },
      swap: async (id, one, other) => {
        const rows = tables.entries.get(id)
        const [first, second] = [rows?.[one - 1], rows?.[other - 1]]
        if (rows === undefined || first === undefined || second === undefined) return
        rows[one - 1] = { ...second, number: one }
        rows[other - 1] = { ...first, number: other }
      },
      changeSessionRow: async (id) => {
        const row = tables.session(id)
        if (row !== undefined) tables.sessions.set(id, { ...row, covers: row.tail })
      },
      empty: async (id, number) =>
        change(tables.entries.get(id), number, { body: null, salt: null }),
      changeState: async (id, state) => {
        const row = tables.session(id)
        if (row !== undefined) tables.sessions.set(id, { ...row, state })
      },
      changeAudit: async (cursor) => {
        const row = tables.audit[cursor - 1]
        if (row !== undefined) tables.audit[cursor - 1] = { ...row, at: 7 }
      },
      changeMail: async (id, number) => {
        const rows = tables.mails.get(id)
        const mail = rows?.[number - 1]
        if (rows !== undefined && mail !== undefined) rows[number - 1] = { ...mail, body: '"harm"' }
      },
      removeMail: async (id, number) => {
        tables.mails.get(id)?.splice(number - 1, 1)
      },
      changeBlob: async (id, hash) => {
        const blob = tables.blobs.get(key(id, hash))
        if (blob !== undefined)
          tables.blobs.set(key(id, hash), { ...blob, bytes: Buffer.from('x') })
      },
      removeBlob: async (id, hash) => {
        tables.blobs.delete(key(id, hash))
      },
      removeSession: async (id) => {
        tables.sessions.delete(id)
      },
      cutAudit: async () => {
        tables.audit.pop()
      },
    },
    [Symbol.asyncDispose]: () => store.close(),
  }
}
