// Temporary directories of test files: in memory if it is large enough, because creating and removing the files of
// hundreds of servers on disk takes a twentieth of the total time. On disk for tests of the disk (stores, backups,
// killed servers) and for browsers, which leave files behind. TMPDIR overrides this. Plain JavaScript, like its
// importers.
import { statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { relative, sep } from 'node:path'

const inMemory = '/dev/shm'
const enoughBytes = 4 * 1024 ** 3
const roomsOnDisk = new Set(['store', 'backup', 'faults', 'encryption', 'console', 'library'])

const chosen = process.env.TMPDIR
const onDisk = tmpdir()
const tests = new URL('..', import.meta.url).pathname

export function placeFor(file) {
  const [room] = relative(tests, file).split(sep)
  return chosen !== undefined || roomsOnDisk.has(room) || !hasRoom() ? onDisk : inMemory
}

function hasRoom() {
  try {
    const { bavail, bsize } = statfsSync(inMemory)
    return bavail * bsize >= enoughBytes
  } catch {
    // Other systems have no such directory.
    return false
  }
}
