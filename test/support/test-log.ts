/**
 * The log of servers and loops that run inside a test process. Many tests make them fail on purpose, so the runner
 * prints the log of a file only with a test that failed (`reporter.mjs`). Without the runner it goes to standard error.
 */
import { type Log, openLog } from '../../src/base/telemetry/log.ts'

const maxLines = 100
const lines: string[] = []

/** Returns a log that prints nothing unless a test of the file fails. */
export function openTestLog(): Log {
  return process.send === undefined ? openLog() : openLog({ write: keepLine })
}

function keepLine(line: string): void {
  lines.push(line)
  if (lines.length > maxLines) lines.shift()
}

/** Returns the last lines that were logged since the previous call, and forgets them. */
export function takeLogLines(): string[] {
  return lines.splice(0)
}
