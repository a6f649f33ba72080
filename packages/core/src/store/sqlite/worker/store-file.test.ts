import { expect, it } from 'vitest'
import { isOldSqlite, networkDrive } from '../store-file.ts'

/** The numbers of statfs(2). */
it.each([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x01021997, '9P'],
  [0x65735546, 'FUSE'],
  [0x00c36400, 'Ceph'],
  [0x0bd00bd0, 'Lustre'],
  [0x5346414f, 'AFS'],
  [0x73757245, 'Coda'],
  [0x47504653, 'GPFS'],
  [0xef53, undefined],
  [0x01021994, undefined],
])('%i is %s', (type, name) => {
  expect(networkDrive(type)).toBe(name)
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
