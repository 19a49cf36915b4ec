/**
 * Opens a data directory, prints whether this succeeded, and keeps the directory open: `directory-owner.ts <data
 * directory> <seconds>`
 */
import { setTimeout } from 'node:timers/promises'
import { LmdbStore } from '../../../src/storage/store/lmdb/store.ts'

const [directory, seconds] = process.argv.slice(2)
try {
  const store = await LmdbStore.open({ directory: directory! })
  console.log('has it')
  await setTimeout(1000 * Number(seconds))
  await store.close()
} catch (error) {
  console.log((error as Error).message)
}
