import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { isOldSqlite, networkDrive } from '../store-file.ts'

const HEADER = '/usr/include/linux/magic.h'

describe('a network drive', () => {
  /** The kernel's names of network file systems. */
  const NETWORK: Readonly<Record<string, string>> = {
    NFS_SUPER_MAGIC: 'NFS',
    SMB_SUPER_MAGIC: 'SMB',
    CIFS_SUPER_MAGIC: 'CIFS',
    SMB2_SUPER_MAGIC: 'SMB2',
    V9FS_MAGIC: '9P',
    FUSE_SUPER_MAGIC: 'FUSE',
    CEPH_SUPER_MAGIC: 'Ceph',
    AFS_SUPER_MAGIC: 'AFS',
    AFS_FS_MAGIC: 'AFS',
    CODA_SUPER_MAGIC: 'Coda',
    NCP_SUPER_MAGIC: 'NCP',
  }

  it('has its number in the Linux headers, and no other file system has', (ctx) => {
    if (!existsSync(HEADER)) ctx.skip(`not run: there is no ${HEADER}`)
    const defined = [
      ...readFileSync(HEADER, 'utf8').matchAll(/^#define (\w+)\s+(0x[0-9a-fA-F]+)/gm),
    ].map(([, name = '', number]) => [name, Number(number)] as const)
    const names = defined.map(([name]) => name)
    expect(names).toEqual(expect.arrayContaining(['EXT4_SUPER_MAGIC', 'TMPFS_MAGIC']))
    // An older kernel lacks the newer ones.
    expect(Object.keys(NETWORK).filter((name) => names.includes(name)).length).toBeGreaterThan(7)
    const drives = defined.map(([name, number]) => [name, networkDrive(number)])
    expect(drives).toEqual(defined.map(([name]) => [name, NETWORK[name]]))
  })

  it("of a module outside the kernel has that module's number", () => {
    // LL_SUPER_MAGIC of Lustre; GPFS writes its name.
    expect(networkDrive(0x0bd0_0bd0)).toBe('Lustre')
    expect(networkDrive(Buffer.from('GPFS').readUInt32BE())).toBe('GPFS')
  })
})

it.each([
  ['3.51.2', true],
  ['3.50.9', true],
  ['2.99.9', true],
  ['3.51', true],
  ['3.51.3', false],
  ['3.51.10', false],
  ['3.52.0', false],
  ['4.0.0', false],
])('SQLite %s is too old: %s', (version, isOld) => {
  expect(isOldSqlite(version)).toBe(isOld)
})
