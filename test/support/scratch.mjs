// Chooses where the temporary directories of a test file are. They are in memory if it is large enough, because creating
// and removing the files of hundreds of servers on disk takes a twentieth of the total time. Tests of stores, backups and
// killed servers use the disk, and so do browsers, which leave files behind. TMPDIR overrides the choice. This file is
// plain JavaScript, like the files that import it.
import { statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { relative } from 'node:path'

const inMemory = '/dev/shm'
const enoughBytes = 4 * 1024 ** 3
const foldersOnDisk = ['faults', 'storage/store', 'apiserver/backup', 'tools/console']

const chosen = process.env.TMPDIR
const onDisk = tmpdir()
const tests = new URL('..', import.meta.url).pathname

export function placeFor(file) {
  const path = relative(tests, file)
  const isOnDisk = foldersOnDisk.some((folder) => path.startsWith(`${folder}/`))
  return chosen !== undefined || isOnDisk || !hasSpace() ? onDisk : inMemory
}

function hasSpace() {
  try {
    const { bavail, bsize } = statfsSync(inMemory)
    return bavail * bsize >= enoughBytes
  } catch {
    // Other systems have no such directory.
    return false
  }
}
