// Chooses where the temporary directories of a test file are. They are in memory if it is large enough, because creating
// and removing the files of hundreds of servers on disk takes a twentieth of the total time. Tests of stores, backups and
// killed servers use the disk, and so do browsers, which leave files behind. The runner creates both places
// (`run-directories.ts`). This file is plain JavaScript, like the files that import it.
import { statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { relative } from 'node:path'

const enoughBytes = 4 * 1024 ** 3
const foldersOnDisk = ['faults', 'storage/store', 'apiserver/backup', 'tools/console']

const { ORCH_TEST_DISK: onDisk = tmpdir(), ORCH_TEST_MEMORY: inMemory } = process.env
const tests = new URL('..', import.meta.url).pathname

export function placeFor(file) {
  const path = relative(tests, file)
  const isOnDisk = foldersOnDisk.some((folder) => path.startsWith(`${folder}/`))
  return inMemory === undefined || isOnDisk || !hasSpace() ? onDisk : inMemory
}

function hasSpace() {
  const { bavail, bsize } = statfsSync(inMemory)
  return bavail * bsize >= enoughBytes
}
