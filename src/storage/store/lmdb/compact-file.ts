/**
 * Rewrites a directory's data file without free pages. This removes deleted and replaced data and releases disk space.
 * The directory is locked while the file is rewritten. When the new file is durable, it atomically replaces the old
 * file.
 */
import { mkdir, open as openFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { lockDirectory } from './directory-lock.ts'
import { openTables, write } from './tables.ts'

const tableNames = ['current', 'history', 'log', 'expiry', 'meta'] as const
/** Number of records to copy per transaction. */
const batch = 1000

/** Sizes of the file in bytes, before and after the compaction. */
export interface FileSizes {
  readonly before: number
  readonly after: number
}

/** Compacts the file of a directory. Throws StoreError if another process uses the directory. */
export async function compactFile(directory: string): Promise<FileSizes> {
  const release = await lockDirectory(directory)
  const file = join(directory, 'data.mdb')
  const aside = join(directory, 'compacting')
  const fresh = join(aside, 'data.mdb')
  try {
    await rm(aside, { recursive: true, force: true })
    await mkdir(aside, { mode: 0o700 })
    const before = (await stat(file)).size
    await copyTables(directory, aside)
    await sync(fresh)
    await rename(fresh, file)
    await sync(directory)
    return { before, after: (await stat(file)).size }
  } finally {
    await rm(aside, { recursive: true, force: true })
    release()
  }
}

/**
 * Copies the tables record by record. lmdb's built-in copy would produce a layout that differs from that of a file in
 * use.
 */
async function copyTables(from: string, to: string): Promise<void> {
  await using opened = new AsyncDisposableStack()
  const source = openTables(from)
  opened.defer(() => source.root.close())
  const target = openTables(to)
  opened.defer(() => target.root.close())
  for (const name of tableNames) {
    const records = source[name].getRange({ snapshot: false })[Symbol.iterator]()
    let done = false
    while (!done)
      target.root.transactionSync(() => {
        for (let i = 0; i < batch && !done; i++) {
          const next = records.next()
          if (next.done) done = true
          else write(target[name], next.value.key, next.value.value)
        }
      })
  }
  await target.root.flushed
}

async function sync(path: string): Promise<void> {
  const handle = await openFile(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
