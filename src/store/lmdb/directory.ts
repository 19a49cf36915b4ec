/**
 * The data directory before lmdb sees it: made for its owner only, claimed by one process, with room on the device,
 * and with a file at least as long as it says it is. lmdb answers the lack of any of these with a dead process.
 */
import { once } from 'node:events'
import { chmod, mkdir, open, stat, statfs } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { StoreError, StoreFull } from '../store.ts'

const neededBytes = 1024 * 1024

export async function prepareDirectory(directory: string): Promise<void> {
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    await chmod(directory, 0o700)
  } catch (cause) {
    throw new StoreError(`the data directory ${directory} cannot be used: ${(cause as Error).message}`, { cause })
  }
  const { bavail, bsize } = await statfs(directory)
  if (bavail * bsize < neededBytes) {
    throw new StoreFull(`no room in ${directory}: ${bavail * bsize} bytes are free, ${neededBytes} are needed`)
  }
  await fillUp(join(directory, 'data.mdb'))
}

/**
 * Claims the directory for this process until it calls the function returned or ends. The claim is a name that the
 * kernel frees with its process, so nothing stale is left behind. Writes by others are noticed in any case.
 */
export async function claimDirectory(directory: string): Promise<() => Promise<void>> {
  if (process.platform !== 'linux') return async () => {}
  const { dev, ino } = await stat(directory)
  const claim = createServer((socket) => socket.destroy())
  claim.unref()
  claim.listen(`\0orch-store-${dev}-${ino}`)
  try {
    await once(claim, 'listening')
  } catch (cause) {
    throw new StoreError(
      `the data directory ${directory} is in use by another process: stop that one, or use another directory`,
      { cause },
    )
  }
  return () => new Promise((resolve) => claim.close(() => resolve()))
}

// Where lmdb keeps what in its two meta pages: page size, last page, transaction.
const pageSizeAt = 48
const lastPageAt = 144
const transactionAt = 152

/**
 * Makes a file that was cut off as long as it says it is: reading past the end of a mapped file ends the process,
 * reading zeros is an error that can be told.
 */
async function fillUp(path: string): Promise<void> {
  const file = await open(path, 'r+').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw new StoreError(`the data file ${path} cannot be opened: ${error.message}`, { cause: error })
  })
  if (file === undefined) return
  try {
    const { size } = await file.stat()
    const wanted = sizeByMeta(await readAt(file, 0, 4096), (pageSize) => readAt(file, pageSize, 4096))
    if (size > 0 && (await wanted) > size) await file.truncate(await wanted)
  } finally {
    await file.close()
  }
}

async function sizeByMeta(first: Buffer, readSecond: (pageSize: number) => Promise<Buffer>): Promise<number> {
  const pageSize = first.readUInt32LE(pageSizeAt)
  if (![4096, 8192, 16384, 32768, 65536].includes(pageSize)) return 0
  const second = await readSecond(pageSize)
  const newest = second.readBigUInt64LE(transactionAt) > first.readBigUInt64LE(transactionAt) ? second : first
  const pages = Number(newest.readBigUInt64LE(lastPageAt)) + 1
  return Number.isSafeInteger(pages * pageSize) ? pages * pageSize : 0
}

async function readAt(file: Awaited<ReturnType<typeof open>>, position: number, size: number): Promise<Buffer> {
  const bytes = Buffer.alloc(size)
  await file.read(bytes, 0, size, position)
  return bytes
}
