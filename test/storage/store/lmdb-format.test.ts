/**
 * Tests that the installed version of lmdb is the one against which `page-file.ts`, `page-records.ts`, `page-check.ts`,
 * `page-guard.ts` and `free-list.ts` were verified. These files read lmdb's file format without using lmdb, so they
 * must be verified again for every other version.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from '../../support/server.ts'

/** Change this version only after the comparison that `whatToCheck` describes. */
const comparedVersion = '3.5.6'

const whatToCheck = [
  `src/storage/store/lmdb/{page-file,page-records,page-check,page-guard,free-list}.ts were compared with lmdb ${comparedVersion}.`,
  'Before you change `comparedVersion`, compare dependencies/lmdb/libraries/liblmdb/mdb.c of both versions:',
  'MDB_MAGIC and MDB_DATA_VERSION, the structs MDB_meta, MDB_db, MDB_page and MDB_node with their flags,',
  'the pages that mdb_page_split, mdb_rebalance, mdb_node_move and mdb_cursor_sibling touch,',
  'the entries of the free list (mdb_freelist_save, mdb_page_alloc), and me_maxfreepgs_to_load (50000).',
  'Then run the long form of the store tests: ORCH_LONG=1 npm test -- test/storage.',
].join('\n')

test('lmdb and its addons for all platforms have the version for which the file format was verified', () => {
  const { devDependencies = {}, optionalDependencies = {} } = readPackage('package.json')
  const addons = Object.entries(optionalDependencies).filter(([name]) => name.startsWith('@lmdb/'))
  assert.equal(addons.length, 4)
  const versions = [...addons.map(([, version]) => version), readPackage('node_modules/lmdb/package.json').version]
  assert.deepEqual([...new Set([devDependencies.lmdb, ...versions])], [comparedVersion], whatToCheck)
})

interface Package {
  readonly version?: string
  readonly devDependencies?: { readonly [name: string]: string }
  readonly optionalDependencies?: { readonly [name: string]: string }
}

function readPackage(path: string): Package {
  return JSON.parse(readFileSync(join(root, path), 'utf8'))
}
