/**
 * Writes lines to standard error. A failed write must not end the process. Writes fail when the reader has exited, or
 * when the disk is full, which often also means that the store is full. Lost lines are counted, and the count is logged
 * once writing works again.
 */
import { fstatSync, writeSync } from 'node:fs'

const descriptor = 2

/** Opens standard error for the lifetime of the process, and returns a function that writes a line. */
export function openStandardError(): (line: string) => void {
  return isFile() ? fileWriter() : streamWriter()
}

function isFile(): boolean {
  try {
    return fstatSync(descriptor).isFile()
  } catch {
    return false
  }
}

/**
 * Returns a function that writes lines to a file. A file stream cannot be used because its first error would close it.
 */
function fileWriter(): (line: string) => void {
  let lostLines = 0
  return (line) => {
    try {
      if (lostLines > 0) writeAll(`${lostLines} log lines could not be written\n`)
      lostLines = 0
      writeAll(line)
    } catch {
      lostLines++
    }
  }
}

function writeAll(text: string): void {
  const bytes = Buffer.from(text)
  for (let done = 0; done < bytes.length; ) done += writeSync(descriptor, bytes, done)
}

/**
 * Returns a function that writes lines to a pipe or a terminal. Writing stops at the first error, because the reader
 * has exited.
 */
function streamWriter(): (line: string) => void {
  if (process.stderr.listenerCount('error') === 0) process.stderr.on('error', () => {})
  return (line) => void process.stderr.write(line)
}
