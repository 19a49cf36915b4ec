/**
 * Writes lines to standard error so that a log that cannot be written ends nothing: its disk may be full, often the same
 * one as that of the store, or its reader may be gone. What could not be written is lost, and counted in a line of its
 * own once lines can be written again.
 */
import { fstatSync, writeSync } from 'node:fs'

const descriptor = 2

/** Of a process, for as long as it runs. */
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

/** A stream of a file would be closed by its first error. */
function fileWriter(): (line: string) => void {
  let lost = 0
  return (line) => {
    try {
      if (lost > 0) writeAll(`${lost} lines of the log could not be written\n`)
      lost = 0
      writeAll(line)
    } catch {
      lost++
    }
  }
}

function writeAll(text: string): void {
  const bytes = Buffer.from(text)
  for (let done = 0; done < bytes.length; ) done += writeSync(descriptor, bytes, done)
}

/** A pipe or a terminal: an error is its end, as the reader will not come back. */
function streamWriter(): (line: string) => void {
  if (process.stderr.listenerCount('error') === 0) process.stderr.on('error', () => {})
  return (line) => void process.stderr.write(line)
}
