// Where the tests of a file keep their files: in memory where that is large enough, as to make and remove the files of
// some hundred servers on a disk takes a twentieth of all the time. On the disk where that is the subject (stores, backups,
// servers that are killed), and where a browser is started, which leaves files behind. Whoever sets TMPDIR has chosen. Plain
// JavaScript, as what loads it.
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
    // Other systems have no such place.
    return false
  }
}
