/**
 * Locks a data directory. Only one process at a time can have the lock. The lock ends when that process ends,
 * regardless of how the process exits.
 *
 * The lock is on the file `claim` in the directory, and the kernel associates it with the file. The lock therefore
 * works for all processes that can access the directory, regardless of containers and namespaces. Node.js does not
 * offer such locks, but the SQLite inside Node.js does: an exclusive transaction on an empty database that is never
 * written.
 *
 * Machines that share a directory over a network detect each other's locks only if the file system supports this.
 * Otherwise, the store's thread detects a second writer when it finds a revision that it did not write.
 */

import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { isError, messageOf } from '../../../base/text/errors.ts'
import { StoreError } from '../store.ts'

/** Locks the directory and returns a function that releases the lock. */
export async function lockDirectory(directory: string): Promise<() => void> {
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
  const lock = database
  return () => lock.close()
}

/**
 * Creates the lock file, accessible only by its owner. An existing file is not opened, because closing it again would
 * release the locks that this process has on the file.
 */
async function create(path: string): Promise<void> {
  try {
    await using _ = await open(path, 'wx', 0o600)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code !== 'EEXIST') throw new StoreError(`cannot lock the data directory: ${message}`, { cause: error })
  }
}

const busy = 5

function refusal(directory: string, cause: unknown): StoreError {
  if (isError(cause) && 'errcode' in cause && cause.errcode === busy)
    return new StoreError(
      `the data directory ${directory} is in use by another process: stop that process, or use another directory`,
      { cause },
    )
  const why = messageOf(cause)
  return new StoreError(`cannot lock the data directory ${directory}: ${why}`, { cause })
}
