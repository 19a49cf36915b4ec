/**
 * The claim on a data directory: one process at a time has it, and it ends with that process, however that one ends.
 *
 * It is a lock on the file `claim` in the directory, held by the kernel beside the file itself. So it is the same for all
 * processes that see the directory, in whatever containers and namespaces they run. Node gives no such locks; the SQLite
 * inside Node does: an exclusive transaction on an empty database that nothing is ever written to.
 *
 * Machines that share a directory over a network see each other's locks only where the file system says so. What then
 * slips through is noticed by the store's thread: a revision that it did not write.
 */

import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { isError, messageOf } from '../../../base/text/errors.ts'
import { StoreError } from '../store.ts'

/** Gives the function that ends the claim. */
export async function claimDirectory(directory: string): Promise<() => void> {
  const path = join(directory, 'claim')
  await create(path)
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(path)
    database.exec('PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
  } catch (cause) {
    database?.close()
    throw refusal(directory, cause)
  }
  const claim = database
  return () => claim.close()
}

/** For its owner only. One that is there is not opened: closing it again would end the locks that this process has on it. */
async function create(path: string): Promise<void> {
  try {
    await using _ = await open(path, 'wx', 0o600)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code !== 'EEXIST') throw new StoreError(`the data directory cannot be claimed: ${message}`, { cause: error })
  }
}

const busy = 5

function refusal(directory: string, cause: unknown): StoreError {
  if (isError(cause) && 'errcode' in cause && cause.errcode === busy)
    return new StoreError(
      `the data directory ${directory} is in use by another process: stop that one, or use another directory`,
      { cause },
    )
  const why = messageOf(cause)
  return new StoreError(`the data directory ${directory} cannot be claimed: ${why}`, { cause })
}
